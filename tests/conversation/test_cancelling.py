from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from assistant.conversation.cancelling import until


class Source:
    """Counts to `count`, then hangs; remembers that it was closed."""

    def __init__(self, count: int, hang: bool = True) -> None:
        self.count, self.hang, self.closed = count, hang, False

    async def items(self) -> AsyncGenerator[int, None]:
        try:
            for number in range(self.count):
                yield number
            if self.hang:
                await asyncio.sleep(3600)
        finally:
            self.closed = True


async def test_a_source_that_ends_ends_the_stream() -> None:
    source = Source(3, hang=False)
    assert [item async for item in until(asyncio.Event(), source.items())] == [0, 1, 2]
    assert source.closed


async def test_a_silent_source_is_stopped_and_closed() -> None:
    source, stopped, seen = Source(2), asyncio.Event(), []
    asyncio.get_running_loop().call_later(0.02, stopped.set)
    async with asyncio.timeout(2):
        async for item in until(stopped, source.items()):
            seen.append(item)
    assert seen == [0, 1]
    assert source.closed


async def test_nothing_is_read_when_stopped_before_the_start() -> None:
    source, stopped = Source(2), asyncio.Event()
    stopped.set()
    assert [item async for item in until(stopped, source.items())] == []


async def test_a_failure_passes_through() -> None:
    async def failing() -> AsyncGenerator[int, None]:
        yield 1
        raise ValueError("broken")

    seen: list[int] = []
    try:
        async for item in until(asyncio.Event(), failing()):
            seen.append(item)
    except ValueError as error:
        seen.append(len(str(error)))
    assert seen == [1, 6]
