"""Migrations: one history for both databases, safe to run at once, equal to the tables of the code."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import inspect, text

from assistant.errors import BadSetting
from assistant.store import Store
from assistant.store.engine import Database, make_engine, open_database, parse_url
from assistant.store.migrations import current_and_head, differences, migrate, script_location
from assistant.store.tables import metadata


@pytest.fixture(params=["sqlite", "postgresql"])
def new_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database without tables; for SQLite not even a folder."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/not/yet/there.db"
    return str(request.getfixturevalue("new_postgresql_url"))


async def test_the_migrated_database_has_the_tables_of_the_code(database_url: str) -> None:
    assert await differences(database_url) == []


async def test_a_missing_table_would_be_noticed(new_url: str) -> None:
    await migrate(new_url)
    database = open_database(new_url)
    async with database.write() as connection:
        await connection.run_sync(metadata.tables["model_factors"].drop)
    await database.close()
    assert await differences(new_url) != []


async def test_two_processes_may_migrate_at_once(new_url: str) -> None:
    assert (await current_and_head(new_url))[0] is None
    await asyncio.gather(migrate(new_url), migrate(new_url))
    current, head = await current_and_head(new_url)
    assert current == head
    await migrate(new_url)
    async with Store(new_url) as store:
        assert (await store.state())["documents"] == 0


async def test_asking_for_the_revision_creates_nothing(tmp_path: Path) -> None:
    await current_and_head(f"sqlite:///{tmp_path}/none.db")
    assert list(tmp_path.iterdir()) == []


async def test_every_table_has_a_primary_key(database: Database) -> None:
    async with database.read() as connection:
        names = await connection.run_sync(lambda sync: inspect(sync).get_table_names())
    assert set(metadata.tables) <= set(names)
    assert all(table.primary_key for table in metadata.tables.values())


def test_the_migrations_are_found() -> None:
    assert (script_location() / "env.py").is_file()


@pytest.mark.parametrize("url", ["", "nonsense", "mysql://x/y", "sqlite://", "sqlite:///:memory:", "http://[x"])
def test_a_url_that_cannot_be_used_is_refused(url: str) -> None:
    with pytest.raises(BadSetting):
        make_engine(url)


def test_the_driver_is_filled_in() -> None:
    assert parse_url("postgres://u:p@h/d").drivername == "postgresql+asyncpg"
    assert parse_url("sqlite:///a.db").drivername == "sqlite+aiosqlite"


async def test_sqlite_is_set_up_for_durable_concurrent_work(sqlite_url: str) -> None:
    database = open_database(sqlite_url)
    async with database.read() as connection:
        found = {
            name: await connection.scalar(text(f"PRAGMA {name}"))
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    await database.close()
    assert found == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 15_000}


async def test_readers_do_not_wait_for_a_writer(database: Database) -> None:
    async with database.write() as writer:
        await writer.execute(metadata.tables["model_factors"].insert(), [_factor()])
        async with asyncio.timeout(2), database.read() as reader:
            rows = (await reader.execute(metadata.tables["model_factors"].select())).all()
    assert rows == []


async def test_a_failed_write_leaves_nothing(database: Database) -> None:
    table = metadata.tables["model_factors"]

    async def fail() -> None:
        async with database.write() as connection:
            await connection.execute(table.insert(), [_factor()])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    async with database.read() as reader:
        assert (await reader.execute(table.select())).all() == []


def _factor() -> dict[str, object]:
    return {"model": "m", "factor": 1.1, "samples": 2, "updated_at": datetime.now(UTC)}


async def test_factors_are_kept_by_model(store: Store) -> None:
    assert await store.factors.get("m") is None
    await store.factors.put("m", 1.25, 3)
    await store.factors.put("m", 1.5, 4)
    assert await store.factors.get("m") == (1.5, 4)
