"""The migration to partitions by month, with rows in both tables, there and back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from assistant.audit.checking import verify_log
from assistant.audit.targets import Targets
from assistant.core.events import AnswerDelta, TurnFinished
from assistant.store import Store
from assistant.store.engine import Database, open_database
from assistant.store.events import TurnEnded
from assistant.store.migrations import current_and_head, differences, migrate
from assistant.store.partitions import drop_empty, prepare
from tests.store.audit_filling import all_records, check_chain, turn_draft
from tests.store.going_back import downgrade
from tests.store.months import begin, partitions, places

NOW = datetime.now(UTC)
LONG_AGO, FAR_AHEAD = NOW - timedelta(days=400), NOW + timedelta(days=400)
BEFORE = ["audit_records_before", "audit_records_default", "events_before", "events_default"]


async def _go_back(database: Database) -> None:
    async with database.write() as connection:
        await connection.run_sync(downgrade, "0011")


async def _rows(database: Database) -> dict[str, list[Any]]:
    async with database.read() as connection:
        tables = {"events": "conversation, seq", "audit_records": "tenant, seq"}
        return {
            table: list((await connection.execute(text(f"SELECT * FROM {table} ORDER BY {key}"))).all())
            for table, key in tables.items()
        }


async def _fill(store: Store, *times: datetime, first: int = 0) -> list[str]:
    """A conversation and a record of each of these times."""
    for n, at in enumerate(times, first):
        await store.audit.append_one(turn_draft(n, at=at))
    return [await begin(store, at, f"t{n}") for n, at in enumerate(times, first)]


async def _check_laws(store: Store, conversation: str, turn: str) -> None:
    with pytest.raises(TurnEnded):
        await store.events.append(conversation, turn, [TurnFinished("completed")])
    with pytest.raises(IntegrityError):
        async with store.database.write() as connection:
            await connection.execute(text("INSERT INTO audit_records SELECT * FROM audit_records WHERE seq = 1"))
    check_chain(await all_records(store.audit))
    assert (await verify_log("acme", store.audit, Targets(), {})).finding.ok


async def test_rows_are_kept_there_and_back_and_there_again(new_postgresql_url: str) -> None:
    await migrate(new_postgresql_url)
    database = open_database(new_postgresql_url)
    await _go_back(database)
    async with Store(new_postgresql_url) as store:
        began = await _fill(store, LONG_AGO, NOW)
    kept = await _rows(database)
    assert (len(kept["events"]), len(kept["audit_records"])) == (6, 2)

    await migrate(new_postgresql_url)
    assert await _rows(database) == kept
    assert await partitions(database) == BEFORE
    assert set((await places(database, "events", "conversation")).values()) == {"events_before"}
    assert set((await places(database, "audit_records", "id")).values()) == {"audit_records_before"}
    assert await differences(new_postgresql_url) == []
    async with Store(new_postgresql_url) as store:
        await _check_laws(store, began[0], "t0")

    await _go_back(database)
    assert await _rows(database) == kept
    async with database.read() as connection:
        left = text("SELECT count(*) FROM pg_class WHERE relname LIKE 'events\\_%' AND relkind = 'r'")
        assert await connection.scalar(left) == 0
        with pytest.raises(IntegrityError, match="pk_audit_records"):
            await connection.execute(text("INSERT INTO audit_records SELECT * FROM audit_records"))
    async with database.write() as connection:
        with pytest.raises(IntegrityError, match="ix_events_done"):
            await connection.execute(
                text("INSERT INTO events SELECT conversation, seq + 50, turn, type, at, d FROM events")
            )
        await connection.rollback()

    await migrate(new_postgresql_url)
    assert await _rows(database) == kept
    await database.close()


async def test_the_months_after_the_migration_get_partitions_of_their_own(new_postgresql_url: str) -> None:
    await migrate(new_postgresql_url)
    database = open_database(new_postgresql_url)
    await _go_back(database)
    async with Store(new_postgresql_url) as store:
        await _fill(store, LONG_AGO, NOW)
        await migrate(new_postgresql_url)
        made = await prepare(database, NOW)
        assert len(made) == 4  # this month lies in what was there
        assert await partitions(database) == sorted([*BEFORE, *made])
        (late,) = await _fill(store, NOW + timedelta(days=31), first=2)
        assert (await places(database, "events", "conversation"))[late] in made
        assert (await places(database, "audit_records", "seq"))["3"] in made
        check_chain(await all_records(store.audit))
        assert set(await drop_empty(database, FAR_AHEAD)) == set(made) - set(await _used(database))
    await database.close()


async def _used(database: Database) -> list[str]:
    found = {**await places(database, "events", "conversation"), **await places(database, "audit_records", "seq")}
    return list(found.values())


async def test_rows_from_beyond_this_month_go_to_the_default_partition(new_postgresql_url: str) -> None:
    await migrate(new_postgresql_url)
    database = open_database(new_postgresql_url)
    await _go_back(database)
    async with Store(new_postgresql_url) as store:
        now, ahead = await _fill(store, NOW, FAR_AHEAD)
        kept = await _rows(database)
        await migrate(new_postgresql_url)
        assert await _rows(database) == kept
        assert await places(database, "events", "conversation") == {now: "events_before", ahead: "events_default"}
        found = await places(database, "audit_records", "seq")
        assert found == {"1": "audit_records_before", "2": "audit_records_default"}
        await _check_laws(store, ahead, "t1")
    await database.close()


async def test_an_index_that_was_made_before_is_taken(new_postgresql_url: str) -> None:
    await migrate(new_postgresql_url)
    database = open_database(new_postgresql_url)
    await _go_back(database)
    async with Store(new_postgresql_url) as store:
        (began,) = await _fill(store, NOW)
        async with database.write() as connection:
            made = "CREATE UNIQUE INDEX ix_events_done_before ON events (conversation, turn) WHERE type = 'turn.done'"
            await connection.execute(text(made))
            file = await connection.scalar(text("SELECT pg_relation_filenode('ix_events_done_before')"))
        await migrate(new_postgresql_url)
        async with database.read() as connection:
            parent = text(
                "SELECT inhparent::regclass::text FROM pg_inherits WHERE inhrelid = 'ix_events_done_before'::regclass"
            )
            assert await connection.scalar(parent) == "ix_events_done"
            assert await connection.scalar(text("SELECT pg_relation_filenode('ix_events_done_before')")) == file
        await _check_laws(store, began, "t0")
    await database.close()


async def test_sqlite_goes_there_and_back(sqlite_url: str) -> None:
    async with Store(sqlite_url) as store:
        began = await begin(store, NOW, "t1", AnswerDelta(0, "x"), TurnFinished("completed"))
        async with store.database.write() as connection:
            await connection.run_sync(downgrade, "0011")
        await migrate(sqlite_url)
        current, head = await current_and_head(sqlite_url)
        assert current == head
        assert await differences(sqlite_url) == []
        with pytest.raises(TurnEnded):
            await store.events.append(began, "t1", [TurnFinished("completed")])
