"""Jobs of several processes: one does each, a killed one's are done by another, and the tables know their version."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from assistant.errors import BadSetting
from assistant.interfaces.jobs import Schedule
from assistant.jobs.opening import is_shared, open_jobs, prepare_jobs
from assistant.jobs.postgresql import PostgresqlJobs
from assistant.jobs.schema import due, libpq_url, prepare
from assistant.store.migrations import differences
from tests.jobs.queues import Doing, fresh, queue, running, until, until_listed

HOLDING = """
import asyncio, sys
from tests.jobs.queues import queue

async def hold(payload):
    print("begun", flush=True)
    await asyncio.Event().wait()

async def main():
    async with queue(sys.argv[1], {"read": hold}) as jobs:
        await jobs.run()

asyncio.run(main())
"""


@asynccontextmanager
async def holding(url: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """A process that has begun a job, and does not end it."""
    root = Path(__file__).parents[2]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLDING, url, cwd=root, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    assert await asyncio.wait_for(process.stdout.readline(), 30) == b"begun\n"
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def test_a_job_of_a_killed_process_is_done_by_another(postgresql_url: str) -> None:
    await fresh(postgresql_url)
    doing = Doing()
    async with queue(postgresql_url, {"read": doing}) as jobs:
        await jobs.enqueue("read", {"n": 1}, key="k")
        async with holding(postgresql_url) as process, running(jobs):
            await asyncio.sleep(1.5)  # longer than a process without signs of life counts as gone: this one lives
            assert doing.begun == 0
            process.send_signal(signal.SIGKILL)
            await process.wait()
            await until(lambda: doing.done)
            await until_listed(jobs, None, 0)
    assert doing.done == [{"n": 1}]


async def test_a_job_of_a_killed_process_is_done_though_another_of_its_key_waits(postgresql_url: str) -> None:
    await fresh(postgresql_url)
    doing = Doing()
    async with queue(postgresql_url, {"read": doing}) as jobs:
        await jobs.enqueue("read", {"n": 1}, key="k")
        async with holding(postgresql_url) as process:
            assert await jobs.enqueue("read", {"n": 2}, key="k")
            process.send_signal(signal.SIGKILL)
            await process.wait()
        async with running(jobs):
            await until(lambda: len(doing.done) == 2)
            await until_listed(jobs, None, 0)
    assert doing.done == [{"n": 1}, {"n": 2}]


async def test_of_two_processes_one_does_each_job_and_each_time_of_the_schedule(postgresql_url: str) -> None:
    await fresh(postgresql_url)
    read, sweeps = Doing(), Doing()
    handlers, schedule = {"read": read, "sweep": sweeps}, [Schedule("sweep", timedelta(days=365))]
    async with queue(postgresql_url, handlers, schedule) as one, queue(postgresql_url, handlers, schedule) as other:
        for n in range(20):
            await one.enqueue("read", {"n": n})
        async with running(one, other):
            await until(lambda: len(read.done) == 20)
            await until_listed(one, None, 0)
    assert sorted(done["n"] for done in read.done) == list(range(20))
    assert len(sweeps.done) == 1


async def test_the_tables_are_made_once_and_stand_apart(postgresql_url: str) -> None:
    async with await psycopg.AsyncConnection.connect(libpq_url(postgresql_url), autocommit=True) as connection:
        await connection.execute("DROP SCHEMA IF EXISTS jobs CASCADE")
        await asyncio.gather(*(prepare(postgresql_url) for _ in range(3)))
        await prepare_jobs(postgresql_url)
        query = "SELECT schemaname FROM pg_tables WHERE tablename LIKE 'procrastinate%' GROUP BY 1"
        assert await (await connection.execute(query)).fetchall() == [("jobs",)]
    assert await differences(postgresql_url) == []


FILES = ("03.01.00_01_pre_a.sql", "03.01.00_50_post_b.sql", "03.11.00_01_pre_c.sql", "03.11.00_50_post_d.sql")


def test_what_takes_away_waits_for_a_release() -> None:
    assert due(FILES, FILES[:2], {"3.10.0"}) == [FILES[2]]
    assert due(FILES, FILES[:3], {"3.10.0", "3.11.0"}) == [FILES[3]]
    assert due(FILES, FILES, {"3.10.0", "3.11.0"}) == []
    assert due(FILES, (*FILES, "04.00.00_01_pre_newer.sql"), {"4.0.0"}) == []
    assert due(tuple(reversed(FILES)), FILES[:1], {"3.9.0"}) == [FILES[1], FILES[2]]


@pytest.mark.parametrize(
    ("url", "read"),
    [
        ("postgresql+asyncpg://a:b%40@h:5/d?ssl=require", "postgresql://a:b%40@h:5/d?sslmode=require"),
        ("postgres://h/d?prepared_statement_cache_size=0", "postgresql://h/d"),
        ("postgresql://u:@/d?host=/tmp/a%20b", "postgresql://u:@/d?host=%2Ftmp%2Fa%20b"),
    ],
)
def test_urls_as_libpq_reads_them(url: str, read: str) -> None:
    assert libpq_url(url).replace("host=/", "host=%2F").replace("/a%20b", "%2Fa%20b") == read


async def test_the_queue_fits_the_database(postgresql_url: str, sqlite_url: str) -> None:
    assert is_shared(postgresql_url)
    assert not is_shared(sqlite_url)
    await prepare_jobs(sqlite_url)
    async with open_jobs(sqlite_url, {}) as jobs:
        assert not isinstance(jobs, PostgresqlJobs)
    async with open_jobs(postgresql_url, {}, shared=False) as jobs:
        assert not isinstance(jobs, PostgresqlJobs)
    async with open_jobs(postgresql_url, {}) as jobs:
        assert isinstance(jobs, PostgresqlJobs)
    with pytest.raises(BadSetting):
        async with open_jobs(sqlite_url, {}, shared=True):
            pass
