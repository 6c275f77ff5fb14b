"""Writing a batch of appends in one transaction: numbers from the head of each conversation, then the rows."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Protocol

import orjson
from sqlalchemy import bindparam, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from assistant.core.events import TurnEvent
from assistant.errors import NotFound, Refusal
from assistant.interfaces import NumberedEvent
from assistant.store.engine import Database
from assistant.store.signals import tell
from assistant.store.sqlite_threads import SqliteThreads
from assistant.store.tables import conversations, events, turns


@dataclass(slots=True)
class Append:
    """One call that waits for its commit: events, their `type` and `d`; the rest is what the last attempt gave them."""

    conversation: str
    turn: str
    events: Sequence[TurnEvent]
    rows: Sequence[tuple[str, dict[str, Any]]]
    done: asyncio.Future[list[NumberedEvent]]
    first_seq: int | None = None
    at: datetime | None = None
    numbered: list[NumberedEvent] = field(default_factory=list)

    @property
    def attempted(self) -> bool:
        """Whether the events were numbered before: they may be in the log although an error was reported."""
        return self.first_seq is not None

    def number(self, head: int, at: datetime) -> int:
        """Give the events the numbers after `head`; return the new head."""
        self.first_seq, self.at = head + 1, at
        self.numbered = [NumberedEvent(head + n, self.turn, at, event) for n, event in enumerate(self.events, start=1)]
        return head + len(self.events)


class EventWriter(Protocol):
    """Commits a batch as a whole or not at all. Safe beside other processes that do the same."""

    async def write(self, batch: Sequence[Append], at: datetime) -> None:
        """Number and commit the batch; NotFound, with nothing written, when a conversation does not exist.

        An append of an earlier attempt that went through, although its commit reported an error, is left as it is.
        """
        ...

    async def close(self) -> None:
        """Give back what the writer holds."""
        ...


def event_writer(database: Database, worker: str | None = None) -> EventWriter:
    """The writer that fits the database; a `worker` writes no events of turns that another one has taken over."""
    if database.dialect == "postgresql":
        return PostgresqlEventWriter(database, worker)
    return SqliteEventWriter(database, worker)


class TurnTaken(Refusal):
    """Another worker has taken the turn over, because it took this one for gone."""

    code = "turn_taken"


class PostgresqlEventWriter:
    """Locks the heads of all conversations of the batch, moves them and inserts the rows."""

    _HEADS: Final = (
        select(conversations.c.id, conversations.c.head_seq)
        .where(conversations.c.id.in_(bindparam("ids", expanding=True)))
        .order_by(conversations.c.id)  # one order for all processes, so that they never wait in a circle
        .with_for_update()
    )
    _MOVE: Final = (
        update(conversations).where(conversations.c.id == bindparam("b_id")).values(head_seq=bindparam("b_head"))
    )

    _TAKEN: Final = select(turns.c.id).where(
        turns.c.id.in_(bindparam("turns", expanding=True)), turns.c.worker != bindparam("worker")
    )

    def __init__(self, database: Database, worker: str | None = None) -> None:
        self._database = database
        self._worker = worker

    async def write(self, batch: Sequence[Append], at: datetime) -> None:
        """Number and commit the batch."""
        async with self._database.write() as connection:
            ids = sorted({call.conversation for call in batch})
            heads = {row.id: row.head_seq for row in await connection.execute(self._HEADS, {"ids": ids})}
            _check_all(ids, heads)
            await self._check_taken(connection, batch)
            fresh = [call for call in batch if not await self._was_committed(connection, call)]
            rows = _rows(fresh, heads, at)
            if rows:
                moved = [{"b_id": id_, "b_head": head} for id_, head in heads.items()]
                await connection.execute(self._MOVE, moved)
                await connection.execute(insert(events), rows)
                await tell(connection, self._worker, ids)

    async def _check_taken(self, connection: AsyncConnection, batch: Sequence[Append]) -> None:
        if self._worker is None:
            return
        known = {"turns": sorted({call.turn for call in batch}), "worker": self._worker}
        if taken := await connection.scalar(self._TAKEN, known):
            raise TurnTaken("another worker has the turn", turn=taken)

    async def _was_committed(self, connection: AsyncConnection, call: Append) -> bool:
        if not call.attempted:
            return False
        place = (events.c.conversation == call.conversation) & (events.c.seq == call.first_seq)
        row = (await connection.execute(select(events.c.turn, events.c.at).where(place))).one_or_none()
        return row is not None and (row.turn, row.at) == (call.turn, call.at)

    async def close(self) -> None:
        """Nothing is held."""


class SqliteEventWriter:
    """One connection in one thread for one transaction at a time.

    A commit costs a tenth of the processor time that the same statements cost one by one through the async driver, and
    commits are what a running turn makes most of (decision 0002).
    """

    def __init__(self, database: Database, worker: str | None = None) -> None:
        self._database = database
        self._worker = worker
        self._thread = SqliteThreads(database, 1, "event-writer")

    async def write(self, batch: Sequence[Append], at: datetime) -> None:
        """Number and commit the batch."""
        async with self._database.turn_to_write():
            await self._thread.write(_write_sqlite, batch, at, self._worker)

    async def close(self) -> None:
        """Close the connection and end the thread."""
        await self._thread.close()


def _write_sqlite(
    connection: sqlite3.Connection, batch: Sequence[Append], at: datetime, worker: str | None = None
) -> None:
    heads = _sqlite_heads(connection, sorted({call.conversation for call in batch}))
    for turn in {call.turn for call in batch} if worker is not None else ():
        if connection.execute(_TAKEN, (turn, worker)).fetchone():
            raise TurnTaken("another worker has the turn", turn=turn)
    rows = _rows([call for call in batch if not _is_in_sqlite(connection, call)], heads, at)
    moved = [(head, id_) for id_, head in heads.items()]
    connection.executemany("UPDATE conversations SET head_seq = ? WHERE id = ?", moved)
    connection.executemany(_INSERT, map(_sqlite_row, rows))


_TAKEN: Final = "SELECT 1 FROM turns WHERE id = ? AND worker <> ?"
_INSERT: Final = "INSERT INTO events (conversation, seq, turn, type, at, d) VALUES (?, ?, ?, ?, ?, ?)"


def _sqlite_heads(connection: sqlite3.Connection, ids: Iterable[str]) -> dict[str, int]:
    heads: dict[str, int] = {}
    for id_ in ids:
        row = connection.execute("SELECT head_seq FROM conversations WHERE id = ?", (id_,)).fetchone()
        heads |= {} if row is None else {id_: row[0]}
    _check_all(ids, heads)
    return heads


def _is_in_sqlite(connection: sqlite3.Connection, call: Append) -> bool:
    if not call.attempted or call.at is None:
        return False
    query = "SELECT turn, at FROM events WHERE conversation = ? AND seq = ?"
    row = connection.execute(query, (call.conversation, call.first_seq)).fetchone()
    return row is not None and tuple(row) == (call.turn, _sqlite_instant(call.at))


def _sqlite_row(row: Mapping[str, Any]) -> tuple[Any, ...]:
    d = orjson.dumps(row["d"]).decode()
    return (row["conversation"], row["seq"], row["turn"], row["type"], _sqlite_instant(row["at"]), d)


def _sqlite_instant(at: datetime) -> str:
    """An instant as the column type Instant writes it to SQLite."""
    return at.astimezone(UTC).replace(tzinfo=None).isoformat(sep=" ", timespec="microseconds")


def _check_all(ids: Iterable[str], heads: Mapping[str, int]) -> None:
    if any(id_ not in heads for id_ in ids):
        raise NotFound("no such conversation")


def _rows(batch: Sequence[Append], heads: dict[str, int], at: datetime) -> list[dict[str, Any]]:
    """Number each append, move `heads` and give the rows to insert."""
    rows: list[dict[str, Any]] = []
    for call in batch:
        heads[call.conversation] = call.number(heads[call.conversation], at)
        rows += [
            {"conversation": call.conversation, "seq": event.seq, "turn": call.turn, "type": type_, "at": at, "d": d}
            for event, (type_, d) in zip(call.numbered, call.rows, strict=True)
        ]
    return rows
