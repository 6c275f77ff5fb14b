"""The records that a filter finds, by ascending number, for an export. An audit log finds the latest first, page by page."""

from __future__ import annotations

from array import array
from collections.abc import AsyncIterator, Sequence
from typing import Final, Protocol

from assistant.core.audit import AuditRecord
from assistant.core.audit_filter import AuditFilter

_PAGE: Final = 500
_DENSE: Final = 4
"""Records that lie closer than this on average are read in one piece with those between them."""


class Found(Protocol):
    """What is read of an audit log."""

    async def search(
        self, tenant: str, filters: AuditFilter, before: int | None = None, limit: int = 50
    ) -> list[AuditRecord]:
        """The records that fit, the latest first; the next page begins behind the record number `before`."""
        ...

    async def records(self, tenant: str, after: int = 0, limit: int = 1000) -> list[AuditRecord]:
        """The records with a number above `after`, ascending."""
        ...


async def in_order(log: Found, tenant: str, filters: AuditFilter) -> AsyncIterator[AuditRecord]:
    """The records that fit when this begins, by ascending number; eight bytes of memory for each, and one page of records."""
    seqs = array("Q")
    before = None
    while page := await log.search(tenant, filters, before, _PAGE):
        seqs.extend(record.seq for record in page)
        before = page[-1].seq
    ordered = array("Q", sorted(seqs))
    for at in range(0, len(ordered), _PAGE):
        for record in await _read(log, tenant, ordered[at : at + _PAGE]):
            yield record


async def _read(log: Found, tenant: str, seqs: Sequence[int]) -> list[AuditRecord]:
    """These records; those that lie close to each other with one read."""
    span = seqs[-1] - seqs[0] + 1
    if span <= _DENSE * len(seqs) or len(seqs) == 1:
        return await _between(log, tenant, seqs)
    middle = len(seqs) // 2
    return [*await _read(log, tenant, seqs[:middle]), *await _read(log, tenant, seqs[middle:])]


async def _between(log: Found, tenant: str, seqs: Sequence[int]) -> list[AuditRecord]:
    wanted = set(seqs)
    after, found = seqs[0] - 1, list[AuditRecord]()
    while after < seqs[-1] and (some := await log.records(tenant, after, min(_PAGE, seqs[-1] - after))):
        found += [record for record in some if record.seq in wanted]
        after = some[-1].seq
    return found
