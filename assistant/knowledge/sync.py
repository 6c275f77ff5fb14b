"""Read a folder or a file into a collection, and keep the collection like the folder: new, changed, gone.

Only what changed is parsed: every document has a fingerprint of its bytes, of what is known about it from outside and
of the code that reads it. One bad file never stops the others; it is reported.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import orjson

from assistant.core.text import index_terms
from assistant.errors import BadDocument, NotFound
from assistant.interfaces import DocumentDraft, DocumentStore
from assistant.knowledge import ocr
from assistant.knowledge.chunking import ChunkSize
from assistant.knowledge.documents import Limits
from assistant.knowledge.folders import Found, Scan, Sidecars, Skipped, scan_file, scan_folder
from assistant.knowledge.metadata import Properties
from assistant.knowledge.parsers import PARSER_VERSION, picture_type
from assistant.knowledge.pool import ReaderPool
from assistant.knowledge.reading import Sources
from assistant.knowledge.worker import Job
from assistant.telemetry.figures import DOCUMENTS


@dataclass(frozen=True, slots=True)
class IngestOptions:
    """How to read in.

    `properties` win over what the documents say about themselves. `prefix` is put before every uri, so that several
    folders can share a collection; deletions stay below it. Without one the collection belongs to the folder. `ignore` are globs over names and paths. `delete` says
    whether documents that are gone from the folder are deleted. `file_dates` says whether the time of a file counts as
    its date when nothing else gives one.
    """

    properties: Properties = field(default_factory=Properties)
    limits: Limits = field(default_factory=Limits)
    size: ChunkSize = field(default_factory=ChunkSize)
    prefix: str = ""
    ignore: tuple[str, ...] = ()
    delete: bool = True
    file_dates: bool = True
    workers: int = 2


@dataclass(frozen=True, slots=True)
class Progress:
    """One document is done: `outcome` is added, updated, unchanged, deleted or skipped."""

    done: int
    total: int
    uri: str
    outcome: str


@dataclass(frozen=True, slots=True)
class Report:
    """What an ingest did, and how long it took in seconds."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    deleted: int = 0
    skipped: tuple[Skipped, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class _Outcome:
    """One file after reading: a draft to store, or the reason why there is none; neither when nothing changed."""

    uri: str
    fingerprint: str = ""
    draft: DocumentDraft | None = None
    skipped: Skipped | None = None


async def ingest(
    path: Path,
    *,
    store: DocumentStore,
    tenant: str,
    collection: str,
    options: IngestOptions | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    pool: ReaderPool | None = None,
) -> Report:
    """Read a file, or everything below a folder, into a collection. Without a `pool` it starts readers of its own.

    Raises NotFound when there is nothing at `path`; errors of the store end the ingest, what was stored stays.
    An empty folder deletes nothing: it is more often a disk that is not mounted than the end of all documents.
    """
    options = options or IngestOptions()
    started = time.monotonic()
    scan = await asyncio.to_thread(_scan, path, options)
    known = await store.fingerprints(tenant, collection)
    tally = _Tally(len(scan.files), on_progress)
    tally.skip(replace(one, uri=options.prefix + one.uri) for one in scan.skipped)
    async with contextlib.nullcontext(pool) if pool else ReaderPool(options.workers) as readers:
        async for outcome in _outcomes(scan, known, options, readers):
            if outcome.draft is not None:
                await store.put(tenant, collection, outcome.draft, fingerprint=outcome.fingerprint)
            tally.count(outcome, known)
    for uri in _gone(scan, known, options) if await asyncio.to_thread(path.is_dir) else ():
        if await store.delete(tenant, collection, uri):
            tally.deleted(uri)
    return tally.report(time.monotonic() - started)


def _scan(path: Path, options: IngestOptions) -> Scan:
    if path.is_dir():
        return scan_folder(path, options.ignore)
    if path.exists():
        return scan_file(path)
    raise NotFound("there is nothing at this path")


def _gone(scan: Scan, known: Mapping[str, str], options: IngestOptions) -> list[str]:
    """Documents of the collection that the folder no longer holds. Files that could not be read are not gone.

    What was sent in by a person never was in the folder.
    """
    if not options.delete or not scan.files:
        return []
    prefix = options.prefix
    here = {prefix + found.uri for found in scan.files} | {prefix + one.uri for one in scan.skipped}
    unseen = tuple(prefix + folder for folder in scan.unseen)
    synced = [uri for uri, fingerprint in known.items() if not fingerprint.startswith(UPLOADED)]
    return sorted(uri for uri in synced if uri.startswith(prefix) and uri not in here and not uri.startswith(unseen))


async def _outcomes(
    scan: Scan, known: Mapping[str, str], options: IngestOptions, pool: ReaderPool
) -> AsyncIterator[_Outcome]:
    """Read the files a few at a time and give the outcomes in the order of the files."""
    sidecars = Sidecars(scan.root)
    running: deque[asyncio.Task[_Outcome]] = deque()
    try:
        for found in scan.files:
            running.append(asyncio.create_task(_read(found, sidecars, known, options, pool)))
            if len(running) > options.workers:
                yield await running.popleft()
        while running:
            yield await running.popleft()
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def _read(
    found: Found, sidecars: Sidecars, known: Mapping[str, str], options: IngestOptions, pool: ReaderPool
) -> _Outcome:
    uri = options.prefix + found.uri
    try:
        data, sources, fingerprint = await asyncio.to_thread(_prepared, found, sidecars, options)
        if known.get(uri) == fingerprint:
            return _Outcome(uri)
        draft = await pool.read(Job(uri, sources, options.limits, options.size), data)
    except BadDocument as error:
        return _Outcome(uri, skipped=Skipped(uri, str(error.data.get("reason")), error.detail))
    except OSError as error:
        return _Outcome(uri, skipped=Skipped(uri, "unreadable", type(error).__name__))
    return _Outcome(uri, fingerprint, draft)


def _prepared(found: Found, sidecars: Sidecars, options: IngestOptions) -> tuple[bytes, Sources, str]:
    """The bytes of a file, what is known about it from outside, and its fingerprint."""
    if found.path.stat().st_size > options.limits.bytes:
        raise BadDocument(f"more than {options.limits.bytes} bytes", reason="too_large")
    data = found.path.read_bytes()
    day = datetime.fromtimestamp(found.modified, UTC).date() if options.file_dates else None
    sources = Sources(options.properties, sidecars.of(found.path), Properties(date=day))
    return data, sources, fingerprint_of(data, sources, options.size)


UPLOADED: Final = "upload:"
"""Fingerprints of documents that were sent in begin like this: no folder knows them, and none takes them away."""

_PROBE: Final = "Employees' reimbursements (2024-10-01, $1,250.50) 员工年假的规定和申请"


def fingerprint_of(data: bytes, sources: Sources, size: ChunkSize) -> str:
    """A hash of everything that decides what a document becomes, except the time of the file.

    The time is left out, because a fresh checkout touches every file. The words of a probe stand for the code that
    makes index terms. Pictures are read again when a program that reads their text was installed.
    """
    parts = {
        "bytes": hashlib.sha256(data).hexdigest(),
        "options": asdict(sources.options),
        "sidecar": asdict(sources.sidecar),
        "size": asdict(size),
        "parser": PARSER_VERSION,
        "terms": index_terms(_PROBE),
        "ocr": picture_type(data, ".bmp") is not None and ocr.is_installed(),
    }
    return hashlib.sha256(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS, default=sorted)).hexdigest()


class _Tally:
    """Counts outcomes and tells the caller about each."""

    def __init__(self, total: int, on_progress: Callable[[Progress], None] | None) -> None:
        self._total = total
        self._done = 0
        self._counts = {"added": 0, "updated": 0, "unchanged": 0, "deleted": 0}
        self._skipped: list[Skipped] = []
        self._tell = on_progress

    def skip(self, skipped: Iterable[Skipped]) -> None:
        """Note files that the scan left out."""
        self._skipped += skipped

    def count(self, outcome: _Outcome, known: Mapping[str, str]) -> None:
        """Note one file that was tried."""
        self._done += 1
        if outcome.skipped is not None:
            self._skipped.append(outcome.skipped)
            self._say(outcome.uri, "skipped")
        elif outcome.draft is None:
            self._say(outcome.uri, "unchanged")
        else:
            self._say(outcome.uri, "updated" if outcome.uri in known else "added")

    def deleted(self, uri: str) -> None:
        """Note one document that was deleted."""
        self._say(uri, "deleted")

    def _say(self, uri: str, what: str) -> None:
        DOCUMENTS.labels(what).inc()
        if what in self._counts:
            self._counts[what] += 1
        if self._tell is not None:
            self._tell(Progress(self._done, self._total, uri, what))

    def report(self, seconds: float) -> Report:
        """The sum of it."""
        return Report(**self._counts, skipped=tuple(self._skipped), seconds=seconds)
