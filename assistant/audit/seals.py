"""The sealed texts of a log beside its records: each must be the one that its record names, or have gone by a policy."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from hashlib import sha256
from typing import Any, Final

from assistant.core.audit import AuditKind, AuditRecord
from assistant.errors import BadInput

BATCH: Final = 200
_NO_SEQ: Final = 2**63


async def in_batches(
    read: Callable[[int, int], Awaitable[list[tuple[int, bytes]]]], batch: int = BATCH
) -> AsyncIterator[tuple[int, bytes]]:
    """All (seq, ciphertext) that `read(after, limit)` gives by ascending seq; one batch is in memory at a time."""
    after = 0
    while found := await read(after, batch):
        for one in found:
            yield one
        after = found[-1][0]


class Seals:
    """The sealed texts of a log, (seq, ciphertext) by ascending seq, read in step with the records; keeps one bit for each record.

    `through` is the last record that was there before the texts were read: of later ones a text may come too late to be seen.
    """

    def __init__(self, sealed: AsyncIterator[tuple[int, bytes]], through: int) -> None:
        self._sealed = sealed
        self._through = through
        self._next: tuple[int, bytes] = (0, b"")
        self._missing = bytearray()

    async def fits(self, record: AuditRecord) -> bool:
        """Whether the sealed text of the next record is the one that it names, or is not there. Call it for every record that fits otherwise."""
        self._missing.extend(bytes(1 + record.seq // 8 - len(self._missing)))
        self._excuse(record)
        try:
            while self._next[0] < record.seq:
                self._next = await self._following()
            digest = sha256(self._next[1]).hexdigest() if self._next[0] == record.seq else None
        except (BadInput, ValueError, TypeError, LookupError):
            # A column that holds something else than bytes; what that raises depends on the store.
            return False
        if digest is None and record.sealed_sha256 is not None and record.seq <= self._through:
            self._missing[record.seq // 8] |= 1 << record.seq % 8
        return digest in (None, record.sealed_sha256)

    async def _following(self) -> tuple[int, bytes]:
        try:
            return await anext(self._sealed)
        except StopAsyncIteration:
            return _NO_SEQ, b""

    def missing(self) -> int | None:
        """The first record whose sealed text is gone without a record of retention that says so; None where there is none."""
        at = next((at for at, bits in enumerate(self._missing) if bits), None)
        if at is None:
            return None
        bits = self._missing[at]
        return at * 8 + (bits & -bits).bit_length() - 1

    def _excuse(self, record: AuditRecord) -> None:
        for seq in _removed(record.kind, record.body):
            if 0 < seq < record.seq:
                self._missing[seq // 8] &= ~(1 << seq % 8)


def _removed(kind: AuditKind, body: Mapping[str, Any]) -> list[int]:
    """The numbers of the records whose sealed text a retention policy removed, as its record lists them."""
    listed = body.get("sealed") if kind == AuditKind.RETENTION and body.get("what") == "sealed" else None
    return [seq for seq in listed if type(seq) is int] if isinstance(listed, list) else []
