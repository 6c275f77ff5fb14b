"""A question that was asked, and its events as they come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import ClassVar

from assistant.client.frames import Told, Withheld
from assistant.core.events import TurnEvent, TurnFinished
from assistant.core.turn import TurnMessage


@dataclass(frozen=True, slots=True)
class Reloaded:
    """The turn as it is now, in place of events that cannot be had any more; those that follow go on from it."""

    type: ClassVar[str] = "reloaded"
    message: TurnMessage


Item = TurnEvent | Withheld | Reloaded


class Asked:
    """The events of a turn: `async for` gives each once, in order, until its end.

    Leaving it stops nothing; `Session.cancel` does. A refusal (Busy, BadInput, ...) is raised where the first event would come.
    """

    def __init__(self, id_: str) -> None:
        self.id = id_
        self.turn: str | None = None
        self.message = TurnMessage()
        """What came so far, folded; the stored answer at the end."""
        self._items: asyncio.Queue[tuple[int, Item] | Exception] = asyncio.Queue()
        self._over: Exception | bool = False

    def __aiter__(self) -> AsyncIterator[Item]:
        return self._events()

    async def _events(self) -> AsyncIterator[Item]:
        async for _, item in self.numbered():
            yield item

    async def numbered(self) -> AsyncIterator[tuple[int, Item]]:
        """The events with their numbers in the session."""
        while not self._over or not self._items.empty():
            given = await self._items.get()
            if isinstance(given, Exception):
                raise given
            yield given
        if isinstance(self._over, Exception):
            raise self._over

    async def finished(self) -> TurnMessage:
        """The turn at its end. Raises a refusal."""
        async for _ in self:
            pass
        return self.message

    def hear(self, told: Told, message: TurnMessage) -> bool:
        """An event came, and this is the turn after it; whether that is the end."""
        self.message = message
        if told.event is not None:
            self._items.put_nowait((told.seq, told.event))
        return self._ends(isinstance(told.event, TurnFinished))

    def reload(self, seq: int, message: TurnMessage) -> bool:
        """The turn is known anew as of a number; whether it has ended."""
        self.message = message
        self._items.put_nowait((seq, Reloaded(message)))
        return self._ends(message.stage == "done")

    def fail(self, error: Exception) -> None:
        """Nothing more will come."""
        if not self._over:
            self._over = error
            self._items.put_nowait(error)

    def _ends(self, over: bool) -> bool:
        self._over = self._over or over
        return over
