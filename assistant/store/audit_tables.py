"""The tables of the audit log, of the keys of persons and of legal holds. No column of another table points here, and none from here."""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
    UniqueConstraint,
)

from assistant.store.metadata import metadata
from assistant.store.types import Instant

# Rows are only added. `at` and `body` are text, as they were hashed; what follows `hash` repeats parts of the body for filters
# (`rating` of an answer: its last feedback).
# In PostgreSQL in partitions by the month of `at`: the primary key and the unique id are those of each partition, because a unique key of
# the whole would have to hold `at` (assistant.store.partitions).
# Pages are read in the order of time: an index per filter ends in (at, seq), so that a page costs the same anywhere in the log.
audit_records: Final = Table(
    "audit_records",
    metadata,
    Column("tenant", Text, primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("id", Text, nullable=False),
    Column("at", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("actor", Text, nullable=False),
    Column("subject", Text),
    Column("conversation", Text),
    Column("turn", Text),
    Column("body", Text, nullable=False),
    Column("sealed", LargeBinary),
    Column("sealed_sha256", Text),
    Column("previous", Text, nullable=False),
    Column("hash", Text, nullable=False),
    Column("model", Text),
    Column("mode", Text),
    Column("status", Text),
    Column("finish", Text),
    Column("rating", Text),
    Column("verdict", Text),
    Column("has_conflict", Boolean, nullable=False),
    UniqueConstraint("id"),
    Index("ix_audit_records_at", "tenant", "at", "seq"),
    Index("ix_audit_records_kind", "tenant", "kind", "at", "seq"),
    Index("ix_audit_records_subject", "tenant", "subject", "at", "seq"),
    Index("ix_audit_records_actor", "tenant", "actor", "at", "seq"),
    Index("ix_audit_records_conversation", "tenant", "conversation", "at", "seq"),
    Index("ix_audit_records_turn", "tenant", "turn", "at", "seq"),
    Index("ix_audit_records_model", "tenant", "model", "at", "seq"),
    Index("ix_audit_records_mode", "tenant", "mode", "at", "seq"),
    Index("ix_audit_records_status", "tenant", "status", "at", "seq"),
    Index("ix_audit_records_verdict", "tenant", "verdict", "at", "seq"),
    Index("ix_audit_records_conflict", "tenant", "has_conflict", "at", "seq"),
    Index("ix_audit_records_rating", "tenant", "rating", "at", "seq"),
)

# What each answer cites, for "which answers cite this document" and for how long versions are kept.
audit_documents: Final = Table(
    "audit_documents",
    metadata,
    Column("tenant", Text, primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("document", Text, primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("at", Text, nullable=False),
    Index("ix_audit_documents_document", "tenant", "document", "at", "seq"),
    Index("ix_audit_documents_version", "tenant", "document", "version", "seq"),
)

# The end of the chain of each tenant; its row is locked by whoever appends.
audit_chains: Final = Table(
    "audit_chains",
    metadata,
    Column("tenant", Text, primary_key=True),
    Column("seq", BigInteger, nullable=False),
    Column("hash", Text, nullable=False),
)

audit_checkpoints: Final = Table(
    "audit_checkpoints",
    metadata,
    Column("tenant", Text, primary_key=True),
    Column("size", BigInteger, primary_key=True, autoincrement=False),
    Column("root", Text, nullable=False),
    Column("head", Text, nullable=False),
    Column("at", Text, nullable=False),
    Column("key_id", Text, nullable=False),
    Column("signature", Text, nullable=False),
)

# A row without a key is of an erased person: nothing is sealed for them again.
person_keys: Final = Table(
    "person_keys",
    metadata,
    Column("tenant", Text, primary_key=True),
    Column("subject", Text, primary_key=True),
    Column("key", LargeBinary),
    Column("made_at", Instant, nullable=False),
    Column("destroyed_at", Instant),
)

legal_holds: Final = Table(
    "legal_holds",
    metadata,
    Column("id", Text, primary_key=True),
    Column("tenant", Text, nullable=False),
    Column("scope", Text, nullable=False),
    Column("value", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("by", Text, nullable=False),
    Column("at", Instant, nullable=False),
    Column("lifted_at", Instant),
    Index(None, "tenant", "at"),
)
