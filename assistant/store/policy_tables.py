"""The tables of the installation's secret, of the schedule of retention and of answers of record."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Column, Index, Integer, Table, Text, text

from assistant.store.metadata import metadata
from assistant.store.types import Instant

# One row, name 'installation': which secret the database is used with. The secret itself is in a file elsewhere.
audit_secrets: Final = Table(
    "audit_secrets",
    metadata,
    Column("name", Text, primary_key=True),
    Column("id", Text, nullable=False),
    Column("made_at", Instant, nullable=False),
)

# When a schedule last began: of all processes one does the work.
retention_runs: Final = Table(
    "retention_runs",
    metadata,
    Column("name", Text, primary_key=True),
    Column("begun_at", Instant, nullable=False),
)

# What a person said instead of the model, given first to the same question; never changed but to be revoked.
answers_of_record: Final = Table(
    "answers_of_record",
    metadata,
    Column("id", Text, primary_key=True),
    Column("tenant", Text, nullable=False),
    Column("question_key", Text, nullable=False),
    Column("question", Text, nullable=False),
    Column("text", Text, nullable=False),
    # Whose correction it was, as a pseudonym: when they are erased, so are their words here.
    Column("subject", Text, nullable=False),
    Column("turn", Text, nullable=False),
    Column("correction", Text, nullable=False),
    Column("by", Text, nullable=False),
    Column("at", Instant, nullable=False),
    Column("revoked_at", Instant),
    Index(None, "tenant", "at"),
    # One at a time answers a question.
    Index(
        "ix_answers_of_record_question",
        "tenant",
        "question_key",
        unique=True,
        sqlite_where=text("revoked_at IS NULL"),
        postgresql_where=text("revoked_at IS NULL"),
    ),
)

# The document versions that the corrected answer rested on: who may not read them all does not get the answer.
answers_of_record_documents: Final = Table(
    "answers_of_record_documents",
    metadata,
    Column("answer", Text, primary_key=True),
    Column("document", Text, primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Index(None, "document", "version"),
)
