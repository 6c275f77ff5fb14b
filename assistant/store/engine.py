"""The database: one engine, short reads and short writes, SQLite and PostgreSQL alike."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Any, Final
from uuid import uuid4

import orjson
import structlog
from sqlalchemy import Connection, Dialect, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, DBAPIError, InvalidatePoolError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry, NullPool

from assistant.errors import BadSetting
from assistant.store.unreachable import is_unreachable, telling_unavailable

log = structlog.get_logger(__name__)

BUSY_TIMEOUT_MS: Final = 15_000
"""How long a SQLite writer waits for another process, in milliseconds."""

CONNECT_PATIENCE_S: Final = 10.0
"""For how long a PostgreSQL server that cannot be reached is waited for, in seconds."""

IDLE_S: Final = 1.0
"""A connection that has lain in the pool for longer is asked whether its server is still there, before it is used."""

REPLICA_CONNECT_S: Final = 2.0
"""Longest wait for a connection to the replica, in seconds; a search does not wait longer for what it can do without."""

REPLICA_REST_S: Final = 10.0
"""For how long a replica that could not be reached is left alone, in seconds."""

_DRIVERS: Final = {
    "sqlite": "sqlite+aiosqlite",
    "sqlite+aiosqlite": "sqlite+aiosqlite",
    "postgres": "postgresql+asyncpg",
    "postgresql": "postgresql+asyncpg",
    "postgresql+asyncpg": "postgresql+asyncpg",
}

# WAL with synchronous=FULL: a commit is on the disk before anyone is told of it, so that neither kill -9 nor a power
# cut takes back a word that was shown. Group commit keeps the price at one fsync per batch (decision 0002).
_PRAGMAS: Final = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=FULL",
    "PRAGMA foreign_keys=ON",
    f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}",
    "PRAGMA cache_size=-16384",
    "PRAGMA mmap_size=1073741824",
    "PRAGMA temp_store=MEMORY",
    "PRAGMA secure_delete=ON",
)


@dataclass(frozen=True, slots=True)
class Reach:
    """How a PostgreSQL database is reached beside its URL; SQLite, which is a file, has nothing of this.

    `replica_url` is a copy that may be behind, for searches and for reading the audit log. `direct_url` goes past a pooler
    of transactions (pgbouncer), where `url` goes through one: LISTEN and the making of indexes need one session.
    `prepared=False` keeps no prepared statement beyond its transaction, for poolers that do not carry them over.
    """

    pool_size: int = 8
    replica_url: str = ""
    direct_url: str = ""
    prepared: bool = True


def parse_url(url: str, setting: str = "database.url") -> URL:
    """The URL with the async driver filled in; BadSetting when it names no database this program can use."""
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise BadSetting("the database URL cannot be parsed", setting=setting) from error
    driver = _DRIVERS.get(parsed.drivername)
    if driver is None:
        raise BadSetting("use a sqlite:/// or postgresql:// URL", setting=setting, driver=parsed.drivername)
    if driver.startswith("sqlite") and parsed.database in (None, "", ":memory:"):
        raise BadSetting("SQLite needs a file", setting=setting)
    return parsed.set(drivername=driver)


def make_engine(
    url: str,
    *,
    pool_size: int = 8,
    pooled: bool = True,
    prepared: bool = True,
    connect_s: float = CONNECT_PATIENCE_S,
) -> AsyncEngine:
    """An engine with this program's settings for the dialect; opens nothing yet.

    Raises BadSetting for a URL that cannot be used. `pooled=False` opens a connection per use, for one-off commands.
    `prepared=False` and `connect_s` (longest wait for a connection, in seconds) are for PostgreSQL alone.
    """
    parsed = parse_url(url)
    # Parameters hold questions, answers and document text; errors and logs must not.
    options: dict[str, Any] = {
        "hide_parameters": True,
        "json_serializer": _dump_json,
        "json_deserializer": orjson.loads,
    }
    options |= {"pool_size": pool_size} if pooled else {"poolclass": NullPool}
    if parsed.drivername.startswith("postgresql"):
        options |= {"connect_args": _asyncpg_options(prepared, connect_s)}
    engine = create_async_engine(parsed, **options)
    if engine.dialect.name == "sqlite":
        event.listen(engine.sync_engine, "connect", prepare_sqlite)
        event.listen(engine.sync_engine, "begin", _begin_sqlite)
    else:
        event.listen(engine.sync_engine, "checkin", _note_use)
        event.listen(engine.sync_engine, "checkout", partial(_ping, engine.dialect))
    return engine


def _note_use(_connection: DBAPIConnection | None, record: ConnectionPoolEntry) -> None:
    record.info["used"] = monotonic()


def _ping(dialect: Dialect, connection: DBAPIConnection, record: ConnectionPoolEntry, _proxy: object) -> None:
    """Ask a connection that has lain idle whether its server is still there; a turn takes many, a moment apart."""
    if monotonic() - record.info.get("used", monotonic()) < IDLE_S:
        return
    try:
        dialect.do_ping(connection)
    except Exception as error:
        raise InvalidatePoolError from error


def _asyncpg_options(prepared: bool, connect_s: float) -> dict[str, Any]:
    options: dict[str, Any] = {"timeout": connect_s}
    if not prepared:
        # The sessions behind a pooler are shared: a name that asyncpg counts up would be taken there already.
        names: Callable[[], str] = lambda: f"__assistant_{uuid4()}__"  # noqa: E731
        options |= {"statement_cache_size": 0, "prepared_statement_cache_size": 0}
        options |= {"prepared_statement_name_func": names}
    return options


def _dump_json(value: object) -> str:
    return orjson.dumps(value).decode()


def prepare_sqlite(connection: Any, _record: object) -> None:
    """Give a new SQLite connection this program's settings."""
    connection.isolation_level = None  # transactions are begun below, not by the driver
    cursor = connection.cursor()
    for pragma in _PRAGMAS:
        cursor.execute(pragma)
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    # A transaction that will write takes the write lock at once: an upgrade from a read snapshot could only fail.
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


async def _given_back(connection: AsyncConnection) -> None:
    """Give a connection back, whole, also when its user is cancelled meanwhile, as at every socket that is closed.

    Cut off in this it would be lost, and the pool writes a trace of it.
    """
    await asyncio.shield(asyncio.ensure_future(connection.close()))


class Database:
    """An engine with the ways to use it. Transactions are short; none stays open while a model streams.

    Each of them raises StoreUnavailable when PostgreSQL cannot be reached for CONNECT_PATIENCE_S seconds, and when it breaks off.
    `replica` is the engine of a copy that may be behind; `direct_url` is where a connection is a session of its own.
    """

    def __init__(
        self, engine: AsyncEngine, *, replica: AsyncEngine | None = None, direct_url: URL | None = None
    ) -> None:
        self.engine = engine
        self.dialect = engine.dialect.name
        self.direct_url = direct_url or engine.url
        self._replica = replica
        self._replica_rests_until = 0.0
        self._writing = asyncio.Lock()

    @asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncConnection]:
        """A connection in a transaction for reading, which sees all that was committed. Giving it back ends the transaction."""
        with self._telling():
            async with self._connected() as connection:
                await connection.begin()
                yield connection

    def _telling(self) -> AbstractContextManager[None]:
        return nullcontext() if self.dialect == "sqlite" else telling_unavailable()

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[AsyncConnection]:
        """A connection; a server that is just being restarted is waited for, as nothing has begun that could be done twice."""
        connection = await self._connect()
        try:
            yield connection
        finally:
            await _given_back(connection)

    async def _connect(self) -> AsyncConnection:
        deadline, pause = monotonic() + CONNECT_PATIENCE_S, 0.05
        while True:
            try:
                return await self.engine.connect().start()
            except Exception as error:
                if self.dialect == "sqlite" or not is_unreachable(error) or monotonic() > deadline:
                    raise
                log.warning("the database cannot be reached", error=type(error).__name__)
            await asyncio.sleep(pause)
            pause = min(2 * pause, 1.0)

    @asynccontextmanager
    async def read_copy(self) -> AsyncIterator[AsyncConnection]:
        """A connection for reading what may be a little behind: to the replica, where there is one.

        While the replica cannot be reached, to the database itself. Never for what somebody has just written and looks
        for, nor for the question whether somebody may see something.
        """
        connection = await self._connect_to_replica()
        if connection is None:
            async with self.read() as own:
                yield own
            return
        try:
            with self._telling():
                async with connection.begin():
                    yield connection
        finally:
            await _given_back(connection)

    async def _connect_to_replica(self) -> AsyncConnection | None:
        if self._replica is None or monotonic() < self._replica_rests_until:
            return None
        connection = self._replica.connect()
        try:
            return await connection.start()
        except (OSError, DBAPIError) as error:
            self._replica_rests_until = monotonic() + REPLICA_REST_S
            log.warning("the replica cannot be reached", error=type(error).__name__, rest_s=REPLICA_REST_S)
            return None

    @asynccontextmanager
    async def write(self) -> AsyncIterator[AsyncConnection]:
        """A connection in a transaction that commits at the end, or rolls back on an error.

        SQLite has one writer at a time: the writers of this process queue here, fairly, instead of polling the file.
        """
        if self.dialect != "sqlite":
            with self._telling():
                async with self._connected() as connection, connection.begin():
                    yield connection
            return
        async with self.turn_to_write(), self.engine.connect() as connection:
            connection = await connection.execution_options(writes=True)
            async with connection.begin():
                yield connection

    def turn_to_write(self) -> asyncio.Lock:
        """Held by whoever writes to SQLite in this process."""
        return self._writing

    async def close(self) -> None:
        """Close all connections."""
        if self._replica is not None:
            await self._replica.dispose()
        await self.engine.dispose()


def open_database(url: str, *, pool_size: int = 8, reach: Reach | None = None) -> Database:
    """The database at `url`; BadSetting when a URL cannot be used, or names another kind of database than the first.

    With a `reach`, its pool size counts.
    """
    reach = reach or Reach(pool_size)
    engine = make_engine(url, pool_size=reach.pool_size, prepared=reach.prepared)
    replica = None
    if reach.replica_url:
        _check_postgresql(engine, reach.replica_url, "database.replica_url")
        replica = make_engine(
            reach.replica_url, pool_size=reach.pool_size, prepared=reach.prepared, connect_s=REPLICA_CONNECT_S
        )
    direct = _check_postgresql(engine, reach.direct_url, "database.direct_url") if reach.direct_url else None
    return Database(engine, replica=replica, direct_url=direct)


def _check_postgresql(engine: AsyncEngine, url: str, setting: str) -> URL:
    parsed = parse_url(url, setting)
    if engine.dialect.name != "postgresql" or not parsed.drivername.startswith("postgresql"):
        raise BadSetting("this is for PostgreSQL only", setting=setting)
    return parsed
