"""Tables of what was sent in: originals of documents, and what people set about a document whatever it says itself."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Column, ForeignKey, ForeignKeyConstraint, Integer, LargeBinary, Table, Text

from assistant.store.metadata import metadata
from assistant.store.types import Instant, Json

# The file that a version was read from, with what was said about it when it was sent in; a folder keeps its own files.
originals: Final = Table(
    "originals",
    metadata,
    Column("document", Text, primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False),
    Column("media_type", Text, nullable=False),
    Column("said", Json, nullable=False),
    Column("content", LargeBinary, nullable=False),
    Column("made_at", Instant, nullable=False),
    ForeignKeyConstraint(
        ["document", "version"], ["document_versions.document", "document_versions.number"], ondelete="CASCADE"
    ),
)

# `said` holds the fields that a person set by name (access, authority, date, owner). They win over everything that is read in later:
# a sync that finds the file changed must not open a document that was closed.
document_settings: Final = Table(
    "document_settings",
    metadata,
    Column("document", Text, ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True),
    Column("said", Json, nullable=False),
    Column("at", Instant, nullable=False),
)
