"""Ids and the time."""

from __future__ import annotations

from datetime import UTC, datetime

import structlog
from ulid import ULID

log = structlog.get_logger(__name__)


def new_id() -> str:
    """A new ULID: sortable by time, 26 characters."""
    return str(ULID())


def now() -> datetime:
    """The present, in UTC."""
    return datetime.now(UTC)
