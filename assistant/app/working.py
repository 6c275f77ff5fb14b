"""The jobs of an assistant: what each one does, and when."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Final

import structlog

from assistant.app.assembling import Parts
from assistant.app.auditing import make_retainer
from assistant.app.background import embed_all
from assistant.app.values import now
from assistant.audit.retaining import SCHEDULE
from assistant.config import Settings
from assistant.core.evidence import Authority
from assistant.interfaces.jobs import Handler, Jobs, Payload, Schedule
from assistant.jobs.opening import is_shared, open_jobs, prepare_jobs
from assistant.knowledge.metadata import Properties
from assistant.knowledge.sync import IngestOptions, ingest

log = structlog.get_logger(__name__)

EMBED: Final = "embed"
CHANGES: Final = "changes"
RETENTION: Final = "retention"
NOTES: Final = "notes"
INGEST: Final = "ingest"


def schedule_of(settings: Settings) -> list[Schedule]:
    """What is due again and again."""
    every = [Schedule(EMBED, timedelta(seconds=5)), Schedule(CHANGES, timedelta(minutes=1))]
    return [*every, Schedule(RETENTION, timedelta(minutes=10))] if settings.retention.policies else every


def handlers_of(parts: Parts) -> dict[str, Handler]:
    """What does the jobs of each name; each may be stopped anywhere and begun again."""
    return {
        EMBED: _Embed(parts),
        CHANGES: _Changes(parts),
        RETENTION: _Retention(parts),
        NOTES: lambda payload: parts.memory.refresh(str(payload["conversation"])),
        INGEST: _Ingest(parts),
    }


@asynccontextmanager
async def open_working(parts: Parts, *, shared: bool | None = None) -> AsyncIterator[Jobs]:
    """The jobs of an assistant; the tables of the queue are made ready first. `shared` as in `open_jobs`."""
    database, parallel = parts.settings.database, parts.settings.jobs.parallel
    url = database.direct_url or database.url
    await prepare_jobs(url)
    async with open_jobs(
        url, handlers_of(parts), schedule_of(parts.settings), parallel=parallel, shared=shared
    ) as jobs:
        yield jobs


def in_server(settings: Settings) -> bool:
    """Whether a server of these settings does jobs; where no other process could, it always does."""
    return settings.jobs.in_server or not is_shared(settings.database.url)


class _Embed:
    """Gives a vector to every chunk that has none. Begun again, it finds those that are left."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def __call__(self, _: Payload) -> None:
        if self._parts.embedder is not None:
            await embed_all(self._parts.store.documents, self._parts.embedder)


class _Changes:
    """Tells of changed documents what this process has not told before; nobody is told twice."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._since = now() - timedelta(days=1)

    async def __call__(self, _: Payload) -> None:
        started = now()
        if await self._parts.store.tell_changes(self._since):
            self._parts.live.stir()
        self._since = started


class _Retention:
    """Applies the policies when they are due, by the claim that all processes share."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._retainer = make_retainer(parts.settings, parts.store)

    async def __call__(self, _: Payload) -> None:
        every = timedelta(hours=self._parts.settings.retention.every_hours)
        if await self._parts.store.retention.claim(SCHEDULE, every):
            for tenant in await self._parts.store.audit.tenants():
                outcomes = await self._retainer.apply(tenant)
                log.info("audit.retention", tenant=tenant, gone=sum(each.gone for each in outcomes))


class _Ingest:
    """Keeps a collection in step with a folder that this process can see. What was read before is not read again."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def __call__(self, payload: Payload) -> None:
        store, started = self._parts.store, datetime.now(UTC)
        report = await ingest(
            Path(payload["path"]),
            store=store.documents,
            tenant=self._parts.settings.tenant,
            collection=payload["collection"],
            options=replace(IngestOptions(), properties=properties_of(payload)),
        )
        await store.tell_changes(started)
        log.info(
            "ingested",
            collection=payload["collection"],
            added=report.added,
            updated=report.updated,
            deleted=report.deleted,
            skipped=len(report.skipped),
            seconds=round(report.seconds, 1),
        )


def properties_of(payload: Payload) -> Properties:
    """What a job of an ingest says about its documents."""
    authority, access, on = payload.get("authority"), payload.get("access"), payload.get("date")
    return Properties(
        authority=Authority(authority) if authority else None,
        access=frozenset(access) if access else None,
        date=date.fromisoformat(on) if on else None,
    )
