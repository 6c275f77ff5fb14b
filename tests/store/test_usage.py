"""Allowances of a day: counted with the turns, over all workers, per person and per tenant; refused until midnight UTC."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import count

import pytest
from sqlalchemy import select

from assistant.core.access import Caller
from assistant.core.allowance import DayLimits, Used
from assistant.core.events import UsageReported
from assistant.core.turn import TurnMessage
from assistant.errors import Busy, IdempotencyMismatch, NotFound
from assistant.interfaces import BegunTurn
from assistant.store.conversations import SqlConversationStore
from assistant.store.engine import Database, open_database
from assistant.store.pseudonyms import Pseudonyms, pseudonym
from assistant.store.tables import usage_days
from assistant.store.usage import NO_LIMITS, Meter, SqlUsage
from tests.store.filling import ANN, BOB, EVE, answer_of

_numbers = count(1)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HALF_A_DAY_MS = 12 * 3_600_000


def kept(
    database: Database, limits: DayLimits = NO_LIMITS, clock: Callable[[], datetime] = lambda: NOON
) -> SqlConversationStore:
    return SqlConversationStore(database, clock=clock, limits=limits)


async def begin(store: SqlConversationStore, caller: Caller = ANN, session: str | None = None) -> tuple[str, BegunTurn]:
    session = session or (await store.open(caller, None)).id
    n = next(_numbers)
    begun = await store.begin_turn(caller, session, turn=f"t{n}", client_id=f"c{n}", text="?", mode="auto", limit=9999)
    return session, begun


def answer(tokens_in: int = 100, tokens_out: int = 20, cost: float | None = 0.25) -> TurnMessage:
    return replace(answer_of([]), usage=UsageReported(1, tokens_in, tokens_out, 50, cost, None, None, None))


async def ask(store: SqlConversationStore, caller: Caller = ANN, message: TurnMessage | None = None) -> None:
    session, begun = await begin(store, caller)
    await store.finish_turn(session, begun.turn, message or answer())


async def used(database: Database, caller: Caller = ANN, at: datetime = NOON) -> Used:
    return (await SqlUsage(database, Meter(), clock=lambda: at).today(caller)).used


async def test_turns_count_when_they_begin_and_tokens_when_they_end(database: Database) -> None:
    store = kept(database)
    assert await used(database) == Used()
    session, begun = await begin(store)
    assert await used(database) == Used(turns=1)
    await store.finish_turn(session, begun.turn, answer())
    await store.finish_turn(session, begun.turn, answer())  # a second time changes nothing
    assert await used(database) == Used(1, 120, 0.25)
    await ask(store, message=answer(1, 2, None))
    assert await used(database) == Used(2, 123, 0.25)
    assert await used(database, BOB) == Used()
    assert await used(database, Caller("rival", "ann")) == Used()


async def test_what_was_not_begun_is_not_counted(database: Database) -> None:
    store = kept(database)
    session, begun = await begin(store)
    same = f"c{begun.turn[1:]}"
    assert (await store.begin_turn(ANN, session, turn="x", client_id=same, text="?", mode="auto")).duplicate
    with pytest.raises(IdempotencyMismatch):
        await store.begin_turn(ANN, session, turn="x", client_id=same, text="other", mode="auto")
    with pytest.raises(NotFound):
        await begin(store, BOB, session)
    with pytest.raises(Busy):
        await store.begin_turn(ANN, session, turn="y", client_id="y", text="?", mode="auto", limit=1)
    assert await used(database) == Used(turns=1)
    assert await used(database, BOB) == Used()


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (DayLimits(user_turns=2), "user_turns"),
        (DayLimits(user_tokens=240), "user_tokens"),
        (DayLimits(user_cost=0.5), "user_cost"),
        (DayLimits(tenant_turns=2), "tenant_turns"),
        (DayLimits(tenant_tokens=240), "tenant_tokens"),
        (DayLimits(tenant_cost=0.5), "tenant_cost"),
    ],
)
async def test_a_limit_refuses_until_midnight(database: Database, limits: DayLimits, reason: str) -> None:
    clock = NOON
    store = kept(database, limits, lambda: clock)
    await ask(store)
    await ask(store)
    with pytest.raises(Busy) as refused:
        await begin(store)
    assert refused.value.data == {"reason": reason, "retry_after_ms": HALF_A_DAY_MS}
    today = await SqlUsage(database, Meter(limits), clock=lambda: clock).today(ANN)
    assert (today.reached, today.resets_in_ms, today.used) == (reason, HALF_A_DAY_MS, Used(2, 240, 0.5))
    if reason.startswith("user"):
        await ask(store, BOB)
    else:
        with pytest.raises(Busy):
            await begin(store, BOB)
    await ask(store, EVE)  # of another tenant
    clock = NOON + timedelta(milliseconds=HALF_A_DAY_MS)
    await ask(store)
    assert await used(database, at=clock) == Used(1, 120, 0.25)


async def test_tenants_are_told_of_their_own_use_only(database: Database) -> None:
    store = kept(database)
    await ask(store, BOB)
    today = await SqlUsage(database, Meter(DayLimits(tenant_turns=1)), clock=lambda: NOON).today(ANN)
    assert (today.used, today.reached) == (Used(), "tenant_turns")


async def test_a_repeat_is_answered_when_all_is_used_up(database: Database) -> None:
    store = kept(database, DayLimits(user_turns=1))
    session, begun = await begin(store)
    again = await store.begin_turn(
        ANN, session, turn="x", client_id=f"c{begun.turn[1:]}", text="?", mode="auto", limit=9999
    )
    assert (again.duplicate, again.turn) == (True, begun.turn)


async def test_a_turn_over_midnight_counts_where_it_began_and_where_it_ended(database: Database) -> None:
    clock = NOON + timedelta(hours=11, minutes=59)
    store = kept(database, clock=lambda: clock)
    session, begun = await begin(store)
    clock += timedelta(minutes=2)
    await store.finish_turn(session, begun.turn, answer())
    assert await used(database) == Used(turns=1)
    assert await used(database, at=clock) == Used(0, 120, 0.25)


async def test_people_are_counted_under_their_pseudonyms(database: Database) -> None:
    await ask(kept(database))
    async with database.read() as connection:
        (row,) = (await connection.execute(select(usage_days))).all()
    assert (row.tenant, row.day, row.person) == ("acme", date(2026, 3, 1), pseudonym(ANN))
    meter = Meter(names=Pseudonyms(b"s" * 32))
    async with database.write() as connection:
        await meter.count_turn(connection, ANN, NOON)
    assert (await SqlUsage(database, meter, clock=lambda: NOON).today(ANN)).used == Used(turns=1)


@asynccontextmanager
async def workers(url: str, number: int) -> AsyncIterator[list[Database]]:
    """The same database as several processes open it."""
    opened = [open_database(url) for _ in range(number)]
    yield opened
    for each in opened:
        await each.close()


@pytest.mark.parametrize("limits", [DayLimits(user_turns=3), DayLimits(tenant_turns=3)])
async def test_starts_at_once_on_several_workers_do_not_pass_a_limit(database_url: str, limits: DayLimits) -> None:
    async with workers(database_url, 3) as databases:
        stores = [kept(each, limits) for each in databases]
        callers = [ANN, ANN] if limits.user_turns else [ANN, BOB]
        sessions = [(store, caller, (await store.open(caller, None)).id) for store in stores for caller in callers * 2]
        results = await asyncio.gather(
            *(begin(store, caller, session) for store, caller, session in sessions), return_exceptions=True
        )
        begun = [result for result in results if not isinstance(result, BaseException)]
        refused = [result for result in results if isinstance(result, Busy)]
        assert (len(begun), len(refused)) == (3, 9)


async def test_answers_that_end_at_once_are_all_counted(database_url: str) -> None:
    async with workers(database_url, 2) as databases:
        stores = [kept(each) for each in databases]
        begun = [(store, *await begin(store)) for store in stores for _ in range(5)]
        await asyncio.gather(*(store.finish_turn(session, turn.turn, answer()) for store, session, turn in begun))
        assert await used(databases[0]) == Used(10, 1200, 2.5)
