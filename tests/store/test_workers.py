"""Leases and turns that change hands: who is taken for gone, and what the one before may still write."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select, update

from assistant.core.events import AnswerDelta, AnswerFinished, TurnFinished
from assistant.core.turn import fold
from assistant.errors import Busy, IdempotencyMismatch
from assistant.interfaces import BegunTurn
from assistant.store import Store
from assistant.store.event_writers import TurnTaken
from assistant.store.tables import conversations, turns, workers
from assistant.store.workers import SqlWorkers, process_started
from tests.store.filling import ANN

LATER = datetime.now(UTC) + timedelta(hours=1)


async def begin(store: Store, name: str = "t", *, limit: int = 2) -> BegunTurn:
    opened = await store.conversations.open(ANN, None)
    return await store.conversations.begin_turn(
        ANN, opened.id, turn=name, client_id=name, text="Why?", mode="auto", limit=limit
    )


async def place_of(store: Store, turn: str) -> str:
    async with store.database.read() as connection:
        return str(await connection.scalar(select(turns.c.conversation).where(turns.c.id == turn)))


async def known(store: Store) -> list[str]:
    async with store.database.read() as connection:
        return sorted((await connection.scalars(select(workers.c.id))).all())


async def test_a_process_is_gone_by_its_lease_its_end_or_its_number(database_url: str) -> None:
    async with Store(database_url, worker="one") as one:
        me = one.workers
        others = {
            "lives": replace(me, id="lives", process=os.getpid()),
            "hangs": replace(me, id="hangs", clock=lambda: datetime.now(UTC) - timedelta(seconds=31)),
            "ended": replace(me, id="ended", process=2**22 + 1),
            "elsewhere": replace(me, id="elsewhere", host="other", process=2**22 + 1),
        }
        for worker in (me, *others.values()):
            await worker.enter()
        async with one.database.write() as connection:  # the number of a process that came later
            await connection.execute(
                workers.insert(),
                [{"id": "reused", "host": me.host, "process": os.getpid(), "process_started": "1"}
                 | {"started_at": datetime.now(UTC), "seen_at": datetime.now(UTC)}],
            )  # fmt: skip
        assert await me.beat()
        assert await me.claim_lost() == []
        assert await known(one) == ["elsewhere", "lives", "one"]


async def test_a_lost_turn_is_given_to_one_of_many(database_url: str) -> None:
    async with Store(database_url, worker="gone") as gone, Store(database_url, worker="one") as one:
        for n in range(5):
            await begin(gone, f"t{n}", limit=9)
        await one.workers.enter()
        many = [replace(one.workers, id=f"w{n}") for n in range(6)]
        for worker in many:
            await worker.enter()
        taken = await asyncio.gather(*(worker.claim_all_lost() for worker in many))
        assert sorted(turn for some in taken for _, turn in some) == [f"t{n}" for n in range(5)]


async def test_who_enters_while_another_looks_for_the_lost_keeps_its_turns(database_url: str) -> None:
    async with Store(database_url, worker="one") as one, Store(database_url, worker="two") as two:
        await one.workers.enter()

        class Slow(SqlWorkers):
            async def _alive(self, rows):  # type: ignore[no-untyped-def]
                alive = await super()._alive(rows)
                await two.workers.enter()
                await begin(two)
                return alive

        mine = one.workers
        slow = Slow(mine.database, mine.id, mine.clock, mine.lease_s, mine.host, mine.process)
        assert await slow.claim_all_lost() == []
        async with one.database.read() as connection:
            assert await connection.scalar(select(turns.c.worker)) == "two"


async def test_what_is_just_being_written_is_in_the_log_before_a_turn_is_taken(postgresql_url: str) -> None:
    """A writer that has asked whose the turn is and hangs before its commit must not commit behind the new one's reading."""
    async with Store(postgresql_url, worker="one") as one, Store(postgresql_url, worker="two") as two:
        await one.workers.enter()
        conversation = await place_of(one, (await begin(one)).turn)
        asked, go_on = asyncio.Event(), asyncio.Event()
        check = one.events._store._check_taken  # type: ignore[attr-defined]

        async def hangs(*given: object) -> None:
            await check(*given)
            asked.set()
            await go_on.wait()

        one.events._store._check_taken = hangs  # type: ignore[attr-defined]
        writing = asyncio.create_task(one.events.append(conversation, "t", [AnswerDelta(0, "late")]))
        await asked.wait()
        two_later = replace(two.workers, clock=lambda: LATER)
        claiming = asyncio.create_task(two_later.claim_lost())
        await waits(two)
        assert not claiming.done()
        go_on.set()
        assert await claiming == [(conversation, "t")]
        read = await two.events.read(conversation)
        assert [item.event.type for item in read] == ["turn.accepted", "answer.delta"]
        await writing
        with pytest.raises(TurnTaken):
            await one.events.append(conversation, "t", [AnswerDelta(4, "later")])
        assert await two.events.read(conversation) == read


async def waits(store: Store) -> None:
    """Return when a session of the database waits for a lock of another."""
    query = "SELECT count(*) FROM pg_locks WHERE NOT granted"
    async with asyncio.timeout(10):
        while True:
            async with store.database.read() as connection:
                if (await connection.exec_driver_sql(query)).scalar():
                    return


async def test_a_turn_that_was_taken_over_is_not_finished_by_the_one_before(database_url: str) -> None:
    async with Store(database_url, worker="one") as one, Store(database_url, worker="two") as two:
        conversation = await place_of(one, (await begin(one)).turn)
        await one.events.append(conversation, "t", [AnswerFinished(0, "", "error")])
        async with one.database.write() as connection:
            await connection.execute(update(turns).values(worker="two"))
        message = fold([TurnFinished("failed", error="model_unavailable")])
        with pytest.raises(TurnTaken):
            await one.conversations.finish_turn(conversation, "t", message)
        assert await two.conversations.error_of("t") is None
        receipt = await two.conversations.finish_turn(conversation, "t", replace(message, error="interrupted"))
        assert receipt is not None
        assert await two.conversations.error_of("t") == "interrupted"
        assert (
            await one.conversations.finish_turn(conversation, "t", message) == receipt
        )  # it has ended: nothing changes
        assert await two.conversations.error_of("t") == "interrupted"


async def test_limits_and_repeated_starts_hold_over_workers(database_url: str) -> None:
    async with Store(database_url, worker="one") as one, Store(database_url, worker="two") as two:
        opened = await one.conversations.open(ANN, None)
        begun = await asyncio.gather(
            *(
                store.conversations.begin_turn(
                    ANN, opened.id, turn=f"{store.workers.id}{n}", client_id="same", text="Why?", mode="auto"
                )
                for store in (one, two)
                for n in range(4)
            )
        )
        assert sorted(each.duplicate for each in begun) == [False] + [True] * 7
        assert len({each.turn for each in begun}) == 1
        with pytest.raises(IdempotencyMismatch):
            await two.conversations.begin_turn(ANN, opened.id, turn="x", client_id="same", text="Why not?", mode="auto")
        more = [begin(store, f"more-{store.workers.id}{n}") for store in (one, two) for n in range(3)]
        outcomes = await asyncio.gather(*more, return_exceptions=True)
        assert sum(isinstance(each, BegunTurn) for each in outcomes) == 1, "two turns at once, over all workers"
        assert sum(isinstance(each, Busy) for each in outcomes) == 5


async def test_a_stop_is_asked_for_once_and_only_of_open_turns(database_url: str) -> None:
    async with Store(database_url, worker="one") as one, Store(database_url, worker="two") as two:
        conversation = await place_of(one, (await begin(one)).turn)
        assert await one.workers.cancels() == []
        assert await two.workers.ask_cancel(ANN, conversation, "t")
        assert await one.workers.cancels() == ["t"]
        assert await two.workers.cancels() == []
        for conversation_, turn in ((conversation, "other"), ("other", "t"), (conversation, "t\x00"), ("\ud800", "t")):
            assert not await two.workers.ask_cancel(ANN, conversation_, turn)
        message = fold([TurnFinished("failed")])
        await one.conversations.finish_turn(conversation, "t", message)
        assert not await two.workers.ask_cancel(ANN, conversation, "t")
        assert await one.workers.cancels() == []


async def test_a_deleted_conversation_is_no_way_to_stop_a_turn(database_url: str) -> None:
    async with Store(database_url, worker="one") as one:
        conversation = await place_of(one, (await begin(one)).turn)
        async with one.database.write() as connection:
            await connection.execute(update(conversations).values(deleted_at=datetime.now(UTC)))
        assert not await one.workers.ask_cancel(ANN, conversation, "t")


def test_a_process_that_ended_and_is_not_yet_buried_has_ended() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    assert process_started(child) == "Z "
    os.waitpid(child, 0)
    assert process_started(child) == ""
    assert process_started(os.getpid()).isdigit()
