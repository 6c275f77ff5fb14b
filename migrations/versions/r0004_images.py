"""Images of document versions; the images that evidence was shown with."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "images",
        sa.Column("document", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("sha256", sa.Text, nullable=False),
        sa.Column("media_type", sa.Text, nullable=False),
        sa.Column("caption", sa.Text, nullable=False),
        sa.Column("span_start", sa.Integer, nullable=False),
        sa.Column("span_end", sa.Integer, nullable=False),
        sa.Column("page", sa.Integer),
        sa.Column("region", sa.JSON(none_as_null=True)),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.ForeignKeyConstraint(
            ["document", "version"],
            ["document_versions.document", "document_versions.number"],
            name="fk_images_document_version",
        ),
        sa.PrimaryKeyConstraint("document", "version", "position", name="pk_images"),
    )
    op.add_column("evidence", sa.Column("images", sa.JSON(none_as_null=True)))


def downgrade() -> None:
    op.drop_column("evidence", "images")
    op.drop_table("images")
