"""What processes of one database tell each other: LISTEN and NOTIFY in PostgreSQL, the version of the file in SQLite."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import suppress
from typing import Any, Final

import asyncpg
import structlog
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from assistant.interfaces import CANCEL
from assistant.store.engine import Database
from assistant.store.sqlite_threads import SqliteThreads

log = structlog.get_logger(__name__)

CHANNEL: Final = "assistant"
_LONGEST: Final = 7_900
"""PostgreSQL takes payloads below 8,000 bytes; a longer list becomes "anything"."""
_ANYTHING: Final = "*"
_WAITING: Final = 1_000
_CONNECT_S: Final = 10.0
_QUIET_S: Final = 20.0
"""After so long without a word the connection is asked whether it is still there."""


async def tell(connection: AsyncConnection, worker: str | None, conversations: Iterable[str]) -> None:
    """Tell the other processes, when this transaction commits, that these conversations got events."""
    if connection.dialect.name != "postgresql":
        return
    payload = "\n".join((worker or "", *conversations))
    payload = payload if len(payload) < _LONGEST else f"{worker or ''}\n{_ANYTHING}"
    await connection.execute(select(func.pg_notify(CHANNEL, payload)))


async def tell_cancel(connection: AsyncConnection, worker: str | None) -> None:
    """Tell the other processes, when this transaction commits, that somebody asked to stop a turn."""
    await tell(connection, worker, [CANCEL])


def signals_of(database: Database, worker: str, others: Callable[[], bool]) -> PostgresqlSignals | SqliteSignals:
    """The Signals that fit the database. `others` says whether any other process is on it."""
    if database.dialect == "postgresql":
        return PostgresqlSignals(database, worker)
    return SqliteSignals(database, others)


class PostgresqlSignals:
    """Listens on a connection of its own; after every break, anything may have happened."""

    def __init__(self, database: Database, worker: str, *, pause: float = 1.0) -> None:
        self._url = database.direct_url.set(drivername="postgresql").render_as_string(hide_password=False)
        self._worker = worker
        self._pause = pause

    async def heard(self) -> AsyncGenerator[frozenset[str] | None, None]:
        """Conversations that got events elsewhere, as it happens; None when anything may have happened."""
        payloads: asyncio.Queue[str | None] = asyncio.Queue(_WAITING)
        while True:
            try:
                connection = await self._listen(payloads)
            except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
                log.warning("other workers cannot be heard", error=type(error).__name__)
            else:
                try:
                    yield None
                    while (payload := await _next_payload(connection, payloads)) is not None:
                        sender, *conversations = payload.split("\n")
                        if sender != self._worker:
                            yield None if _ANYTHING in conversations else frozenset(conversations)
                finally:
                    with suppress(Exception):
                        await connection.close(timeout=1)
            await asyncio.sleep(self._pause)
            yield None

    async def _listen(self, payloads: asyncio.Queue[str | None]) -> Any:
        """A connection whose notifications are put into the queue, and None when it breaks."""
        connection = await asyncpg.connect(self._url, timeout=_CONNECT_S)
        try:
            connection.add_termination_listener(lambda _: _offer(payloads, None))
            await connection.add_listener(CHANNEL, lambda *said: _offer(payloads, said[-1]))
        except BaseException:
            connection.terminate()
            raise
        return connection


async def _next_payload(connection: Any, payloads: asyncio.Queue[str | None]) -> str | None:
    """The next payload; None when the connection broke, also one that only looks alive (its network is gone)."""
    while True:
        with suppress(TimeoutError):
            async with asyncio.timeout(_QUIET_S):
                return await payloads.get()
        try:
            await connection.fetchval("SELECT 1", timeout=_CONNECT_S)
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
            return None


def _offer(payloads: asyncio.Queue[str | None], payload: Any) -> None:
    """Put a payload; where too many wait already they all become one break, after which anything is looked at."""
    if payloads.full():
        while not payloads.empty():
            payloads.get_nowait()
        payload = None
    payloads.put_nowait(payload)


class SqliteSignals:
    """Looks at the version of the file, as long as there are other processes."""

    def __init__(self, database: Database, others: Callable[[], bool], *, pause: float = 0.2) -> None:
        self._database = database
        self._others = others
        self._pause = pause

    async def heard(self) -> AsyncGenerator[frozenset[str] | None, None]:
        """None whenever somebody, perhaps this process itself, wrote to the file."""
        thread = SqliteThreads(self._database, 1, "signals")
        last = -1
        try:
            while True:
                await asyncio.sleep(self._pause)
                if not self._others():
                    continue
                version = await thread.read(_data_version)
                if version != last:
                    last = version
                    yield None
        finally:
            await thread.close()


def _data_version(connection: sqlite3.Connection) -> int:
    """A number that changes when another connection has written to the file."""
    return int(connection.execute("PRAGMA data_version").fetchone()[0])
