"""The audit log: records in a chain per tenant, checkpoints, keys of persons, legal holds."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)

PAGED = {
    "kind": "kind",
    "subject": "subject",
    "actor": "actor",
    "conversation": "conversation",
    "turn": "turn",
    "model": "model",
    "mode": "mode",
    "status": "status",
    "verdict": "verdict",
    "conflict": "has_conflict",
    "rating": "rating",
}


def upgrade() -> None:
    _records()
    _documents()
    op.create_table(
        "audit_chains",
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("hash", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("tenant", name="pk_audit_chains"),
    )
    op.create_table(
        "audit_checkpoints",
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("root", "head", "at", "key_id", "signature")),
        sa.PrimaryKeyConstraint("tenant", "size", name="pk_audit_checkpoints"),
    )
    _keys_and_holds()


def _records() -> None:
    op.create_table(
        "audit_records",
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("id", "at", "kind", "actor")),
        *(sa.Column(name, sa.Text) for name in ("subject", "conversation", "turn")),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("sealed", sa.LargeBinary),
        sa.Column("sealed_sha256", sa.Text),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("previous", "hash")),
        *(sa.Column(name, sa.Text) for name in ("model", "mode", "status", "finish", "rating", "verdict")),
        sa.Column("has_conflict", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("tenant", "seq", name="pk_audit_records"),
        sa.UniqueConstraint("id", name="uq_audit_records_id"),
    )
    op.create_index("ix_audit_records_at", "audit_records", ["tenant", "at", "seq"])
    for name, column in PAGED.items():
        op.create_index(f"ix_audit_records_{name}", "audit_records", ["tenant", column, "at", "seq"])


def _documents() -> None:
    op.create_table(
        "audit_documents",
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("tenant", "seq", "document", "version", name="pk_audit_documents"),
    )
    op.create_index("ix_audit_documents_document", "audit_documents", ["tenant", "document", "at", "seq"])
    op.create_index("ix_audit_documents_version", "audit_documents", ["tenant", "document", "version", "seq"])


def _keys_and_holds() -> None:
    op.create_table(
        "person_keys",
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("key", sa.LargeBinary),
        sa.Column("made_at", INSTANT, nullable=False),
        sa.Column("destroyed_at", INSTANT),
        sa.PrimaryKeyConstraint("tenant", "subject", name="pk_person_keys"),
    )
    op.create_table(
        "legal_holds",
        *(sa.Column(name, sa.Text, nullable=False) for name in ("id", "tenant", "scope", "value", "reason", "by")),
        sa.Column("at", INSTANT, nullable=False),
        sa.Column("lifted_at", INSTANT),
        sa.PrimaryKeyConstraint("id", name="pk_legal_holds"),
    )
    op.create_index("ix_legal_holds_tenant_at", "legal_holds", ["tenant", "at"])


def downgrade() -> None:
    tables = ("legal_holds", "person_keys", "audit_checkpoints", "audit_chains", "audit_documents", "audit_records")
    for table in tables:
        op.drop_table(table)
