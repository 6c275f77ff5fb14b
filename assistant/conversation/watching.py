"""Watching: this process among the others of its database. It shows that it lives, ends turns of the lost, hears of the rest."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import Final

import structlog

from assistant.conversation.running import LiveTurns
from assistant.interfaces import CANCEL, Signals, Workers

log = structlog.get_logger(__name__)

BEATS: Final = 6
"""How often in a lease it is renewed."""
BEAT_S: Final = 5.0
AGAIN_S: Final = 1.0
"""After how long a way to hear of the others that broke is tried again."""


@dataclass(slots=True)
class Watch:
    """Keeps the lease of this process; `recovers` also ends turns that other processes left open."""

    live: LiveTurns
    workers: Workers
    signals: Signals
    recovers: bool = False
    beat_s: float = BEAT_S
    others: bool = field(default=False, init=False)
    """Whether another process was on the database at the last beat."""

    async def run(self) -> None:
        """Watch until cancelled; when it has ended nothing of it uses the store any more, which may be closed."""
        async with asyncio.TaskGroup() as all_of_it:
            for part in (self._beat(), self._end(), self._hear()):
                all_of_it.create_task(part)

    async def _beat(self) -> None:
        while True:
            try:
                self.others = await self.workers.beat()
                await self.live.obey_cancels()
            except Exception:
                log.exception("the lease of this worker could not be renewed")
            await asyncio.sleep(self.beat_s)

    async def _end(self) -> None:
        """End what nobody else will; beside the beat, which must not wait for the citations of many turns."""
        while True:
            await asyncio.sleep(self.beat_s)  # what is lost at first is found by the start-up
            try:
                await self.live.end_unsure()
                if self.recovers:
                    await self._recover()
            except Exception:
                log.exception("turns of lost workers could not be taken over")

    async def _recover(self) -> None:
        lost = await self.workers.claim_lost()
        if lost:
            log.info("turns of a lost worker", turns=len(lost))
            await self.live.end_lost(lost)

    async def _hear(self) -> None:
        while True:
            try:
                await self._hear_on()
            except Exception:
                log.exception("other workers cannot be heard")
            await asyncio.sleep(AGAIN_S)

    async def _hear_on(self) -> None:
        async with aclosing(self.signals.heard()) as news:
            async for conversations in news:
                self.live.stir(conversations)
                if conversations is None or CANCEL in conversations:
                    with suppress(Exception):  # the next beat looks again
                        await self.live.obey_cancels()
