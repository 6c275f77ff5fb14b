"""Turns with a cache: a hit is an ordinary turn without a model; nothing stale, foreign or doubtful is ever told again."""

from __future__ import annotations

import itertools
import time
from datetime import date

import pytest
from sqlalchemy import func, select

from assistant.conversation.answering import Answering, Route, TurnPolicy
from assistant.conversation.caching import AnswerCache
from assistant.conversation.manager import ConversationManager
from assistant.conversation.running import LiveTurns
from assistant.core.access import EVERYONE, Caller
from assistant.core.modes import Mode
from assistant.core.turn import TurnMessage
from assistant.errors import ModelUnavailable
from assistant.interfaces import ChatModel
from assistant.llm.scripted import ScriptedModel
from assistant.prompts import load_prompts
from assistant.retrieval.embedders import HashingEmbedder
from assistant.retrieval.hybrid import HybridRetriever
from assistant.store import Store
from assistant.store.answer_cache import SqlAnswerCache
from assistant.store.scrubbing import blank, remove
from assistant.store.tables import answer_cache, conversations
from tests.conversation.answering import Desk, types
from tests.store.filling import ANN, BOB, EVE, draft, put

LEAVE = "Employees get 20 days of annual leave. Unused days may be carried over until March."
QUESTION = "How many days of annual leave do employees get?"
SAID = "Employees get 20 days of annual leave."
CANARY = "Project Nightjar moves to Lisbon in May."

_numbers = itertools.count()


async def sit(store: Store, model: ChatModel, caller: Caller = ANN, *, policy: TurnPolicy | None = None) -> Desk:
    """A desk of a caller with a new conversation, and the cache that all desks of the store share."""
    answering = Answering(main=Route(model), prompts=load_prompts, policy=policy or TurnPolicy())
    manager = ConversationManager(
        store=store.conversations,
        retriever=HybridRetriever(store.index),
        answering=answering,
        clock=time.monotonic,
        cache=AnswerCache(SqlAnswerCache(store.database), answering, HashingEmbedder()),
    )
    new_id = f"t-{time.monotonic_ns()}"
    live = LiveTurns(manager, store.conversations, store.events, lambda: f"{new_id}-{next(_numbers)}", interval=0.005)
    opened = await store.conversations.open(caller, None)
    return Desk(store, live, opened.id, caller)


async def entries(store: Store) -> int:
    async with store.database.read() as connection:
        return int(await connection.scalar(select(func.count()).select_from(answer_cache)) or 0)


async def answered(store: Store, model: ScriptedModel, caller: Caller = ANN, question: str = QUESTION) -> TurnMessage:
    """The answer in a new conversation."""
    return await (await sit(store, model, caller)).answer(question)


async def test_a_hit_is_an_ordinary_turn_that_says_where_it_is_from(store: Store) -> None:
    await put(store, draft(LEAVE))
    model = ScriptedModel([SAID])
    first = await sit(store, model)
    turn = await first.ask(QUESTION)
    await first.live.wait(turn)
    made = await first.message(turn)
    colleague = Caller("acme", "bob")
    second = await sit(store, model, colleague)
    again = await second.answer(QUESTION)
    assert types(await second.events()) == [
        "turn.accepted", "turn.progress", "turn.plan", "answer.start", "answer.delta", "answer.done", "citations",
        "turn.usage", "turn.done",
    ]  # fmt: skip
    assert len(model.calls) == 1
    assert (made.from_cache, again.from_cache) == (None, turn)
    assert (again.text, again.sha256, again.finish, again.status) == (made.text, made.sha256, "stop", "completed")
    assert again.citations == made.citations
    assert again.usage is not None
    assert (again.usage.calls, again.usage.tokens_in, again.usage.tokens_out, again.usage.cost) == (0, 0, 0, None)
    _, stored = await store.conversations.messages(colleague, second.conversation)
    assert stored.answer is not None
    assert stored.answer.from_cache == turn
    assert await entries(store) == 1


async def test_the_same_meaning_in_other_words_is_a_hit_and_another_year_is_not(store: Store) -> None:
    await put(store, draft(LEAVE))
    model = ScriptedModel([SAID])
    await answered(store, model, question="How many days of annual leave do employees get?")
    again = await answered(store, model, question="How many annual leave days do employees get?")
    assert again.from_cache
    other = await answered(store, model, question="How many days of annual leave did employees get?")
    assert other.from_cache is None
    assert len(model.calls) == 2


async def test_citations_take_the_numbers_of_the_conversation(store: Store) -> None:
    await put(store, draft(LEAVE))
    await put(store, draft("Your supervisor approves travel to Chicago.", "travel.md", title="Travel"))
    model = ScriptedModel([SAID, "Your supervisor approves travel to Chicago.", "Never."])
    await answered(store, model)
    desk = await sit(store, model)
    await desk.answer("Who approves travel to Chicago?")
    again = await desk.answer(QUESTION)
    if again.from_cache is None:  # its plan carried what was said before
        pytest.fail("the first turn must not be in the plan of the second")
    assert again.citations is not None
    assert [item.n for item in again.citations.items] == [2]


async def test_a_follow_up_after_other_talk_is_not_answered_with_the_former_answer(store: Store) -> None:
    await put(store, draft(LEAVE))
    model = ScriptedModel([SAID, "Unused days may be carried over until March.", "Unused days may be carried over."])
    desk = await sit(store, model)
    await desk.answer(QUESTION)
    before = len(model.calls)
    again = await desk.answer(QUESTION)
    assert again.from_cache is None
    assert len(model.calls) == before + 1
    assert any(SAID in message.text for message in model.calls[-1].request.messages[1:-1])


async def test_a_changed_document_is_never_answered_from_its_former_version(store: Store) -> None:
    await put(store, draft(LEAVE))
    model = ScriptedModel([SAID, "Employees get 25 days of annual leave."])
    await answered(store, model)
    assert await entries(store) == 1
    await put(store, draft(LEAVE.replace("20", "25")))
    assert await entries(store) == 0
    again = await answered(store, model)
    assert (again.from_cache, again.text) == (None, "Employees get 25 days of annual leave.")
    await store.documents.delete("acme", "handbook", "leave.md")
    assert await entries(store) == 0


async def test_even_an_entry_that_was_left_behind_is_not_found_for_another_version(store: Store) -> None:
    await put(store, draft(LEAVE))
    model = ScriptedModel([SAID, "Employees get 25 days of annual leave."])
    await answered(store, model)
    async with store.database.read() as connection:
        (row,) = [row._asdict() for row in await connection.execute(select(answer_cache))]
    await put(store, draft(LEAVE.replace("20", "25")))
    async with store.database.write() as connection:
        await connection.execute(answer_cache.insert(), [row])
    assert (await answered(store, model)).from_cache is None


async def test_nothing_crosses_rights_or_tenants(store: Store) -> None:
    await put(store, draft(f"{LEAVE} {CANARY}", "board.md", access=("hr",)))
    await put(store, draft(LEAVE))
    model = ScriptedModel([f"{SAID} {CANARY}", "I know nothing of that."])
    secret = f"{QUESTION} And where does Project Nightjar move?"
    seen = await answered(store, model, BOB, secret)
    assert "Nightjar" in seen.text
    assert await entries(store) == 1
    assert (await answered(store, model, BOB, secret)).from_cache
    for caller in (ANN, EVE, Caller("acme", "cyd", frozenset({EVERYONE, "sales"})), Caller("acme", "dee", frozenset())):
        desk = await sit(store, model, caller)
        other = await desk.answer(secret)
        assert other.from_cache is None
        told = [
            str(item.event) for item in await desk.events() if item.event.type not in ("turn.accepted", "turn.plan")
        ]
        assert not [event for event in told if "Nightjar" in event or "Lisbon" in event]
        assert other.plan is not None
        assert "board.md" not in [item.uri for item in other.plan.evidence]


async def test_rights_that_were_lost_meanwhile_are_lost_here_too(store: Store) -> None:
    await put(store, draft(f"{LEAVE} {CANARY}", "board.md", access=("hr",)))
    model = ScriptedModel([CANARY, "I know nothing."])
    assert (await answered(store, model, BOB, "Where does Project Nightjar move?")).text == CANARY
    await put(store, draft(f"{LEAVE} {CANARY}", "board.md", access=("board",)))
    again = await answered(store, model, BOB, "Where does Project Nightjar move?")
    assert (again.from_cache, "Lisbon" in again.text) == (None, False)


@pytest.mark.parametrize(
    ("text", "mode", "reason"),
    [
        ("Employees get 20 days of annual leave. Everyone gets a unicorn.", None, "stop"),
        ("Employees get 30 days of annual leave.", None, "stop"),
        (load_prompts("en").refusal, None, "stop"),
        (SAID, None, "length"),
        (SAID, Mode.GENERATION, "stop"),
        (f"{SAID} Everyone gets a free unicorn.", Mode.VERIFIED, "stop"),
    ],
    ids=["unsupported", "contradicted", "refusal", "cut", "generation", "withheld"],
)
async def test_what_is_doubtful_is_asked_anew(store: Store, text: str, mode: Mode | None, reason: str) -> None:
    await put(store, draft(LEAVE))
    model = ScriptedModel([text], reason=reason)
    for _ in range(2):
        desk = await sit(store, model)
        assert (await desk.answer(QUESTION, mode=mode)).from_cache is None
    assert await entries(store) == 0
    assert len(model.calls) >= 2


async def test_conflicts_are_never_cached(store: Store) -> None:
    await put(store, draft(LEAVE, on=date(2025, 1, 1)))
    await put(store, draft(LEAVE.replace("20", "15"), "old.md", on=date(2020, 1, 1)))
    model = ScriptedModel([SAID])
    for _ in range(2):
        message = await answered(store, model)
        assert message.conflicts is not None
        assert message.from_cache is None
    assert await entries(store) == 0


async def test_failures_and_cancelled_turns_are_not_kept(store: Store) -> None:
    await put(store, draft(LEAVE))
    failing = ScriptedModel([SAID], fail_with=ModelUnavailable("gone", reason="test"), fail_after=len(SAID))
    assert (await answered(store, failing)).status == "failed"
    slow = ScriptedModel([SAID + " More." * 500], delay=0.01)
    desk = await sit(store, slow)
    turn = await desk.ask(QUESTION)
    assert await desk.live.cancel(desk.caller, desk.conversation, turn)
    await desk.live.wait(turn)
    assert await entries(store) == 0
    assert (await answered(store, ScriptedModel([SAID]))).from_cache is None


async def test_another_policy_is_another_answer(store: Store) -> None:
    await put(store, draft(LEAVE))
    model = ScriptedModel([SAID])
    await answered(store, model)
    desk = await sit(store, model, policy=TurnPolicy(temperature=0.7))
    assert (await desk.answer(QUESTION)).from_cache is None
    named = ScriptedModel([SAID], name="another")
    assert (await answered(store, named)).from_cache is None


async def test_erasing_or_removing_the_origin_ends_its_answers(store: Store) -> None:
    await put(store, draft(LEAVE))
    model = ScriptedModel([SAID])
    within = select(conversations.c.id)
    await answered(store, model)
    async with store.database.write() as connection:
        await blank(connection, within, "acme", ["ann"], "erased:ann")
    assert await entries(store) == 0
    assert (await answered(store, model)).from_cache is None
    async with store.database.write() as connection:
        await remove(connection, within)
    assert await entries(store) == 0


async def test_a_cache_without_tables_costs_nothing_but_the_calls(store: Store) -> None:
    await put(store, draft(LEAVE))
    async with store.database.write() as connection:
        await connection.exec_driver_sql("ALTER TABLE answer_cache RENAME TO away")
    try:
        model = ScriptedModel([SAID])
        for _ in range(2):
            message = await answered(store, model)
            assert (message.status, message.text, message.from_cache) == ("completed", SAID, None)
    finally:
        async with store.database.write() as connection:
            await connection.exec_driver_sql("ALTER TABLE away RENAME TO answer_cache")
