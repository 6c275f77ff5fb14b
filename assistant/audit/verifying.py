"""Whether a tenant's log is what was written: the first record that does not fit, and why.

Every record is hashed anew and must carry the hash of the one before; at each checkpoint the Merkle root must be the signed one. Records
behind the last checkpoint are held by the chain only: who can rewrite the database can cut them off unseen, so `covered` says how far
signatures reach.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from assistant.audit.checkpoints import Checkpoint, checkpoint_of
from assistant.audit.columns import Columns
from assistant.audit.seals import Seals
from assistant.audit.signing import verify_signature
from assistant.core.audit import AuditRecord, genesis, hash_of
from assistant.core.merkle import CompactRange
from assistant.errors import BadInput

PROGRESS_EVERY: Final = 1000
_YIELD_EVERY: Final = 50
_NO_SIZE: Final = 2**63


class Reason(StrEnum):
    """Why a log does not fit."""

    WRONG_HASH = "wrong_hash"
    """A record is not what its hash was computed from."""
    BROKEN_LINK = "broken_link"
    """A record does not follow the one that stands before it: that one was rewritten, or this one is another."""
    GAP = "gap"
    """Records are missing between others."""
    OUT_OF_ORDER = "out_of_order"
    """A record comes again, or later than it should."""
    WRONG_TENANT = "wrong_tenant"
    """A record or a checkpoint belongs to another tenant."""
    UNREADABLE = "unreadable"
    """A record cannot be read from where it is kept."""
    TRUNCATED = "truncated"
    """The log ends before its own checkpoint."""
    WRONG_ROOT = "wrong_root"
    """The log up to a checkpoint is not the one that was signed."""
    BAD_SIGNATURE = "bad_signature"
    """A checkpoint was not signed as it stands."""
    UNKNOWN_KEY = "unknown_key"
    """A checkpoint was signed by a key that is not known."""
    BAD_CHECKPOINT = "bad_checkpoint"
    """A stored checkpoint is malformed."""
    MISSING_CHECKPOINT = "missing_checkpoint"
    """A checkpoint written beside the database is not in it: an older database was restored, or it was rewritten."""
    WRONG_SEAL = "wrong_seal"
    """The sealed text of a record is not the one that its hash covers."""
    WRONG_COLUMNS = "wrong_columns"
    """What stands beside a record for filters is not what the record says: lists would not show it, or show another."""
    STRAY = "stray"
    """A document is listed as cited by a record that is not there."""
    WRONG_END = "wrong_end"
    """The chain is noted to end elsewhere than its last record."""
    MISSING_SEAL = "missing_seal"
    """The sealed text of a record is gone, and no policy removed it. Erasure destroys the key, never this."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What came out: `checked` records carry their own hash and follow each other; signatures reach over the first `covered` of them.

    Where `ok` is False, `seq` is the first record that does not fit; where only a range is known, `until` is its end (both inclusive). For a
    fault of a checkpoint itself `seq` is its size. `seq` is None only for a stored checkpoint without a readable size.
    """

    ok: bool
    checked: int
    covered: int
    reason: Reason | None = None
    seq: int | None = None
    until: int | None = None

    @property
    def unsigned(self) -> int:
        """How many records no signature reaches yet: who can rewrite the database can change or cut them off unseen."""
        return self.checked - self.covered


@dataclass(frozen=True, slots=True)
class _Mark:
    """A checkpoint in its place. `stored` is whether the database holds it; `checkpoint` is None where it cannot be read."""

    size: int
    checkpoint: Checkpoint | None
    stored: bool


async def verify(
    records: AsyncIterator[AuditRecord],
    checkpoints: Iterable[Mapping[str, Any]],
    keys: Mapping[str, bytes],
    *,
    tenant: str,
    external: Iterable[Checkpoint] = (),
    sealed: Seals | None = None,
    columns: Columns | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> Finding:
    """Check all records of a tenant, given by ascending seq, against each other and the checkpoints. Memory does not grow with the records.

    `checkpoints` are the rows of the database, `external` what the targets beside it hold (those of other tenants are passed over), `keys` the public
    keys by key id. `sealed` holds the sealed texts beside their records; None leaves them out. A text that is gone must be listed by a later
    record of retention, so a gone one is found last. `columns` are what stands beside the records for filters; None leaves them out. `on_progress` is told the number of records checked, now and then and at the end.
    """
    walk = _Walk(tenant, keys, _marks(tenant, checkpoints, external))
    fault = None
    while fault is None:
        try:
            record = await anext(records, None)
        except (BadInput, ValueError, TypeError, LookupError):
            # What a changed row raises depends on which column was changed and on the store that reads it.
            fault = walk.found(Reason.UNREADABLE, walk.tree.size + 1)
            break
        if record is None:
            fault = walk.end() or _gone(walk, sealed) or _stale(walk, columns)
            break
        fault = await _step(walk, record, sealed, columns)
        await _breathe(walk.tree.size, on_progress)
    if on_progress:
        on_progress(walk.tree.size)
    return fault or walk.fits()


async def _step(walk: _Walk, record: AuditRecord, sealed: Seals | None, columns: Columns | None) -> Finding | None:
    fault = walk.fault(record)
    if fault is None and sealed and not await sealed.fits(record):
        fault = walk.found(Reason.WRONG_SEAL, record.seq)
    if fault is None and columns and not await columns.fits(record):
        fault = walk.found(Reason.WRONG_COLUMNS, record.seq)
    return fault or walk.take(record)


def _gone(walk: _Walk, sealed: Seals | None) -> Finding | None:
    seq = sealed.missing() if sealed else None
    return None if seq is None else walk.found(Reason.MISSING_SEAL, seq)


def _stale(walk: _Walk, columns: Columns | None) -> Finding | None:
    seq = columns.stale if columns else None
    return None if seq is None else walk.found(Reason.WRONG_COLUMNS, seq)


async def _breathe(checked: int, on_progress: Callable[[int], None] | None) -> None:
    """Hashing is CPU: the loop's other tasks must have their turn."""
    if on_progress and checked % PROGRESS_EVERY == 0:
        on_progress(checked)
    if checked % _YIELD_EVERY == 0:
        await asyncio.sleep(0)


class _Walk:
    """The state of a verification: the tree of the records so far and the checkpoints still to come."""

    def __init__(self, tenant: str, keys: Mapping[str, bytes], marks: Sequence[_Mark]) -> None:
        self._tenant = tenant
        self._keys = keys
        self._marks = marks
        self._next = 0
        self._stored = {mark.checkpoint.state() for mark in marks if mark.stored and mark.checkpoint}
        self._head = genesis(tenant)
        self.tree = CompactRange()
        self.covered = 0

    def found(self, reason: Reason, seq: int | None, until: int | None = None) -> Finding:
        """The finding that something does not fit, after what fitted so far."""
        return Finding(False, self.tree.size, self.covered, reason, seq, until)

    def fits(self) -> Finding:
        """The finding that everything so far fits."""
        return Finding(True, self.tree.size, self.covered)

    def fault(self, record: AuditRecord) -> Finding | None:
        """What is wrong with the next record, or None."""
        seq = self.tree.size + 1
        if record.tenant != self._tenant:
            return self.found(Reason.WRONG_TENANT, seq)
        if record.seq != seq:
            ahead = isinstance(record.seq, int) and record.seq > seq
            return self.found(Reason.GAP, seq, record.seq - 1) if ahead else self.found(Reason.OUT_OF_ORDER, seq)
        if not _has_its_hash(record):
            return self.found(Reason.WRONG_HASH, seq)
        return self.found(Reason.BROKEN_LINK, seq) if record.previous != self._head else None

    def take(self, record: AuditRecord) -> Finding | None:
        """Go on behind a record that fits; what is wrong with the checkpoints there, or None."""
        self._head = record.hash
        self.tree = self.tree.extended((bytes.fromhex(record.hash),))
        first = self._next
        while self._next < len(self._marks) and self._marks[self._next].size <= self.tree.size:
            fault = self._pass(self._marks[self._next])
            if fault:
                return fault
            self._next += 1
        if self._next > first:
            self.covered = self.tree.size
        return None

    def end(self) -> Finding | None:
        """No more records: a checkpoint of more of them shows that some are gone."""
        if self._next == len(self._marks):
            return None
        mark = self._marks[self._next]
        fault = self._fault(mark)
        if fault or mark.checkpoint is None:
            return fault
        known = mark.stored or mark.checkpoint.state() in self._stored
        return self.found(
            Reason.TRUNCATED if known else Reason.MISSING_CHECKPOINT, self.tree.size + 1, mark.checkpoint.size
        )

    def _pass(self, mark: _Mark) -> Finding | None:
        fault = self._fault(mark)
        if fault or mark.checkpoint is None:
            return fault
        fits = mark.checkpoint.state() == (self.tree.size, self.tree.root().hex(), self._head)
        if not mark.stored and mark.checkpoint.state() not in self._stored:
            return self.found(Reason.MISSING_CHECKPOINT, mark.size if fits else self.covered + 1, mark.size)
        return None if fits else self.found(Reason.WRONG_ROOT, self.covered + 1, mark.size)

    def _fault(self, mark: _Mark) -> Finding | None:
        """What is wrong with a checkpoint by itself."""
        checkpoint = mark.checkpoint
        if checkpoint is None:
            return self.found(Reason.BAD_CHECKPOINT, None if mark.size == _NO_SIZE else mark.size)
        if checkpoint.tenant != self._tenant:
            return self.found(Reason.WRONG_TENANT, mark.size)
        if checkpoint.key_id not in self._keys:
            return self.found(Reason.UNKNOWN_KEY, mark.size)
        key, signature = self._keys[checkpoint.key_id], checkpoint.signature_bytes()
        if not verify_signature(key, checkpoint.signed_bytes(), signature):
            return self.found(Reason.BAD_SIGNATURE, mark.size)
        return None


def _marks(tenant: str, rows: Iterable[Mapping[str, Any]], external: Iterable[Checkpoint]) -> list[_Mark]:
    """All checkpoints by size, those of the database first."""
    marks = [_stored_mark(row) for row in rows]
    marks += [_Mark(one.size, one, stored=False) for one in external if one.tenant == tenant]
    return sorted(marks, key=lambda mark: (mark.size, not mark.stored))


def _stored_mark(row: Mapping[str, Any]) -> _Mark:
    try:
        checkpoint = checkpoint_of(row)
    except BadInput:
        size = row.get("size")
        return _Mark(size if type(size) is int and size > 0 else _NO_SIZE, None, stored=True)
    return _Mark(checkpoint.size, checkpoint, stored=True)


def _has_its_hash(record: AuditRecord) -> bool:
    try:
        return hash_of(record) == record.hash
    except BadInput:
        return False
