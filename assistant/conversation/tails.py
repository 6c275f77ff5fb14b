"""Tails: the latest events of conversations, for those who follow them live."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from assistant.interfaces import NumberedEvent

TAIL_EVENTS = 512
"""Events of a conversation that are kept in memory for followers; older ones are read from the log."""


@dataclass(slots=True)
class Tail:
    """The latest events of one conversation in this process, and a bell that rings when one is added."""

    recent: deque[NumberedEvent] = field(default_factory=lambda: deque(maxlen=TAIL_EVENTS))
    bell: asyncio.Event = field(default_factory=asyncio.Event)
    users: int = 0
    hints: int = 0
    """How often it was said that the log may hold events which are not here."""

    def add(self, events: Sequence[NumberedEvent]) -> None:
        """Add committed events and wake everyone who waits; two turns of one batch may report out of order."""
        late = bool(self.recent and events and events[0].seq < self.recent[-1].seq)
        self.recent.extend(events)
        if late:
            self.recent = deque(sorted(self.recent, key=lambda event: event.seq), TAIL_EVENTS)
        self.ring()

    def hint(self) -> None:
        """Let everyone who waits look into the log."""
        self.hints += 1
        self.ring()

    def ring(self) -> None:
        """Wake everyone who waits."""
        self.bell.set()
        self.bell = asyncio.Event()

    def after(self, seq: int) -> list[NumberedEvent] | None:
        """The unbroken run of events after `seq`; None when memory cannot tell what follows."""
        if not self.recent:
            return None
        if self.recent[-1].seq <= seq:
            return []
        run: list[NumberedEvent] = []
        for event in self.recent:
            if event.seq == seq + len(run) + 1:
                run.append(event)
        return run or None
