"""Verification of an exported package without its log: what the page does in a browser, for packages of any size."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assistant.audit.checkpoints import Checkpoint
from assistant.audit.export_proof import Folding, Node, leaf
from assistant.audit.package_files import (
    Misfit,
    Read,
    bytes_of,
    checkpoint_in,
    facts_of,
    keys_in,
    lines_of,
    manifest_of,
    node_in,
    opened_package,
    record_in,
)
from assistant.audit.signing import verify_signature
from assistant.core.audit import AuditRecord, canonical, genesis
from assistant.errors import BadInput


@dataclass(frozen=True, slots=True)
class PackageFinding:
    """`ok`, or the first thing that does not fit: `reason`, and `seq` or `file` where one can be named.

    Reasons are wrong_file, malformed, not_canonical, wrong_hash, wrong_tenant, out_of_order, broken_link, gap,
    wrong_extent, no_proof, wrong_root, bad_checkpoint, bad_signature, unknown_key. `covered` is the size of the checkpoint that holds the
    records, 0 where there is none; `signed` whether the manifest is signed.
    """

    ok: bool
    records: int
    covered: int = 0
    signed: bool = False
    reason: str | None = None
    seq: int | None = None
    file: str | None = None


async def verify_package(
    package: Path, keys: Mapping[str, bytes] | None = None, *, on_progress: Callable[[int], None] | None = None
) -> PackageFinding:
    """Check a package, a folder or a zip file, against itself and its checkpoint; memory does not grow with the records.

    `keys` are the public keys that the reader trusts, by id. Without them those in the package are used, and the package only fits
    itself: whoever made it may have made the keys. `on_progress` is told the number of records checked now and then, from another
    thread. Raises BadInput for what is no package.
    """
    return await asyncio.to_thread(_verify, package, keys, on_progress)


def _verify(
    package: Path, keys: Mapping[str, bytes] | None, on_progress: Callable[[int], None] | None
) -> PackageFinding:
    with opened_package(package) as read:
        manifest = manifest_of(read)
        checking = _Checking(read, manifest, keys if keys is not None else keys_in(manifest), on_progress)
        try:
            covered = checking.all()
        except Misfit as found:
            where = {"seq": found.seq, "file": found.file}
            return PackageFinding(ok=False, records=checking.count, reason=found.reason, **where)  # type: ignore[arg-type]
        return PackageFinding(True, checking.count, covered, signed=manifest.get("signature") is not None)


class _Checking:
    """One verification: each step raises Misfit at the first thing that does not fit."""

    def __init__(
        self,
        read: Read,
        manifest: Mapping[str, Any],
        keys: Mapping[str, bytes],
        on_progress: Callable[[int], None] | None,
    ) -> None:
        self._read = read
        self._manifest = manifest
        self._keys = keys
        self._on_progress = on_progress
        self._tree = Folding()
        self.count = 0

    def all(self) -> int:
        """Check everything, records first, so that a changed one is named; the size that the checkpoint covers."""
        checkpoint = self._checkpoint()
        self._records(checkpoint)
        for file in self._manifest["files"]:
            self._file(file)
        if self._manifest.get("signature") is not None:
            self._signature()
        return checkpoint.size if checkpoint else 0

    def _checkpoint(self) -> Checkpoint | None:
        """The checkpoint that the proof is for, its signature and those of the others checked."""
        proof, found = self._manifest.get("proof"), None
        for row in self._manifest["checkpoints"]:
            checkpoint = checkpoint_in(row)
            self._signed_by(checkpoint.key_id, checkpoint.signed_bytes(), checkpoint.signature_bytes())
            if checkpoint.tenant != self._manifest["tenant"]:
                raise Misfit("wrong_tenant")
            found = checkpoint if isinstance(proof, dict) and checkpoint.size == proof.get("size") else found
        if proof is not None and (found is None or proof.get("given") is not True):
            raise Misfit("no_proof")
        return found

    def _records(self, checkpoint: Checkpoint | None) -> None:
        nodes, node = self._nodes(), None
        size = checkpoint.size if checkpoint else 0
        before: AuditRecord | None = None
        for before in self._each_record():
            while (node := node or next(nodes, None)) is not None and node.low < before.seq - 1:
                self._grow(node)
                node = None
            if before.seq <= size:
                self._grow(leaf(before.seq, before.hash), before.seq)
            if before.seq == size and checkpoint and before.hash != checkpoint.head:
                raise Misfit("wrong_root", before.seq)
        for rest in (node, *nodes):
            if rest is not None:
                self._grow(rest)
        self._extent(before)
        if checkpoint and (self._tree.end != size or self._root() != checkpoint.root):
            raise Misfit("wrong_root")

    def _grow(self, node: Node, seq: int | None = None) -> None:
        try:
            self._tree.add(node)
        except BadInput as error:
            raise Misfit("gap", seq) from error

    def _root(self) -> str:
        return (self._tree.root() or b"").hex()

    def _each_record(self) -> Iterator[AuditRecord]:
        before: AuditRecord | None = None
        for line in lines_of(self._read, "records.jsonl"):
            record = record_in(line, after=before.seq if before else 0)
            self._fits(record, before)
            if before is None and _start(record) != _start_of(self._manifest):
                raise Misfit("wrong_extent", record.seq)
            self.count += 1
            if self._on_progress and self.count % 1000 == 0:
                self._on_progress(self.count)
            yield record
            before = record

    def _fits(self, record: AuditRecord, before: AuditRecord | None) -> None:
        """The record by itself and against the one before."""
        last = before.seq if before else 0
        if record.tenant != self._manifest["tenant"]:
            raise Misfit("wrong_tenant", record.seq)
        if record.seq <= last:
            raise Misfit("out_of_order", record.seq)
        if before and record.seq > last + 1 and self._manifest.get("unbroken"):
            raise Misfit("gap", last + 1)
        previous = before.hash if before else genesis(record.tenant)
        if record.seq == last + 1 and record.previous != previous:
            raise Misfit("broken_link", record.seq)

    def _extent(self, last: AuditRecord | None) -> None:
        told = self._manifest
        ends = (last.seq, last.hash) if last else (0, None)
        if (self.count, *ends) != (told.get("count"), told.get("last"), told.get("last_hash")):
            raise Misfit("wrong_extent", last.seq if last else None)

    def _nodes(self) -> Iterator[Node]:
        return map(node_in, lines_of(self._read, "proof.jsonl"))

    def _file(self, told: Mapping[str, Any]) -> None:
        if facts_of(self._read, told["name"]) != (told.get("sha256"), told.get("size")):
            raise Misfit("wrong_file", file=told["name"])

    def _signature(self) -> None:
        told = {name: value for name, value in self._manifest.items() if name != "signature"}
        try:
            self._signed_by(told.get("key_id"), canonical(told), bytes_of(self._manifest["signature"]))
        except Misfit as found:
            raise Misfit(found.reason, file="manifest.json") from found

    def _signed_by(self, key_id: object, content: bytes, signature: bytes) -> None:
        key = self._keys.get(key_id) if isinstance(key_id, str) else None
        if key is None:
            raise Misfit("unknown_key")
        if not verify_signature(key, content, signature):
            raise Misfit("bad_signature")


def _start(record: AuditRecord) -> tuple[int, str]:
    return record.seq, record.previous


def _start_of(manifest: Mapping[str, Any]) -> tuple[Any, Any]:
    return manifest.get("first"), manifest.get("first_previous")
