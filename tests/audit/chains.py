"""Logs in memory: records as they would be stored, sealed texts, checkpoints, and a source that a test can tamper with."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from assistant.audit.checkpoints import Checkpoint, sign_checkpoint
from assistant.audit.signing import Signer
from assistant.core.audit import AuditDraft, AuditKind, AuditRecord, genesis, hash_of, place
from assistant.core.audit_columns import FACETS, StoredColumns, cited_rows, facet_columns
from assistant.core.merkle import CompactRange

START = datetime(2026, 11, 30, 12, tzinfo=UTC)
SIGNER = Signer(Ed25519PrivateKey.from_private_bytes(bytes(range(32))))
STRANGER = Signer(Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33))))
KEYS = {SIGNER.key_id: SIGNER.public}
BODIES: Sequence[Mapping[str, Any]] = (
    {"mode": "compact", "verdicts": ["supported", "partial"], "cost": 0.25},
    {"reason": "年度审计", "filters": {}},
    {},
)


def chain(
    count: int, tenant: str = "acme", *, salt: str = "", sealed: Mapping[int, bytes] | None = None
) -> list[AuditRecord]:
    """A log of `count` records; another salt makes another log."""
    records: list[AuditRecord] = []
    for seq in range(1, count + 1):
        draft = AuditDraft(
            tenant, list(AuditKind)[seq % 3], "u1", START + timedelta(seconds=seq), "u1", body=BODIES[seq % 3]
        )
        previous = records[-1].hash if records else genesis(tenant)
        text = (sealed or {}).get(seq)
        digest = None if text is None else sha256(text).hexdigest()
        records.append(place(draft, id_=f"{salt}{seq}", seq=seq, previous=previous, sealed_sha256=digest))
    return records


def rechained(records: Iterable[AuditRecord]) -> list[AuditRecord]:
    """The records as somebody who can compute hashes would leave them: numbered, linked and hashed anew."""
    done: list[AuditRecord] = []
    for record in records:
        changes = {"seq": len(done) + 1, "previous": done[-1].hash if done else genesis(record.tenant)}
        fields = {name: getattr(record, name) for name in AuditRecord.__slots__} | changes
        done.append(AuditRecord(**fields | {"hash": hash_of(AuditRecord(**fields))}))
    return done


def checkpoint(records: Sequence[AuditRecord], size: int, signer: Signer = SIGNER, at: datetime = START) -> Checkpoint:
    """The checkpoint over the first `size` records."""
    tree = CompactRange().extended(bytes.fromhex(record.hash) for record in records[:size])
    return sign_checkpoint(records[0].tenant, tree, records[size - 1].hash, at, signer)


async def streamed(records: Iterable[AuditRecord]) -> AsyncIterator[AuditRecord]:
    """The records as an iterator of a store gives them."""
    for record in records:
        yield record


def stored_columns(record: AuditRecord) -> StoredColumns:
    """What a store would hold beside the record."""
    told = facet_columns(record.body)
    facets = {name: told[name] for name in FACETS}
    return StoredColumns(record.seq, facets, told["rating"], None, tuple(cited_rows(record)))


@dataclass
class MemoryLog:
    """An audit log as checkpointing and verification see it."""

    written: list[AuditRecord] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)
    texts: dict[int, bytes] = field(default_factory=dict)
    reads: int = 0

    async def hashes(self, tenant: str, after: int, limit: int) -> list[tuple[int, str]]:
        mine = [(r.seq, r.hash) for r in self.written if r.tenant == tenant and r.seq > after][:limit]
        self.reads += len(mine)
        return mine

    async def save_checkpoint(self, row: Mapping[str, Any], /) -> None:
        if not [one for one in self.rows if (one["tenant"], one["size"]) == (row["tenant"], row["size"])]:
            self.rows.append(dict(row))

    async def checkpoints(self, tenant: str) -> list[dict[str, Any]]:
        return sorted((dict(row) for row in self.rows if row["tenant"] == tenant), key=lambda row: int(row["size"]))

    async def ciphertexts(self, tenant: str, after: int, limit: int) -> list[tuple[int, bytes]]:
        return [one for one in sorted(self.texts.items()) if one[0] > after][:limit]

    async def columns(self, tenant: str, after: int, limit: int) -> list[StoredColumns]:
        mine = [r for r in self.written if r.tenant == tenant and r.seq > after][:limit]
        return [stored_columns(record) for record in mine]

    async def stray(self, tenant: str, last: int) -> int | None:
        return None

    async def ends(self, tenant: str) -> tuple[tuple[Any, Any] | None, tuple[Any, Any] | None]:
        mine = [(r.seq, r.hash) for r in self.written if r.tenant == tenant]
        return (mine[-1], mine[-1]) if mine else (None, None)

    def stream(self, tenant: str) -> AsyncIterator[AuditRecord]:
        return streamed(record for record in self.written if record.tenant == tenant)
