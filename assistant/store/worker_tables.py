"""The table of processes. No column points here, and none from here."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Column, Integer, Table, Text

from assistant.store.metadata import metadata
from assistant.store.types import Instant

# Which processes run turns. A turn whose worker is not seen any more is ended by another one.
workers: Final = Table(
    "workers",
    metadata,
    Column("id", Text, primary_key=True),
    Column("host", Text, nullable=False),
    Column("process", Integer, nullable=False),
    Column("process_started", Text, nullable=False),
    Column("started_at", Instant, nullable=False),
    Column("seen_at", Instant, nullable=False),
)
