"""Originals of documents that were sent in, what people set about a document, and the order in which documents are listed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)
LISTED = sa.text("deleted_at IS NULL AND substr(collection, 1, 6) <> 'files:'")


def upgrade() -> None:
    op.create_table(
        "originals",
        sa.Column("document", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("media_type", sa.Text, nullable=False),
        sa.Column("said", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.Column("made_at", INSTANT, nullable=False),
        sa.ForeignKeyConstraint(
            ["document", "version"],
            ["document_versions.document", "document_versions.number"],
            name="fk_originals_document_version",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("document", "version", name="pk_originals"),
    )
    op.create_table(
        "document_settings",
        sa.Column("document", sa.Text, nullable=False),
        sa.Column("said", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.ForeignKeyConstraint(
            ["document"], ["documents.id"], name="fk_document_settings_document", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("document", name="pk_document_settings"),
    )
    op.create_index(
        "ix_documents_listed",
        "documents",
        ["tenant", "collection", "uri"],
        sqlite_where=LISTED,
        postgresql_where=LISTED,
    )


def downgrade() -> None:
    op.drop_index("ix_documents_listed", "documents")
    op.drop_table("document_settings")
    op.drop_table("originals")
