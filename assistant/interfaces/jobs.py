"""Jobs: work that nobody waits for, done by whichever process is free, and again when one dies at it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Protocol

Payload = Mapping[str, Any]
"""What a job is about, as plain JSON values; never the text of a document."""

Handler = Callable[[Payload], Awaitable[None]]
"""Does the jobs of one name. It may be stopped anywhere and begun again, in another process too: twice is as good as once."""


class JobStatus(StrEnum):
    """Where a job stands; one that is done is gone."""

    WAITING = "waiting"
    RUNNING = "running"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class JobView:
    """A job as administrators see it. `due` is when it may begin, None: at once; `attempts` how often it was begun before."""

    id: str
    name: str
    status: JobStatus
    key: str = ""
    attempts: int = 0
    due: datetime | None = None
    payload: Payload = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Schedule:
    """A job that is due again and again; of all processes, one does it each time."""

    name: str
    every: timedelta


class JobQueue(Protocol):
    """Where jobs are put."""

    async def enqueue(
        self, name: str, payload: Payload | None = None, *, key: str = "", when: datetime | None = None
    ) -> bool:
        """Put a job into the queue, to begin at `when` or at once.

        With a `key`, at most one of its jobs runs, and one waits: False, and nothing is put, while one waits already. Raises
        BadInput for a name that nobody does.
        """
        ...


class Jobs(JobQueue, Protocol):
    """The jobs of an installation."""

    async def run(self) -> None:
        """Do jobs until cancelled, those of the schedule included."""
        ...

    async def list(self, status: JobStatus | None = None, limit: int = 200) -> list[JobView]:
        """The jobs that are not done, the newest first."""
        ...

    async def retry(self, id_: str) -> None:
        """Let a job that failed or was cancelled begin at once. Raises NotFound, and BadInput where it cannot."""
        ...

    async def cancel(self, id_: str) -> None:
        """Take out a job that waits, stop one that runs. Raises NotFound where there is no such job."""
        ...
