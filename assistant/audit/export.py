"""Export: a package of audit records that can be read and verified without this program, without a network.

`records.jsonl` one record a line, as hashed; `texts.jsonl` the opened personal text; `answers.csv` for spreadsheets; `passages.jsonl`
what was cited; `proof.jsonl` the part of the Merkle tree that is missing; `manifest.json` what there is, signed; `audit.html` shows it
all and verifies it in a browser.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterable, Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Protocol

from assistant.audit.checkpoints import checkpoint_of
from assistant.audit.export_files import FileFacts, HashedFile, csv_rows, csv_start, discard, finish, start
from assistant.audit.export_proof import Exported, Pruning
from assistant.audit.export_rows import (
    COLUMNS,
    answer_row,
    citations_of,
    is_erased,
    passage_lines,
    record_line,
    texts_line,
)
from assistant.audit.viewer import write_page
from assistant.core.audit import AuditRecord, canonical, stamp
from assistant.core.evidence import Evidence
from assistant.errors import AssistantError, BadInput

TYPE: Final = "assistant.audit.export.v1"
"""The `type` of a manifest; it also keeps its signature from standing for anything else."""

SHOWN: Final = 5_000
"""The page holds the records itself up to this many; of a larger package it opens the files that its reader chooses."""

Opening = Callable[[AuditRecord], Awaitable[Mapping[str, str] | None]]
"""Opens the personal text of a record; None when its key is destroyed."""

EvidenceOf = Callable[[str], Awaitable[Sequence[Evidence]]]
"""The evidence that a turn showed, empty when it is no longer kept."""

HashesOf = Callable[[str, int, int], Awaitable[Sequence[tuple[int, str]]]]
"""(tenant, after, limit) -> number and hash of the records that follow."""


class Signing(Protocol):
    """Signs with the audit key (Ed25519)."""

    @property
    def key_id(self) -> str:
        """The name of the key."""
        ...

    def sign(self, content: bytes) -> bytes:
        """The signature of the content."""
        ...


@dataclass(frozen=True, slots=True)
class ExportOrder:
    """Who exports what of a tenant, why and when; `filters` are plain JSON, as they were given."""

    tenant: str
    by: str
    reason: str
    at: datetime
    filters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Trust:
    """What lets a reader check the package: checkpoints of the tenant, public keys by id (32 bytes each), all record hashes, a signer.

    Of the checkpoints the largest is proved against; it alone is enough, and best made just before.
    """

    checkpoints: Sequence[Mapping[str, Any]] = ()
    public_keys: Mapping[str, bytes] = field(default_factory=dict)
    hashes: HashesOf | None = None
    signer: Signing | None = None


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What was written: how many records, how many of them without their text, and the sha256 of manifest.json."""

    records: int
    erased: int
    first: int
    last: int
    manifest_sha256: str
    files: tuple[FileFacts, ...]


async def export(
    records: AsyncIterable[AuditRecord],
    target: Path,
    order: ExportOrder,
    *,
    opened: Opening,
    evidence: EvidenceOf,
    trust: Trust,
    shown: int = SHOWN,
) -> ExportReport:
    """Write a package to `target`: a zip file when it is named so, else a folder; memory does not grow with the records.

    Records come by ascending number. Either the whole package is there at the end or nothing. Raises BadInput without a reason,
    for records of another tenant or out of order, and when there is something at `target`.
    """
    if not order.reason.strip():
        raise BadInput("an export needs a reason", reason="no_reason")
    folder = await asyncio.to_thread(start, target)
    try:
        report = await _write(folder, records, order, opened, evidence, trust, shown)
        await asyncio.to_thread(finish, folder, target)
    finally:
        await asyncio.to_thread(discard, folder)
    return report


@dataclass(frozen=True, slots=True)
class _Entry:
    """A record with what belongs to it."""

    record: AuditRecord
    texts: Mapping[str, str] | None
    evidence: Sequence[Evidence]
    unreadable: bool


_BATCH: Final = 100
_HASHES: Final = 20_000


async def _write(
    folder: Path,
    records: AsyncIterable[AuditRecord],
    order: ExportOrder,
    opened: Opening,
    evidence: EvidenceOf,
    trust: Trust,
    shown: int,
) -> ExportReport:
    writing = await asyncio.to_thread(_Writing, folder, order.tenant)
    try:
        batch: list[_Entry] = []
        async for record in records:
            batch.append(await _entry(record, opened, evidence))
            if len(batch) >= _BATCH:
                await asyncio.to_thread(writing.write, batch)
                batch = []
        await asyncio.to_thread(writing.write, batch)
        proof = await _prove(writing, order.tenant, trust)
    finally:
        files = await asyncio.to_thread(writing.close)
    return await asyncio.to_thread(_conclude, folder, writing, files, order, trust, proof, shown)


async def _entry(record: AuditRecord, opened: Opening, evidence: EvidenceOf) -> _Entry:
    texts, unreadable = None, False
    if record.sealed_sha256 is not None:
        try:
            texts = await opened(record)
        except AssistantError:  # what was tampered with is exported too: the package has to show it
            unreadable = True
    cites = record.turn is not None and bool(citations_of(record))
    return _Entry(record, texts, await evidence(record.turn or "") if cites else (), unreadable)


class _Writing:
    """The files that grow with the records, and what the manifest says of all records."""

    def __init__(self, folder: Path, tenant: str) -> None:
        self.exported = Exported()
        self.count = self.erased = 0
        self.first_previous: str | None = None
        self.last_hash: str | None = None
        self._tenant = tenant
        self._records = HashedFile(folder / "records.jsonl")
        self._texts = HashedFile(folder / "texts.jsonl")
        self._passages = HashedFile(folder / "passages.jsonl")
        self._answers = HashedFile(folder / "answers.csv")
        self.proof = HashedFile(folder / "proof.jsonl")
        self._answers.write(csv_start(COLUMNS))

    def write(self, entries: Sequence[_Entry]) -> None:
        """Write some records in their order."""
        for each in entries:
            self._count(each)
        self._records.write_lines(record_line(each.record) for each in entries)
        told = (texts_line(each.record, each.texts, unreadable=each.unreadable) for each in entries)
        self._texts.write_lines(line for line in told if line)
        self._passages.write_lines(line for each in entries for line in passage_lines(each.record, each.evidence))
        rows = [row for each in entries if (row := answer_row(each.record, each.texts)) is not None]
        self._answers.write(csv_rows(rows), len(rows))

    def _count(self, entry: _Entry) -> None:
        record = entry.record
        if record.tenant != self._tenant:
            raise BadInput("a record belongs to another tenant", reason="tenant", seq=record.seq)
        self.exported.add(record.seq)
        self.first_previous = self.first_previous or record.previous
        self.last_hash = record.hash
        self.count += 1
        self.erased += not entry.unreadable and is_erased(record, entry.texts)

    def close(self) -> tuple[FileFacts, ...]:
        """Close all files."""
        files = (self._records, self._texts, self._passages, self._answers, self.proof)
        return tuple(file.close() for file in files)


async def _prove(writing: _Writing, tenant: str, trust: Trust) -> dict[str, Any] | None:
    """Write the nodes of the tree that the export lacks; what the manifest says of them, None without a checkpoint."""
    size = max((_size(checkpoint) for checkpoint in trust.checkpoints), default=0)
    if not size:
        return None
    pruning = Pruning(size, writing.exported)
    whole = writing.exported.ranges == 1 and writing.exported.first == 1 and writing.exported.last >= size
    try:
        if not whole and trust.hashes:
            await _feed(pruning, writing, tenant, size, trust.hashes)
    except (BadInput, ValueError):  # a log with a hole has no proof, and the package says so
        return {"size": size, "given": False}
    return {"size": size, "given": whole or pruning.finished}


def _size(row: Mapping[str, Any]) -> int:
    """The size of a checkpoint, 0 when somebody has made it unreadable."""
    try:
        return checkpoint_of(row).size
    except BadInput:
        return 0


async def _feed(pruning: Pruning, writing: _Writing, tenant: str, size: int, hashes: HashesOf) -> None:
    after = 0
    while after < size and (some := await hashes(tenant, after, min(_HASHES, size - after))):
        after = some[-1][0]
        await asyncio.to_thread(_prune, pruning, writing.proof, some)


def _prune(pruning: Pruning, proof: HashedFile, hashes: Sequence[tuple[int, str]]) -> None:
    nodes = pruning.feed(hashes)
    proof.write_lines(canonical([node.low, node.high, node.hash.hex()]).decode() for node in nodes)


def _conclude(
    folder: Path,
    writing: _Writing,
    files: tuple[FileFacts, ...],
    order: ExportOrder,
    trust: Trust,
    proof: Mapping[str, Any] | None,
    shown: int,
) -> ExportReport:
    """Write manifest and page."""
    signed = _signed(_manifest(writing, files, order, trust, proof), trust.signer)
    manifest = HashedFile(folder / "manifest.json")
    manifest.write(signed)
    facts = manifest.close()
    write_page(folder, signed.decode(), embed=writing.count <= shown)
    seqs = writing.exported
    return ExportReport(writing.count, writing.erased, seqs.first, seqs.last, facts.sha256, (*files, facts))


def _manifest(
    writing: _Writing,
    files: Sequence[FileFacts],
    order: ExportOrder,
    trust: Trust,
    proof: Mapping[str, Any] | None,
) -> dict[str, Any]:
    return {
        "type": TYPE,
        "tenant": order.tenant,
        "by": order.by,
        "reason": order.reason,
        "at": stamp(order.at),
        "filters": dict(order.filters),
        "count": writing.count,
        "erased": writing.erased,
        "first": writing.exported.first,
        "last": writing.exported.last,
        "unbroken": writing.exported.ranges <= 1,
        "first_previous": writing.first_previous,
        "last_hash": writing.last_hash,
        "files": [asdict(file) for file in files],
        "checkpoints": [dict(checkpoint) for checkpoint in trust.checkpoints],
        "public_keys": {name: base64.b64encode(key).decode() for name, key in trust.public_keys.items()},
        "proof": proof,
    }


def _signed(manifest: Mapping[str, Any], signer: Signing | None) -> bytes:
    """The manifest as canonical JSON; `signature` is over the canonical JSON of everything else, null without a signer."""
    if signer is None:
        return canonical({**manifest, "signature": None})
    told = {**manifest, "key_id": signer.key_id}
    signature = signer.sign(canonical(told))
    return canonical({**told, "signature": base64.b64encode(signature).decode()})
