"""Ingest: read documents into a collection, with a progress bar; vectors follow in the server or on request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from assistant.app import embed_all, make_embedder
from assistant.app.policies import reach_of
from assistant.config import Settings
from assistant.core.evidence import Authority
from assistant.knowledge.metadata import Properties
from assistant.knowledge.sync import IngestOptions, Report, ingest
from assistant.knowledge.sync import Progress as Step
from assistant.store import Store


async def ingest_here(
    settings: Settings,
    path: Path,
    collection: str,
    *,
    authority: Authority | None = None,
    access: frozenset[str] = frozenset(),
    on: date | None = None,
    vectors: bool = False,
    quiet: bool = False,
) -> Report:
    """Read `path` into a collection of the settings' database; values given here win over what the documents say."""
    properties = Properties(authority=authority, access=access or None, date=on)
    started = datetime.now(UTC)
    async with Store(settings.database.url, reach=reach_of(settings.database)) as store:
        with _bar(quiet) as bar:
            report = await ingest(
                path,
                store=store.documents,
                tenant=settings.tenant,
                collection=collection,
                options=replace(IngestOptions(), properties=properties),
                on_progress=_showing(bar, "reading"),
            )
            await store.tell_changes(started)
            embedder = make_embedder(settings) if vectors else None
            if embedder is not None:
                await embed_all(store.documents, embedder, _showing_count(bar))
    return report


def _bar(quiet: bool) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=Console(stderr=True), disable=quiet, transient=True)


def _showing(bar: Progress, what: str) -> Callable[[Step], None]:
    task = bar.add_task(what, total=None)
    return lambda step: bar.update(task, completed=step.done, total=step.total)


def _showing_count(bar: Progress) -> Callable[[int], None]:
    task = bar.add_task("vectors", total=None)
    return lambda done: bar.advance(task, done)
