"""A TCP proxy that makes a network bad: late, slow, cut in the middle, silent, or gone."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

PIECE = 16 * 1024
COMMIT = b"COMMIT"


@dataclass(slots=True)
class Weather:
    """What becomes of connections from now on; times in seconds.

    `latency` before each piece, `rate` bytes a second towards the client (0: any), `cut_after` so many bytes towards the
    client the connection is reset, `silent` passes nothing on, `refused` resets who connects, `linger` between the end of
    one side and that of the other (a slow close). `lost` counts the COMMITs that clients say from now on: that one gets no
    answer, its connection is reset, and whether the server `heard` it before that is said, too.
    """

    latency: float = 0.0
    rate: int = 0
    cut_after: int | None = None
    silent: bool = False
    refused: bool = False
    linger: float = 0.0
    lost: int | None = None
    heard: bool = True


@dataclass(slots=True)
class Proxy:
    """A running proxy on `port`. Used from any thread; `connections` counts those that came."""

    port: int = 0
    weather: Weather = field(default_factory=Weather)
    connections: int = 0
    commits: int = 0
    _open: set[asyncio.StreamWriter] = field(default_factory=set)
    _loop: asyncio.AbstractEventLoop | None = None

    def turn(self, **weather: object) -> None:
        """Another weather, for what is open and for what comes."""
        self.weather, self.commits = Weather(**weather), 0  # type: ignore[arg-type]

    def cut(self) -> None:
        """Reset every open connection."""
        assert self._loop is not None
        asyncio.run_coroutine_threadsafe(self._cut(), self._loop).result(10)

    async def _cut(self) -> None:
        for writer in list(self._open):
            writer.transport.abort()

    async def serve(self, target: str | int, ready: threading.Event, stop: asyncio.Event) -> None:
        """Serve until stopped; a target is a port of this machine or the path of a socket."""
        self._loop = asyncio.get_running_loop()

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self.connections += 1
            try:
                with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                    await self._joined(reader, writer, target)
            finally:
                writer.transport.abort()  # also where nobody is there behind us

        server = await asyncio.start_server(connected, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        await stop.wait()
        server.close()
        await self._cut()

    async def _joined(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, target: str | int) -> None:
        if self.weather.refused:
            writer.transport.abort()
            return
        opened = asyncio.open_unix_connection(target) if isinstance(target, str) else _tcp(target)
        far_reader, far_writer = await opened
        self._open |= {writer, far_writer}
        lost = asyncio.Event()
        there = self._pass(reader, far_writer, lost, back=False)
        try:
            await asyncio.gather(there, self._pass(far_reader, writer, lost, back=True))
        finally:
            self._open -= {writer, far_writer}
            for one in (writer, far_writer):
                one.transport.abort()

    async def _pass(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter, lost: asyncio.Event, *, back: bool
    ) -> None:
        passed = 0
        while piece := await source.read(PIECE if not self.weather.rate else max(1, self.weather.rate // 20)):
            await self._delay(len(piece), back)
            if (back and lost.is_set()) or (not back and self._loses(piece, lost)):
                raise ConnectionResetError
            limit = self.weather.cut_after if back else None
            if limit is not None and passed + len(piece) > limit:
                target.write(piece[: max(0, limit - passed)])
                await target.drain()
                raise ConnectionResetError
            target.write(piece)
            await target.drain()
            passed += len(piece)
        await asyncio.sleep(self.weather.linger)
        if target.can_write_eof():
            target.write_eof()

    def _loses(self, piece: bytes, lost: asyncio.Event) -> bool:
        """Whether the connection is reset before the piece is passed on; `lost` is set where it is with the answer to it."""
        if COMMIT not in piece:
            return False
        self.commits += 1
        hit = self.commits == self.weather.lost
        if hit and self.weather.heard:
            lost.set()
        return hit and not self.weather.heard

    async def _delay(self, size: int, back: bool) -> None:
        while self.weather.silent:
            await asyncio.sleep(0.02)
        slow = size / self.weather.rate if back and self.weather.rate else 0.0
        await asyncio.sleep(self.weather.latency + slow)


async def _tcp(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", port)


@contextlib.contextmanager
def proxying(target: str | int) -> Iterator[Proxy]:
    """A proxy before a port of this machine or a socket's path, in a thread of its own, until the block ends."""
    proxy, ready, stop = Proxy(), threading.Event(), asyncio.Event()
    thread = threading.Thread(target=lambda: asyncio.run(proxy.serve(target, ready, stop)), daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield proxy
    finally:
        assert proxy._loop is not None
        proxy._loop.call_soon_threadsafe(stop.set)
        thread.join(10)
