"""Notes that stand for the older turns of a conversation; the calls of models in each turn; what turns were made with."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "notes",
        sa.Column("conversation", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("through", sa.Integer, nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["conversation"], ["conversations.id"], name="fk_notes_conversation"),
        sa.PrimaryKeyConstraint("conversation", name="pk_notes"),
    )
    op.create_table(
        "model_calls",
        sa.Column("turn", sa.Text, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("purpose", sa.Text, nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("messages", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("ended", sa.Text, nullable=False),
        sa.Column("tokens_in", sa.Integer, nullable=False),
        sa.Column("tokens_out", sa.Integer, nullable=False),
        sa.Column("tokens_cached", sa.Integer, nullable=False),
        sa.Column("cost", sa.Double),
        sa.Column("ms", sa.Integer, nullable=False),
        sa.ForeignKeyConstraint(["turn"], ["turns.id"], name="fk_model_calls_turn"),
        sa.PrimaryKeyConstraint("turn", "position", name="pk_model_calls"),
    )
    for name in ("steps", "parameters", "groups", "scope"):
        op.add_column("turns", sa.Column(name, sa.JSON(none_as_null=True)))
    op.add_column("citations", sa.Column("image", sa.Text))
    op.add_column("citations", sa.Column("region", sa.JSON(none_as_null=True)))


def downgrade() -> None:
    op.drop_column("citations", "region")
    op.drop_column("citations", "image")
    for name in ("scope", "groups", "parameters", "steps"):
        op.drop_column("turns", name)
    op.drop_table("model_calls")
    op.drop_table("notes")
