"""Jobs over REST, for the role admin. For everybody else there is nothing here."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Path, Query, Request

from assistant.interfaces.jobs import Jobs, JobStatus, JobView
from assistant.transport.admin import Admin

router = APIRouter(prefix="/api/admin/jobs")

_MOST: Final = 1000


def _jobs(request: Request) -> Jobs:
    jobs: Jobs = request.app.state.doors.jobs
    return jobs


Queue = Annotated[Jobs, Depends(_jobs)]
JobId = Annotated[str, Path(min_length=1, max_length=32)]


@router.get("")
async def show(
    _: Admin, jobs: Queue, status: JobStatus | None = None, limit: Annotated[int, Query(ge=1, le=_MOST)] = 200
) -> dict[str, Any]:
    """The jobs that are not done, the newest first."""
    return {"jobs": [job_json(job) for job in await jobs.list(status, limit)]}


@router.post("/{job}/retry", status_code=204)
async def retry(_: Admin, jobs: Queue, job: JobId) -> None:
    """Begin a job again that failed or was cancelled."""
    await jobs.retry(job)


@router.post("/{job}/cancel", status_code=204)
async def cancel(_: Admin, jobs: Queue, job: JobId) -> None:
    """Take out a job that waits, or stop one that runs."""
    await jobs.cancel(job)


def job_json(job: JobView) -> dict[str, Any]:
    """A job as plain JSON values. Payload and key stay inside: they name paths and conversations."""
    due = job.due.isoformat() if job.due else None
    told = {"id": job.id, "name": job.name, "status": job.status.value}
    return {**told, "attempts": job.attempts, "due": due}
