"""The columns of a log beside its records: they are in no hash, and must be what the records say."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

from assistant.core.audit import AuditRecord
from assistant.core.audit_columns import StoredColumns, columns_fit, rating_fits
from assistant.errors import BadInput

BATCH: Final = 1000


async def columns_in_batches(
    read: Callable[[int, int], Awaitable[list[StoredColumns]]], batch: int = BATCH
) -> AsyncIterator[StoredColumns]:
    """Everything that `read(after, limit)` gives by ascending seq; one batch is in memory at a time."""
    after = 0
    while found := await read(after, batch):
        for one in found:
            yield one
        after = found[-1].seq


class Columns:
    """The columns of a log by ascending seq, read in step with the records.

    `stale` is the first answer whose rating is not the last one that was given. It is told at the end: the rating of an answer follows from a later
    record, and where that one was changed it is the one to name.
    """

    def __init__(self, stored: AsyncIterator[StoredColumns]) -> None:
        self._stored = stored
        self.stale: int | None = None

    async def fits(self, record: AuditRecord) -> bool:
        """Whether the columns of the next record are what it says. Call it for every record that fits otherwise."""
        try:
            stored = await anext(self._stored, None)
            if stored is None or not columns_fit(record, stored):
                return False
            if self.stale is None and not rating_fits(record, stored):
                self.stale = record.seq
        except (BadInput, ValueError, TypeError, LookupError):
            # What a changed column raises depends on the store that reads it.
            return False
        return True
