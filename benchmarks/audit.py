"""What verifying an audit log costs, beside hashing the same bytes once with SHA-256.

The log is made while it is read; the CPU time of the making is taken off. `peak_before_mb` is the most memory before verification, `peak_after_mb`
after it: they are the same where memory does not grow with the records. Canonical JSON, not hashing, is what takes the time.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import resource
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from time import perf_counter, process_time

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from assistant.audit.checkpoints import sign_checkpoint
from assistant.audit.seals import Seals
from assistant.audit.signing import Signer
from assistant.audit.verifying import Finding, verify
from assistant.core.audit import AuditDraft, AuditKind, AuditRecord, canonical, genesis, place
from assistant.core.merkle import CompactRange

TENANT = "acme"
SIGNER = Signer(Ed25519PrivateKey.from_private_bytes(bytes(range(32))))
START = datetime(2026, 1, 1, tzinfo=UTC)
BATCH = 1000


def draft(seq: int) -> AuditDraft:
    """A record like that of an answer from eight passages with six citations."""
    body = {
        "mode": "compact",
        "model": {"name": "model-large", "temperature": 0.1, "top_p": 0.9},
        "prompts": {name: hashlib.sha256(name.encode()).hexdigest() for name in ("system", "question-answer")},
        "plan": dict.fromkeys(("system", "history", "evidence", "question", "output"), 100 + seq % 900),
        "evidence": [
            {"id": f"e{n}", "document": f"d{seq % 97}-{n}", "version": n, "sha256": f"{seq + n:064x}", "score": 0.8 - n / 16}
            for n in range(8)
        ],
        "citations": [{"evidence": f"e{n}", "verdict": "supported", "score": 0.9, "span": [n * 90, n * 90 + 80]} for n in range(6)],
        "timings_ms": {"search": 12.5, "plan": 8.25, "first_token": 180.0},
    }  # fmt: skip
    return AuditDraft(
        TENANT, AuditKind.TURN, f"p{seq % 50}", START + timedelta(seconds=seq), f"p{seq % 50}", f"c{seq % 999}", f"t{seq}", body
    )  # fmt: skip


def text(seq: int) -> bytes:
    """The ciphertext of a record: about the length of a question with its answer."""
    return seq.to_bytes(8) * 150


@dataclass
class Made:
    """A log made while it is read, so that its records are never all in memory. `cost_s` is the CPU time that the making took."""

    count: int
    sizes: int
    rows: list[dict[str, object]] = field(default_factory=list)
    cost_s: float = 0.0
    plain_s: float = 0.0
    bytes_: int = 0

    async def records(self, hashing: bool) -> AsyncIterator[AuditRecord]:
        """The records; with `hashing`, plain SHA-256 of their canonical bytes and ciphertexts is timed too."""
        previous = genesis(TENANT)
        for first in range(1, self.count + 1, BATCH):
            begun = process_time()
            batch: list[AuditRecord] = []
            for seq in range(first, min(first + BATCH, self.count + 1)):
                digest = hashlib.sha256(text(seq)).hexdigest()
                batch.append(place(draft(seq), id_=f"{seq:026d}", seq=seq, previous=previous, sealed_sha256=digest))
                previous = batch[-1].hash
            if hashing:
                self._hash(batch)
            self.cost_s += process_time() - begun
            for record in batch:
                yield record

    def _hash(self, batch: list[AuditRecord]) -> None:
        contents = [canonical({n: getattr(r, n) for n in AuditRecord.__slots__ if n != "hash"}) for r in batch]
        texts = [text(record.seq) for record in batch]
        begun = process_time()
        for content in (*contents, *texts):
            hashlib.sha256(content).hexdigest()
        self.plain_s += process_time() - begun
        self.bytes_ += sum(map(len, contents)) + sum(map(len, texts))

    async def texts(self) -> AsyncIterator[tuple[int, bytes]]:
        """The ciphertexts."""
        for seq in range(1, self.count + 1):
            yield seq, text(seq)

    async def sign(self) -> None:
        """Make the checkpoints, one every `sizes` records."""
        tree = CompactRange()
        async for record in self.records(hashing=True):
            tree = tree.extended((bytes.fromhex(record.hash),))
            if tree.size % self.sizes == 0:
                at = START + timedelta(seconds=tree.size)
                self.rows.append(sign_checkpoint(TENANT, tree, record.hash, at, SIGNER).row())


def peak_mb() -> float:
    """The most memory that the process ever had, in MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


async def measured(count: int, sizes: int) -> tuple[Finding, dict[str, float]]:
    """Verify a log of `count` records with its sealed texts and a checkpoint every `sizes`."""
    made = Made(count, sizes)
    await made.sign()
    made.cost_s, before = 0.0, peak_mb()
    cpu, wall = process_time(), perf_counter()
    finding = await verify(
        made.records(hashing=False),
        made.rows,
        {SIGNER.key_id: SIGNER.public},
        tenant=TENANT,
        sealed=Seals(made.texts(), count),
    )
    wall, cpu = perf_counter() - wall, process_time() - cpu - made.cost_s
    return finding, {
        "records": count,
        "checkpoints": len(made.rows),
        "bytes_per_record": made.bytes_ / count,
        "cpu_s": cpu,
        "records_per_s": count / cpu,
        "plain_sha256_s": made.plain_s,
        "ratio": cpu / made.plain_s,
        "wall_s_with_making": wall,
        "peak_before_mb": before,
        "peak_after_mb": peak_mb(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Verify an audit log of synthetic records.")
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--checkpoint-every", type=int, default=1000)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    finding, figures = asyncio.run(measured(asked.records, asked.checkpoint_every))
    if not finding.ok or finding.checked != asked.records:
        raise SystemExit(f"the log does not verify: {finding}")
    if asked.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name:20} {value:12,.2f}")


if __name__ == "__main__":
    main()
