"""A queue that is opened after what puts jobs into it was made: handlers put in further jobs, and turns theirs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from assistant.interfaces.jobs import JobQueue, Payload


class LateQueue:
    """A JobQueue over another one, for as long as that is open."""

    def __init__(self) -> None:
        self._queue: JobQueue | None = None

    @property
    def is_open(self) -> bool:
        """Whether jobs can be put in: there is somebody who keeps them."""
        return self._queue is not None

    @contextmanager
    def over(self, queue: JobQueue) -> Iterator[None]:
        """Be this queue until the end of the block."""
        self._queue = queue
        try:
            yield
        finally:
            self._queue = None

    async def enqueue(
        self, name: str, payload: Payload | None = None, *, key: str = "", when: datetime | None = None
    ) -> bool:
        """Put a job in as the queue does; False, and nothing is put, where none is open."""
        if self._queue is None:
            return False
        return await self._queue.enqueue(name, payload, key=key, when=when)
