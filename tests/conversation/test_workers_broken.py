"""A database that breaks under a worker: what it is not sure of it ends later, and what others hold it leaves alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import pytest

from assistant.conversation.running import LiveTurns
from assistant.conversation.turns import Question
from assistant.conversation.watching import Watch
from assistant.core.events import AnswerDelta, CitationsAdded, ConflictsFound, TurnFinished
from assistant.core.turn import fold
from assistant.errors import ModelUnavailable, StoreUnavailable
from assistant.interfaces import BegunTurn
from assistant.llm.scripted import ScriptedModel
from assistant.store import Store
from tests.conversation.answering import Desk, sit_down
from tests.store.filling import ANN

QUESTION = "How many days of annual leave do employees get?"
ANSWER = "Employees get 20 days of annual leave."


class Broken(Exception):
    """As a driver says that its connection is gone."""


def breaking(whole: Any, name: str, *, after: bool, times: int = 1, error: type[Exception] = Broken) -> None:
    """Let a method of an object fail so many times; `after` it has done its work, or instead."""
    method, left = getattr(whole, name), [times]

    async def breaks(*given: Any, **more: Any) -> Any:
        if left[0] == 0:
            return await method(*given, **more)
        left[0] -= 1
        if after:
            await method(*given, **more)
        raise error

    setattr(whole, name, breaks)


async def desk_on(store: Store) -> Desk:
    return await sit_down(store, ScriptedModel([ANSWER] * 5))


async def check(desk: Desk, number: int = 1) -> None:
    """Every turn has one end, and the stored message is the fold of the log."""
    events = await desk.events()
    assert sum(isinstance(item.event, TurnFinished) for item in events) == number
    stored = await desk.store.conversations.messages(ANN, desk.conversation)
    by_turn = [view.answer for view in stored if view.answer is not None]
    assert by_turn == [
        fold(i.event for i in events if i.turn == turn) for turn in dict.fromkeys(i.turn for i in events)
    ]
    assert await desk.store.conversations.open_turns() == []


async def test_a_start_whose_answer_was_lost_is_ended_later(store: Store) -> None:
    desk = await desk_on(store)
    breaking(store.conversations, "begin_turn", after=True)
    with pytest.raises(Broken):
        await desk.ask(QUESTION, client_id="c")
    assert len(await store.conversations.open_turns()) == 1
    await desk.live.end_unsure()
    await check(desk)
    (message,) = [fold(item.event for item in await desk.events())]
    assert (message.status, message.error) == ("failed", "interrupted")
    assert (await desk.live.start(ANN, desk.conversation, Question("c", QUESTION))).duplicate


async def test_a_start_that_did_not_happen_leaves_nothing(store: Store) -> None:
    desk = await desk_on(store)
    breaking(store.conversations, "begin_turn", after=False)
    with pytest.raises(Broken):
        await desk.ask(QUESTION, client_id="c")
    await desk.live.end_unsure()
    assert await desk.events() == []
    begun: BegunTurn = await desk.live.start(ANN, desk.conversation, Question("c", QUESTION))
    assert not begun.duplicate
    await desk.live.wait(begun.turn)
    await check(desk)


@pytest.mark.parametrize(
    ("name", "after"),
    [("finish_turn", False), ("finish_turn", True), ("number_evidence", False), ("save_plan", True)],
)
async def test_a_step_that_fails_and_cannot_be_mended_at_once(store: Store, name: str, after: bool) -> None:
    desk = await desk_on(store)
    breaking(store.conversations, name, after=after)
    breaking(store.conversations, "evidence_of", after=False, times=2)  # recovery fails, too, at first
    turn = await desk.ask(QUESTION)
    await desk.live.wait(turn)
    for _ in range(3):
        await desk.live.end_unsure()
    await check(desk)


@pytest.mark.parametrize("name", ["finish_turn", "number_evidence", "save_plan"])
async def test_a_turn_that_a_database_was_away_from_ends_as_that(store: Store, name: str) -> None:
    desk = await desk_on(store)
    breaking(store.conversations, name, after=False, error=StoreUnavailable)
    breaking(store.conversations, "evidence_of", after=False, times=2, error=StoreUnavailable)
    turn = await desk.ask(QUESTION)
    await desk.live.wait(turn)
    for _ in range(3):
        await desk.live.end_unsure()
    await check(desk)
    message = await desk.message(turn)
    if name == "save_plan":
        assert (message.status, message.error, message.text) == ("failed", "unavailable", "")
    else:  # the answer was complete: it only lacked its end
        assert (message.status, message.error, message.text) == ("completed", None, ANSWER)


async def test_words_that_were_said_before_the_database_went_away_are_kept(store: Store) -> None:
    desk = await sit_down(store, ScriptedModel([ANSWER], delay=0.2))
    turn = await desk.ask(QUESTION)
    async with aclosing(desk.live.follow(desk.conversation, 0)) as events:
        async for item in events:
            if isinstance(item.event, AnswerDelta):
                break
    breaking(store.events, "append", after=False, times=2, error=StoreUnavailable)
    await desk.live.wait(turn)
    await desk.live.end_unsure()
    await check(desk)
    message = await desk.message(turn)
    assert (message.status, message.error) == ("failed", "unavailable")
    assert message.text
    assert ANSWER.startswith(message.text)


async def test_a_start_that_a_database_was_away_from_is_ended_later(store: Store) -> None:
    desk = await desk_on(store)
    breaking(store.conversations, "begin_turn", after=True, error=StoreUnavailable)
    with pytest.raises(StoreUnavailable):
        await desk.ask(QUESTION, client_id="c")
    await desk.live.end_unsure()
    await check(desk)
    (message,) = [fold(item.event for item in await desk.events())]
    assert (message.status, message.error) == ("failed", "unavailable")


async def test_a_start_that_is_begun_twice_is_the_same(store: Store) -> None:
    """As when the commit went through and its answer was lost: the store tries again with the same turn."""
    desk = await desk_on(store)
    asked: dict[str, Any] = {"turn": "t1", "client_id": "c", "text": QUESTION, "mode": "auto"}
    first = await store.conversations.begin_turn(ANN, desk.conversation, **asked)
    assert not first.duplicate
    assert await store.conversations.begin_turn(ANN, desk.conversation, **asked) == first
    other = await store.conversations.begin_turn(ANN, desk.conversation, **{**asked, "turn": "t2"})
    assert (other.turn, other.duplicate) == ("t1", True)
    assert len(await desk.events()) == 1


async def test_a_crash_between_citations_and_conflicts(store: Store) -> None:
    desk = await desk_on(store)
    await desk.answer(QUESTION)
    (found,) = [item.event for item in await desk.events() if isinstance(item.event, ConflictsFound)]
    append = desk.live._append

    async def stops(started: Any, events: Any) -> None:
        cited = [n for n, event in enumerate(events) if isinstance(event, CitationsAdded)]
        await append(started, events[: cited[0] + 1] if cited else events)
        if cited:
            raise Broken

    desk.live._append = stops  # type: ignore[method-assign]
    desk.live._recover = nothing  # type: ignore[method-assign,assignment]
    turn = await desk.ask(QUESTION)
    await desk.live.wait(turn)
    del desk.live._append, desk.live._recover
    assert not any(isinstance(i.event, ConflictsFound) and i.turn == turn for i in await desk.events())
    assert await desk.live.recover() == 1
    (again,) = [i.event for i in await desk.events() if isinstance(i.event, ConflictsFound) and i.turn == turn]
    assert again == found
    await check(desk, 2)


async def nothing(*_: Any) -> None:
    return None


async def test_followers_wait_for_a_log_that_is_away(store: Store) -> None:
    desk = await desk_on(store)
    await desk.answer(QUESTION)
    breaking(store.events, "read", after=False, times=3)
    seen = []
    async with asyncio.timeout(10), aclosing(desk.live.follow(desk.conversation, 0)) as events:
        async for item in events:
            seen.append(item)
            if isinstance(item.event, TurnFinished):
                break
    assert seen == await desk.events()


class Flaky:
    """Signals that break once, and then say that anything may have happened."""

    def __init__(self) -> None:
        self.broke = False

    async def heard(self) -> AsyncGenerator[frozenset[str] | None, None]:
        if not self.broke:
            self.broke = True
            raise Broken
        yield None
        await asyncio.Event().wait()


async def test_a_worker_that_cannot_hear_goes_on_and_hears_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assistant.conversation.watching.AGAIN_S", 0.01)
    desk = await desk_on(store)
    stirred = asyncio.Event()
    monkeypatch.setattr(LiveTurns, "stir", lambda *_: stirred.set())
    watch = Watch(desk.live, store.workers, Flaky(), recovers=True, beat_s=0.01)
    task = asyncio.create_task(watch.run())
    async with asyncio.timeout(10):
        await stirred.wait()
    assert not task.done()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_a_failed_turn_says_when_to_come_back(store: Store) -> None:
    desk = await sit_down(store, ScriptedModel(fail_with=ModelUnavailable("no", retry_after_ms=7000)))
    turn = await desk.ask(QUESTION)
    await desk.live.wait(turn)
    done = (await desk.events())[-1].event
    assert isinstance(done, TurnFinished)
    assert (done.error, done.retry_after_ms) == ("model_unavailable", 7000)
    assert (await desk.message(turn)).retry_after_ms == 7000
