"""The manager of procrastinate's rows, where a job that goes back finds another of its key waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import partial
from typing import Final

from procrastinate.exceptions import ConnectorException, UniqueViolation
from procrastinate.jobs import Status
from procrastinate.manager import JobManager
from psycopg import OperationalError

_PAUSES_S: Final = (0.1, 0.5, 2.0)

_WAITS: Final = """
    SELECT EXISTS (SELECT FROM procrastinate_jobs WHERE queueing_lock = %(key)s AND status = 'todo') AS waits
"""
_UNKEYED: Final = "UPDATE procrastinate_jobs SET queueing_lock = NULL WHERE id = %(id)s AND status = 'doing'"
_REPLACED: Final = """
    DELETE FROM procrastinate_jobs older USING procrastinate_jobs newer
    WHERE older.status = 'failed' AND newer.status = 'failed' AND older.id < newer.id
        AND older.lock = newer.lock AND older.task_name = newer.task_name
"""


class KeyedManager(JobManager):
    """A JobManager under which a key is never stuck.

    The one of procrastinate cannot put a job back while another with its queueing lock waits: it would stay as running for
    ever, and with it everything of its key.
    """

    async def waits(self, key: str) -> bool:
        """Whether a job of this key waits. Asked before one is put in, an expected refusal is no error in the log of the server."""
        row = await self.connector.execute_query_one_async(_WAITS, key=key)
        return bool(row["waits"])

    async def retry_job_by_id_async(
        self,
        job_id: int,
        retry_at: datetime,
        priority: int | None = None,
        queue: str | None = None,
        lock: str | None = None,
    ) -> None:
        """Put a running job back; beside one of its key that waits already, both wait, this one first."""
        again = partial(super().retry_job_by_id_async, job_id, retry_at, priority, queue, lock)
        try:
            await _patiently(again)
        except UniqueViolation:
            await self.connector.execute_query_async(_UNKEYED, id=job_id)
            await _patiently(again)

    async def finish_job_by_id_async(self, job_id: int, status: Status, delete_job: bool) -> None:
        """End a running job; a connection that breaks at it is no reason to leave it as running."""
        await _patiently(partial(super().finish_job_by_id_async, job_id, status, delete_job))

    async def forget_replaced(self) -> None:
        """Of the failed jobs of one name and key, keep the newest."""
        await self.connector.execute_query_async(_REPLACED)


async def _patiently(act: Callable[[], Awaitable[None]]) -> None:
    """Do it again where the database was away; what the database itself refuses is raised at once."""
    for pause in _PAUSES_S:
        try:
            await act()
        except ConnectorException as error:
            if not isinstance(error.__cause__, OperationalError):
                raise
        else:
            return
        await asyncio.sleep(pause)
    await act()
