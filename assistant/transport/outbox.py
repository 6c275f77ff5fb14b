"""The way out of one socket: a bounded queue and one sender, so that nobody else ever waits for a slow reader."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress

from fastapi import WebSocket

BOUND_BYTES = 256 * 1024
PATIENCE_S = 10.0


class SlowReader(Exception):
    """The client did not read for too long."""


class Outbox:
    """Frames wait here, at most `bound` bytes; a put that finds no room within `patience` seconds raises SlowReader."""

    def __init__(self, websocket: WebSocket, *, bound: int = BOUND_BYTES, patience: float = PATIENCE_S) -> None:
        self._websocket = websocket
        self._bound = bound
        self._patience = patience
        self._frames: deque[bytes] = deque()
        self._waiting = 0
        self._filled = asyncio.Event()
        self._emptied = asyncio.Event()
        self._sender = asyncio.create_task(self._send())
        self._sender.add_done_callback(lambda _: self._emptied.set())

    async def put(self, frame: bytes) -> None:
        """Queue a frame; waits while the queue is full."""
        if not self._room_for(frame):
            await self._wait_for_room(frame)
        self._frames.append(frame)
        self._waiting += len(frame)
        self._filled.set()

    async def _wait_for_room(self, frame: bytes) -> None:
        try:
            async with asyncio.timeout(self._patience):
                while not self._room_for(frame):
                    self._emptied.clear()
                    await self._emptied.wait()
        except TimeoutError:
            raise SlowReader from None

    def _room_for(self, frame: bytes) -> bool:
        return self._waiting == 0 or self._waiting + len(frame) <= self._bound or self._sender.done()

    async def _send(self) -> None:
        while True:
            while not self._frames:
                self._filled.clear()
                await self._filled.wait()
            frame = self._frames[0]
            await self._websocket.send_text(frame.decode())
            self._frames.popleft()
            self._waiting -= len(frame)
            self._emptied.set()

    async def flush_and_close(self, code: int, reason: str, *, patience: float = 1.0) -> None:
        """Send what waits, for at most `patience` seconds, then close the socket with a code."""
        with suppress(TimeoutError):
            async with asyncio.timeout(patience):
                while self._frames and not self._sender.done():
                    self._emptied.clear()
                    await self._emptied.wait()
        self.stop()
        with suppress(Exception):
            async with asyncio.timeout(1.0):
                await self._websocket.close(code, reason)

    def stop(self) -> None:
        """End the sender; frames that still wait are lost to this socket (the log keeps them)."""
        self._sender.cancel()
