"""The numbered event log with group commit: one transaction for the events of all running turns of the process.

Group commit: DeWitt et al., "Implementation Techniques for Main Memory Database Systems", SIGMOD 1984.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from time import monotonic
from typing import Any, Final

from sqlalchemy import Row, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from assistant.codec import EVENT_TYPES, decode, encode
from assistant.core.events import TurnEvent
from assistant.errors import Refusal
from assistant.interfaces import NumberedEvent
from assistant.store.engine import Database
from assistant.store.event_writers import Append, event_writer
from assistant.store.tables import conversations, events
from assistant.store.unreachable import PATIENCE_S, is_unreachable
from assistant.telemetry.figures import COMMIT_SECONDS, WAITING_APPENDS

logger = logging.getLogger(__name__)

MOST_EVENTS: Final = 1000
"""Events in one transaction; the rest waits for the next one."""

_HIGHEST: Final = 2**63 - 1  # of a bigint column


class TurnEnded(Refusal):
    """The turn has its turn.done event already; a second one is refused."""

    code = "turn_ended"


class GroupCommitLog:
    """The EventLog of a process. One per process and database; close it before the database."""

    def __init__(
        self,
        database: Database,
        *,
        worker: str | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._database = database
        self._patience_s = patience_s
        self._store = event_writer(database, worker)
        self._clock = clock
        self._waiting: deque[Append] = deque()
        self._writer: asyncio.Task[None] | None = None
        self._closed = False

    async def append(self, conversation: str, turn: str, events: Sequence[TurnEvent]) -> list[NumberedEvent]:
        """Commit events of one turn in order and return them numbered; returns after the commit.

        A cancelled call has either written nothing (it was still waiting) or everything. Raises NotFound for an unknown
        conversation, BadInput for text that cannot be stored, TurnEnded for a second turn.done, TurnTaken for a turn that
        another worker has taken over.
        """
        if self._closed:
            raise RuntimeError("the event log is closed")
        if not events:
            return []
        rows = [(event.type, encode(event)) for event in events]
        call = Append(conversation, turn, events, rows, asyncio.get_running_loop().create_future())
        self._waiting.append(call)
        if self._writer is None:
            self._writer = asyncio.create_task(self._write_all(), name="event-writer")
        return await call.done

    async def read(
        self, conversation: str, *, after: int = 0, turn: str | None = None, limit: int | None = None
    ) -> list[NumberedEvent]:
        """Events with seq > after, ascending, of one turn or of all; all of them unless `limit` says how many.

        Types that this version does not know are left out (protocol rule 7). Raises BadInput when a row does not have the
        form of its type.
        """
        query = (
            select(events.c.seq, events.c.turn, events.c.at, events.c.type, events.c.d)
            .where(events.c.conversation == conversation, events.c.seq > max(0, min(after, _HIGHEST)))
            .where(events.c.type.in_(sorted(EVENT_TYPES)))
            .order_by(events.c.seq)
            .limit(limit)
        )
        if turn is not None:
            query = query.where(events.c.turn == turn)
        async with self._database.read() as connection:
            rows = (await connection.execute(query)).all()
        return [numbered(row) for row in rows]

    async def head(self, conversation: str) -> int:
        """The last seq of the conversation, 0 when it has none."""
        query = select(conversations.c.head_seq).where(conversations.c.id == conversation)
        async with self._database.read() as connection:
            return int(await connection.scalar(query) or 0)

    async def close(self) -> None:
        """Refuse new events and wait until all that were accepted are committed."""
        if self._closed:
            return
        self._closed = True
        if self._writer is not None:
            await self._writer
        await self._store.close()

    async def _write_all(self) -> None:
        try:
            while batch := self._next_batch():
                with COMMIT_SECONDS.time():
                    await self._commit(batch)
        finally:
            self._writer = None

    def _next_batch(self) -> list[Append]:
        batch: list[Append] = []
        size = 0
        WAITING_APPENDS.set(len(self._waiting))
        while self._waiting and (not batch or size + len(self._waiting[0].rows) <= MOST_EVENTS):
            call = self._waiting.popleft()
            if not call.done.cancelled():
                batch.append(call)
                size += len(call.rows)
        return batch

    async def _commit(self, batch: list[Append]) -> None:
        """Commit the batch together; when that fails, each alone, so that only what must fail fails.

        An append that was numbered before the failure gets a second attempt even when it was alone: a commit whose
        answer was lost may have gone through, and only the database can tell.
        """
        try:
            await self._write(batch)
        except Exception as error:
            if is_unreachable(error) or (len(batch) == 1 and not batch[0].attempted):
                for call in batch:
                    _fail(call, error)
                return
            logger.info("a batch of %d appends failed, trying each alone", len(batch), exc_info=error)
            for call in batch:
                await self._commit_alone(call)
        else:
            for call in batch:
                _succeed(call)

    async def _write(self, batch: list[Append]) -> None:
        """Write the batch, again and again for a while when the database cannot be reached."""
        deadline, pause = monotonic() + self._patience_s, 0.05
        while True:
            try:
                await self._store.write(batch, self._clock())
            except Exception as error:
                if self._closed or not is_unreachable(error) or monotonic() > deadline:
                    raise
                logger.warning("the database cannot be reached, %d appends wait", len(batch))
            else:
                return
            await asyncio.sleep(pause)
            pause = min(2 * pause, 1.0)

    async def _commit_alone(self, call: Append) -> None:
        try:
            await self._store.write([call], self._clock())
        except Exception as error:
            _fail(call, error)
        else:
            _succeed(call)


async def append_one(
    connection: AsyncConnection, conversation: str, turn: str, event: TurnEvent, *, seq: int, at: datetime
) -> NumberedEvent:
    """Write one event inside a transaction that has moved the conversation's head to `seq` already."""
    row = {"conversation": conversation, "seq": seq, "turn": turn, "type": event.type, "at": at, "d": encode(event)}
    await connection.execute(insert(events), [row])
    return NumberedEvent(seq, turn, at, event)


def numbered(row: Row[*tuple[Any, ...]]) -> NumberedEvent:
    """The event of a row of the log. Raises BadInput when it does not have the form of its type."""
    return NumberedEvent(row.seq, row.turn, row.at, decode(row.type, row.d))


def _succeed(call: Append) -> None:
    if not call.done.done():
        call.done.set_result(call.numbered)


def _fail(call: Append, error: Exception) -> None:
    if _is_second_end(getattr(error, "orig", error)):
        error = TurnEnded("the turn has ended", turn=call.turn)
    if not call.done.done():
        call.done.set_exception(error)


def _is_second_end(error: BaseException) -> bool:
    """Whether a database says that the turn has its turn.done already.

    By the columns of the unique index ix_events_done: in PostgreSQL that of a partition has another name.
    """
    of_postgresql = "(conversation, turn)=(" in str(getattr(error.__cause__, "detail", ""))
    return of_postgresql or str(error).endswith("UNIQUE constraint failed: events.conversation, events.turn")
