"""A log of invented records to export, with its texts, evidence, checkpoints and key."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from assistant.audit.export import ExportOrder, ExportReport, Trust, export
from assistant.audit.signing import Signer
from assistant.codec import encode
from assistant.core.audit import AuditDraft, AuditKind, AuditRecord, canonical, genesis, place
from assistant.core.citations import align
from assistant.core.events import CitationsAdded, ConflictsFound, ConflictShown, ConflictSide
from assistant.core.evidence import Authority, Evidence
from assistant.core.merkle import CompactRange
from tests.making import evidence

NOW = datetime(2031, 3, 5, 9, 30, tzinfo=UTC)
ORDER = ExportOrder("acme", "auditor-7", "yearly review 年度审查", NOW, {"person": "p-1"})
RULE = "😀 Every lamp must be tested twice a year. Broken lamps go back to the depot. 每盏灯每年必须检测两次。"
ANSWER = "Every lamp must be tested twice a year. The moon is made of green cheese and dances on Tuesdays."


@dataclass
class Log:
    """Records of one tenant and what belongs to them."""

    tenant: str = "acme"
    records: list[AuditRecord] = field(default_factory=list)
    texts: dict[str, Mapping[str, str] | None] = field(default_factory=dict)
    shown: dict[str, list[Evidence]] = field(default_factory=dict)
    signer: Signer = field(default_factory=lambda: Signer(Ed25519PrivateKey.from_private_bytes(bytes(range(32)))))

    def add(
        self,
        body: Mapping[str, Any] | None = None,
        texts: Mapping[str, str] | None = None,
        *,
        kind: AuditKind = AuditKind.TURN,
        erased: bool = False,
        person: str = "p-1",
    ) -> AuditRecord:
        seq = len(self.records) + 1
        draft = AuditDraft(self.tenant, kind, person, NOW + timedelta(seconds=seq), person, "c1", f"t{seq}", body)
        previous = self.records[-1].hash if self.records else genesis(self.tenant)
        sealed = None if texts is None and not erased else f"{seq:064x}"
        record = place(draft, id_=f"r{seq}", seq=seq, previous=previous, sealed_sha256=sealed)
        self.records.append(record)
        self.texts[record.id] = None if erased else texts
        return record

    def turn(
        self, question: str = "How often are lamps tested?", answer: str = ANSWER, source: str = RULE
    ) -> AuditRecord:
        """A turn with the citations that its answer really has."""
        item = evidence(source, "lamps", at=40)
        found = align(answer, [item])
        unsupported = tuple(each for each in found.sentences if each.verdict == "unsupported")
        citations = CitationsAdded(found.status, found.citations, unsupported, found.agreement)
        self.shown[f"t{len(self.records) + 1}"] = [item]
        body = {"mode": "brief", "model": "m", "status": "completed", "citations": encode(citations)}
        return self.add(body | {"conflicts": encode(a_conflict())}, {"question": question, "answer": answer})

    def checkpoint(self, size: int | None = None, **changed: Any) -> dict[str, Any]:
        kept = self.records[:size]
        fields = {
            "tenant": self.tenant,
            "size": len(kept),
            "root": CompactRange().extended(bytes.fromhex(record.hash) for record in kept).root().hex(),
            "head": kept[-1].hash,
            "at": "2031-03-05T10:00:00.000Z",
            "key_id": self.signer.key_id,
        }
        told = {**fields, **changed}
        return {**told, "signature": b64encode(self.signer.sign(canonical(told))).decode()}

    def trust(self, *sizes: int | None, signed: bool = True) -> Trust:
        """What a reader can check with: checkpoints of these sizes (None: of all records)."""

        async def hashes(tenant: str, after: int, limit: int) -> Sequence[tuple[int, str]]:
            return [(record.seq, record.hash) for record in self.records[after : after + limit]]

        checkpoints = [self.checkpoint(size) for size in sizes]
        keys = {self.signer.key_id: self.signer.public}
        return Trust(checkpoints, keys, hashes, self.signer if signed else None)

    async def export(
        self,
        target: Path,
        *sizes: int | None,
        only: Callable[[AuditRecord], bool] = lambda record: True,
        trust: Trust | None = None,
        **more: Any,
    ) -> ExportReport:
        async def opened(record: AuditRecord) -> Mapping[str, str] | None:
            return self.texts[record.id]

        async def shown(turn: str) -> Sequence[Evidence]:
            return self.shown.get(turn, [])

        asked: dict[str, Any] = {
            "order": ORDER,
            "opened": opened,
            "evidence": shown,
            "trust": trust or self.trust(*(sizes or (None,))),
        }
        return await export(each(filter(only, self.records)), target, **(asked | more))

    def alter(self, at: int, **fields: Any) -> None:
        """Change a record as somebody with the database could."""
        self.records[at] = replace(self.records[at], **fields)


async def each(records: Any) -> AsyncIterator[AuditRecord]:
    for record in records:
        yield record


def a_conflict() -> ConflictsFound:
    def side(name: str, *, preferred: bool) -> ConflictSide:
        return ConflictSide(name, None, f"{name} says so", f"Lamps {name}", NOW.date(), Authority.HIGH, preferred)

    sides = (side("one", preferred=True), side("other", preferred=False))
    return ConflictsFound((ConflictShown("lamp tests", "number", sides, "newer", "2 / 3", "preferred"),))


def a_log(turns: int = 5) -> Log:
    log = Log()
    for _ in range(turns):
        log.turn()
    return log
