"""Partitions by month in PostgreSQL, for the events of conversations and the records of the audit log (decision 0013).

An event lies in the month in which its conversation began, as the id of the conversation says (a ULID), a record in that of its
time. What fits no month lies in the default partition, so nothing is ever refused. SQLite has one table for each; here everything
does nothing then.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import structlog
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection
from ulid import ULID

from assistant.store.engine import Database, make_engine

log = structlog.get_logger(__name__)

MOST_MOVED: Final = 100_000
"""Rows of a month that are moved out of the default partition; where there are more, that month stays in it."""


@dataclass(frozen=True, slots=True)
class Waits:
    """For how long partitions are waited for, in milliseconds.

    `lock_ms` is below the second after which PostgreSQL looks for a circle of waits (`deadlock_timeout`): in such a circle it is this
    work that gives up, never somebody's turn. `statement_ms` bounds the moving of rows, during which the default partition is locked.
    """

    lock_ms: int = 500
    statement_ms: int = 60_000


WAITS: Final = Waits()


@dataclass(frozen=True, slots=True)
class _Parted:
    """A table in partitions: the value at which a month begins, how the column is compared, and the keys of each partition."""

    table: str
    column: str
    from_: str
    below: str
    begin: Callable[[datetime], str]
    keys: str

    @property
    def default(self) -> str:
        """The partition of what fits no month."""
        return f"{self.table}_default"


# Processes of before decision 0013 know a second end of a turn by the beginning of the name of the index.
_EVENTS: Final = _Parted(
    "events",
    "conversation",
    "~>=~",
    "~<~",
    lambda month: str(ULID.from_timestamp(int(month.timestamp() * 1000)))[:10],
    "CREATE UNIQUE INDEX ix_events_done_{month} ON {name} (conversation, turn) WHERE type = 'turn.done'",
)
_RECORDS: Final = _Parted(
    "audit_records",
    "at",
    ">=",
    "<",
    lambda month: f"{month:%Y-%m}",
    "ALTER TABLE {name} ADD CONSTRAINT pk_{name} PRIMARY KEY (tenant, seq), ADD CONSTRAINT uq_{name}_id UNIQUE (id)",
)
_PARTED: Final = (_EVENTS, _RECORDS)

_PARTITION: Final = re.compile(r"(events|audit_records)_\w+")
_LOCK: Final = text("SELECT pg_advisory_xact_lock(hashtext('partitions by month'))")
_WAIT: Final = text("SELECT set_config('lock_timeout', :lock, true), set_config('statement_timeout', :statement, true)")
_BOUNDS: Final = text("""
    SELECT c.relname AS name, pg_get_expr(c.relpartbound, c.oid) AS bound
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = to_regclass(:table) ORDER BY c.relname
""")
_BETWEEN: Final = re.compile(r"FOR VALUES FROM \((?:MINVALUE|'(?P<low>.*)')\) TO \('(?P<high>.*)'\)")
_NOT_NOW: Final = {"55P03": "in_use", "40P01": "in_use", "57014": "too_slow", "42501": "no_right"}


@dataclass(frozen=True, slots=True)
class _Partition:
    """A partition that holds what is from `low` (None: whatever is lower) and below `high`."""

    name: str
    low: str | None
    high: str


def is_partition(table: str) -> bool:
    """Whether a table of this name is a partition of another one."""
    return _PARTITION.fullmatch(table) is not None


async def prepare(
    database: Database, now: datetime, ahead: int = 2, *, waits: Waits = WAITS, most_moved: int = MOST_MOVED
) -> list[str]:
    """Make the partitions of this month and the `ahead` next ones that are missing; the names of those that were made.

    Rows of such a month that lie in the default partition are moved, where these are not more than `most_moved`. Each partition is a short
    transaction of its own. One that cannot be made now is logged and left for the next call: a table is in use, another process is at it, the role may
    not make tables.
    """
    if database.dialect != "postgresql":
        return []
    made: list[str] = []
    for parted in _PARTED:
        for n in range(ahead + 1):
            name = await _make(database, parted, _month(now, n), waits, most_moved)
            made += [] if name is None else [name]
    return made


async def drop_empty(database: Database, now: datetime, *, waits: Waits = WAITS) -> list[str]:
    """Drop the partitions of months before this one that have no row, and give their names; what cannot be dropped now stays.

    A row that comes later for such a month lies in the default partition.
    """
    if database.dialect != "postgresql":
        return []
    dropped: list[str] = []
    for parted in _PARTED:
        async with database.read() as connection:
            known = await _partitions(connection, parted)
            old = [one.name for one in known if one.high <= parted.begin(_month(now, 0))]
            empty = [name for name in old if await _is_empty(connection, name)]
        for name in empty:
            dropped += [name] if await _drop(database, parted, name, waits) else []
    return dropped


async def prepare_at(url: str, now: datetime) -> list[str]:
    """`prepare` for the migrated database at `url`, as its first process or a command does."""
    database = Database(make_engine(url, pooled=False))
    try:
        return await prepare(database, now)
    finally:
        await database.close()


def _month(now: datetime, later: int) -> datetime:
    """The beginning of the month that is so many months after that of `now`, in UTC."""
    years, month = divmod(now.astimezone(UTC).month - 1 + later, 12)
    return datetime(now.astimezone(UTC).year + years, month + 1, 1, tzinfo=UTC)


@asynccontextmanager
async def _alone(database: Database, waits: Waits) -> AsyncIterator[AsyncConnection]:
    """A transaction of the one process that works at partitions, which waits for nobody for long; others wait for their turn."""
    async with database.write() as connection:
        await connection.execute(_WAIT, {"lock": str(waits.lock_ms), "statement": str(waits.statement_ms)})
        await connection.execute(_LOCK)
        yield connection


async def _make(database: Database, parted: _Parted, month: datetime, waits: Waits, most_moved: int) -> str | None:
    name = f"{parted.table}_{month:%Y_%m}"
    low, high = parted.begin(month), parted.begin(_month(month, 1))
    async with database.read() as connection:
        if _covers(await _partitions(connection, parted), low):
            return None
    try:
        async with _alone(database, waits) as alone:
            if _covers(await _partitions(alone, parted), low):
                return None
            moved = await _attach(alone, parted, name, (low, high), most_moved)
    except DBAPIError as error:
        _log_or_raise(error, name)
        return None
    if moved is None:
        log.warning("partition.left_in_default", partition=name, most=most_moved)
        return None
    log.info("partition.made", partition=name, moved=moved)
    return name


async def _attach(
    connection: AsyncConnection, parted: _Parted, name: str, bounds: tuple[str, str], most: int
) -> int | None:
    """Make the partition with the rows that lie in the default one; how many, or None, and nothing made, where they are too many."""
    low, high = bounds
    table, default = parted.table, parted.default
    # In the order in which ATTACH takes them; from here on nobody writes to the default partition.
    await connection.execute(text(f"LOCK TABLE ONLY {table} IN SHARE UPDATE EXCLUSIVE MODE"))
    await connection.execute(text(f"LOCK TABLE {default} IN ACCESS EXCLUSIVE MODE"))
    within = f"{parted.column} {parted.from_} :low AND {parted.column} {parted.below} :high"
    values = {"low": low, "high": high}
    some = text(f"SELECT count(*) FROM (SELECT FROM {default} WHERE {within} LIMIT :most + 1) one")  # noqa: S608 - our own names
    count = int(await connection.scalar(some, {**values, "most": most}) or 0)
    if count > most:
        return None
    await connection.execute(text(f"CREATE TABLE {name} (LIKE {table} INCLUDING ALL EXCLUDING INDEXES)"))
    if count:
        gone = f"WITH gone AS (DELETE FROM {default} WHERE {within} RETURNING *)"  # noqa: S608 - our own names
        await connection.execute(text(f"{gone} INSERT INTO {name} SELECT * FROM gone"), values)  # noqa: S608 - our own names
    await connection.execute(text(parted.keys.format(name=name, month=name.removeprefix(f"{table}_"))))
    # The other indexes and the foreign key come with ATTACH.
    attach = f"ALTER TABLE {table} ATTACH PARTITION {name} FOR VALUES FROM ('{low}') TO ('{high}')"
    await connection.execute(text(attach))
    return count


async def _drop(database: Database, parted: _Parted, name: str, waits: Waits) -> bool:
    try:
        async with _alone(database, waits) as alone:
            # What DROP takes, in its order, before it is looked again.
            await alone.execute(text(f"LOCK TABLE ONLY {parted.table} IN ACCESS EXCLUSIVE MODE"))
            await alone.execute(text(f"LOCK TABLE {parted.default} IN ACCESS EXCLUSIVE MODE"))
            await alone.execute(text(f"LOCK TABLE {name} IN ACCESS EXCLUSIVE MODE"))
            if not await _is_empty(alone, name):
                return False
            await alone.execute(text(f"DROP TABLE {name}"))
    except DBAPIError as error:
        _log_or_raise(error, name)
        return False
    log.info("partition.dropped", partition=name)
    return True


async def _partitions(connection: AsyncConnection, parted: _Parted) -> list[_Partition]:
    """The partitions of a table without the default one."""
    rows = await connection.execute(_BOUNDS, {"table": parted.table})
    found = [(row.name, _BETWEEN.fullmatch(row.bound)) for row in rows]
    return [_Partition(name, bound["low"], bound["high"]) for name, bound in found if bound is not None]


def _covers(partitions: Sequence[_Partition], begin: str) -> bool:
    """Whether a month that begins so has a partition."""
    return any((one.low is None or one.low <= begin) and begin < one.high for one in partitions)


async def _is_empty(connection: AsyncConnection, name: str) -> bool:
    return not await connection.scalar(text(f"SELECT EXISTS (SELECT FROM {name})"))  # noqa: S608 - our own names


def _log_or_raise(error: DBAPIError, name: str) -> None:
    """Log what will go another time; all else is raised."""
    reason = _NOT_NOW.get(str(getattr(error.orig, "sqlstate", "")))
    if reason is None:
        raise error
    log.warning("partition.not_now", partition=name, reason=reason)
