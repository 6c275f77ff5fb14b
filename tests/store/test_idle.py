"""Connections of the pool whose server has gone meanwhile."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from assistant.errors import StoreUnavailable
from assistant.store import engine
from assistant.store.engine import Database, open_database


async def backend_of(database: Database) -> int:
    async with database.read() as connection:
        return int(await connection.scalar(text("SELECT pg_backend_pid()")) or 0)


async def cut(url: str, backend: int) -> None:
    """What a restart of the server does to a connection that nobody uses."""
    other = open_database(url)
    async with other.read() as connection:
        assert await connection.scalar(text("SELECT pg_terminate_backend(:pid, 5000)"), {"pid": backend})
    await other.close()


async def test_one_that_has_lain_idle_is_asked_first_and_replaced(
    postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = open_database(postgresql_url)
    first = await backend_of(database)
    await cut(postgresql_url, first)
    monkeypatch.setattr(engine, "IDLE_S", 0.0)
    assert await backend_of(database) != first
    await database.close()


async def test_one_that_was_just_used_is_trusted_and_its_loss_is_told_once(
    postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "IDLE_S", 3600.0)
    database = open_database(postgresql_url)
    first = await backend_of(database)
    assert await backend_of(database) == first
    await cut(postgresql_url, first)
    with pytest.raises(StoreUnavailable):
        await backend_of(database)
    assert await backend_of(database) != first
    await database.close()
