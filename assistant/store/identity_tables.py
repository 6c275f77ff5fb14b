"""The tables of people, of service keys and of tokens that were taken. No column points here, and none from here."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Column, Date, Index, Table, Text

from assistant.store.metadata import metadata
from assistant.store.types import Instant, Json

# A row only for those of whom an administrator said something. `groups` null: those of the token.
people: Final = Table(
    "people",
    metadata,
    Column("tenant", Text, primary_key=True),
    Column("user_id", Text, primary_key=True),
    Column("groups", Json),
    Column("not_before", Instant),
    Column("changed_at", Instant, nullable=False),
    Index(None, "changed_at"),
)

service_keys: Final = Table(
    "service_keys",
    metadata,
    Column("tenant", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("groups", Json, nullable=False),
    Column("roles", Json, nullable=False),
    Column("made_at", Instant, nullable=False),
    Column("expires_at", Instant),
    Column("revoked_at", Instant),
    Column("last_used", Date),
)

# The primary key decides who comes first. `digest` is the SHA-256 of the id of the token.
spent_tokens: Final = Table(
    "spent_tokens",
    metadata,
    Column("tenant", Text, primary_key=True),
    Column("digest", Text, primary_key=True),
    Column("expires_at", Instant, nullable=False),
    Index(None, "expires_at"),
)
