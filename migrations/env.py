"""Alembic's environment. `assistant.store.migrations` hands over a connection that holds the lock."""

from __future__ import annotations

from typing import Any

from alembic import context
from sqlalchemy import Connection

from assistant.store.tables import metadata


def include_object(_item: Any, name: str | None, kind: str, _reflected: bool, _compare_to: Any) -> bool:
    """Leave out what only one database has: the FTS5 tables of SQLite, the indexes for searches of PostgreSQL."""
    own = name == "ix_chunks_terms" or (kind == "index" and (name or "").startswith("ix_vectors_near_"))
    return not ((kind == "table" and (name or "").startswith("word_index")) or own)


def run(connection: Connection) -> None:
    context.configure(
        connection=connection,
        target_metadata=metadata,
        include_object=include_object,
        compare_type=True,
        render_as_batch=connection.dialect.name == "sqlite",
    )
    with context.begin_transaction():
        context.run_migrations()


run(context.config.attributes["connection"])
