"""The tables. A row is a row; a model is a language model."""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Date,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from assistant.store.answer_cache_tables import answer_cache as answer_cache
from assistant.store.answer_cache_tables import answer_cache_documents as answer_cache_documents
from assistant.store.audit_tables import audit_chains as audit_chains
from assistant.store.audit_tables import audit_checkpoints as audit_checkpoints
from assistant.store.audit_tables import audit_documents as audit_documents
from assistant.store.audit_tables import audit_records as audit_records
from assistant.store.audit_tables import legal_holds as legal_holds
from assistant.store.audit_tables import person_keys as person_keys
from assistant.store.identity_tables import people as people
from assistant.store.identity_tables import service_keys as service_keys
from assistant.store.identity_tables import spent_tokens as spent_tokens
from assistant.store.library_tables import document_settings as document_settings
from assistant.store.library_tables import originals as originals
from assistant.store.metadata import metadata as metadata
from assistant.store.policy_tables import answers_of_record as answers_of_record
from assistant.store.policy_tables import answers_of_record_documents as answers_of_record_documents
from assistant.store.policy_tables import audit_secrets as audit_secrets
from assistant.store.policy_tables import retention_runs as retention_runs
from assistant.store.types import BigId, Instant, Json, Terms, Vector
from assistant.store.usage_tables import usage_days as usage_days
from assistant.store.worker_tables import workers as workers

conversations: Final = Table(
    "conversations",
    metadata,
    Column("id", Text, primary_key=True),
    Column("tenant", Text, nullable=False),
    Column("user_id", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("epoch", Text, nullable=False),
    Column("head_seq", BigInteger, nullable=False),
    Column("turn_count", Integer, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    # When its owner deleted it: gone for them, kept for the audit until a policy removes it.
    Column("deleted_at", Instant),
    Index(None, "tenant", "user_id", "updated_at"),
)

turns: Final = Table(
    "turns",
    metadata,
    Column("id", Text, primary_key=True),
    Column("conversation", Text, ForeignKey("conversations.id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("client_id", Text, nullable=False),
    Column("question", Text, nullable=False),
    Column("mode_asked", Text, nullable=False),
    Column("standalone", Text),
    Column("mode", Text),
    Column("reason", Text),
    Column("reason_code", Text),
    Column("language", Text),
    Column("plan", Json),
    Column("steps", Json),
    Column("parameters", Json),
    Column("groups", Json),
    Column("scope", Json),
    Column("attachments", Json),
    Column("from_cache", Text),
    Column("worker", Text),
    Column("cancel_asked_at", Instant),
    Column("status", Text, nullable=False),
    Column("stage", Text, nullable=False),
    Column("finish", Text),
    Column("model", Text),
    Column("prompt", Text),
    Column("calls", Integer),
    Column("tokens_in", Integer),
    Column("tokens_out", Integer),
    Column("tokens_cached", Integer),
    Column("cost", Double),
    Column("ms_first_token", Integer),
    Column("ms_answer", Integer),
    Column("ms_citations", Integer),
    Column("citation_status", Text),
    Column("unsupported", Json),
    Column("agreement", Integer),
    Column("conflicts_shown", Json),
    Column("error", Text),
    Column("audit_id", Text),
    Column("record_hash", Text),
    Column("started_at", Instant, nullable=False),
    Column("ended_at", Instant),
    UniqueConstraint("conversation", "client_id"),
    UniqueConstraint("conversation", "number"),
    Index(
        "ix_turns_open",
        "conversation",
        sqlite_where=text("ended_at IS NULL"),
        postgresql_where=text("ended_at IS NULL"),
    ),
    Index("ix_turns_worker", "worker"),
)

messages: Final = Table(
    "messages",
    metadata,
    Column("id", Text, primary_key=True),
    Column("conversation", Text, ForeignKey("conversations.id"), nullable=False),
    Column("turn", Text, ForeignKey("turns.id"), nullable=False),
    Column("role", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("sha256", Text),
    Column("at", Instant, nullable=False),
    UniqueConstraint("turn", "role"),
    Index(None, "conversation"),
)

# In PostgreSQL in partitions by the month in which the conversation began (assistant.store.partitions).
events: Final = Table(
    "events",
    metadata,
    Column("conversation", Text, ForeignKey("conversations.id"), primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("turn", Text, nullable=False),
    Column("type", Text, nullable=False),
    Column("at", Instant, nullable=False),
    Column("d", Json, nullable=False),
    Index("ix_events_turn", "turn"),
    # A turn ends once, whoever ends it: the database refuses a second turn.done. A turn is of one conversation.
    Index(
        "ix_events_done",
        "conversation",
        "turn",
        unique=True,
        sqlite_where=text("type = 'turn.done'"),
        postgresql_where=text("type = 'turn.done'"),
    ),
)

evidence: Final = Table(
    "evidence",
    metadata,
    Column("turn", Text, ForeignKey("turns.id"), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("evidence_id", Text, nullable=False),
    Column("n", Integer),
    Column("document", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("sha256", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("uri", Text, nullable=False),
    Column("collection", Text, nullable=False),
    Column("date", Date),
    Column("authority", Text, nullable=False),
    Column("source_language", Text, nullable=False),
    Column("family", Text),
    Column("access", Json, nullable=False),
    Column("span_start", Integer, nullable=False),
    Column("span_end", Integer, nullable=False),
    # NULL when the stored version holds the same text at the span; kept here for sources outside the knowledge base.
    Column("exact", Text),
    Column("kept", Json, nullable=False),
    Column("section", Text, nullable=False),
    Column("page", Integer),
    Column("score", Double, nullable=False),
    Column("language", Text, nullable=False),
    Column("conflicts", Json, nullable=False),
    Column("preferred", Boolean),
    Column("flags", Json, nullable=False),
    # NULL when there is none, as in all rows of before images were kept.
    Column("images", Json),
    Index(None, "document", "version"),
)

conflicts: Final = Table(
    "conflicts",
    metadata,
    Column("turn", Text, ForeignKey("turns.id"), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("conflict_id", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("topic", Text, nullable=False),
    Column("sides", Json, nullable=False),
    Column("resolution", Text, nullable=False),
    Column("preferred", Text),
    Column("why", Text, nullable=False),
)

citations: Final = Table(
    "citations",
    metadata,
    Column("turn", Text, ForeignKey("turns.id"), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("n", Integer, nullable=False),
    Column("answer_start", Integer, nullable=False),
    Column("answer_end", Integer, nullable=False),
    Column("verdict", Text, nullable=False),
    Column("score", Double, nullable=False),
    Column("evidence_id", Text, nullable=False),
    Column("document", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("sha256", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("uri", Text, nullable=False),
    Column("section", Text, nullable=False),
    Column("source_start", Integer, nullable=False),
    Column("source_end", Integer, nullable=False),
    Column("exact", Text, nullable=False),
    Column("page", Integer),
    Column("date", Date),
    Column("authority", Text, nullable=False),
    Column("image", Text),
    Column("region", Json),
    Index(None, "document", "version"),
)

notes: Final = Table(
    "notes",
    metadata,
    Column("conversation", Text, ForeignKey("conversations.id"), primary_key=True),
    Column("text", Text, nullable=False),
    Column("through", Integer, nullable=False),
    Column("updated_at", Instant, nullable=False),
)

model_calls: Final = Table(
    "model_calls",
    metadata,
    Column("turn", Text, ForeignKey("turns.id"), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("purpose", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("messages", Json, nullable=False),
    Column("text", Text, nullable=False),
    Column("ended", Text, nullable=False),
    Column("tokens_in", Integer, nullable=False),
    Column("tokens_out", Integer, nullable=False),
    Column("tokens_cached", Integer, nullable=False),
    Column("cost", Double),
    Column("ms", Integer, nullable=False),
)

citation_numbers: Final = Table(
    "citation_numbers",
    metadata,
    Column("conversation", Text, ForeignKey("conversations.id"), primary_key=True),
    Column("evidence_id", Text, primary_key=True),
    Column("n", Integer, nullable=False),
)

feedback: Final = Table(
    "feedback",
    metadata,
    Column("id", Text, primary_key=True),
    Column("turn", Text, ForeignKey("turns.id"), nullable=False),
    Column("tenant", Text, nullable=False),
    Column("user_id", Text, nullable=False),
    Column("rating", Text, nullable=False),
    Column("reason", Text),
    Column("correction", Text),
    Column("citation", Integer),
    Column("at", Instant, nullable=False),
    Index(None, "turn", "at"),
)

_LISTED: Final = text("deleted_at IS NULL AND substr(collection, 1, 6) <> 'files:'")
documents: Final = Table(
    "documents",
    metadata,
    Column("id", Text, primary_key=True),
    Column("tenant", Text, nullable=False),
    Column("collection", Text, nullable=False),
    Column("uri", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("family", Text),
    Column("authority", Text, nullable=False),
    Column("owner", Text),
    Column("date", Date),
    Column("language", Text, nullable=False),
    Column("media_type", Text, nullable=False),
    Column("current_version", Integer, nullable=False),
    Column("fingerprint", Text, nullable=False),
    # Sums over the chunks in the index, so that BM25 needs no scan for the collection size and the mean length.
    Column("chunk_count", Integer, nullable=False),
    Column("term_count", Integer, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    Column("deleted_at", Instant),
    UniqueConstraint("tenant", "collection", "uri"),
    # The order of a list of documents; files of sessions are in no list but their session's.
    Index("ix_documents_listed", "tenant", "collection", "uri", sqlite_where=_LISTED, postgresql_where=_LISTED),
)

document_access: Final = Table(
    "document_access",
    metadata,
    Column("document", Text, ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True),
    Column("group_name", Text, primary_key=True),
    Index(None, "group_name", "document"),
)

document_versions: Final = Table(
    "document_versions",
    metadata,
    Column("document", Text, ForeignKey("documents.id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("sha256", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("date", Date),
    Column("created_at", Instant, nullable=False),
)

# The images of every version that is kept; `position` is their order, `sha256` is of the content.
images: Final = Table(
    "images",
    metadata,
    Column("document", Text, primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("sha256", Text, nullable=False),
    Column("media_type", Text, nullable=False),
    Column("caption", Text, nullable=False),
    Column("span_start", Integer, nullable=False),
    Column("span_end", Integer, nullable=False),
    Column("page", Integer),
    Column("region", Json),
    Column("content", LargeBinary, nullable=False),
    ForeignKeyConstraint(["document", "version"], ["document_versions.document", "document_versions.number"]),
)

# Only the current versions of live documents have chunks: what is not here cannot be found.
chunks: Final = Table(
    "chunks",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("document", Text, ForeignKey("documents.id"), nullable=False),
    Column("version", Integer, nullable=False),
    Column("position", Integer, nullable=False),
    Column("span_start", Integer, nullable=False),
    Column("span_end", Integer, nullable=False),
    Column("page", Integer),
    Column("length", Integer, nullable=False),
    Column("digest", Text, nullable=False),
    Column("section", Text, nullable=False),
    Column("terms", Terms, nullable=False),
    Index(None, "document"),
    sqlite_autoincrement=True,
)

vectors: Final = Table(
    "vectors",
    metadata,
    Column("embedder", Text, primary_key=True),
    Column("chunk", BigId, ForeignKey("chunks.id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("change", BigInteger, nullable=False),
    Column("vector", Vector, nullable=False),
    Index(None, "chunk"),
    Index(None, "embedder", "change"),
)

# One row, name 'vectors': how often vectors were added and how often chunks left, for the caches of other processes.
index_changes: Final = Table(
    "index_changes",
    metadata,
    Column("name", Text, primary_key=True),
    Column("added", BigInteger, nullable=False),
    Column("removed", BigInteger, nullable=False),
)

model_factors: Final = Table(
    "model_factors",
    metadata,
    Column("model", Text, primary_key=True),
    Column("factor", Double, nullable=False),
    Column("samples", Integer, nullable=False),
    Column("updated_at", Instant, nullable=False),
)
