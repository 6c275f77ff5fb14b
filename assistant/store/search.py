"""The passage index: words and vectors, with the caller's rights inside every query."""

from __future__ import annotations

from assistant.store.engine import Database
from assistant.store.search_postgresql import PostgresqlPassageIndex
from assistant.store.search_sqlite import SqlitePassageIndex


def passage_index(database: Database) -> PostgresqlPassageIndex | SqlitePassageIndex:
    """The index that fits the database."""
    return PostgresqlPassageIndex(database) if database.dialect == "postgresql" else SqlitePassageIndex(database)
