"""Queues for tests: one in this process, and one on a real PostgreSQL, with a quick pace."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import psycopg

from assistant.interfaces.jobs import Handler, Jobs, JobStatus, JobView, Payload, Schedule
from assistant.jobs.in_process import InProcessJobs
from assistant.jobs.postgresql import Pace, open_postgresql_jobs
from assistant.jobs.schema import libpq_url, prepare

QUICK = Pace(beat_s=0.2, gone_s=1.0, look_s=0.1, stop_s=0.2)


async def fresh(url: str) -> None:
    """A database whose queue is empty and of the newest form."""
    async with await psycopg.AsyncConnection.connect(libpq_url(url), autocommit=True) as connection:
        await connection.execute("DROP SCHEMA IF EXISTS jobs CASCADE")
    await prepare(url)


@asynccontextmanager
async def queue(
    url: str, handlers: Mapping[str, Handler], schedule: Sequence[Schedule] = (), parallel: int = 2
) -> AsyncIterator[Jobs]:
    """The queue of a database; an empty URL is the one in this process."""
    if not url:
        yield InProcessJobs(handlers, schedule, parallel=parallel)
        return
    async with open_postgresql_jobs(url, handlers, schedule, parallel=parallel, pace=QUICK) as jobs:
        yield jobs


@asynccontextmanager
async def running(*queues: Jobs) -> AsyncIterator[None]:
    """The queues at work."""
    tasks = [asyncio.create_task(jobs.run()) for jobs in queues]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def until(holds: Callable[[], Any]) -> None:
    """Wait until something holds, or fail."""
    async with asyncio.timeout(20):
        while not holds():
            await asyncio.sleep(0.01)


async def until_listed(jobs: Jobs, status: JobStatus | None, count: int) -> list[JobView]:
    """Wait until so many jobs stand there, and give them."""
    async with asyncio.timeout(20):
        while len(found := await jobs.list(status)) != count:
            await asyncio.sleep(0.02)
    return found


class Doing:
    """A handler that notes what it does, and holds on where it is told to."""

    def __init__(self, *, hold: bool = False, errors: int = 0) -> None:
        self.done: list[Payload] = []
        self.begun = 0
        self.now = 0
        self.most = 0
        self.errors = errors
        self.go = asyncio.Event()
        if not hold:
            self.go.set()

    async def __call__(self, payload: Payload) -> None:
        self.begun += 1
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            await self.go.wait()
            if self.begun <= self.errors:
                raise ValueError("the secret text of a document")
            self.done.append(payload)
        finally:
            self.now -= 1
