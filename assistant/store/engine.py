"""The database: one engine, short reads and short writes, SQLite and PostgreSQL alike."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import orjson
from sqlalchemy import Connection, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool

from assistant.errors import BadSetting

BUSY_TIMEOUT_MS: Final = 15_000
"""How long a SQLite writer waits for another process, in milliseconds."""

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


def parse_url(url: str) -> URL:
    """The URL with the async driver filled in; BadSetting when it names no database this program can use."""
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise BadSetting("the database URL cannot be parsed", setting="database.url") from error
    driver = _DRIVERS.get(parsed.drivername)
    if driver is None:
        raise BadSetting("use a sqlite:/// or postgresql:// URL", setting="database.url", driver=parsed.drivername)
    if driver.startswith("sqlite") and parsed.database in (None, "", ":memory:"):
        raise BadSetting("SQLite needs a file", setting="database.url")
    return parsed.set(drivername=driver)


def make_engine(url: str, *, pool_size: int = 8, pooled: bool = True) -> AsyncEngine:
    """An engine with this program's settings for the dialect; opens nothing yet.

    Raises BadSetting for a URL that cannot be used. `pooled=False` opens a connection per use, for one-off commands.
    """
    parsed = parse_url(url)
    # Parameters hold questions, answers and document text; errors and logs must not.
    options: dict[str, Any] = {
        "hide_parameters": True,
        "json_serializer": _dump_json,
        "json_deserializer": orjson.loads,
    }
    options |= {"pool_size": pool_size} if pooled else {"poolclass": NullPool}
    if pooled and parsed.drivername.startswith("postgresql"):
        options |= {"pool_pre_ping": True}  # a server may have been restarted; a file has not
    engine = create_async_engine(parsed, **options)
    if engine.dialect.name == "sqlite":
        event.listen(engine.sync_engine, "connect", prepare_sqlite)
        event.listen(engine.sync_engine, "begin", _begin_sqlite)
    return engine


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


class Database:
    """An engine with the two ways to use it. Transactions are short; none stays open while a model streams."""

    def __init__(self, engine: AsyncEngine) -> None:
        self.engine = engine
        self.dialect = engine.dialect.name
        self._writing = asyncio.Lock()

    @asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncConnection]:
        """A connection in a transaction for reading."""
        async with self.engine.connect() as connection, connection.begin():
            yield connection

    @asynccontextmanager
    async def write(self) -> AsyncIterator[AsyncConnection]:
        """A connection in a transaction that commits at the end, or rolls back on an error.

        SQLite has one writer at a time: the writers of this process queue here, fairly, instead of polling the file.
        """
        if self.dialect != "sqlite":
            async with self.engine.begin() as connection:
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
        await self.engine.dispose()


def open_database(url: str, *, pool_size: int = 8) -> Database:
    """The database at `url`; BadSetting when the URL cannot be used."""
    return Database(make_engine(url, pool_size=pool_size))
