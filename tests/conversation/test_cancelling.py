from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from assistant.conversation.cancelling import AHEAD, until


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


async def test_what_came_before_a_failure_is_passed_on() -> None:
    async def failing() -> AsyncGenerator[int, None]:
        for number in range(3):
            yield number
        raise ValueError("broken")

    seen: list[int] = []
    with pytest.raises(ValueError, match="broken"):
        async for item in until(asyncio.Event(), failing()):
            seen.append(item)
            await asyncio.sleep(0)
    assert seen == [0, 1, 2]


async def test_a_reader_that_takes_its_time_is_not_run_away_from() -> None:
    source = Source(10_000, hang=False)
    read = 0

    async def counted() -> AsyncGenerator[int, None]:
        nonlocal read
        async for number in source.items():
            read += 1
            yield number

    items = until(asyncio.Event(), counted())
    assert await anext(items) == 0
    for _ in range(500):
        await asyncio.sleep(0)
    assert read <= AHEAD + 1
    assert [item async for item in items] == list(range(1, 10_000))


async def test_a_source_that_never_pauses_has_an_end() -> None:
    async def endless() -> AsyncGenerator[int, None]:
        while True:
            await asyncio.sleep(0)
            yield 1

    with pytest.raises(TimeoutError):
        async for _ in until(asyncio.Event(), endless(), seconds=0.05):
            pass


async def test_a_reader_that_leaves_closes_the_source() -> None:
    source = Source(1)
    async with aclosing(until(asyncio.Event(), source.items())) as items:
        assert await anext(items) == 0
    assert source.closed
    assert len(asyncio.all_tasks()) == 1


async def test_a_source_is_read_by_one_task() -> None:
    readers = set()

    async def items() -> AsyncGenerator[int, None]:
        for number in range(3):
            readers.add(asyncio.current_task())
            yield number

    assert [item async for item in until(asyncio.Event(), items())] == [0, 1, 2]
    assert len(readers) == 1
