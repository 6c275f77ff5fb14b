"""Verifying the log of a running server: its records, sealed texts and checkpoints in the database, and the targets beside it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from assistant.audit.seals import Seals, in_batches
from assistant.audit.targets import Targets
from assistant.audit.verifying import Finding, verify
from assistant.core.audit import AuditRecord


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

    finding = await verify(
        log.stream(tenant),
        rows,
        keys,
        tenant=tenant,
        external=external,
        sealed=Seals(in_batches(ciphertexts), through),
        on_progress=on_progress,
    )
    return Verified(finding, len(held), len(external), sum(one.damaged for one in held))


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
