"""Work on SQLite that is done in one go in a thread, with a connection per thread.

The async driver sends every statement to a thread by itself; that is right for a few statements and slow for many, and
what is made of the rows would block the event loop.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Concatenate, ParamSpec, TypeVar

from assistant.store.engine import Database, prepare_sqlite

P = ParamSpec("P")
T = TypeVar("T")


class SqliteThreads:
    """Threads that each keep one connection to the file of a database."""

    def __init__(self, database: Database, number: int, name: str) -> None:
        self._path = database.engine.url.database or ""
        self._threads = ThreadPoolExecutor(number, thread_name_prefix=name)
        self._local = threading.local()
        self._connections: list[sqlite3.Connection] = []

    async def read(self, work: Callable[Concatenate[sqlite3.Connection, P], T], *args: P.args, **more: P.kwargs) -> T:
        """Call `work(connection, ...)` in a transaction for reading."""
        return await self._run("BEGIN", "ROLLBACK", lambda connection: work(connection, *args, **more))

    async def write(self, work: Callable[Concatenate[sqlite3.Connection, P], T], *args: P.args, **more: P.kwargs) -> T:
        """Call `work(connection, ...)` in a transaction that commits at the end, or rolls back on an error."""
        return await self._run("BEGIN IMMEDIATE", "COMMIT", lambda connection: work(connection, *args, **more))

    async def close(self) -> None:
        """Wait for what runs and close the connections."""
        await asyncio.to_thread(self._threads.shutdown)
        for connection in self._connections:
            connection.close()
        self._connections.clear()

    async def _run(self, begin: str, end: str, work: Callable[[sqlite3.Connection], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._transact, begin, end, work)

    def _transact(self, begin: str, end: str, work: Callable[[sqlite3.Connection], T]) -> T:
        connection = self._connection()
        connection.execute(begin)
        try:
            result = work(connection)
            connection.execute(end)
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        return result

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = sqlite3.connect(self._path, check_same_thread=False)
            prepare_sqlite(connection, None)
            self._local.connection = connection
            self._connections.append(connection)
        return connection
