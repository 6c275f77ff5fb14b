"""Telling the open sockets of a process that an administrator changed something about their people."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from typing import Final

import structlog

from assistant.interfaces import IdentityStore, Person

log = structlog.get_logger(__name__)

EVERY_S: Final = 2.0
"""A revocation reaches every worker within this time and that of one query; five seconds are promised."""
OVERLAP: Final = timedelta(seconds=30)
"""How far the clocks of those who write may be behind; a transaction that commits late is found, too."""

Ring = Callable[[Collection[tuple[str, str]]], None]


class PeopleWatch:
    """Finds out who changed, and rings for each change once. What changed the sockets ask themselves."""

    def __init__(self, store: IdentityStore, ring: Ring, now: Callable[[], datetime]) -> None:
        self._store = store
        self._ring = ring
        self._since = now() - OVERLAP
        self._now = now
        self._told: frozenset[Person] = frozenset()

    async def look(self) -> None:
        """Ring for those who changed since the last look."""
        since = self._now() - OVERLAP
        found = frozenset(await self._store.changed_since(self._since))
        news = found - self._told
        # Who came between the two is told next time: `since` was taken before the query.
        self._since, self._told = since, found
        if news:
            self._ring({(person.tenant, person.user) for person in news})

    async def run(self, every_s: float = EVERY_S) -> None:
        """Look again and again, for ever; a database that is away for a while is waited for."""
        while True:
            try:
                await self.look()
            except Exception:
                log.exception("changes of people cannot be read")
            await asyncio.sleep(every_s)
