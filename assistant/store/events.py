"""The numbered event log with group commit: one transaction for the events of all running turns of the process.

Group commit: DeWitt et al., "Implementation Techniques for Main Memory Database Systems", SIGMOD 1984.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import Row, bindparam, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from assistant.codec import EVENT_TYPES, decode, encode
from assistant.core.events import TurnEvent
from assistant.errors import NotFound, Refusal
from assistant.interfaces import NumberedEvent
from assistant.store.engine import Database
from assistant.store.tables import conversations, events

logger = logging.getLogger(__name__)

MOST_EVENTS: Final = 1000
"""Events in one transaction; the rest waits for the next one."""

_HEADS: Final = (
    select(conversations.c.id, conversations.c.head_seq)
    .where(conversations.c.id.in_(bindparam("ids", expanding=True)))
    .order_by(conversations.c.id)  # one order for all processes, so that they cannot wait for each other in a circle
    .with_for_update()
)
_MOVE_HEAD: Final = (
    update(conversations).where(conversations.c.id == bindparam("b_id")).values(head_seq=bindparam("b_head"))
)


class TurnEnded(Refusal):
    """The turn has its turn.done event already; a second one is refused."""

    code = "turn_ended"


@dataclass(slots=True)
class _Append:
    """One call that waits for its commit; `first_seq` and `at` are those of the last attempt."""

    conversation: str
    turn: str
    events: Sequence[TurnEvent]
    rows: list[dict[str, Any]]
    done: asyncio.Future[list[NumberedEvent]]
    first_seq: int | None = None
    at: datetime | None = None
    numbered: list[NumberedEvent] = field(default_factory=list)


class GroupCommitLog:
    """The EventLog of a process. One per process and database; close it before the database."""

    def __init__(self, database: Database, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._database = database
        self._clock = clock
        self._waiting: deque[_Append] = deque()
        self._writer: asyncio.Task[None] | None = None
        self._closed = False

    async def append(self, conversation: str, turn: str, events: Sequence[TurnEvent]) -> list[NumberedEvent]:
        """Commit events of one turn in order and return them numbered; returns after the commit.

        A cancelled call has either written nothing (it was still waiting) or everything. Raises NotFound for an unknown
        conversation, BadInput for text that cannot be stored, TurnEnded for a second turn.done.
        """
        if self._closed:
            raise RuntimeError("the event log is closed")
        if not events:
            return []
        rows = [{"turn": turn, "type": event.type, "d": encode(event)} for event in events]
        call = _Append(conversation, turn, events, rows, asyncio.get_running_loop().create_future())
        self._waiting.append(call)
        if self._writer is None:
            self._writer = asyncio.create_task(self._write_all(), name="event-writer")
        return await call.done

    async def read(self, conversation: str, *, after: int = 0, limit: int = 10_000) -> list[NumberedEvent]:
        """Events with seq > after, ascending. Types that this version does not know are left out (protocol rule 7).

        Raises BadInput when a row does not have the form of its type.
        """
        query = (
            select(events.c.seq, events.c.turn, events.c.at, events.c.type, events.c.d)
            .where(events.c.conversation == conversation, events.c.seq > after, events.c.type.in_(sorted(EVENT_TYPES)))
            .order_by(events.c.seq)
            .limit(limit)
        )
        async with self._database.read() as connection:
            rows = (await connection.execute(query)).all()
        return [numbered_event(row) for row in rows]

    async def head(self, conversation: str) -> int:
        """The last seq of the conversation, 0 when it has none."""
        query = select(conversations.c.head_seq).where(conversations.c.id == conversation)
        async with self._database.read() as connection:
            return int(await connection.scalar(query) or 0)

    async def close(self) -> None:
        """Refuse new events and wait until all that were accepted are committed."""
        self._closed = True
        if self._writer is not None:
            await self._writer

    async def _write_all(self) -> None:
        try:
            while batch := self._next_batch():
                await self._commit(batch)
        finally:
            self._writer = None

    def _next_batch(self) -> list[_Append]:
        batch: list[_Append] = []
        size = 0
        while self._waiting and (not batch or size + len(self._waiting[0].rows) <= MOST_EVENTS):
            call = self._waiting.popleft()
            if not call.done.cancelled():
                batch.append(call)
                size += len(call.rows)
        return batch

    async def _commit(self, batch: list[_Append]) -> None:
        try:
            await self._transact(batch)
        except Exception as error:
            if len(batch) == 1 and not _is_open_question(batch[0]):
                _fail(batch[0], error)
                return
            logger.info("a batch of %d appends failed, trying each alone", len(batch), exc_info=error)
            for call in batch:
                await self._commit_alone(call)
        else:
            for call in batch:
                _succeed(call)

    async def _commit_alone(self, call: _Append) -> None:
        try:
            await self._transact([call])
        except Exception as error:
            _fail(call, error)
        else:
            _succeed(call)

    async def _transact(self, batch: list[_Append]) -> None:
        async with self._database.write() as connection:
            heads = await _lock_heads(connection, {call.conversation for call in batch})
            fresh = [call for call in batch if not await _was_committed(connection, call)]
            rows = _number(fresh, heads, self._clock())
            if rows:
                moved = [{"b_id": id_, "b_head": head} for id_, head in heads.items()]
                await connection.execute(_MOVE_HEAD, moved)
                await connection.execute(insert(events), rows)


def numbered_event(row: Row[*tuple[Any, ...]]) -> NumberedEvent:
    """The event of a row with seq, turn, at, type and d; BadInput when it does not have the form of its type."""
    return NumberedEvent(row.seq, row.turn, row.at, decode(row.type, row.d))


async def append_one(
    connection: AsyncConnection, conversation: str, turn: str, event: TurnEvent, *, seq: int, at: datetime
) -> NumberedEvent:
    """Write one event inside a transaction that has moved the conversation's head to `seq` already."""
    row = {"conversation": conversation, "seq": seq, "turn": turn, "type": event.type, "at": at, "d": encode(event)}
    await connection.execute(insert(events), [row])
    return NumberedEvent(seq, turn, at, event)


async def _lock_heads(connection: AsyncConnection, ids: set[str]) -> dict[str, int]:
    rows = (await connection.execute(_HEADS, {"ids": sorted(ids)})).all()
    heads: dict[str, int] = {row.id: row.head_seq for row in rows}
    if len(heads) < len(ids):
        raise NotFound("no such conversation")
    return heads


async def _was_committed(connection: AsyncConnection, call: _Append) -> bool:
    """Whether an earlier attempt went through although its commit reported an error (a lost connection)."""
    if not _is_open_question(call):
        return False
    query = select(events.c.turn, events.c.at).where(
        events.c.conversation == call.conversation, events.c.seq == call.first_seq
    )
    row = (await connection.execute(query)).one_or_none()
    return row is not None and (row.turn, row.at) == (call.turn, call.at)


def _is_open_question(call: _Append) -> bool:
    return call.first_seq is not None


def _number(batch: list[_Append], heads: dict[str, int], at: datetime) -> list[Mapping[str, Any]]:
    """Give each event its number, move `heads` and return the rows to write."""
    rows: list[Mapping[str, Any]] = []
    for call in batch:
        call.first_seq, call.at, call.numbered = heads[call.conversation] + 1, at, []
        for event, row in zip(call.events, call.rows, strict=True):
            seq = heads[call.conversation] = heads[call.conversation] + 1
            rows.append({"conversation": call.conversation, "seq": seq, "at": at, **row})
            call.numbered.append(NumberedEvent(seq, call.turn, at, event))
    return rows


def _succeed(call: _Append) -> None:
    if not call.done.done():
        call.done.set_result(call.numbered)


def _fail(call: _Append, error: Exception) -> None:
    if isinstance(error, IntegrityError) and _is_second_end(str(error.orig)):
        error = TurnEnded("the turn has ended", turn=call.turn)
    if not call.done.done():
        call.done.set_exception(error)


def _is_second_end(message: str) -> bool:
    return "ix_events_done" in message or message.endswith("UNIQUE constraint failed: events.turn")
