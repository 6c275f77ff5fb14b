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
        self._changed = asyncio.Condition()
        self._sender = asyncio.create_task(self._send())

    async def put(self, frame: bytes) -> None:
        """Queue a frame; waits while the queue is full."""
        async with self._changed:
            try:
                async with asyncio.timeout(self._patience):
                    await self._changed.wait_for(lambda: self._room_for(frame))
            except TimeoutError:
                raise SlowReader from None
            self._frames.append(frame)
            self._waiting += len(frame)
            self._changed.notify_all()

    def _room_for(self, frame: bytes) -> bool:
        return self._waiting == 0 or self._waiting + len(frame) <= self._bound or self._sender.done()

    async def _send(self) -> None:
        while True:
            async with self._changed:
                await self._changed.wait_for(lambda: bool(self._frames))
                frame = self._frames[0]
            await self._websocket.send_text(frame.decode())
            async with self._changed:
                self._frames.popleft()
                self._waiting -= len(frame)
                self._changed.notify_all()

    async def flush_and_close(self, code: int, reason: str, *, patience: float = 1.0) -> None:
        """Send what waits, for at most `patience` seconds, then close the socket with a code."""
        async with self._changed:
            with suppress(TimeoutError):
                async with asyncio.timeout(patience):
                    await self._changed.wait_for(lambda: not self._frames or self._sender.done())
        self.stop()
        with suppress(Exception):
            async with asyncio.timeout(1.0):
                await self._websocket.close(code, reason)

    def stop(self) -> None:
        """End the sender; frames that still wait are lost to this socket (the log keeps them)."""
        self._sender.cancel()
