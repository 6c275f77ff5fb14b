"""Several workers on one database: one runs a turn, another one follows it, a third one stops it, any one ends it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

from assistant.conversation.running import LiveTurns
from assistant.conversation.turns import Question
from assistant.conversation.watching import Watch
from assistant.core.events import AnswerDelta, TurnFinished
from assistant.interfaces import CANCEL, NumberedEvent
from assistant.llm.scripted import ScriptedModel
from assistant.store import Store
from assistant.store.event_writers import TurnTaken
from assistant.store.tables import turns, workers
from tests.conversation.answering import Desk, beside, fill
from tests.store.filling import ANN, BOB

QUESTION = "How many days of annual leave do employees get?"


@asynccontextmanager
async def worker(url: str, name: str, model: ScriptedModel, conversation: str | None = None) -> AsyncIterator[Desk]:
    """A process of the database, as far as a test has processes."""
    async with Store(url, worker=name) as store:
        if conversation is None:
            await fill(store)
        desk = await beside(store, model, conversation=conversation)
        desk.live._workers = store.workers
        await store.workers.enter()
        watch = Watch(desk.live, store.workers, store.signals(lambda: True), beat_s=0.25)  # each beat is a commit
        task = asyncio.create_task(watch.run())
        try:
            yield desk
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await desk.live.drain(5)
            await store.workers.leave()


def slow() -> ScriptedModel:
    # Each piece is a commit: SQLite lets writers in by chance, and a disk that is busy must leave them one.
    return ScriptedModel(["Employees get 20 days. " + "Slow answer. " * 2000], delay=0.2, piece=35)


async def until_delta(live: LiveTurns, conversation: str, off: int = 0) -> list[NumberedEvent]:
    seen: list[NumberedEvent] = []
    async with asyncio.timeout(20), aclosing(live.follow(conversation, 0)) as events:
        async for item in events:
            seen.append(item)
            if isinstance(item.event, AnswerDelta) and item.event.off >= off:
                return seen
    raise AssertionError("no delta")


class Noted:
    """Live turns that note what they are asked to do."""

    def __init__(self) -> None:
        self.said: list[object] = []

    def stir(self, conversations: frozenset[str] | None = None) -> None:
        self.said.append(conversations)

    async def obey_cancels(self) -> None:
        self.said.append("cancels")


class Told:
    """Signals that tell these, then nothing."""

    def __init__(self, *told: frozenset[str] | None) -> None:
        self._told = told

    async def heard(self) -> AsyncGenerator[frozenset[str] | None, None]:
        for conversations in self._told:
            yield conversations
        await asyncio.Event().wait()


async def test_only_who_hears_of_a_stop_looks_for_stops() -> None:
    noted: Any = Noted()
    nobody: Any = None
    events, stop = frozenset({"c1", "c2"}), frozenset({CANCEL})
    task = asyncio.create_task(Watch(noted, nobody, Told(events, stop, events, None))._hear_on())
    async with asyncio.timeout(10):
        while noted.said[-1:] != ["cancels"] or None not in noted.said:
            await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert noted.said == [events, stop, "cancels", events, None, "cancels"]


async def test_a_turn_is_followed_and_stopped_from_another_worker(database_url: str) -> None:
    async with worker(database_url, "one", slow()) as one:
        begun = await one.live.start(ANN, one.conversation, Question("c", QUESTION))
        async with worker(database_url, "two", ScriptedModel(), one.conversation) as two:
            seen = await until_delta(two.live, one.conversation, off=60)
            assert [item.seq for item in seen] == list(range(1, len(seen) + 1))
            assert not await two.live.cancel(BOB, one.conversation, begun.turn)
            assert not await two.live.cancel(ANN, "another", begun.turn)
            assert not await two.live.cancel(replace(ANN, tenant="rival"), one.conversation, begun.turn)
            assert await two.live.cancel(ANN, one.conversation, begun.turn)
            async with asyncio.timeout(20):
                message = await two.live.finished(one.conversation, begun.turn)
        assert (message.status, message.finish) == ("cancelled", "cancelled")
        assert message == await one.live.finished(one.conversation, begun.turn)


async def test_turns_of_a_lost_worker_are_ended_by_one_other(database_url: str) -> None:
    async with worker(database_url, "one", slow()) as one:
        begun = await one.live.start(ANN, one.conversation, Question("c", QUESTION))
        await until_delta(one.live, one.conversation)
        async with one.store.database.write() as connection:
            gone = update(workers).where(workers.c.id == "one").values(seen_at=datetime.now(UTC) - timedelta(hours=1))
            await connection.execute(gone.values(host="elsewhere", id="gone"))
            await connection.execute(update(turns).values(worker="gone"))
        async with (
            worker(database_url, "two", ScriptedModel(), one.conversation) as two,
            worker(database_url, "three", ScriptedModel(), one.conversation) as three,
        ):
            lost = await asyncio.gather(two.store.workers.claim_lost(), three.store.workers.claim_lost())
            assert sorted(map(len, lost)) == [0, 1]
            await two.live.end_lost(lost[0])
            await three.live.end_lost(lost[1])
            message = await two.live.finished(one.conversation, begun.turn)
            assert (message.status, message.error) == ("failed", "interrupted")
            assert message.text.startswith("Employees")
        await one.live.wait(begun.turn)  # it wakes up, and must not write into what was taken over
        events = await one.store.events.read(one.conversation)
        assert sum(isinstance(item.event, TurnFinished) for item in events) == 1
        assert isinstance(events[-1].event, TurnFinished)


async def test_a_worker_writes_no_events_of_a_turn_that_was_taken_over(database_url: str) -> None:
    async with worker(database_url, "one", ScriptedModel(["Yes."])) as one:
        begun = await one.live.start(ANN, one.conversation, Question("c", QUESTION))
        await one.live.wait(begun.turn)
        async with one.store.database.write() as connection:
            await connection.execute(update(turns).values(worker="two"))
        with pytest.raises(TurnTaken):
            await one.store.events.append(one.conversation, begun.turn, [AnswerDelta(0, "late")])


async def test_turns_of_the_living_are_left_to_them(database_url: str) -> None:
    async with worker(database_url, "one", slow()) as one:
        begun = await one.live.start(ANN, one.conversation, Question("c", QUESTION))
        async with worker(database_url, "two", ScriptedModel(), one.conversation) as two:
            assert await two.live.recover() == 0
            assert await two.store.workers.claim_lost() == []
        await one.live.cancel(ANN, one.conversation, begun.turn)
        await one.live.wait(begun.turn)


async def test_who_leaves_is_forgotten_and_who_left_turns_open_is_lost(database_url: str) -> None:
    async with Store(database_url, worker="one") as store, Store(database_url, worker="two") as other:
        await store.workers.enter()
        assert await other.workers.beat()
        await store.workers.leave()
        async with store.database.read() as connection:
            assert (await connection.scalars(select(workers.c.id))).all() == ["two"]
        assert not await other.workers.beat()
