"""A power cut at a chosen commit of a turn: runs inside the server process, by its environment; the product knows nothing of it.

TEST_KILL is "before 3" or "after 3": the process kills itself when the third commit that the turn makes is just to be made,
or just was made. TEST_COMMITS names a file that gets a line for every commit of turns.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from assistant.conversation.running import LiveTurns
from assistant.store import event_writers
from assistant.store.engine import Database

_in_a_turn: ContextVar[bool] = ContextVar("in_a_turn", default=False)


class Trap:
    """Counts the commits that turns make, and kills at one of them."""

    def __init__(self, when: str, at: int, file: str) -> None:
        self._when = when
        self._at = at
        self._file = file
        self.count = 0
        self.armed = 0

    def enter(self) -> int:
        """A transaction of a turn begins; its number."""
        self.count += 1
        if self._file:
            with Path(self._file).open("a") as file:
                file.write(f"{self.count} {_caller()}\n")
        return self.count

    def at(self, when: str, number: int) -> None:
        """Die, when this is the moment."""
        if (self._when, self._at) == (when, number):
            os.kill(os.getpid(), signal.SIGKILL)


def _caller() -> str:
    """The function of the store that writes."""
    frame = sys._getframe(2)
    while frame.f_back is not None and "/assistant/store/" not in frame.f_code.co_filename:
        frame = frame.f_back
    return frame.f_code.co_name


def lie_in_wait() -> None:
    """Set the trap that the environment asks for."""
    when, _, at = os.environ.get("TEST_KILL", "").partition(" ")
    file = os.environ.get("TEST_COMMITS", "")
    if when or file:
        _set(Trap(when, int(at or 0), file))


def _set(trap: Trap) -> None:
    start, write = LiveTurns._start, Database.write
    sqlite_write, in_thread = event_writers.SqliteEventWriter.write, event_writers._write_sqlite

    async def started(self: LiveTurns, *given: Any) -> Any:
        _in_a_turn.set(True)  # and so in all tasks that come of it
        return await start(self, *given)

    @asynccontextmanager
    async def written(self: Database) -> AsyncIterator[AsyncConnection]:
        number = trap.enter() if _in_a_turn.get() else 0
        async with write(self) as connection:
            yield connection
            trap.at("before", number)
        trap.at("after", number)

    async def appended(self: event_writers.SqliteEventWriter, *given: Any) -> None:
        trap.armed = number = trap.enter() if _in_a_turn.get() else 0
        await sqlite_write(self, *given)
        trap.at("after", number)

    def appended_in_thread(connection: sqlite3.Connection, *given: Any) -> None:
        in_thread(connection, *given)
        trap.at("before", trap.armed)

    for whole, name, own in (
        (LiveTurns, "_start", started),
        (Database, "write", written),
        (event_writers.SqliteEventWriter, "write", appended),
        (event_writers, "_write_sqlite", appended_in_thread),
    ):
        setattr(whole, name, own)
