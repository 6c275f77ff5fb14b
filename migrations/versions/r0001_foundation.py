"""Conversations, turns, events and evidence; documents, versions, chunks and both search indexes."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from pgvector.sqlalchemy import VECTOR
from sqlalchemy.dialects.postgresql import TSVECTOR

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)
JSON = sa.JSON()
BIG_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TERMS = sa.Text().with_variant(TSVECTOR(), "postgresql")
FLOATS = sa.LargeBinary().with_variant(VECTOR(), "postgresql")

POSTGRESQL = (
    "CREATE INDEX ix_chunks_terms ON chunks USING gin (terms)",
    # Vectors stay in their row as long as it fits a page: a search reads all of them.
    "ALTER TABLE vectors ALTER COLUMN vector SET STORAGE MAIN",
)

# The index refers to chunks.terms instead of keeping a copy; the triggers keep the two in step.
SQLITE = (
    """CREATE VIRTUAL TABLE word_index USING fts5(
        terms, content='chunks', content_rowid='id', tokenize="ascii tokenchars '_'")""",
    # Read as postings: one row per occurrence of a term, in the order of the chunks.
    "CREATE VIRTUAL TABLE word_index_terms USING fts5vocab('word_index', 'instance')",
    """CREATE TRIGGER word_index_insert AFTER INSERT ON chunks BEGIN
        INSERT INTO word_index (rowid, terms) VALUES (new.id, new.terms);
    END""",
    """CREATE TRIGGER word_index_delete AFTER DELETE ON chunks BEGIN
        INSERT INTO word_index (word_index, rowid, terms) VALUES ('delete', old.id, old.terms);
    END""",
    """CREATE TRIGGER word_index_update AFTER UPDATE OF terms ON chunks BEGIN
        INSERT INTO word_index (word_index, rowid, terms) VALUES ('delete', old.id, old.terms);
        INSERT INTO word_index (rowid, terms) VALUES (new.id, new.terms);
    END""",
)


def upgrade() -> None:
    postgresql = op.get_bind().dialect.name == "postgresql"
    if postgresql:
        op.execute("CREATE EXTENSION IF NOT EXISTS vector")
    for create in TABLES:
        create()
    op.execute("INSERT INTO index_changes (name, added, removed) VALUES ('vectors', 0, 0)")
    for statement in POSTGRESQL if postgresql else SQLITE:
        op.execute(statement)


def _conversations() -> None:
    op.create_table(
        "conversations",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("user_id", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("epoch", sa.Text, nullable=False),
        sa.Column("head_seq", sa.BigInteger, nullable=False),
        sa.Column("turn_count", sa.Integer, nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("updated_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_conversations"),
    )
    op.create_index("ix_conversations_tenant_user_id_updated_at", "conversations", ["tenant", "user_id", "updated_at"])


def _turns() -> None:
    op.create_table(
        "turns",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column(
            "conversation", sa.Text, sa.ForeignKey("conversations.id", name="fk_turns_conversation"), nullable=False
        ),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("client_id", sa.Text, nullable=False),
        sa.Column("question", sa.Text, nullable=False),
        sa.Column("mode_asked", sa.Text, nullable=False),
        sa.Column("standalone", sa.Text),
        sa.Column("mode", sa.Text),
        sa.Column("reason", sa.Text),
        sa.Column("reason_code", sa.Text),
        sa.Column("language", sa.Text),
        sa.Column("plan", JSON),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("stage", sa.Text, nullable=False),
        sa.Column("finish", sa.Text),
        sa.Column("model", sa.Text),
        sa.Column("prompt", sa.Text),
        sa.Column("calls", sa.Integer),
        sa.Column("tokens_in", sa.Integer),
        sa.Column("tokens_out", sa.Integer),
        sa.Column("tokens_cached", sa.Integer),
        sa.Column("cost", sa.Double),
        sa.Column("ms_first_token", sa.Integer),
        sa.Column("ms_answer", sa.Integer),
        sa.Column("ms_citations", sa.Integer),
        sa.Column("citation_status", sa.Text),
        sa.Column("unsupported", JSON),
        sa.Column("agreement", sa.Integer),
        sa.Column("conflicts_shown", JSON),
        sa.Column("error", sa.Text),
        sa.Column("audit_id", sa.Text),
        sa.Column("record_hash", sa.Text),
        sa.Column("started_at", INSTANT, nullable=False),
        sa.Column("ended_at", INSTANT),
        sa.UniqueConstraint("conversation", "client_id", name="uq_turns_conversation_client_id"),
        sa.UniqueConstraint("conversation", "number", name="uq_turns_conversation_number"),
        sa.PrimaryKeyConstraint("id", name="pk_turns"),
    )
    op.create_index(
        "ix_turns_open",
        "turns",
        ["conversation"],
        sqlite_where=sa.text("ended_at IS NULL"),
        postgresql_where=sa.text("ended_at IS NULL"),
    )


def _messages() -> None:
    op.create_table(
        "messages",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column(
            "conversation", sa.Text, sa.ForeignKey("conversations.id", name="fk_messages_conversation"), nullable=False
        ),
        sa.Column("turn", sa.Text, sa.ForeignKey("turns.id", name="fk_messages_turn"), nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("sha256", sa.Text),
        sa.Column("at", INSTANT, nullable=False),
        sa.UniqueConstraint("turn", "role", name="uq_messages_turn_role"),
        sa.PrimaryKeyConstraint("id", name="pk_messages"),
    )
    op.create_index("ix_messages_conversation", "messages", ["conversation"])


def _events() -> None:
    op.create_table(
        "events",
        sa.Column(
            "conversation", sa.Text, sa.ForeignKey("conversations.id", name="fk_events_conversation"), nullable=False
        ),
        sa.Column("seq", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("turn", sa.Text, nullable=False),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.Column("d", JSON, nullable=False),
        sa.PrimaryKeyConstraint("conversation", "seq", name="pk_events"),
    )
    op.create_index(
        "ix_events_done",
        "events",
        ["turn"],
        unique=True,
        sqlite_where=sa.text("type = 'turn.done'"),
        postgresql_where=sa.text("type = 'turn.done'"),
    )


def _evidence() -> None:
    op.create_table(
        "evidence",
        sa.Column("turn", sa.Text, sa.ForeignKey("turns.id", name="fk_evidence_turn"), nullable=False),
        sa.Column("position", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("evidence_id", sa.Text, nullable=False),
        sa.Column("n", sa.Integer),
        sa.Column("document", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("sha256", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("uri", sa.Text, nullable=False),
        sa.Column("collection", sa.Text, nullable=False),
        sa.Column("date", sa.Date),
        sa.Column("authority", sa.Text, nullable=False),
        sa.Column("source_language", sa.Text, nullable=False),
        sa.Column("family", sa.Text),
        sa.Column("access", JSON, nullable=False),
        sa.Column("span_start", sa.Integer, nullable=False),
        sa.Column("span_end", sa.Integer, nullable=False),
        sa.Column("exact", sa.Text),
        sa.Column("kept", JSON, nullable=False),
        sa.Column("section", sa.Text, nullable=False),
        sa.Column("page", sa.Integer),
        sa.Column("score", sa.Double, nullable=False),
        sa.Column("language", sa.Text, nullable=False),
        sa.Column("conflicts", JSON, nullable=False),
        sa.Column("preferred", sa.Boolean),
        sa.Column("flags", JSON, nullable=False),
        sa.PrimaryKeyConstraint("turn", "position", name="pk_evidence"),
    )
    op.create_index("ix_evidence_document_version", "evidence", ["document", "version"])


def _conflicts() -> None:
    op.create_table(
        "conflicts",
        sa.Column("turn", sa.Text, sa.ForeignKey("turns.id", name="fk_conflicts_turn"), nullable=False),
        sa.Column("position", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("conflict_id", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("topic", sa.Text, nullable=False),
        sa.Column("sides", JSON, nullable=False),
        sa.Column("resolution", sa.Text, nullable=False),
        sa.Column("preferred", sa.Text),
        sa.Column("why", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("turn", "position", name="pk_conflicts"),
    )


def _citations() -> None:
    op.create_table(
        "citations",
        sa.Column("turn", sa.Text, sa.ForeignKey("turns.id", name="fk_citations_turn"), nullable=False),
        sa.Column("position", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("n", sa.Integer, nullable=False),
        sa.Column("answer_start", sa.Integer, nullable=False),
        sa.Column("answer_end", sa.Integer, nullable=False),
        sa.Column("verdict", sa.Text, nullable=False),
        sa.Column("score", sa.Double, nullable=False),
        sa.Column("evidence_id", sa.Text, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("sha256", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("uri", sa.Text, nullable=False),
        sa.Column("section", sa.Text, nullable=False),
        sa.Column("source_start", sa.Integer, nullable=False),
        sa.Column("source_end", sa.Integer, nullable=False),
        sa.Column("exact", sa.Text, nullable=False),
        sa.Column("page", sa.Integer),
        sa.Column("date", sa.Date),
        sa.Column("authority", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("turn", "position", name="pk_citations"),
    )
    op.create_index("ix_citations_document_version", "citations", ["document", "version"])


def _citation_numbers() -> None:
    op.create_table(
        "citation_numbers",
        sa.Column(
            "conversation",
            sa.Text,
            sa.ForeignKey("conversations.id", name="fk_citation_numbers_conversation"),
            nullable=False,
        ),
        sa.Column("evidence_id", sa.Text, nullable=False),
        sa.Column("n", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("conversation", "evidence_id", name="pk_citation_numbers"),
    )


def _documents() -> None:
    op.create_table(
        "documents",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("collection", sa.Text, nullable=False),
        sa.Column("uri", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("family", sa.Text),
        sa.Column("authority", sa.Text, nullable=False),
        sa.Column("owner", sa.Text),
        sa.Column("date", sa.Date),
        sa.Column("language", sa.Text, nullable=False),
        sa.Column("media_type", sa.Text, nullable=False),
        sa.Column("current_version", sa.Integer, nullable=False),
        sa.Column("fingerprint", sa.Text, nullable=False),
        sa.Column("chunk_count", sa.Integer, nullable=False),
        sa.Column("term_count", sa.Integer, nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("updated_at", INSTANT, nullable=False),
        sa.Column("deleted_at", INSTANT),
        sa.UniqueConstraint("tenant", "collection", "uri", name="uq_documents_tenant_collection_uri"),
        sa.PrimaryKeyConstraint("id", name="pk_documents"),
    )


def _document_access() -> None:
    op.create_table(
        "document_access",
        sa.Column(
            "document",
            sa.Text,
            sa.ForeignKey("documents.id", name="fk_document_access_document", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("group_name", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("document", "group_name", name="pk_document_access"),
    )


def _document_versions() -> None:
    op.create_table(
        "document_versions",
        sa.Column(
            "document", sa.Text, sa.ForeignKey("documents.id", name="fk_document_versions_document"), nullable=False
        ),
        sa.Column("number", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("sha256", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("date", sa.Date),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("document", "number", name="pk_document_versions"),
    )


def _chunks() -> None:
    op.create_table(
        "chunks",
        sa.Column("id", BIG_ID, nullable=False),
        sa.Column("document", sa.Text, sa.ForeignKey("documents.id", name="fk_chunks_document"), nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("span_start", sa.Integer, nullable=False),
        sa.Column("span_end", sa.Integer, nullable=False),
        sa.Column("page", sa.Integer),
        sa.Column("length", sa.Integer, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("section", sa.Text, nullable=False),
        sa.Column("terms", TERMS, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_chunks"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_chunks_document", "chunks", ["document"])


def _vectors() -> None:
    op.create_table(
        "vectors",
        sa.Column("embedder", sa.Text, nullable=False),
        sa.Column(
            "chunk",
            BIG_ID,
            sa.ForeignKey("chunks.id", name="fk_vectors_chunk", ondelete="CASCADE"),
            nullable=False,
            autoincrement=False,
        ),
        sa.Column("change", sa.BigInteger, nullable=False),
        sa.Column("vector", FLOATS, nullable=False),
        sa.PrimaryKeyConstraint("embedder", "chunk", name="pk_vectors"),
    )
    op.create_index("ix_vectors_chunk", "vectors", ["chunk"])
    op.create_index("ix_vectors_embedder_change", "vectors", ["embedder", "change"])


def _index_changes() -> None:
    op.create_table(
        "index_changes",
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("added", sa.BigInteger, nullable=False),
        sa.Column("removed", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_index_changes"),
    )


def _model_factors() -> None:
    op.create_table(
        "model_factors",
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("factor", sa.Double, nullable=False),
        sa.Column("samples", sa.Integer, nullable=False),
        sa.Column("updated_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("model", name="pk_model_factors"),
    )


TABLES = (
    _conversations,
    _turns,
    _messages,
    _events,
    _evidence,
    _conflicts,
    _citations,
    _citation_numbers,
    _documents,
    _document_access,
    _document_versions,
    _chunks,
    _vectors,
    _index_changes,
    _model_factors,
)
