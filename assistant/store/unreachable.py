"""Errors that say that the database is away: it is restarted, its network is gone, it takes nobody more just now."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from time import monotonic
from typing import Any, Final, TypeVar, cast

import structlog
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from assistant.errors import StoreUnavailable

log = structlog.get_logger(__name__)

Work = TypeVar("Work", bound=Callable[..., Awaitable[Any]])

PATIENCE_S: Final = 20.0
"""For how long what belongs to a running turn waits for the database; turns outlive its restart."""

ASKING_PATIENCE_S: Final = 10.0
"""For how long somebody who asks waits for the database before they are told that it is away."""

RETRY_MS: Final = 2000
"""When a caller may come back to a database that was away, in milliseconds."""

_CLASSES: Final = ("08", "57P", "53300")
"""SQLSTATE: connection exception, shut down or starting up, too many connections."""


def is_unreachable(error: BaseException) -> bool:
    """Whether the same may work a little later because the database could not be reached, or broke off.

    What was being committed when it broke off may have been committed.
    """
    if isinstance(error, DBAPIError):
        return error.connection_invalidated or _says_so(error.orig)
    return isinstance(error, OSError | StoreUnavailable | PoolTimeout) or _says_so(error)


def _says_so(error: BaseException | None) -> bool:
    return str(getattr(error, "sqlstate", None) or "").startswith(_CLASSES)


@contextmanager
def telling_unavailable() -> Iterator[None]:
    """Raise StoreUnavailable in place of whatever a driver says when its database is away."""
    try:
        yield
    except StoreUnavailable:
        raise
    except Exception as error:
        if not is_unreachable(error):
            raise
        said = getattr(error, "orig", None) or error
        cause = said.__cause__ or said  # SQLAlchemy's own names of errors say little
        raise StoreUnavailable(
            f"the database cannot be reached ({type(cause).__name__})", retry_after_ms=RETRY_MS
        ) from error


def patient_for(seconds: float) -> Callable[[Work], Work]:
    """Do an async function again, for so many seconds, while the database is away.

    For transactions that bear being done twice: the first one may have been committed.
    """

    def around(work: Work) -> Work:
        @wraps(work)
        async def again(*given: Any, **named: Any) -> Any:
            deadline, pause = monotonic() + seconds, 0.05
            while True:
                try:
                    return await work(*given, **named)
                except StoreUnavailable as error:
                    if monotonic() > deadline:
                        raise
                    log.warning("done again", what=work.__name__, why=error.detail)
                await asyncio.sleep(pause)
                pause = min(2 * pause, 1.0)

        return cast("Work", again)

    return around


patient: Final = patient_for(PATIENCE_S)
"""For what belongs to a running turn."""
