"""Several writes at one go: while a row is locked for all, every round trip counts."""

from __future__ import annotations

from sqlalchemy import Insert, Update
from sqlalchemy.ext.asyncio import AsyncConnection


async def write_together(connection: AsyncConnection, *writes: Insert | Update) -> None:
    """Do all of these writes, which do not touch the same rows: in one statement on PostgreSQL, in this order on SQLite.

    Source: PostgreSQL manual, 7.8.4 "Data-Modifying Statements in WITH".
    """
    if connection.dialect.name != "postgresql":
        for write in writes:
            await connection.execute(write)
        return
    *before, last = writes
    await connection.execute(last.add_cte(*(write.cte(f"write_{n}") for n, write in enumerate(before))))
