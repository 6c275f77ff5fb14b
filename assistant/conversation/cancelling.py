"""Stopping a stream in the middle, without cancelling the task that reads it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import TypeVar

Item = TypeVar("Item")


async def until(stopped: asyncio.Event, source: AsyncGenerator[Item, None]) -> AsyncGenerator[Item, None]:
    """Pass on the items of `source` until it ends or `stopped` is set; then the source is closed.

    A pending read is cancelled at once, so that a model that is silent can be stopped too.
    """
    waiter = asyncio.ensure_future(stopped.wait())
    async with aclosing(source):
        try:
            while not stopped.is_set():
                reader = asyncio.ensure_future(anext(source))
                await _first_of(reader, waiter)
                if reader.cancelled():
                    return
                try:
                    item = reader.result()
                except StopAsyncIteration:
                    return
                yield item
        finally:
            waiter.cancel()


async def _first_of(reader: asyncio.Future[Item], waiter: asyncio.Future[bool]) -> None:
    """Wait for one of the two; leave no unfinished read behind."""
    try:
        await asyncio.wait({reader, waiter}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        if not reader.done():
            reader.cancel()
            with suppress(asyncio.CancelledError, StopAsyncIteration):
                await reader
