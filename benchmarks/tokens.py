"""A provider that streams tokens at a steady pace to many calls, with as little work as may be, in a process of its own.

The name of the model says what it does: `tokens=600,rate=50` streams 600 tokens, one an event, 50 a second. One timer serves
all calls, and every event is made once. Run as a program it prints its port and serves until it is ended.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from time import monotonic

WORDS = ("Staff", " are", " expected", " to", " book", " most", " of", " the", " week", " to", " projects", ".")
TICK_S = 0.01
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


def named(tokens: int, rate: float) -> str:
    """The name of a model that streams so many tokens at this pace."""
    return f"tokens={tokens},rate={rate:g}"


def text_of(tokens: int) -> str:
    """What such a model says."""
    return "".join(islice(cycle(WORDS), tokens))


def _event(body: object) -> bytes:
    data = b"data: " + (body if isinstance(body, bytes) else json.dumps(body).encode()) + b"\n\n"
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def _chunk(delta: dict[str, str], reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
    return _event({**_MADE, "choices": [choice]})


_MADE = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "system_fingerprint": None}
PIECES = [_chunk({"content": word}) for word in WORDS]


def _end(tokens: int) -> bytes:
    usage = {"prompt_tokens": 100, "completion_tokens": tokens, "total_tokens": tokens + 100}
    return _chunk({}, "stop") + _event({**_MADE, "choices": [], "usage": usage}) + _event(b"[DONE]") + b"0\r\n\r\n"


@dataclass(slots=True, eq=False)
class Call:
    """One answer on its way."""

    transport: asyncio.Transport
    tokens: int
    rate: float
    begun: float
    sent: int = 0

    def send(self, now: float) -> bool:
        """Send what is due; whether the answer has ended."""
        due = min(self.tokens, int((now - self.begun) * self.rate) + 1)
        for number in range(self.sent, due):
            self.transport.write(PIECES[number % len(PIECES)])
        self.sent = max(self.sent, due)
        if self.sent == self.tokens:
            self.transport.write(_end(self.tokens))
        return self.sent == self.tokens or self.transport.is_closing()


class Door(asyncio.Protocol):
    """One connection: reads a request, then its call is with the timer until it ends."""

    calls: set[Call] = set()  # noqa: RUF012 - of all connections: one timer serves them

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport, self.read = transport, b""

    def data_received(self, data: bytes) -> None:
        self.read += data
        head, found, body = self.read.partition(b"\r\n\r\n")
        length = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
        if not found or length is None or len(body) < int(length[1]):
            return
        self.read = b""
        tokens, rate = re.findall(r"[\d.]+", json.loads(body)["model"])
        self.transport.write(HEAD)
        self.calls.add(Call(self.transport, int(tokens), float(rate), monotonic()))


async def _serve() -> None:
    server = await asyncio.get_running_loop().create_server(Door, "127.0.0.1", 0, backlog=2048)
    print(server.sockets[0].getsockname()[1], flush=True)
    while True:
        await asyncio.sleep(TICK_S)
        now = monotonic()
        Door.calls -= {call for call in Door.calls if call.send(now)}


@contextmanager
def provider() -> Iterator[str]:
    """The address of a provider that runs until the block ends."""
    process = subprocess.Popen([sys.executable, str(Path(__file__))], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
    finally:
        process.terminate()
        process.wait(10)


if __name__ == "__main__":
    asyncio.run(_serve())
