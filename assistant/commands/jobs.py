"""assistant jobs: what waits, runs and failed, on PostgreSQL; and the worker that does nothing else."""

from __future__ import annotations

import asyncio
import signal
from contextlib import AbstractAsyncContextManager, suppress
from datetime import datetime
from pathlib import Path
from typing import Annotated, Final

import structlog
import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from assistant.app.assembling import assemble
from assistant.app.working import INGEST, open_working
from assistant.commands.beginning import command_settings
from assistant.config import Settings
from assistant.core.evidence import Authority
from assistant.errors import BadSetting
from assistant.interfaces.jobs import Handler, Jobs, JobStatus, Payload
from assistant.jobs.opening import is_shared, open_jobs
from assistant.store.migrations import current_and_head

app = typer.Typer(help="Jobs of all processes on one PostgreSQL.", no_args_is_help=True, add_completion=False)
console = Console(highlight=False, soft_wrap=True)
log = structlog.get_logger(__name__)

_MOST: Final = 1000

JobId = Annotated[str, typer.Argument(help="Id of the job.")]


async def _elsewhere(_: Payload) -> None:
    raise RuntimeError("this process only puts jobs in")


def _queue(settings: Settings) -> AbstractAsyncContextManager[Jobs]:
    """The queue, to look at and to put into. Raises BadSetting where jobs are those of one process, which alone sees them."""
    handlers: dict[str, Handler] = {INGEST: _elsewhere}
    return open_jobs(settings.database.direct_url or settings.database.url, handlers, shared=True)


@app.command("list")
def show(
    status: Annotated[JobStatus | None, typer.Option(help="Only those that stand there.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=_MOST, help="At most so many, the newest first.")] = 50,
) -> None:
    """Show the jobs that are not done."""
    asyncio.run(_show(command_settings(), status, limit))


async def _show(settings: Settings, status: JobStatus | None, limit: int) -> None:
    async with _queue(settings) as jobs:
        found = await jobs.list(status, limit)
    table = Table("id", "job", "status", "begun", "due", "key", box=None)
    for job in found:
        due = job.due.isoformat(timespec="seconds") if job.due else ""
        table.add_row(job.id, escape(job.name), job.status.value, str(job.attempts), due, escape(job.key))
    console.print(table if found else "There is nothing to do.")


@app.command()
def retry(job: JobId) -> None:
    """Begin a job again that failed or was cancelled."""
    asyncio.run(_retry(command_settings(), job))
    console.print("It waits.")


async def _retry(settings: Settings, job: str) -> None:
    async with _queue(settings) as jobs:
        await jobs.retry(job)


@app.command()
def cancel(job: JobId) -> None:
    """Take out a job that waits, or stop one that runs."""
    asyncio.run(_cancel(command_settings(), job))
    console.print("It is cancelled.")


async def _cancel(settings: Settings, job: str) -> None:
    async with _queue(settings) as jobs:
        await jobs.cancel(job)


@app.command()
def ingest(
    path: Annotated[Path, typer.Argument(help="A folder that the workers see under the same name.")],
    collection: Annotated[str, typer.Option(help="Name of the collection.")],
    authority: Annotated[Authority | None, typer.Option(help="Weight when documents disagree.")] = None,
    access: Annotated[list[str] | None, typer.Option(help="Group that may read; may be repeated.")] = None,
    date: Annotated[datetime | None, typer.Option(formats=["%Y-%m-%d"], help="Date they speak for.")] = None,
) -> None:
    """Let a worker read a folder into a collection."""
    payload: dict[str, object] = {
        "path": str(path.absolute()),
        "collection": collection,
        "authority": authority.value if authority else None,
        "access": sorted(access or ()),
        "date": date.date().isoformat() if date else None,
    }
    put = asyncio.run(_ingest(command_settings(), payload, f"{INGEST}:{collection}"))
    console.print("It waits." if put else "One for this collection waits already.")


async def _ingest(settings: Settings, payload: Payload, key: str) -> bool:
    async with _queue(settings) as jobs:
        return await jobs.enqueue(INGEST, payload, key=key)


def work_forever(settings: Settings) -> None:
    """Do jobs until the process is told to stop; what runs then has some seconds to end, or begins again elsewhere.

    Raises BadSetting on SQLite, and for a database without tables.
    """
    if not is_shared(settings.database.url):
        raise BadSetting("workers need PostgreSQL and the extra `workers`", setting="database.url")
    asyncio.run(_work(settings))


async def _work(settings: Settings) -> None:
    if (await current_and_head(settings.database.url))[0] is None:
        raise BadSetting("the database has no tables yet; run `assistant migrate`", setting="database.url")
    async with assemble(settings) as parts, open_working(parts, shared=True) as jobs:
        work = asyncio.create_task(jobs.run())
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, work.cancel)
        log.info("working", parallel=settings.jobs.parallel)
        with suppress(asyncio.CancelledError):
            await work
    log.info("stopped")
