"""Migrations of a PostgreSQL database that is in use: they never queue for long, and are tried again."""

from __future__ import annotations

from contextlib import AsyncExitStack

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from assistant.store.engine import Database, open_database
from assistant.store.migrations import Patience, current_and_head, differences, migrate
from tests.store.going_back import downgrade

IMPATIENT = Patience(lock_ms=50, tries=3)


async def _go_back(database: Database) -> None:
    """To the form before r0011, which makes an index on document_access."""
    async with database.write() as connection:
        await connection.run_sync(downgrade, "0010")


async def test_a_migration_gives_way_to_who_holds_a_table_and_is_tried_again(new_postgresql_url: str) -> None:
    await migrate(new_postgresql_url)
    database, pauses = open_database(new_postgresql_url), []
    await _go_back(database)
    async with AsyncExitStack() as busy:
        connection = await busy.enter_async_context(database.write())
        await connection.execute(text("LOCK TABLE document_access IN ROW EXCLUSIVE MODE"))

        async def pause(seconds: float) -> None:
            pauses.append(seconds)
            if len(pauses) == 2:
                await busy.aclose()

        await migrate(new_postgresql_url, IMPATIENT, pause=pause)
    await database.close()
    assert pauses == [1.0, 2.0]
    assert await differences(new_postgresql_url) == []


async def test_a_migration_that_never_gets_its_table_changes_nothing(new_postgresql_url: str) -> None:
    await migrate(new_postgresql_url)
    database, pauses = open_database(new_postgresql_url), []
    await _go_back(database)

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    async with database.write() as connection:
        await connection.execute(text("LOCK TABLE document_access IN ROW EXCLUSIVE MODE"))
        with pytest.raises(DBAPIError, match="lock timeout"):
            await migrate(new_postgresql_url, IMPATIENT, pause=pause)
    await database.close()
    assert len(pauses) == IMPATIENT.tries - 1
    assert (await current_and_head(new_postgresql_url))[0] == "0010"


async def test_another_failure_is_not_tried_again(new_postgresql_url: str) -> None:
    await migrate(new_postgresql_url)
    database = open_database(new_postgresql_url)
    async with database.write() as connection:
        await connection.execute(text("UPDATE alembic_version SET version_num = '0010'"))
    await database.close()

    async def pause(seconds: float) -> None:
        raise AssertionError(f"waited for {seconds}")

    with pytest.raises(DBAPIError, match="already exists"):
        await migrate(new_postgresql_url, IMPATIENT, pause=pause)
