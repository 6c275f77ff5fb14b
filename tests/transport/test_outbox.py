from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from assistant.transport.outbox import Outbox, SlowReader


class Peer:
    """A websocket whose reader reads as long as it is let; `broken` fails the next frame."""

    def __init__(self) -> None:
        self.read: list[str] = []
        self.reads = asyncio.Event()
        self.broken = False
        self.closed: tuple[int, str] | None = None

    async def send_text(self, text: str) -> None:
        if self.broken:
            raise ConnectionResetError
        await self.reads.wait()
        self.read.append(text)

    async def close(self, code: int, reason: str) -> None:
        self.closed = (code, reason)


def outbox(peer: Peer, **limits: Any) -> Outbox:
    return Outbox(cast("Any", peer), **limits)


async def test_frames_go_out_in_order() -> None:
    peer = Peer()
    peer.reads.set()
    box = outbox(peer)
    for number in range(100):
        await box.put(str(number).encode())
    await box.flush_and_close(4002, "draining")
    assert peer.read == [str(number) for number in range(100)]
    assert peer.closed == (4002, "draining")


async def test_who_puts_waits_for_room_and_goes_on() -> None:
    peer = Peer()
    box = outbox(peer, bound=10)
    await box.put(b"x" * 8)
    waiting = [asyncio.create_task(box.put(b"y" * 8)), asyncio.create_task(box.put(b"z" * 8))]
    await asyncio.sleep(0.01)
    assert not any(task.done() for task in waiting)
    peer.reads.set()
    async with asyncio.timeout(5):
        await asyncio.gather(*waiting)
        await box.flush_and_close(4002, "")
    assert peer.read == ["x" * 8, "y" * 8, "z" * 8]


async def test_a_frame_above_the_bound_goes_when_nothing_else_waits() -> None:
    peer = Peer()
    peer.reads.set()
    box = outbox(peer, bound=4)
    async with asyncio.timeout(5):
        await box.put(b"x" * 100)
        await box.put(b"y" * 100)
        await box.flush_and_close(4002, "")
    assert len(peer.read) == 2


async def test_a_reader_that_does_not_read_is_slow() -> None:
    box = outbox(Peer(), bound=4, patience=0.05)
    await box.put(b"xxxx")
    with pytest.raises(SlowReader):
        await box.put(b"y")
    await box.flush_and_close(4001, "slow reader", patience=0)


async def test_a_socket_that_broke_holds_nobody_up() -> None:
    peer = Peer()
    peer.broken = True
    box = outbox(peer, bound=4, patience=60)
    await box.put(b"xxxx")
    async with asyncio.timeout(5):
        await box.put(b"y")
        await box.put(b"z")
        await box.flush_and_close(4002, "", patience=60)
    box.stop()
