"""A TCP proxy that cuts lines, as networks do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field


@dataclass(slots=True)
class Cutting:
    """Passes bytes on; of the connection number n only as many of the server's as `budget(n)` says, None for all."""

    target: int
    budget: Callable[[int], int | None]
    port: int = 0
    connections: int = 0
    writers: list[asyncio.StreamWriter] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def cut(self) -> None:
        """End all lines that there are."""
        for writer in self.writers:
            writer.transport.abort()
        self.writers.clear()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        budget = self.budget(self.connections)
        self.connections += 1
        there, onward = await asyncio.open_connection("127.0.0.1", self.target)
        self.writers += [writer, onward]
        await asyncio.wait(
            [asyncio.create_task(_pass(reader, onward, None)), asyncio.create_task(_pass(there, writer, budget))],
            return_when=asyncio.FIRST_COMPLETED,
        )
        for each in (writer, onward):
            each.transport.abort()


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, budget: int | None) -> None:
    with suppress(OSError):
        while data := await reader.read(4096 if budget is None else min(4096, budget)):
            writer.write(data)
            await writer.drain()
            if budget is not None:
                budget -= len(data)
                if budget <= 0:
                    return


@asynccontextmanager
async def cutting(target: int, budget: Callable[[int], int | None] = lambda _: None) -> AsyncIterator[Cutting]:
    proxy = Cutting(target, budget)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        proxy.cut()
        server.close()
