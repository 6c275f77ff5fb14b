"""What processes of one database hear of each other, and how they hear again after a break."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager

from sqlalchemy import select

from assistant.core.events import AnswerDelta
from assistant.store import Store
from assistant.store.signals import PostgresqlSignals, SqliteSignals, tell, tell_cancel
from assistant.store.tables import turns
from tests.store.filling import ANN
from tests.store.test_workers import begin

Heard = frozenset[str] | None


@asynccontextmanager
async def pair(url: str) -> AsyncIterator[tuple[Store, Store]]:
    async with Store(url, worker="one") as one, Store(url, worker="two") as two:
        yield one, two


async def following(news: AsyncGenerator[Heard, None]) -> Heard:
    async with asyncio.timeout(10):
        return await anext(news)


async def test_postgresql_tells_the_others_and_not_oneself(postgresql_url: str) -> None:
    async with (
        pair(postgresql_url) as (one, two),
        aclosing(PostgresqlSignals(one.database, "one").heard()) as here,
        aclosing(PostgresqlSignals(two.database, "two").heard()) as there,
    ):
        assert await following(here) is None  # what happened before may be anything
        assert await following(there) is None
        begun = await begin(one)
        async with one.database.read() as connection:
            conversation = await connection.scalar(select(turns.c.conversation))
        assert await following(there) == frozenset({conversation})
        await one.events.append(str(conversation), begun.turn, [AnswerDelta(0, "a"), AnswerDelta(1, "b")])
        assert await following(there) == frozenset({conversation})  # one for all of a batch
        await two.workers.ask_cancel(ANN, str(conversation), begun.turn)
        assert await following(here) == frozenset({"!"})  # its own it has not heard


async def test_what_is_rolled_back_is_not_told_and_what_is_too_long_is_anything(postgresql_url: str) -> None:
    async with (
        pair(postgresql_url) as (one, two),
        aclosing(PostgresqlSignals(two.database, "two").heard()) as there,
    ):
        await following(there)
        async with one.database.engine.connect() as connection:
            await tell(connection, "one", ["lost"])
            await connection.rollback()
        async with one.database.write() as connection:
            await tell(connection, "one", [f"c{n:030}" for n in range(500)])
        assert await following(there) is None
        async with one.database.write() as connection:
            await tell_cancel(connection, None)
        assert await following(there) == frozenset({"!"})


async def test_a_connection_that_was_cut_is_made_anew(postgresql_url: str) -> None:
    async with (
        pair(postgresql_url) as (one, two),
        aclosing(PostgresqlSignals(two.database, "two", pause=0.01).heard()) as there,
    ):
        await following(there)
        for _ in range(2):
            async with one.database.write() as connection:
                cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'"
                assert (await connection.exec_driver_sql(cut)).scalar() is True
            assert await following(there) is None  # the break
            assert await following(there) is None  # and what was missed in it
            async with one.database.write() as connection:
                await tell(connection, "one", ["c"])
            assert await following(there) == frozenset({"c"})


async def test_more_than_anybody_reads_becomes_anything(postgresql_url: str) -> None:
    async with (
        pair(postgresql_url) as (one, two),
        aclosing(PostgresqlSignals(two.database, "two", pause=0.01).heard()) as there,
    ):
        await following(there)
        for n in range(3):
            async with one.database.write() as connection:
                for m in range(500):
                    await tell(connection, "one", [f"{n}-{m}"])
        async with one.database.write() as connection:
            await tell(connection, "one", ["last"])
        heard: list[Heard] = []
        while not heard or heard[-1] not in (None, frozenset({"last"})):
            heard.append(await following(there))
        assert len(heard) <= 1_001


async def test_sqlite_hears_of_writes_only_while_there_are_others(sqlite_url: str) -> None:
    async with pair(sqlite_url) as (one, two):
        others = False
        async with aclosing(SqliteSignals(two.database, lambda: others, pause=0.01).heard()) as there:
            first = asyncio.ensure_future(anext(there))
            await begin(one)
            done, _ = await asyncio.wait({first}, timeout=0.2)
            assert not done
            others = True
            async with asyncio.timeout(10):
                assert await first is None
            again = asyncio.ensure_future(anext(there))
            done, _ = await asyncio.wait({again}, timeout=0.2)
            assert not done, "nothing was written"
            await begin(one, "u")
            async with asyncio.timeout(10):
                assert await again is None
