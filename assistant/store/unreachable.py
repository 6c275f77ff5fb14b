"""Which errors say that the database is away: it is restarted, its network is gone, it takes nobody more just now."""

from __future__ import annotations

from typing import Final

from sqlalchemy.exc import DBAPIError

_CLASSES: Final = ("08", "57P", "53300")
"""SQLSTATE: connection exception, shut down or starting up, too many connections."""


def is_unreachable(error: BaseException) -> bool:
    """Whether the same may work a little later because the database could not be reached, or broke off.

    What was being committed when it broke off may have been committed.
    """
    if isinstance(error, DBAPIError):
        return error.connection_invalidated or _says_so(error.orig)
    return isinstance(error, OSError) or _says_so(error)


def _says_so(error: BaseException | None) -> bool:
    return str(getattr(error, "sqlstate", None) or "").startswith(_CLASSES)
