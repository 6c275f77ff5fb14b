"""The jobs of an assistant: what each one does, and when."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Final

import structlog

from assistant.app.assembling import Parts
from assistant.app.auditing import make_retainer
from assistant.app.embedding import EMBED, SHARED_LANES, Embed
from assistant.app.models import kept_answers
from assistant.app.months import MONTHS, KeepMonths
from assistant.app.noting import NOTES, WriteNotes
from assistant.app.values import now
from assistant.audit.retaining import SCHEDULE
from assistant.config import Settings
from assistant.core.evidence import Authority
from assistant.interfaces.jobs import Handler, Jobs, Payload, Schedule
from assistant.jobs.opening import is_shared, open_jobs, prepare_jobs
from assistant.knowledge.metadata import Properties
from assistant.knowledge.sync import IngestOptions, ingest

log = structlog.get_logger(__name__)

ANSWERS: Final = "answers"
CHANGES: Final = "changes"
RETENTION: Final = "retention"
INGEST: Final = "ingest"

EVERY: Final[Mapping[str, timedelta]] = {
    EMBED: timedelta(seconds=5),
    CHANGES: timedelta(minutes=1),
    RETENTION: timedelta(minutes=10),
    ANSWERS: timedelta(hours=1),
    MONTHS: timedelta(days=1),
}
"""What is due again and again."""


def schedule_of(settings: Settings) -> list[Schedule]:
    """What is due again and again under these settings."""
    unused = set() if settings.retention.policies else {RETENTION}
    return [Schedule(name, every) for name, every in EVERY.items() if name not in unused]


def handlers_of(parts: Parts) -> dict[str, Handler]:
    """What does the jobs of each name; each may be stopped anywhere and begun again."""
    lanes = SHARED_LANES if is_shared(parts.settings.database.url) else 1
    return {
        EMBED: Embed(parts.store.documents, parts.embedder, parts.queue, lanes),
        CHANGES: _Changes(parts),
        RETENTION: _Retention(parts),
        ANSWERS: _Answers(parts),
        MONTHS: KeepMonths(parts.store.database),
        NOTES: WriteNotes(parts.memory),
        INGEST: _Ingest(parts),
    }


@asynccontextmanager
async def open_working(parts: Parts, *, shared: bool | None = None) -> AsyncIterator[Jobs]:
    """The jobs of an assistant; the tables of the queue are made ready first. `shared` as in `open_jobs`."""
    database, parallel = parts.settings.database, parts.settings.jobs.parallel
    lease_s = parts.settings.jobs.lease_s
    url = database.direct_url or database.url
    await prepare_jobs(url)
    async with open_jobs(
        url, handlers_of(parts), schedule_of(parts.settings), parallel=parallel, shared=shared, lease_s=lease_s
    ) as jobs:
        with parts.queue.over(jobs):
            yield jobs


def in_server(settings: Settings) -> bool:
    """Whether a server of these settings does jobs; where no other process could, it always does."""
    return settings.jobs.in_server or not is_shared(settings.database.url)


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
    """Applies the policies: without a tenant, one looks for tenants of whom they are due; with one, it applies them.

    A run counts as done at its end, so one that is stopped anywhere is due still. A tenant whose run fails keeps up no other.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._retainer = make_retainer(parts.settings, parts.store)

        self._every = timedelta(hours=parts.settings.retention.every_hours)

    async def __call__(self, payload: Payload) -> None:
        if "tenant" in payload:
            await self._apply(str(payload["tenant"]))
            return
        for tenant in await self._parts.store.audit.tenants():
            if await self._is_due(tenant):
                await self._parts.queue.enqueue(RETENTION, {"tenant": tenant}, key=f"{RETENTION}:{tenant}")

    async def _is_due(self, tenant: str) -> bool:
        return await self._parts.store.retention.due(f"{SCHEDULE}:{tenant}", self._every)

    async def _apply(self, tenant: str) -> None:
        if await self._is_due(tenant):
            outcomes = await self._retainer.apply(tenant)
            await self._parts.store.retention.claim(f"{SCHEDULE}:{tenant}", self._every)
            log.info("audit.retention", tenant=tenant, gone=sum(each.gone for each in outcomes))


class _Answers:
    """Takes out of the answers that may be given again those that may not any more, or are too many."""

    def __init__(self, parts: Parts) -> None:
        self._kept = kept_answers(parts.settings, parts.store)

    async def __call__(self, _: Payload) -> None:
        if gone := await self._kept.sweep():
            log.info("answers.swept", gone=gone)


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
        await self._parts.queue.enqueue(EMBED, key=EMBED)
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
