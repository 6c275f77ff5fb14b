"""How often a job is tried, and what is told of jobs: of a failure to the log, of their number to the figures."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Mapping
from typing import Final

import structlog

from assistant.errors import AssistantError
from assistant.interfaces.jobs import Handler, JobStatus, Payload
from assistant.telemetry.figures import JOBS

log = structlog.get_logger(__name__)

ATTEMPTS: Final = 5
"""How often a job is begun before it counts as failed, whether it fails, is stopped or takes its process with it."""


def wait_s(attempts: int) -> int:
    """Seconds until a job is begun again that was begun so often: 4, 16, 64, 256."""
    return int(4 ** min(max(attempts, 1), 4))


class JobFailed(Exception):
    """A job failed; the text names the kind of the error alone, because errors can quote documents."""


async def attempt(name: str, handler: Handler, payload: Payload, id_: str) -> None:
    """Do a job. Raises JobFailed in the place of whatever error; the log has its kind and its place in the code."""
    try:
        await handler(payload)
    except AssistantError as error:
        log.warning("job.failed", job=name, id=id_, code=error.code, detail=error.detail)
        raise JobFailed(error.code) from None
    except Exception as error:
        log.error("job.failed", job=name, id=id_, error=type(error).__name__, where=_place_of(error))
        raise JobFailed(type(error).__name__) from None


def _place_of(error: Exception) -> list[str]:
    """The last lines of code that an error went through: neither its text nor any value."""
    frames = traceback.extract_tb(error.__traceback__)[-4:]
    return [f"{frame.filename.rpartition('/')[2]}:{frame.lineno} {frame.name}" for frame in frames]


def show_depth(names: Iterable[str], depth: Mapping[tuple[str, JobStatus], int]) -> None:
    """Tell the figures how many jobs of each name stand where; those that are not counted are none."""
    for name in names:
        for status in JobStatus:
            JOBS.labels(name, status.value).set(depth.get((name, status), 0))
