"""Jobs of all processes on one PostgreSQL, by procrastinate (psycopg; its connections are opened only where jobs are used)."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import wraps
from typing import Any, Final, TypeVar, cast

import structlog
from procrastinate import App, PsycopgConnector
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException, JobAborted, UniqueViolation
from procrastinate.job_context import JobContext
from procrastinate.jobs import Job, Status
from procrastinate.retry import BaseRetryStrategy, RetryDecision
from psycopg import OperationalError

from assistant.errors import BadInput, NotFound, StoreUnavailable
from assistant.interfaces.jobs import Handler, JobStatus, JobView, Payload, Schedule
from assistant.jobs.attempting import ATTEMPTS, attempt, show_depth, wait_s
from assistant.jobs.keyed import KeyedManager
from assistant.jobs.schema import SCHEMA, libpq_url

log = structlog.get_logger(__name__)

_STATUS: Final = {
    "todo": JobStatus.WAITING,
    "doing": JobStatus.RUNNING,
    "failed": JobStatus.FAILED,
    "cancelled": JobStatus.CANCELLED,
    "aborted": JobStatus.CANCELLED,
    "aborting": JobStatus.RUNNING,
}
_KEPT: Final = timedelta(days=7)
"""How long a job that failed or was cancelled can be looked at."""
_HIGHEST: Final = 2**63 - 1
_RETRY_MS: Final = 2000


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds: between two signs of life, until a process without one counts as gone, between two looks, for a stop."""

    beat_s: float = 10.0
    gone_s: float = 60.0
    look_s: float = 5.0
    stop_s: float = 5.0

    @classmethod
    def of(cls, lease_s: float) -> Pace:
        """The pace of processes that count as gone after `lease_s` of silence."""
        return cls(beat_s=lease_s / 6, gone_s=lease_s, look_s=min(cls().look_s, lease_s / 6))


Work = TypeVar("Work", bound=Callable[..., Awaitable[Any]])


def _telling(work: Work) -> Work:
    """Raise StoreUnavailable in place of what the connector says when its database is away."""

    @wraps(work)
    async def told(*given: Any, **named: Any) -> Any:
        try:
            return await work(*given, **named)
        except ConnectorException as error:
            if isinstance(error.__cause__, OperationalError):
                raise StoreUnavailable("the queue cannot be reached", retry_after_ms=_RETRY_MS) from error
            raise

    return cast("Work", told)


class PostgresqlJobs:
    """The Jobs of an installation, in the schema of the queue. Made by `open_postgresql_jobs`.

    What is asked of it raises StoreUnavailable when the database is away.
    """

    def __init__(
        self,
        app: App,
        handlers: Mapping[str, Handler],
        schedule: Sequence[Schedule] = (),
        *,
        parallel: int = 2,
        pace: Pace | None = None,
    ) -> None:
        self._app = app
        self._manager = KeyedManager(app.connector)
        app.job_manager = self._manager
        self._handlers = dict(handlers)
        self._schedule = tuple(schedule)
        self._parallel = parallel
        self._pace = pace or Pace()
        for name, handler in self._handlers.items():
            app.task(name=name, pass_context=True, retry=_Again())(_task(name, handler))

    @_telling
    async def enqueue(
        self, name: str, payload: Payload | None = None, *, key: str = "", when: datetime | None = None
    ) -> bool:
        """Put a job into the queue; False while one of its key waits. Raises BadInput for a name that nobody does."""
        if name not in self._handlers:
            raise BadInput("nobody does such jobs", name=name, known=sorted(self._handlers))
        if key and await self._manager.waits(key):
            return False
        made = self._app.configure_task(name, lock=key or None, queueing_lock=key or None, schedule_at=when)
        try:
            await made.defer_async(payload=dict(payload or {}))
        except AlreadyEnqueued:
            return False
        return True

    @_telling
    async def list(self, status: JobStatus | None = None, limit: int = 200) -> list[JobView]:
        """The jobs that are not done, the newest first."""
        rows = await self._app.connector.execute_query_all_async(_LIST, limit=limit, statuses=_names(status))
        return [_view(Job.from_row(row)) for row in rows]

    @_telling
    async def retry(self, id_: str) -> None:
        """Let a job that failed or was cancelled begin at once. Raises NotFound, and BadInput where it cannot."""
        found = await self._app.connector.execute_query_all_async(_RETRIED, id=_number(id_))
        if not found:
            raise NotFound("no such job")
        if found[0]["status"] not in ("failed", "cancelled", "aborted"):
            raise BadInput("this job cannot be begun again now", status=_STATUS[found[0]["status"]].value)
        try:
            await self._app.connector.execute_query_async(_AGAIN, id=_number(id_))
        except UniqueViolation:
            raise BadInput("another job of its key waits already", status=JobStatus.WAITING.value) from None

    @_telling
    async def cancel(self, id_: str) -> None:
        """Take out a job that waits, stop one that runs. Raises NotFound where there is no such job."""
        if not await self._manager.cancel_job_by_id_async(_number(id_), abort=True):
            raise NotFound("no such job")

    async def run(self) -> None:
        """Do jobs until cancelled, those of the schedule included.

        A database that is away is waited for. Jobs of processes that are gone begin again here or elsewhere.
        """
        works = (self._ticking(), self._rescuing(), self._counting())
        beside = [asyncio.create_task(work) for work in works]
        try:
            while True:
                try:
                    await self._work()
                except (ConnectorException, OSError) as error:
                    log.warning("jobs.away", error=type(error).__name__)
                await asyncio.sleep(self._pace.look_s)
        finally:
            for task in beside:
                task.cancel()
            await asyncio.gather(*beside, return_exceptions=True)

    async def _work(self) -> None:
        await self._app.run_worker_async(
            concurrency=self._parallel,
            install_signal_handlers=False,
            delete_jobs="successful",
            fetch_job_polling_interval=self._pace.look_s,
            abort_job_polling_interval=self._pace.look_s,
            update_heartbeat_interval=self._pace.beat_s,
            stalled_worker_timeout=self._pace.gone_s,
            shutdown_graceful_timeout=self._pace.stop_s,
        )

    async def _ticking(self) -> None:
        """Put in what the schedule wants: for each time of it, the first process that comes."""
        while True:
            for item in self._schedule:
                with suppress(AlreadyEnqueued):  # the last one still waits
                    await self._quietly(self._tick(item))
            await asyncio.sleep(min((item.every.total_seconds() for item in self._schedule), default=60.0) / 2)

    async def _tick(self, item: Schedule) -> None:
        every = max(1, round(item.every.total_seconds()))
        if await self._manager.waits(item.name):
            return
        at = int(datetime.now(UTC).timestamp()) // every * every
        made = self._app.configure_task(item.name, lock=item.name, queueing_lock=item.name)
        job = made.job.evolve(task_kwargs={"payload": {}, "timestamp": at})
        await self._manager.defer_periodic_job(job, "schedule", at)

    async def _rescuing(self) -> None:
        """Begin again what processes that are gone were at, and forget what failed long ago."""
        while True:
            await self._quietly(self._rescue())
            await asyncio.sleep(self._pace.gone_s / 3)

    async def _rescue(self) -> None:
        manager = self._manager
        for job in await manager.get_stalled_jobs(seconds_since_heartbeat=self._pace.gone_s):
            log.warning("job.stalled", job=job.task_name, id=str(job.id), attempts=job.attempts)
            with suppress(ConnectorException):  # another process was first
                if job.attempts + 1 >= ATTEMPTS:
                    await manager.finish_job(job, Status.FAILED, delete_job=False)
                else:
                    await manager.retry_job(job)
        await manager.delete_old_jobs(
            int(_KEPT.total_seconds() // 3600), include_failed=True, include_cancelled=True, include_aborted=True
        )
        await manager.forget_replaced()

    async def _counting(self) -> None:
        """Tell the figures how many jobs there are."""
        while True:
            await self._quietly(self._count())
            await asyncio.sleep(self._pace.beat_s)

    async def _count(self) -> None:
        depth = Counter[tuple[str, JobStatus]]()
        for row in await self._app.connector.execute_query_all_async(_COUNTS, statuses=list(_STATUS)):
            depth[row["name"], _STATUS[row["status"]]] += row["jobs"]
        show_depth(self._handlers, depth)

    async def _quietly(self, work: Any) -> None:
        """A look that fails is done again the next time."""
        try:
            await work
        except AlreadyEnqueued:
            raise
        except Exception as error:
            log.warning("jobs.away", error=type(error).__name__)


@asynccontextmanager
async def open_postgresql_jobs(
    url: str,
    handlers: Mapping[str, Handler],
    schedule: Sequence[Schedule] = (),
    *,
    parallel: int = 2,
    pace: Pace | None = None,
) -> AsyncIterator[PostgresqlJobs]:
    """The jobs of the database at `url`, which `assistant.jobs.schema.prepare` has made ready; not through a pooler of
    transactions. Keeps two to `parallel` + 3 connections."""
    logging.getLogger("procrastinate").setLevel(logging.CRITICAL)  # it would log payloads; `attempt` logs failures
    connector = PsycopgConnector(
        conninfo=libpq_url(url),
        kwargs={"options": f"-c search_path={SCHEMA}"},
        min_size=1,
        max_size=parallel + 2,
        timeout=10.0,
    )
    app = App(connector=connector)
    async with app.open_async():
        yield PostgresqlJobs(app, handlers, schedule, parallel=parallel, pace=pace)


def _task(name: str, handler: Handler) -> Any:
    async def task(context: JobContext, *, payload: dict[str, Any], timestamp: int = 0) -> None:
        try:
            await attempt(name, handler, payload, str(context.job.id))
        except asyncio.CancelledError:
            if context.should_abort():
                raise JobAborted from None
            raise

    return task


class _Again(BaseRetryStrategy):
    """Begin again what failed or was stopped with its process, until ATTEMPTS."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        if job.attempts + 1 >= ATTEMPTS:
            return None
        stopped = isinstance(exception, JobAborted | asyncio.CancelledError)
        wait = timedelta() if stopped else timedelta(seconds=wait_s(job.attempts + 1))
        return RetryDecision(retry_at=datetime.now(UTC) + wait)


def _view(job: Job) -> JobView:
    payload = job.task_kwargs.get("payload")
    return JobView(
        str(job.id),
        job.task_name,
        _STATUS[job.status or "todo"],
        job.lock or "",
        job.attempts,
        job.scheduled_at,
        payload if isinstance(payload, dict) else {},
    )


def _number(id_: str) -> int:
    """The id as the queue has it. Raises NotFound for what is none."""
    if not (id_.isascii() and id_.isdigit() and int(id_[:20]) <= _HIGHEST):
        raise NotFound("no such job")
    return int(id_)


def _names(status: JobStatus | None) -> list[str]:
    return [name for name, known in _STATUS.items() if status is None or known is status]


_LIST: Final = """
    SELECT id, status, task_name, priority, lock, queueing_lock, args, scheduled_at, queue_name, attempts
    FROM procrastinate_jobs WHERE status::text = ANY(%(statuses)s::text[]) ORDER BY id DESC LIMIT %(limit)s
"""
_COUNTS: Final = """
    SELECT task_name AS name, status::text AS status, count(*) AS jobs
    FROM procrastinate_jobs WHERE status::text = ANY(%(statuses)s::text[]) GROUP BY 1, 2
"""
_RETRIED: Final = "SELECT status::text AS status FROM procrastinate_jobs WHERE id = %(id)s"
_AGAIN: Final = """
    UPDATE procrastinate_jobs SET status = 'todo', scheduled_at = now(), attempts = 0, worker_id = NULL,
        abort_requested = false
    WHERE id = %(id)s AND status::text IN ('failed', 'cancelled', 'aborted')
"""
