"""Who is here: the open sockets of this process, so that news about a person or of the server's end reaches them."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from assistant.core.access import Caller

RECONNECT_MS: Final = 1000
"""After how long clients of a stopping server are asked to come back; each adds its own jitter."""


@dataclass(slots=True)
class Presence:
    """Bells of those who are here, by person. Ringing one makes its socket look again at what it may do."""

    draining: bool = False
    _bells: defaultdict[tuple[str, str], set[asyncio.Event]] = field(default_factory=lambda: defaultdict(set))
    _gone: asyncio.Event = field(default_factory=asyncio.Event)

    @contextmanager
    def here(self, caller: Caller) -> Iterator[asyncio.Event]:
        """Be here as this person; the bell that rings when something about the person or the server changes."""
        bell, person = asyncio.Event(), (caller.tenant, caller.user)
        self._bells[person].add(bell)
        if self.draining:
            bell.set()
        try:
            yield bell
        finally:
            self._bells[person].discard(bell)
            if not self._bells[person]:
                del self._bells[person]
            if not self._bells:
                self._gone.set()

    def ring(self, people: Iterable[tuple[str, str]]) -> None:
        """Let the sockets of these people (tenant, user) look again."""
        for person in people:
            for bell in self._bells.get(person, ()):
                bell.set()

    def count(self) -> int:
        """How many sockets are open."""
        return sum(map(len, self._bells.values()))

    async def drain(self, patience: float) -> None:
        """Send everybody away and return when they are gone, at the latest after `patience` seconds."""
        self.draining = True
        self._gone.clear()
        self.ring(list(self._bells))
        if self._bells:
            try:
                async with asyncio.timeout(patience):
                    await self._gone.wait()
            except TimeoutError:
                return
