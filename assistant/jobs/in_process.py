"""Jobs of one process, kept in its memory: beside SQLite, which has no other."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count

from assistant.errors import BadInput, NotFound
from assistant.interfaces.jobs import Handler, JobStatus, JobView, Payload, Schedule
from assistant.jobs.attempting import ATTEMPTS, JobFailed, attempt, show_depth, wait_s


@dataclass(slots=True)
class _Job:
    id: str
    name: str
    key: str
    due: datetime
    payload: Payload
    status: JobStatus = JobStatus.WAITING
    attempts: int = 0
    task: asyncio.Task[None] | None = field(default=None, repr=False)

    @property
    def view(self) -> JobView:
        return JobView(self.id, self.name, self.status, self.key, self.attempts, self.due, self.payload)


class InProcessJobs:
    """The Jobs of one process. They end with it: what has to be done is found again by the schedule, or asked for again."""

    def __init__(
        self,
        handlers: Mapping[str, Handler],
        schedule: Sequence[Schedule] = (),
        *,
        parallel: int = 2,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._handlers = dict(handlers)
        self._schedule = tuple(schedule)
        self._parallel = parallel
        self._clock = clock
        self._jobs: dict[str, _Job] = {}
        self._ids = count(1)
        self._bell = asyncio.Event()
        self._ticks: dict[str, datetime] = {}

    async def enqueue(
        self, name: str, payload: Payload | None = None, *, key: str = "", when: datetime | None = None
    ) -> bool:
        """Put a job into the queue; False while one of its key waits. Raises BadInput for a name that nobody does."""
        if name not in self._handlers:
            raise BadInput("nobody does such jobs", name=name, known=sorted(self._handlers))
        if key and any(job.key == key and job.status is JobStatus.WAITING for job in self._jobs.values()):
            return False
        job = _Job(str(next(self._ids)), name, key, when or self._clock(), dict(payload or {}))
        self._jobs[job.id] = job
        self._bell.set()
        return True

    async def list(self, status: JobStatus | None = None, limit: int = 200) -> list[JobView]:
        """The jobs that are not done, the newest first."""
        views = [job.view for job in reversed(self._jobs.values()) if status is None or job.status is status]
        return views[:limit]

    async def retry(self, id_: str) -> None:
        """Let a job that failed or was cancelled begin at once. Raises NotFound, and BadInput where it cannot."""
        job = self._known(id_)
        others = [one for one in self._jobs.values() if one.key and one.key == job.key and one is not job]
        taken = any(one.status is JobStatus.WAITING for one in others)
        if taken or job.status not in (JobStatus.FAILED, JobStatus.CANCELLED):
            raise BadInput("this job cannot be begun again now", status=job.status.value)
        job.status, job.due = JobStatus.WAITING, self._clock()
        self._bell.set()

    async def cancel(self, id_: str) -> None:
        """Take out a job that waits, stop one that runs. Raises NotFound where there is no such job."""
        job = self._known(id_)
        if job.status in (JobStatus.FAILED, JobStatus.CANCELLED):
            raise NotFound("no such job")
        job.status = JobStatus.CANCELLED
        if job.task is not None:
            job.task.cancel()

    def _known(self, id_: str) -> _Job:
        if id_ not in self._jobs:
            raise NotFound("no such job")
        return self._jobs[id_]

    async def run(self) -> None:
        """Do jobs until cancelled, those of the schedule included; what runs then is stopped and waits again."""
        try:
            while True:
                self._bell.clear()
                await self._tick()
                for job in self._ready():
                    job.status, job.attempts = JobStatus.RUNNING, job.attempts + 1
                    job.task = asyncio.create_task(self._do(job))
                show_depth(self._handlers, Counter((job.name, job.status) for job in self._jobs.values()))
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._idle_s()):  # wait_for can lose a cancellation in Python 3.11
                        await self._bell.wait()
        finally:
            running = [job.task for job in self._jobs.values() if job.task is not None]
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def _tick(self) -> None:
        """Put in what the schedule wants; the first time at once."""
        now = self._clock()
        for item in self._schedule:
            if now >= self._ticks.get(item.name, now):
                self._ticks[item.name] = now + item.every
                await self.enqueue(item.name, key=item.name)

    def _ready(self) -> Iterator[_Job]:
        """The jobs to begin now, the oldest first, as many as there is room for."""
        running = [job for job in self._jobs.values() if job.task is not None]
        keys, room = {job.key for job in running if job.key}, self._parallel - len(running)
        for job in list(self._jobs.values()):
            if room > 0 and job.status is JobStatus.WAITING and job.due <= self._clock() and job.key not in keys:
                keys |= {job.key} - {""}
                room -= 1
                yield job

    def _idle_s(self) -> float:
        """Seconds until something may be due, a minute at most; what ends or comes in rings the bell."""
        due = [job.due for job in self._jobs.values() if job.status is JobStatus.WAITING]
        later = [at for at in (*due, *self._ticks.values()) if at > self._clock()]
        wait = min(later, default=self._clock() + timedelta(minutes=1)) - self._clock()
        return min(max(wait.total_seconds(), 0.001), 60.0)

    async def _do(self, job: _Job) -> None:
        try:
            await attempt(job.name, self._handlers[job.name], job.payload, job.id)
        except JobFailed:
            job.status = JobStatus.FAILED if job.attempts >= ATTEMPTS else JobStatus.WAITING
            job.due = self._clock() + timedelta(seconds=wait_s(job.attempts))
            self._forget_replaced(job)
        except asyncio.CancelledError:
            if job.status is not JobStatus.CANCELLED:
                job.status = JobStatus.WAITING
                raise
        else:
            self._jobs.pop(job.id, None)
        finally:
            job.task = None
            self._bell.set()

    def _forget_replaced(self, last: _Job) -> None:
        """Of the failed jobs of one name and key, keep the newest."""
        if last.key and last.status is JobStatus.FAILED:
            same = [job for job in self._jobs.values() if (job.name, job.key) == (last.name, last.key)]
            for job in same:
                if job is not last and job.status is JobStatus.FAILED:
                    del self._jobs[job.id]
