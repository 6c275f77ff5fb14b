"""Answers that may be given again."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "answer_cache",
        *(
            sa.Column(name, sa.Text, nullable=False)
            for name in ("id", "tenant", "frame", "digest", "meaning", "question")
        ),
        sa.Column("library", sa.Text),
        sa.Column("embedder", sa.Text),
        sa.Column("vector", sa.LargeBinary),
        sa.Column("origin", sa.Text, nullable=False),
        sa.Column("made_at", INSTANT, nullable=False),
        sa.Column("expires_at", INSTANT, nullable=False),
        sa.Column("answer", sa.JSON, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_answer_cache"),
        sa.ForeignKeyConstraint(["origin"], ["turns.id"], name="fk_answer_cache_origin", ondelete="CASCADE"),
    )
    op.create_index("ix_answer_cache_meaning", "answer_cache", ["tenant", "frame", "meaning", "made_at"])
    op.create_index("ix_answer_cache_made_at", "answer_cache", ["tenant", "made_at"])
    op.create_index("ix_answer_cache_expires_at", "answer_cache", ["expires_at"])
    op.create_index("ix_answer_cache_origin", "answer_cache", ["origin"])
    op.create_table(
        "answer_cache_documents",
        sa.Column("entry", sa.Text, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("entry", "document", "version", name="pk_answer_cache_documents"),
        sa.ForeignKeyConstraint(
            ["entry"], ["answer_cache.id"], name="fk_answer_cache_documents_entry", ondelete="CASCADE"
        ),
    )
    op.create_index("ix_answer_cache_documents_document", "answer_cache_documents", ["document"])


def downgrade() -> None:
    op.drop_table("answer_cache_documents")
    op.drop_table("answer_cache")
