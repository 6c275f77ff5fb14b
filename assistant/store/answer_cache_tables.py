"""The tables of the answers that may be given again."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Column, ForeignKey, Index, Integer, LargeBinary, Table, Text

from assistant.store.metadata import metadata
from assistant.store.types import Instant, Json

# `id` is over tenant, frame, digest and question: a later answer to the same replaces the earlier one. `vector` is that of the
# question as little-endian float32; it is only compared in the process, with the few rows of one frame and meaning.
answer_cache: Final = Table(
    "answer_cache",
    metadata,
    Column("id", Text, primary_key=True),
    Column("tenant", Text, nullable=False),
    Column("frame", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("meaning", Text, nullable=False),
    Column("question", Text, nullable=False),
    Column("library", Text),
    Column("embedder", Text),
    Column("vector", LargeBinary),
    Column("origin", Text, ForeignKey("turns.id", ondelete="CASCADE"), nullable=False),
    Column("made_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),
    Column("answer", Json, nullable=False),
    Index("ix_answer_cache_meaning", "tenant", "frame", "meaning", "made_at"),
    Index("ix_answer_cache_made_at", "tenant", "made_at"),
    Index("ix_answer_cache_expires_at", "expires_at"),
    Index("ix_answer_cache_origin", "origin"),
)

# What each answer was made from.
answer_cache_documents: Final = Table(
    "answer_cache_documents",
    metadata,
    Column("entry", Text, ForeignKey("answer_cache.id", ondelete="CASCADE"), primary_key=True),
    Column("document", Text, primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Index("ix_answer_cache_documents_document", "document"),
)
