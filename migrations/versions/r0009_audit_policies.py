"""The secret of the installation, the schedule of retention, and answers of record."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "audit_secrets",
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("made_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_audit_secrets"),
    )
    op.create_table(
        "retention_runs",
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("begun_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_retention_runs"),
    )
    _answers()


def _answers() -> None:
    named = ("id", "tenant", "question_key", "question", "text", "subject", "turn", "correction", "by")
    op.create_table(
        "answers_of_record",
        *(sa.Column(name, sa.Text, nullable=False) for name in named),
        sa.Column("at", INSTANT, nullable=False),
        sa.Column("revoked_at", INSTANT),
        sa.PrimaryKeyConstraint("id", name="pk_answers_of_record"),
    )
    op.create_index("ix_answers_of_record_tenant_at", "answers_of_record", ["tenant", "at"])
    op.create_index(
        "ix_answers_of_record_question",
        "answers_of_record",
        ["tenant", "question_key"],
        unique=True,
        sqlite_where=sa.text("revoked_at IS NULL"),
        postgresql_where=sa.text("revoked_at IS NULL"),
    )
    op.create_table(
        "answers_of_record_documents",
        sa.Column("answer", sa.Text, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("answer", "document", "version", name="pk_answers_of_record_documents"),
    )
    op.create_index(
        "ix_answers_of_record_documents_document_version", "answers_of_record_documents", ["document", "version"]
    )


def downgrade() -> None:
    for table in ("answers_of_record_documents", "answers_of_record", "retention_runs", "audit_secrets"):
        op.drop_table(table)
