"""Which documents a group may read, found by the group."""

from __future__ import annotations

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_document_access_group_name_document", "document_access", ["group_name", "document"])


def downgrade() -> None:
    op.drop_index("ix_document_access_group_name_document", "document_access")
