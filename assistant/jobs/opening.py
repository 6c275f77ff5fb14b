"""Open the queue that fits the database."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import Final

from assistant.errors import BadSetting
from assistant.interfaces.jobs import Handler, Jobs, Schedule
from assistant.jobs.in_process import InProcessJobs

LEASE_S: Final = 60.0


def is_shared(url: str) -> bool:
    """Whether the jobs of this database are those of all its processes: PostgreSQL, with the extra `workers` installed."""
    return url.startswith("postgres") and find_spec("procrastinate") is not None and find_spec("psycopg") is not None


async def prepare_jobs(url: str) -> None:
    """Make the tables of the queue where the jobs are shared; a part of `assistant migrate`."""
    if is_shared(url):
        from assistant.jobs.schema import prepare

        await prepare(url)


@asynccontextmanager
async def open_jobs(
    url: str,
    handlers: Mapping[str, Handler],
    schedule: Sequence[Schedule] = (),
    *,
    parallel: int = 2,
    shared: bool | None = None,
    lease_s: float = LEASE_S,
) -> AsyncIterator[Jobs]:
    """The jobs of the database at `url`; take the URL past the pooler where there is one. `lease_s` is how long a process may be
    silent before its jobs begin again elsewhere.

    `shared` None takes what fits. Raises BadSetting where they are to be shared and cannot.
    """
    if shared and not is_shared(url):
        raise BadSetting("workers need PostgreSQL and the extra `workers`", setting="database.url")
    if is_shared(url) and shared is not False:
        from assistant.jobs.postgresql import Pace, open_postgresql_jobs

        pace = Pace.of(lease_s)
        async with open_postgresql_jobs(url, handlers, schedule, parallel=parallel, pace=pace) as jobs:
            yield jobs
    else:
        yield InProcessJobs(handlers, schedule, parallel=parallel)
