"""Feedback on answers, beside them and never over them; the events of one turn are found by its id."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "feedback",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("turn", sa.Text, sa.ForeignKey("turns.id", name="fk_feedback_turn"), nullable=False),
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("user_id", sa.Text, nullable=False),
        sa.Column("rating", sa.Text, nullable=False),
        sa.Column("reason", sa.Text),
        sa.Column("correction", sa.Text),
        sa.Column("citation", sa.Integer),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_feedback"),
    )
    op.create_index("ix_feedback_turn_at", "feedback", ["turn", "at"])
    op.create_index("ix_events_turn", "events", ["turn"])


def downgrade() -> None:
    op.drop_index("ix_events_turn", "events")
    op.drop_table("feedback")
