"""The latest events of a conversation, and the bell of those who follow it."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from assistant.conversation.tails import TAIL_EVENTS, Bell, Tail
from assistant.core.events import AnswerDelta
from assistant.interfaces import NumberedEvent

AT = datetime(2026, 11, 30, tzinfo=UTC)


def numbered(*numbers: int) -> list[NumberedEvent]:
    return [NumberedEvent(number, "t", AT, AnswerDelta(0, "x")) for number in numbers]


@given(st.lists(st.integers(1, 4), min_size=1, max_size=6), st.integers(0, 30))
def test_what_follows_is_whole_or_not_told(sizes: list[int], after: int) -> None:
    tail, first, head = Tail(), 5, 4
    for size in sizes:
        tail.add(numbered(*range(head + 1, head + size + 1)))
        head += size
    run = tail.after(after)
    if after >= head:
        assert run == []
    elif after < first - 1:
        assert run is None
    else:
        assert run is not None
        assert [event.seq for event in run] == list(range(after + 1, head + 1))


def test_batches_that_report_out_of_order_are_put_in_order() -> None:
    tail = Tail()
    tail.add(numbered(1, 2, 5))
    assert [event.seq for event in tail.after(0) or []] == [1, 2]
    tail.add(numbered(3, 4))
    assert [event.seq for event in tail.after(0) or []] == [1, 2, 3, 4, 5]


def test_what_memory_has_forgotten_is_not_told() -> None:
    tail = Tail()
    tail.add(numbered(*range(1, TAIL_EVENTS + 11)))
    assert tail.after(5) is None
    assert len(tail.after(10) or []) == TAIL_EVENTS


async def test_a_bell_wakes_all_who_wait_and_nobody_who_has_heard_it() -> None:
    bell = Bell()
    first, second = (asyncio.create_task(bell.after(0)) for _ in range(2))
    await asyncio.sleep(0)
    bell.ring()
    await asyncio.gather(first, second)
    await bell.after(0)  # missed, so there is nothing to wait for
    waiting = asyncio.create_task(bell.after(bell.rings))
    await asyncio.sleep(0)
    assert not waiting.done()
    bell.ring()
    await waiting


async def test_who_goes_leaves_nothing_with_the_bell() -> None:
    bell = Bell()
    gone = asyncio.create_task(bell.after(0))
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.gather(gone, return_exceptions=True)
    bell.ring()
    await bell.after(0)
    assert bell.rings == 1
