"""Rights are looked up again: while an answer is written, for the history of the next one, and when an old one is opened."""

from __future__ import annotations

import asyncio
import itertools
from contextlib import aclosing
from dataclasses import replace

from assistant.conversation.guarding import EVERY_S
from assistant.conversation.turns import Question
from assistant.core.access import EVERYONE
from assistant.core.events import AnswerDelta, CitationsAdded, ConflictsFound, TurnFinished
from assistant.llm.scripted import ScriptedModel
from assistant.store import Store
from tests.conversation.answering import TRAVEL, sit_down
from tests.store.filling import ANN, draft, put

QUESTION = "Who approves travel?"
ANSWER = "Your supervisor approves travel."


async def withdraw(store: Store) -> None:
    await put(store, draft(TRAVEL, "travel.md", title="Travel", access=("board",)))


async def test_an_old_answer_is_withheld_when_its_source_may_no_longer_be_read(store: Store) -> None:
    desk = await sit_down(store, ScriptedModel([ANSWER]))
    turn = await desk.ask(QUESTION)
    await desk.live.wait(turn)
    assert await store.rights.withheld(ANN, desk.conversation) == frozenset()
    await withdraw(store)
    assert await store.rights.withheld(ANN, desk.conversation) == {turn}
    on_board = replace(ANN, groups=frozenset({EVERYONE, "board"}))
    assert await store.rights.withheld(on_board, desk.conversation) == frozenset()


async def test_the_next_prompt_holds_nothing_of_a_withheld_answer(store: Store) -> None:
    desk = await sit_down(store, ScriptedModel([ANSWER, "It is not known."]))
    await desk.answer(QUESTION)
    await withdraw(store)
    again = await store.conversations.begin_turn(
        ANN, desk.conversation, turn="next", client_id="next", text="And flights?", mode="auto"
    )
    assert again.history == ()


async def test_nothing_more_is_said_when_the_right_is_lost_in_mid_turn(store: Store) -> None:
    model = ScriptedModel([f"{ANSWER} " + "More words follow. " * 8000], delay=0.002, piece=20)
    desk = await sit_down(store, model)
    manager = desk.live._manager
    ticks = itertools.count()
    manager._rights, manager._clock = store.rights, lambda: next(ticks) * EVERY_S
    begun = await desk.live.start(ANN, desk.conversation, Question("c", QUESTION))
    async with asyncio.timeout(20), aclosing(desk.live.follow(desk.conversation, 0)) as events:
        async for item in events:
            if isinstance(item.event, AnswerDelta) and item.event.off == 0:
                await withdraw(store)
            if isinstance(item.event, TurnFinished):
                break
    await desk.live.wait(begun.turn)
    message = await desk.message(begun.turn)
    assert (message.status, message.error) == ("failed", "access_revoked")
    assert len(message.text) < 8000 * len("More words follow. ")
    assert message.citations == CitationsAdded(message.citations.status) if message.citations else False
    assert not any(isinstance(item.event, ConflictsFound) for item in await desk.events())
    assert model.calls[0].ended == "cancelled"


async def test_rights_that_stay_change_nothing(store: Store) -> None:
    desk = await sit_down(store, ScriptedModel([ANSWER]))
    desk.live._manager._rights = store.rights
    message = await desk.answer(QUESTION)
    assert message.status == "completed"
    assert message.citations is not None
    assert message.citations.items
