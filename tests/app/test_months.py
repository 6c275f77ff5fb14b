"""The months of a database: made where it is migrated, restored or served, and kept by a job."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from assistant.app import now
from assistant.app.months import MONTHS, KeepMonths
from assistant.app.working import schedule_of
from assistant.cli import migrate as migrate_command
from assistant.commands import beginning
from assistant.commands.backing_up import ready
from assistant.commands.serve import _prepare
from assistant.config import Settings
from assistant.interfaces.jobs import Schedule
from assistant.store import Store
from assistant.store.engine import open_database
from assistant.store.partitions import prepare
from tests.store.months import opened, partitions


def coming() -> set[str]:
    """The partitions of this month and the next two."""
    first = now().replace(day=1)
    months = {f"{first + timedelta(days=days):%Y_%m}" for days in (0, 32, 63)}
    return {f"{table}_{month}" for table in ("events", "audit_records") for month in months}


async def made(store: Store) -> set[str]:
    return {name for name in await partitions(store.database) if not name.endswith("_default")}


async def test_the_job_makes_what_comes_and_drops_what_is_empty(postgresql_url: str) -> None:
    async with opened(postgresql_url) as store:
        await prepare(store.database, now() - timedelta(days=200), 0)
        assert len(await made(store)) == 2
        await KeepMonths(store.database)({})
        assert await made(store) == coming()


async def test_the_job_is_due_once_a_day() -> None:
    assert Schedule(MONTHS, timedelta(days=1)) in schedule_of(Settings())


@pytest.mark.parametrize("start", ["serve", "restored"])
async def test_who_migrates_prepares_the_months(postgresql_url: str, start: str, tmp_path: Path) -> None:
    settings = Settings.model_validate({"database": {"url": postgresql_url}, "audit": {"secret": tmp_path / "secret"}})
    async with opened(postgresql_url) as store:
        await (_prepare(settings, demo=False) if start == "serve" else ready(settings))
        assert await made(store) == coming()


def test_the_command_migrate_prepares_the_months(new_postgresql_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSISTANT_DATABASE__URL", new_postgresql_url)
    monkeypatch.setattr(beginning, "configure_logging", lambda *_: None)  # of the whole process, for all later tests
    migrate_command()

    async def names() -> set[str]:
        database = open_database(new_postgresql_url)
        try:
            return set(await partitions(database))
        finally:
            await database.close()

    assert asyncio.run(names()) == coming() | {"events_default", "audit_records_default"}
