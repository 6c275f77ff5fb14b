"""Verifying the log of a running server: its records, sealed texts and checkpoints in the database, and the targets beside it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from assistant.audit.columns import Columns, columns_in_batches
from assistant.audit.seals import Seals, in_batches
from assistant.audit.targets import Targets
from assistant.audit.verifying import Finding, Reason, verify
from assistant.core.audit import AuditRecord, genesis
from assistant.core.audit_columns import StoredColumns


class StoredLog(Protocol):
    """The part of an audit log that verification reads."""

    def stream(self, tenant: str) -> AsyncIterator[AuditRecord]:
        """All records by ascending seq, those that were tampered with as they stand."""
        ...

    async def ciphertexts(self, tenant: str, after: int, limit: int) -> list[tuple[int, bytes]]:
        """(seq, sealed text) of at most `limit` records with seq > after that have one, by ascending seq."""
        ...

    async def hashes(self, tenant: str, after: int, limit: int) -> list[tuple[int, str]]:
        """The (seq, hash) of at most `limit` records with seq > after, by ascending seq."""
        ...

    async def columns(self, tenant: str, after: int, limit: int) -> list[StoredColumns]:
        """What stands beside at most `limit` records with seq > after for filters, by ascending seq."""
        ...

    async def stray(self, tenant: str, last: int) -> int | None:
        """The first number outside of 1 to `last` that is listed as citing something and has no record."""
        ...

    async def ends(self, tenant: str) -> tuple[tuple[Any, Any] | None, tuple[Any, Any] | None]:
        """The (seq, hash) that is noted as the end of the chain, and that of the last record, of one moment."""
        ...

    async def checkpoints(self, tenant: str) -> list[dict[str, Any]]:
        """The rows of all checkpoints as they were saved."""
        ...


@dataclass(frozen=True, slots=True)
class Verified:
    """A finding, and against how much from outside the database it was held.

    `external` checkpoints were read from `targets` targets; `damaged` lines there were no checkpoints, which a crash while writing can leave.
    """

    finding: Finding
    targets: int
    external: int
    damaged: int


async def verify_log(
    tenant: str,
    log: StoredLog,
    targets: Targets,
    keys: Mapping[str, bytes],
    on_progress: Callable[[int], None] | None = None,
) -> Verified:
    """Verify the log of a tenant as it is now; see `verify`. Raises what a target's file system raises where it cannot be read.

    The targets are read before the database, and its checkpoints before its records: what is added meanwhile is never missed there.
    """
    held = await targets.read(tenant)
    rows = await log.checkpoints(tenant)
    external = [checkpoint for one in held for checkpoint in one.checkpoints]

    through = await _last(tenant, log)

    async def ciphertexts(after: int, limit: int) -> list[tuple[int, bytes]]:
        return await log.ciphertexts(tenant, after, limit)

    async def columns(after: int, limit: int) -> list[StoredColumns]:
        return await log.columns(tenant, after, limit)

    finding = await verify(
        log.stream(tenant),
        rows,
        keys,
        tenant=tenant,
        external=external,
        sealed=Seals(in_batches(ciphertexts), through),
        columns=Columns(columns_in_batches(columns)),
        on_progress=on_progress,
    )
    if finding.ok:
        finding = await _around(tenant, log, finding)
    return Verified(finding, len(held), len(external), sum(one.damaged for one in held))


async def _around(tenant: str, log: StoredLog, finding: Finding) -> Finding:
    """The finding after a look at what belongs to no record: rows of none, and the end that the next record would be chained to."""
    stray = await log.stray(tenant, finding.checked)
    if stray is not None:
        return replace(finding, ok=False, reason=Reason.STRAY, seq=stray)
    noted, last = await log.ends(tenant)
    if noted == last or (noted is not None and last is None and noted == (0, genesis(tenant))):
        return finding
    # Where both name the same number it is that record; else the first that one of them does not know.
    known = sorted(int(end[0]) if end and isinstance(end[0], int) else 0 for end in (noted, last))
    seq = known[0] if known[0] == known[1] else known[0] + 1
    return replace(finding, ok=False, reason=Reason.WRONG_END, seq=seq, until=known[1])


async def _last(tenant: str, log: StoredLog) -> int:
    """The highest seq, by halving: it is not taken from where it is noted, which could have been changed."""
    low, high = 0, 1
    while await log.hashes(tenant, high, 1):
        low, high = high, high * 2
    while low < high:
        middle = (low + high) // 2
        if await log.hashes(tenant, middle, 1):
            low = middle + 1
        else:
            high = middle
    return low
