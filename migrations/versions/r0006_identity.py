"""People, service keys and spent tokens."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "people",
        *(sa.Column(name, sa.Text, nullable=False) for name in ("tenant", "user_id")),
        sa.Column("groups", sa.JSON),
        sa.Column("not_before", INSTANT),
        sa.Column("changed_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("tenant", "user_id", name="pk_people"),
    )
    op.create_index("ix_people_changed_at", "people", ["changed_at"])
    op.create_table(
        "service_keys",
        *(sa.Column(name, sa.Text, nullable=False) for name in ("tenant", "id", "name", "digest")),
        *(sa.Column(name, sa.JSON, nullable=False) for name in ("groups", "roles")),
        sa.Column("made_at", INSTANT, nullable=False),
        *(sa.Column(name, INSTANT) for name in ("expires_at", "revoked_at")),
        sa.Column("last_used", sa.Date),
        sa.PrimaryKeyConstraint("tenant", "id", name="pk_service_keys"),
    )
    op.create_table(
        "spent_tokens",
        *(sa.Column(name, sa.Text, nullable=False) for name in ("tenant", "digest")),
        sa.Column("expires_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("tenant", "digest", name="pk_spent_tokens"),
    )
    op.create_index("ix_spent_tokens_expires_at", "spent_tokens", ["expires_at"])


def downgrade() -> None:
    for table in ("spent_tokens", "service_keys", "people"):
        op.drop_table(table)
