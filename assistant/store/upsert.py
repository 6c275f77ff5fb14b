"""INSERT ... ON CONFLICT, which both databases spell alike and SQLAlchemy keeps in two places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection


async def insert_or_ignore(connection: AsyncConnection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert the rows whose keys are not there yet."""
    if rows:
        await connection.execute(_insert(connection, table).on_conflict_do_nothing(), rows)


async def upsert(connection: AsyncConnection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert the rows, or overwrite the other columns of those whose primary key is there."""
    if not rows:
        return
    statement = _insert(connection, table)
    keys = [column.name for column in table.primary_key]
    others = {name: statement.excluded[name] for name in rows[0] if name not in keys}
    await connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=others), rows)


def _insert(connection: AsyncConnection, table: Table) -> postgresql.Insert | sqlite.Insert:
    return postgresql.insert(table) if connection.dialect.name == "postgresql" else sqlite.insert(table)
