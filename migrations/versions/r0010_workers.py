"""Which worker runs a turn, and what people may use."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    instant = sa.DateTime(timezone=True)
    op.create_table(
        "workers",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("host", sa.Text, nullable=False),
        sa.Column("process", sa.Integer, nullable=False),
        sa.Column("process_started", sa.Text, nullable=False),
        sa.Column("started_at", instant, nullable=False),
        sa.Column("seen_at", instant, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_workers"),
    )
    op.add_column("turns", sa.Column("attachments", sa.JSON(none_as_null=True)))
    op.add_column("turns", sa.Column("from_cache", sa.Text))
    op.add_column("turns", sa.Column("worker", sa.Text))
    op.add_column("turns", sa.Column("cancel_asked_at", instant))
    op.create_index("ix_turns_worker", "turns", ["worker"])
    op.add_column("conversations", sa.Column("deleted_at", instant))
    op.create_table(
        "usage_days",
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("day", sa.Date, nullable=False),
        sa.Column("person", sa.Text, nullable=False),
        sa.Column("turns", sa.Integer, nullable=False),
        sa.Column("tokens", sa.BigInteger, nullable=False),
        sa.Column("cost", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("tenant", "day", "person", name="pk_usage_days"),
    )


def downgrade() -> None:
    op.drop_table("usage_days")
    op.drop_column("conversations", "deleted_at")
    op.drop_index("ix_turns_worker", "turns")
    for column in ("cancel_asked_at", "worker", "from_cache", "attachments"):
        op.drop_column("turns", column)
    op.drop_table("workers")
