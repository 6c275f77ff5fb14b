"""Stopping a stream in the middle, without cancelling the task that reads it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TypeVar

Item = TypeVar("Item")


async def until(
    stopped: asyncio.Event, source: AsyncGenerator[Item, None], *, seconds: float | None = None
) -> AsyncGenerator[Item, None]:
    """Pass on the items of `source` until it ends or `stopped` is set; then the source is closed.

    A pending read is cancelled at once, so that a model that is silent can be stopped too. Raises TimeoutError when the
    source has not ended after so many seconds.
    """
    waiter = asyncio.create_task(stopped.wait())
    clock = asyncio.get_running_loop().time
    end = None if seconds is None else clock() + seconds
    async with aclosing(source):
        try:
            while not stopped.is_set():
                reader = asyncio.create_task(_next(source))
                try:
                    left = None if end is None else max(0.0, end - clock())
                    await asyncio.wait({reader, waiter}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    if not reader.done():
                        reader.cancel()
                        await asyncio.wait({reader})
                if reader.cancelled():
                    if end is not None and clock() >= end and not stopped.is_set():
                        raise TimeoutError
                    return
                found, item = reader.result()
                if not found:
                    return
                yield item  # type: ignore[misc]
        finally:
            waiter.cancel()


async def _next(source: AsyncGenerator[Item, None]) -> tuple[bool, Item | None]:
    try:
        return True, await anext(source)
    except StopAsyncIteration:
        return False, None
