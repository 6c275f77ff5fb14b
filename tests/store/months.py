"""A store in PostgreSQL with partitions by month, and conversations that begin when a test says."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from sqlalchemy import text
from ulid import ULID

from assistant.core.events import AnswerDelta, TurnEvent, TurnFinished
from assistant.store import Store
from assistant.store.conversations import SqlConversationStore
from assistant.store.engine import Database
from tests.store.filling import ANN

MARCH, APRIL, MAY, JUNE, JULY = (datetime(2026, month, 17, 12, tzinfo=UTC) for month in range(3, 8))


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Store]:
    """The store of a database that other tests use as well: the months go at the end."""
    async with Store(url) as store:
        try:
            yield store
        finally:
            async with store.database.write() as connection:
                for name in await partitions(store.database):
                    await connection.execute(text("" if name.endswith("_default") else f"DROP TABLE {name}"))


async def begin(store: Store, at: datetime, turn: str, *events: TurnEvent) -> str:
    """A conversation that began at this time, with a turn and its events."""
    made = SqlConversationStore(
        store.database, new_id=lambda: str(ULID.from_timestamp(at.timestamp())), clock=lambda: at
    )
    conversation = (await made.open(ANN, None)).id
    await made.begin_turn(ANN, conversation, turn=turn, client_id=turn, text="Q?", mode="auto", limit=99)
    await store.events.append(conversation, turn, events or [AnswerDelta(0, "x"), TurnFinished("completed")])
    return conversation


async def partitions(database: Database) -> list[str]:
    """The names of all partitions, sorted."""
    query = "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent IN ('events'::regclass, 'audit_records'::regclass)"
    async with database.read() as connection:
        tables = f"{query} AND inhrelid IN (SELECT oid FROM pg_class WHERE relkind = 'r')"
        return sorted((await connection.scalars(text(tables))).all())


async def places(database: Database, table: str, key: str) -> dict[str, str]:
    """In which partition each value of the key lies."""
    async with database.read() as connection:
        rows = await connection.execute(text(f"SELECT DISTINCT {key}, tableoid::regclass::text FROM {table}"))
        return {str(value): place for value, place in rows}
