"""What jobs do: retention a tenant at a time and due until it is done, and what the schedule holds."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from assistant.app.assembling import Parts, assemble
from assistant.app.embedding import EMBED
from assistant.app.working import ANSWERS, INGEST, RETENTION, handlers_of, schedule_of
from assistant.audit.retaining import Retainer
from assistant.config import Settings
from assistant.core.audit import AuditKind
from assistant.interfaces.jobs import Handler
from tests.jobs.queues import queue, running, until_listed
from tests.store.audit_filling import all_records, ask
from tests.store.filling import ANN, EVE

DAY = timedelta(days=1)


def settings_for(url: str, folder: Path, *policies: dict[str, Any]) -> Settings:
    return Settings.model_validate(
        {
            "database": {"url": url},
            "audit": {"secret": folder / "secret", "key": folder / "key.pem"},
            "retrieval": {"embedder": "none"},
            "retention": {"policies": list(policies)},
        }
    )


@pytest_asyncio.fixture
async def parts(database_url: str, tmp_path: Path) -> AsyncIterator[Parts]:
    """An assistant with a policy, and an answered question in each of two tenants."""
    policy = {"what": "conversations", "keep_days": 30}
    async with assemble(settings_for(database_url, tmp_path, policy)) as made:
        await ask(made.store, ANN, "t1", "secret of ann")
        await ask(made.store, EVE, "t2", "secret of eve")
        yield made


async def runs(parts: Parts, tenant: str) -> int:
    return sum(record.kind is AuditKind.RETENTION for record in await all_records(parts.store.audit, tenant))


async def worked(parts: Parts, handlers: dict[str, Handler]) -> None:
    """Do what the look of the schedule asks for, to the end."""
    async with queue("", handlers) as jobs:
        with parts.queue.over(jobs):
            await jobs.enqueue(RETENTION, key=RETENTION)
            async with running(jobs):
                await until_listed(jobs, None, 0)


async def test_retention_is_done_once_for_each_tenant(parts: Parts) -> None:
    for _ in range(2):
        await worked(parts, handlers_of(parts))
        assert [await runs(parts, tenant) for tenant in ("acme", "rival")] == [1, 1]
    assert not await parts.store.retention.due("policies:acme", DAY)


async def test_retention_that_was_stopped_is_due_still_and_keeps_up_no_other(
    parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    apply, failures = Retainer.apply, ["acme"]

    async def failing(self: Retainer, tenant: str, **given: Any) -> Any:
        if tenant in failures:
            failures.remove(tenant)
            raise OSError("the database is away")
        return await apply(self, tenant, **given)

    monkeypatch.setattr(Retainer, "apply", failing)
    retention = handlers_of(parts)[RETENTION]
    with pytest.raises(OSError, match="away"):
        await retention({"tenant": "acme"})
    await retention({"tenant": "rival"})
    assert [await runs(parts, tenant) for tenant in ("acme", "rival")] == [0, 1]
    assert await parts.store.retention.due("policies:acme", DAY)
    await worked(parts, handlers_of(parts))
    assert [await runs(parts, tenant) for tenant in ("acme", "rival")] == [1, 1]


async def test_a_folder_that_was_read_gets_its_vectors_looked_for(parts: Parts, tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    folder.mkdir()
    (folder / "a.md").write_text("# A\n\nThe code is 7.\n")
    asked: list[str] = []

    async def look(_: object) -> None:
        asked.append(EMBED)

    async with queue("", handlers_of(parts) | {EMBED: look}) as jobs:
        with parts.queue.over(jobs):
            await jobs.enqueue(INGEST, {"path": str(folder), "collection": "pages"})
            async with running(jobs):
                await until_listed(jobs, None, 0)
    assert asked == [EMBED]
    assert (await parts.store.state())["documents"] == 1


def test_the_schedule_leaves_out_what_the_settings_do_not_want(tmp_path: Path) -> None:
    without = {each.name for each in schedule_of(settings_for("sqlite:///x.db", tmp_path))}
    policy = {"what": "texts", "keep_days": 1}
    names = {each.name for each in schedule_of(settings_for("sqlite:///x.db", tmp_path, policy))}
    assert names - without == {RETENTION}
    assert {EMBED, ANSWERS} <= without


async def test_somebody_does_all_that_the_schedule_holds(parts: Parts) -> None:
    handlers = handlers_of(parts)
    scheduled = [each.name for each in schedule_of(parts.settings)]
    assert set(scheduled) <= set(handlers)
    for name in scheduled:
        await handlers[name]({})
