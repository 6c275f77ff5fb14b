"""Tails: the latest events of conversations, for those who follow them live."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice

from assistant.interfaces import NumberedEvent

TAIL_EVENTS = 512
"""Events of a conversation that are kept in memory for followers; older ones are read from the log."""


class Bell:
    """Wakes all who wait, again and again; who has missed a ring does not wait. Cheaper than a new asyncio.Event for each ring."""

    def __init__(self) -> None:
        self.rings = 0
        self._waiting: set[asyncio.Future[None]] = set()

    def ring(self) -> None:
        """Wake everyone who waits."""
        self.rings += 1
        waiting, self._waiting = self._waiting, set()
        for future in waiting:
            if not future.done():
                future.set_result(None)

    async def after(self, rings: int) -> None:
        """Return when the bell has rung more than `rings` times."""
        if self.rings <= rings:
            future = asyncio.get_running_loop().create_future()
            self._waiting.add(future)
            try:
                await future
            finally:
                self._waiting.discard(future)


@dataclass(slots=True)
class Tail:
    """The latest events of one conversation in this process, and a bell that rings when one is added."""

    recent: deque[NumberedEvent] = field(default_factory=lambda: deque(maxlen=TAIL_EVENTS))
    bell: Bell = field(default_factory=Bell)
    users: int = 0
    hints: int = 0
    """How often it was said that the log may hold events which are not here."""

    def add(self, events: Sequence[NumberedEvent]) -> None:
        """Add committed events and wake everyone who waits; two turns of one batch may report out of order."""
        late = bool(self.recent and events and events[0].seq < self.recent[-1].seq)
        self.recent.extend(events)
        if late:
            self.recent = deque(sorted(self.recent, key=lambda event: event.seq), TAIL_EVENTS)
        self.bell.ring()

    def hint(self) -> None:
        """Let everyone who waits look into the log."""
        self.hints += 1
        self.bell.ring()

    def after(self, seq: int) -> list[NumberedEvent] | None:
        """The unbroken run of events after `seq`; None when memory cannot tell what follows."""
        if not self.recent:
            return None
        if self.recent[-1].seq <= seq:
            return []
        missed = self.recent[-1].seq - seq
        run = list(islice(reversed(self.recent), missed))[::-1]
        return run if len(run) == missed and run[0].seq == seq + 1 else self._unbroken(seq)

    def _unbroken(self, seq: int) -> list[NumberedEvent] | None:
        run: list[NumberedEvent] = []
        for event in self.recent:
            if event.seq == seq + len(run) + 1:
                run.append(event)
        return run or None
