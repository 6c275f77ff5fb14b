"""Making checkpoints while the log grows: every so many records, or after so many minutes."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Protocol

import structlog

from assistant.audit.checkpoints import Checkpoint, RecordSource, checkpoint_of, sign_checkpoint
from assistant.audit.signing import Signer
from assistant.audit.targets import Targets
from assistant.core.audit import genesis
from assistant.core.merkle import HASH_BYTES, CompactRange
from assistant.errors import BadInput

log = structlog.get_logger(__name__)

BATCH: Final = 1000


class Tenants(RecordSource, Protocol):
    """A log that knows whose records it holds."""

    async def tenants(self) -> list[str]:
        """The tenants that have records."""
        ...


@dataclass(frozen=True, slots=True)
class _Seen:
    """How much of a log was read: its tree, the hash of the last record, and how much of it was signed when."""

    tree: CompactRange
    head: str
    signed: int
    since: datetime


class _DoesNotFit(Exception):
    """The stored log is not what was signed before."""


class Checkpointer:
    """Makes the checkpoints of all tenants of a server. It signs nothing that contradicts what it saw or what was signed before.

    The first call for a tenant reads the hashes of all its records once; later ones only the new. `refused` holds the tenants whose stored log
    does not fit, with the number of records up to which it was read: nothing more is signed for them by this process, which is logged as an error.
    """

    def __init__(
        self,
        signer: Signer,
        clock: Callable[[], datetime],
        targets: Targets | None = None,
        *,
        every_records: int = 1000,
        every_minutes: float = 10.0,
    ) -> None:
        self._signer = signer
        self._clock = clock
        self._targets = targets or Targets()
        self._every_records = every_records
        self._every = timedelta(minutes=every_minutes)
        self._seen: dict[str, _Seen] = {}
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self.refused: dict[str, int] = {}

    async def maybe(self, tenant: str, source: RecordSource) -> Checkpoint | None:
        """A checkpoint where enough records or enough time with any record went by since the last one; else None."""
        return await self._checkpoint(tenant, source, self._is_due)

    async def make(self, tenant: str, source: RecordSource) -> Checkpoint | None:
        """A checkpoint of all records there are; None where the last one covers them."""
        return await self._checkpoint(tenant, source, lambda _: True)

    async def run(self, source: Tenants, interval_s: float = 15.0) -> None:
        """Call `maybe` for all tenants, again and again, until cancelled. What the database raises is logged, and tried again."""
        while True:
            try:
                for tenant in await source.tenants():
                    await self.maybe(tenant, source)
            except Exception as error:
                # The next round may find the database again; without this loop nothing would be signed any more.
                log.error("audit.checkpoint.failed", error=type(error).__name__, exc_info=error)
            await asyncio.sleep(interval_s)

    async def finish(self, source: Tenants) -> None:
        """A checkpoint of all records of all tenants, for the end of a process. What the database or a target raises is logged."""
        try:
            for tenant in await source.tenants():
                await self.make(tenant, source)
        except Exception as error:
            # A server that stops must stop; the next one signs what this one could not.
            log.error("audit.checkpoint.failed", error=type(error).__name__, exc_info=error)

    async def _checkpoint(
        self, tenant: str, source: RecordSource, wanted: Callable[[_Seen], bool]
    ) -> Checkpoint | None:
        async with self._locks[tenant]:
            seen = None if tenant in self.refused else await self._read(tenant, source)
            if seen is None or seen.tree.size == seen.signed or not wanted(seen):
                return None
            return await self._sign(tenant, source, seen)

    def _is_due(self, seen: _Seen) -> bool:
        many = seen.tree.size - seen.signed >= self._every_records
        return many or self._clock() - seen.since >= self._every

    async def _sign(self, tenant: str, source: RecordSource, seen: _Seen) -> Checkpoint:
        """The database comes first: a target never holds what the database does not."""
        at = self._clock()
        checkpoint = sign_checkpoint(tenant, seen.tree, seen.head, at, self._signer)
        await source.save_checkpoint(checkpoint.row())
        self._seen[tenant] = _Seen(seen.tree, seen.head, seen.tree.size, at)

        async def stored() -> Sequence[Checkpoint]:
            return [checkpoint_of(row) for row in await source.checkpoints(tenant)]

        await self._targets.write(checkpoint, stored)
        return checkpoint

    async def _read(self, tenant: str, source: RecordSource) -> _Seen | None:
        """The log as it is now; None where it does not fit."""
        reading = _Reading(tenant, source)
        try:
            seen = self._seen.get(tenant)
            now = await (reading.on(seen) if seen else reading.first(self._clock()))
        except (_DoesNotFit, BadInput) as error:
            self.refused[tenant] = reading.size
            log.error("audit.checkpoint.refused", tenant=tenant, size=reading.size, reason=str(error))
            return None
        self._seen[tenant] = now
        return now


class _Reading:
    """One walk over new record hashes. `size` is how far it came."""

    def __init__(self, tenant: str, source: RecordSource) -> None:
        self._tenant = tenant
        self._source = source
        self.size = 0

    async def first(self, now: datetime) -> _Seen:
        """From the beginning, by way of all stored checkpoints, each of which must tell the state of the log at its size."""
        marks = sorted(map(checkpoint_of, await self._source.checkpoints(self._tenant)), key=Checkpoint.state)
        tree, head = CompactRange(), genesis(self._tenant)
        for mark in marks:
            tree, head = await self._up_to(mark.size, tree, head)
            if (tree.size, tree.root().hex(), head) != mark.state():
                raise _DoesNotFit("a stored checkpoint tells of another log")
        since = datetime.fromisoformat(marks[-1].at) if marks else now
        return await self.on(_Seen(tree, head, tree.size, since))

    async def on(self, seen: _Seen) -> _Seen:
        """From what was seen before to the end."""
        tree, head = await self._up_to(None, seen.tree, seen.head)
        return _Seen(tree, head, seen.signed, seen.since)

    async def _up_to(self, size: int | None, tree: CompactRange, head: str) -> tuple[CompactRange, str]:
        self.size = tree.size
        while size is None or tree.size < size:
            limit = BATCH if size is None else min(BATCH, size - tree.size)
            batch = await self._source.hashes(self._tenant, tree.size, limit)
            if not batch:
                break
            tree, head = tree.extended(_entries(batch, tree.size)), batch[-1][1]
            self.size = tree.size
        return tree, head


def _entries(batch: Sequence[tuple[int, str]], size: int) -> list[bytes]:
    if [seq for seq, _ in batch] != list(range(size + 1, size + 1 + len(batch))):
        raise _DoesNotFit("a record is missing or out of order")
    try:
        entries = [bytes.fromhex(text) for _, text in batch]
    except (ValueError, TypeError):
        raise _DoesNotFit("a record has no hash") from None
    if any(len(entry) != HASH_BYTES for entry in entries):
        raise _DoesNotFit("a record has no hash")
    return entries
