"""Stopping a stream in the middle, without cancelling the task that reads it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final, Generic, TypeVar

Item = TypeVar("Item")

AHEAD: Final = 64
"""Items that are read before somebody wants them; then the source waits, and with it the provider."""


async def until(
    stopped: asyncio.Event, source: AsyncGenerator[Item, None], *, seconds: float | None = None
) -> AsyncGenerator[Item, None]:
    """Pass on the items of `source` until it ends or `stopped` is set; then the source is closed.

    A pending read is cancelled at once, so that a model that is silent can be stopped too. Raises TimeoutError when the
    source has not ended after so many seconds.
    """
    flow = _Flow(source)
    loop = asyncio.get_running_loop()
    end = None if seconds is None else loop.call_later(seconds, flow.expire)
    waiter = asyncio.create_task(_ring_when(stopped, flow))
    pump = None if stopped.is_set() else asyncio.create_task(flow.pump())
    try:
        while pump is not None and not stopped.is_set():
            if flow.expired:
                raise TimeoutError
            if flow.items:
                item = flow.items.popleft()
                flow.taken.set()
                yield item
            elif pump.done():
                pump.result()
                return
            else:
                flow.bell.clear()
                await flow.bell.wait()
    finally:
        waiter.cancel()
        if end is not None:
            end.cancel()
        if pump is not None:
            pump.cancel()
            await asyncio.gather(pump, return_exceptions=True)  # a failure that nobody reads any more is no news
        await source.aclose()


class _Flow(Generic[Item]):
    """What one task reads and another takes: a task a stream, where a task an item would cost more than the item."""

    def __init__(self, source: AsyncGenerator[Item, None]) -> None:
        self.source = source
        self.items: deque[Item] = deque()
        self.bell = asyncio.Event()
        self.taken = asyncio.Event()
        self.expired = False

    async def pump(self) -> None:
        """Read the source to its end, a little ahead of who takes."""
        try:
            async with aclosing(self.source):
                async for item in self.source:
                    self.items.append(item)
                    self.bell.set()
                    while len(self.items) >= AHEAD:
                        self.taken.clear()
                        await self.taken.wait()
        finally:
            self.bell.set()

    def expire(self) -> None:
        """Time is over."""
        self.expired = True
        self.bell.set()


async def _ring_when(stopped: asyncio.Event, flow: _Flow[Item]) -> None:
    await stopped.wait()
    flow.bell.set()
