"""Partitions by month for events and audit records in PostgreSQL; "a turn ends once" holds for a turn of a conversation.

What is there becomes one partition for all months up to this one, and is not written anew: only the index of ends is made.
"""

from __future__ import annotations

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op
from sqlalchemy.exc import IntegrityError
from ulid import ULID

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

PAGED = {
    "at": (),
    "kind": ("kind",),
    "subject": ("subject",),
    "actor": ("actor",),
    "conversation": ("conversation",),
    "turn": ("turn",),
    "model": ("model",),
    "mode": ("mode",),
    "status": ("status",),
    "verdict": ("verdict",),
    "conflict": ("has_conflict",),
    "rating": ("rating",),
}
DONE = "WHERE type = 'turn.done'"
OF_CONVERSATION = "CONSTRAINT fk_events_conversation FOREIGN KEY (conversation) REFERENCES conversations (id)"


def upgrade() -> None:
    op.drop_index("ix_events_done", "events")
    if op.get_bind().dialect.name == "postgresql":
        _part_events()
        _part_records()
    else:
        _index_of_ends(["conversation", "turn"])


def downgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        _join("events", "ADD CONSTRAINT pk_events PRIMARY KEY (conversation, seq)", f"ADD {OF_CONVERSATION}")
        op.create_index("ix_events_turn", "events", ["turn"])
        records = "ADD CONSTRAINT pk_audit_records PRIMARY KEY (tenant, seq)"
        _join("audit_records", records, "ADD CONSTRAINT uq_audit_records_id UNIQUE (id)")
        _index_records()
    else:
        op.drop_index("ix_events_done", "events")
    _index_of_ends(["turn"])


def _index_of_ends(columns: list[str]) -> None:
    condition = sa.text("type = 'turn.done'")
    op.create_index(
        "ix_events_done", "events", columns, unique=True, sqlite_where=condition, postgresql_where=condition
    )


def _part_events() -> None:
    _set_aside("events")
    # Bytes decide, whatever the collation of the database; `=` is the same operator in both classes, so it prunes.
    _divide("events", "conversation text_pattern_ops")
    op.execute(f"ALTER TABLE events ADD CONSTRAINT pk_events PRIMARY KEY (conversation, seq), ADD {OF_CONVERSATION}")
    op.create_index("ix_events_turn", "events", ["turn"])
    _index_of_ends(["conversation", "turn"])
    op.execute("CREATE TABLE events_default PARTITION OF events DEFAULT")
    op.execute("ALTER INDEX events_default_conversation_turn_idx RENAME TO ix_events_done_default")
    if _is_used("events_before"):
        # Processes of before know a second end by the name of the index, so every partition's begins with it.
        op.execute(
            f"CREATE UNIQUE INDEX IF NOT EXISTS ix_events_done_before ON events_before (conversation, turn) {DONE}"
        )
        _attach("events", "conversation ~<~", str(ULID.from_timestamp(_next_month().timestamp()))[:10])


def _part_records() -> None:
    _set_aside("audit_records")
    _divide("audit_records", "at")
    _index_records()
    op.execute("CREATE TABLE audit_records_default PARTITION OF audit_records DEFAULT")
    # Keys of each partition: a record lies in one, and its number comes from the locked end of its chain.
    op.execute(
        "ALTER TABLE audit_records_default ADD CONSTRAINT pk_audit_records_default PRIMARY KEY (tenant, seq), "
        "ADD CONSTRAINT uq_audit_records_id_default UNIQUE (id)"
    )
    if _is_used("audit_records_before"):
        _attach("audit_records", "at <", f"{_next_month():%Y-%m}")


def _index_records() -> None:
    for name, columns in PAGED.items():
        op.create_index(f"ix_audit_records_{name}", "audit_records", ["tenant", *columns, *("at", "seq")])


def _next_month() -> datetime:
    now = datetime.now(UTC)
    return datetime(now.year + now.month // 12, now.month % 12 + 1, 1, tzinfo=UTC)


def _set_aside(table: str) -> None:
    """Rename a table and its indexes, so that their names are free."""
    op.execute(f"ALTER TABLE {table} RENAME TO {table}_before")
    here = sa.text("SELECT indexname FROM pg_indexes WHERE schemaname = current_schema() AND tablename = :table")
    for name in op.get_bind().scalars(here, {"table": f"{table}_before"}).all():
        if not name.endswith("_before"):
            op.execute(f'ALTER INDEX "{name}" RENAME TO "{name}_before"')


def _divide(table: str, key: str) -> None:
    like = f"LIKE {table}_before INCLUDING DEFAULTS INCLUDING STORAGE INCLUDING COMPRESSION"
    op.execute(f"CREATE TABLE {table} ({like}) PARTITION BY RANGE ({key})")


def _is_used(table: str) -> bool:
    """Whether there are rows; a table without any is dropped."""
    used = bool(op.get_bind().scalar(sa.text(f"SELECT EXISTS (SELECT FROM {table})")))  # noqa: S608 - our own names
    if not used:
        op.execute(f"DROP TABLE {table}")
    return used


def _attach(table: str, below: str, bound: str) -> None:
    """Make what was set aside the partition below the bound; rows that lie beyond it go to the default partition."""
    attach = f"ALTER TABLE {table} ATTACH PARTITION {table}_before FOR VALUES FROM (MINVALUE) TO ('{bound}')"
    try:
        with op.get_bind().begin_nested():
            op.execute(attach)
    except IntegrityError:
        beyond = f"DELETE FROM {table}_before WHERE NOT ({below} '{bound}') RETURNING *"  # noqa: S608 - our own names
        op.execute(f"WITH beyond AS ({beyond}) INSERT INTO {table}_default SELECT * FROM beyond")  # noqa: S608 - our own names
        op.execute(attach)


def _join(table: str, *keys: str) -> None:
    """One table again, with all rows; every row is written anew."""
    op.execute(f"ALTER TABLE {table} RENAME TO {table}_parted")
    op.execute(f"CREATE TABLE {table} (LIKE {table}_parted INCLUDING STORAGE INCLUDING COMPRESSION)")
    op.execute(f"INSERT INTO {table} SELECT * FROM {table}_parted")  # noqa: S608 - our own names
    op.execute(f"DROP TABLE {table}_parted")
    op.execute(f"ALTER TABLE {table} {', '.join(keys)}")
