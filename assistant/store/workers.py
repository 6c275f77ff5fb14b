"""Which process runs which turn: a lease that is renewed, and turns that are taken over when it ends."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from sqlalchemy import ColumnElement, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from assistant.core.access import Caller
from assistant.core.text import without_unstorable
from assistant.store.engine import Database
from assistant.store.rows import AnyRow
from assistant.store.signals import tell_cancel
from assistant.store.starting import owned_by, running
from assistant.store.tables import conversations, turns, workers

LEASE_S: Final = 30.0
"""A process that was not seen for so long is taken for gone; one of this host whose process ended is at once."""
_GONE: Final = datetime(1970, 1, 1, tzinfo=UTC)


def process_started(process: int) -> str:
    """What tells a process from another one that got its number later; empty where the system does not say.

    One that has ended and was not yet waited for by its parent is marked as such.
    """
    try:
        state, *fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return f"{state} " if state in "ZX" else fields[18]
    except (OSError, IndexError):
        return ""


def _lives(process: int, started: str) -> bool:
    """Whether a process of this host still runs."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return process_started(process) == started


@dataclass(frozen=True, slots=True)
class SqlWorkers:
    """The Workers of a database, seen from the process `id`."""

    database: Database
    id: str
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    lease_s: float = LEASE_S
    host: str = field(default_factory=socket.gethostname)
    process: int = field(default_factory=os.getpid)

    async def enter(self) -> None:
        """Say that this process runs turns from now on."""
        row = await self._row()
        async with self.database.write() as connection:
            await connection.execute(insert(workers), [row])

    async def _row(self) -> dict[str, Any]:
        now, started = self.clock(), await asyncio.to_thread(process_started, self.process)
        own = {"id": self.id, "host": self.host, "process": self.process, "process_started": started}
        return own | {"started_at": now, "seen_at": now}

    async def beat(self) -> bool:
        """Say that this process lives; whether any other one does."""
        row = await self._row()
        mine = update(workers).where(workers.c.id == self.id).values(seen_at=row["seen_at"])
        async with self.database.write() as connection:
            if (await connection.execute(mine)).rowcount == 0:  # another one took this process for gone
                await connection.execute(insert(workers), [row])
            rows = (await connection.execute(select(workers).where(workers.c.id != self.id))).all()
        return bool(await self._alive(rows))

    async def leave(self) -> None:
        """Say that this process runs no turns any more; what it left open is anybody's to end."""
        async with self.database.write() as connection:
            mine = workers.c.id == self.id
            open_ = select(turns.c.id).where(turns.c.worker == self.id, running()).limit(1)
            if await connection.scalar(open_) is None:
                await connection.execute(delete(workers).where(mine))
            else:
                await connection.execute(update(workers).where(mine).values(seen_at=_GONE))

    async def claim_lost(self) -> list[tuple[str, str]]:
        """Take over the turns of processes that are gone: (conversation, turn), each given to one caller only."""
        async with self.database.read() as connection:
            rows = (await connection.execute(select(workers).where(workers.c.id != self.id))).all()
        alive = await self._alive(rows)
        gone = [row.id for row in rows if row.id not in alive]
        return await self._claim(turns.c.worker.in_(gone), gone) if gone else []

    async def claim_all_lost(self) -> list[tuple[str, str]]:
        """As `claim_lost`, and also turns of nobody: those of processes that are not known at all. It looks at every turn."""
        async with self.database.read() as connection:
            rows = (await connection.execute(select(workers).where(workers.c.id != self.id))).all()
        alive = await self._alive(rows)
        gone = [row.id for row in rows if row.id not in alive]
        # Asked in the transaction that takes: a process that has entered since is known.
        known = select(workers.c.id).where(workers.c.id == turns.c.worker).exists()
        others = turns.c.worker.is_(None) | turns.c.worker.in_(gone) | ((turns.c.worker != self.id) & ~known)
        return await self._claim(others, gone)

    async def _claim(self, which: ColumnElement[bool], gone: list[str]) -> list[tuple[str, str]]:
        query = select(turns.c.id, turns.c.conversation, turns.c.worker).where(which, running())
        async with self.database.write() as connection:
            rows = (await connection.execute(query.order_by(turns.c.started_at))).all()
            await _wait_for_writers(connection, rows)
            taken = [(row.conversation, row.id) for row in rows if await self._take(connection, row)]
            await connection.execute(delete(workers).where(workers.c.id.in_(gone)))
        return taken

    async def _take(self, connection: AsyncConnection, row: AnyRow) -> bool:
        """Whether the turn was still as it was read; then it is this process's."""
        same = turns.c.worker.is_(None) if row.worker is None else turns.c.worker == row.worker
        taken = update(turns).where(turns.c.id == row.id, same).values(worker=self.id)
        return (await connection.execute(taken)).rowcount == 1

    async def ask_cancel(self, caller: Caller, conversation: str, turn: str) -> bool:
        """Ask whoever runs an open turn of the caller to stop it; False when there is no such open turn."""
        if without_unstorable(conversation + turn) != conversation + turn:
            return False
        mine = select(conversations.c.id).where(conversations.c.id == conversation, owned_by(caller))
        asked = update(turns).where(turns.c.id == turn, turns.c.conversation.in_(mine), turns.c.ended_at.is_(None))
        async with self.database.write() as connection:
            found = (await connection.execute(asked.values(cancel_asked_at=self.clock()))).rowcount == 1
            if found:
                await tell_cancel(connection, self.id)
        return found

    async def cancels(self) -> list[str]:
        """The open turns of this process that somebody asked to stop."""
        query = select(turns.c.id).where(
            turns.c.ended_at.is_(None), turns.c.worker == self.id, turns.c.cancel_asked_at.is_not(None)
        )
        async with self.database.read() as connection:
            return list((await connection.scalars(query)).all())

    async def _alive(self, rows: Sequence[AnyRow]) -> set[str]:
        """The ids of those that live; asks the system about processes of this host."""
        return await asyncio.to_thread(lambda: {row.id for row in rows if self._is_alive(row)})

    def _is_alive(self, row: AnyRow) -> bool:
        if row.seen_at < self.clock() - timedelta(seconds=self.lease_s):
            return False
        return row.host != self.host or _lives(row.process, row.process_started)


async def _wait_for_writers(connection: AsyncConnection, rows: Sequence[AnyRow]) -> None:
    """Hold the conversations of these turns: what their worker is just writing is in the log before they are taken.

    A writer that has asked whose the turn is and not yet committed would otherwise write past the new one's reading.
    """
    ids = sorted({row.conversation for row in rows})  # in the order of all who hold several
    held = select(conversations.c.id).where(conversations.c.id.in_(ids)).order_by(conversations.c.id)
    await connection.execute(held.with_for_update())
