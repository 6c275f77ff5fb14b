"""Chainlit's relay of the same streams, for `relay.py --peer`: one server process, a hundred socket.io clients.

    PYTHON relay_peer.py --url http://127.0.0.1:PORT/v1 --tokens 600 --rate 50 [--streams 100]

PYTHON is an interpreter that has Chainlit (README.md says how to install it). The server runs `relay_chainlit.py`. The clients are
those of python-socketio in this process, over websockets without compression; they say what Chainlit's own page says, and each
answer must be the whole text at its end. The CPU time is that of the server and its children. Prints one line of JSON.

streaming   from the first words of all answers to the first end
whole turn  from the question to the end of the last turn
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import Any
from uuid import uuid4

import httpx
import psutil
import socketio
from tokens import named, text_of


@dataclass(frozen=True, slots=True)
class Seen:
    """What was counted up to a moment."""

    wall: float
    cpu: float
    characters: int
    frames: int


@dataclass(frozen=True, slots=True)
class Part:
    """What was done between two moments."""

    name: str
    wall: float
    cpu: float
    characters: int
    frames: int


@dataclass(slots=True, eq=False)
class Chat:
    """A client and what it was told. An error, or an answer with a word amiss, ends the benchmark."""

    expected: str
    socket: socketio.AsyncClient = field(default_factory=lambda: socketio.AsyncClient(reconnection=False))
    frames: int = 0
    characters: int = 0
    text: str = ""
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    idle: asyncio.Event = field(default_factory=asyncio.Event)

    async def open(self, url: str) -> None:
        """Connect and wait until the server has nothing more to say."""
        for name, handler in self._handlers().items():
            self.socket.on(name, handler)
        told = {"sessionId": str(uuid4()), "clientType": "webapp", "userEnv": "{}", "chatProfile": "", "threadId": ""}
        await self.socket.connect(
            url, auth=told, transports=["websocket"], socketio_path="ws/socket.io", wait_timeout=60
        )
        await self.socket.emit("connection_successful")
        await self.until(self.idle)

    def _handlers(self) -> dict[str, Any]:
        return {
            "stream_start": lambda step: self._more(step["output"]),
            "stream_token": lambda piece: self._more(piece["token"]),
            "update_message": self._done,
            "new_message": self._said,
            "clear_call_fn": lambda _: self.idle.set(),
            "task_end": lambda _=None: self.ended.is_set() and self.idle.set(),
        }

    def _more(self, token: str) -> None:
        self.text += token
        self.characters += len(token)
        self.frames += 1
        self.begun.set()

    def _done(self, step: dict[str, Any]) -> None:
        if step["type"] != "assistant_message":  # a run, around each handler of the app
            return
        if not self.text == step["output"] == self.expected:
            fail(f"the text is not what was sent: {self.text[:100]!r}")
        self.ended.set()

    def _said(self, step: dict[str, Any]) -> None:
        if step["isError"]:
            fail(step["output"])

    async def ask(self) -> None:
        """Ask; the answer comes by the events."""
        self.text = ""
        for event in (self.begun, self.ended, self.idle):
            event.clear()
        step = {"id": str(uuid4()), "threadId": "", "name": "user", "type": "user_message", "output": "hello"}
        step |= {"createdAt": "2026-01-01T00:00:00Z"}
        await self.socket.emit("client_message", {"message": step, "fileReferences": None})

    async def until(self, event: asyncio.Event) -> None:
        """Wait; a server that says nothing for ten minutes ends the benchmark."""
        await asyncio.wait_for(event.wait(), 600)


def fail(why: str) -> None:
    """End the benchmark, from a handler too, whose exceptions the client would only log."""
    print(why, file=sys.stderr, flush=True)
    os._exit(1)


@contextmanager
def server(url: str, model: str) -> Iterator[tuple[str, psutil.Process]]:
    """Chainlit's own command in a process, until the block ends: its address and process."""
    environment = dict(os.environ) | {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none", "RELAY_MODEL": model}
    environment |= {"NO_PROXY": "127.0.0.1"}
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    app = str(Path(__file__).with_name("relay_chainlit.py"))
    command = [sys.executable, "-m", "chainlit", "run", app, "--headless", "--host", "127.0.0.1", "--port", str(port)]
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
        try:
            _wait_ready(f"http://127.0.0.1:{port}", process, Path(folder) / "log")
            yield f"http://127.0.0.1:{port}", psutil.Process(process.pid)
        finally:
            process.terminate()
            process.wait(30)


def _wait_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = monotonic() + 120
    while monotonic() < deadline:
        with contextlib.suppress(httpx.TransportError):
            if httpx.get(url, timeout=5, trust_env=False).status_code == 200:
                return
        if process.poll() is not None:
            break
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.2)
    raise SystemExit(log.read_text("utf-8", "replace"))


def cpu_of(process: psutil.Process) -> float:
    """CPU seconds of a process and its children, the ended ones too."""
    used = [one.cpu_times() for one in (process, *process.children(recursive=True))]
    ended = process.cpu_times()
    return float(sum(one.user + one.system for one in used) + ended.children_user + ended.children_system)


@asynccontextmanager
async def chats(url: str, count: int, expected: str) -> AsyncIterator[list[Chat]]:
    """So many connected clients."""
    opened = [Chat(expected) for _ in range(count)]
    for some in range(0, count, 20):
        await asyncio.gather(*(chat.open(url) for chat in opened[some : some + 20]))
    try:
        yield opened
    finally:
        await asyncio.gather(*(chat.socket.disconnect() for chat in opened), return_exceptions=True)


async def answered(chat: Chat) -> None:
    await chat.ask()
    await chat.until(chat.idle)


async def measure(url: str, process: psutil.Process, count: int, expected: str) -> list[Part]:
    """So many answers at once, read to their ends."""

    def seen() -> Seen:
        characters = sum(chat.characters for chat in opened)
        return Seen(monotonic(), cpu_of(process), characters, sum(chat.frames for chat in opened))

    async with chats(url, count, expected) as opened:
        await asyncio.gather(*(answered(chat) for chat in opened[:5]))  # a first turn warms up
        before = seen()
        for chat in opened:
            await chat.ask()
        await asyncio.gather(*(chat.until(chat.begun) for chat in opened))
        first = seen()
        ends = [asyncio.create_task(chat.until(chat.ended)) for chat in opened]
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        streamed = seen()
        await asyncio.gather(*ends, *(chat.until(chat.idle) for chat in opened))
        return [_part("streaming", first, streamed), _part("whole turn", before, seen())]


def _part(name: str, one: Seen, other: Seen) -> Part:
    return Part(
        name,
        other.wall - one.wall,
        other.cpu - one.cpu,
        other.characters - one.characters,
        other.frames - one.frames,
    )


def versions() -> str:
    """What ran: Chainlit, its client of the model, its websockets (uvicorn takes websockets where it is installed)."""
    sockets = "websockets" if find_spec("websockets") else "wsproto"
    return ", ".join(f"{name} {version(name)}" for name in ("chainlit", "openai", "uvicorn", sockets))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", required=True, help="the provider")
    parser.add_argument("--streams", type=int, default=100)
    parser.add_argument("--tokens", type=int, default=600)
    parser.add_argument("--rate", type=float, default=50)
    given = parser.parse_args()
    with server(given.url, named(given.tokens, given.rate)) as (url, process):
        parts = asyncio.run(measure(url, process, given.streams, text_of(given.tokens)))
    print(json.dumps({"versions": versions(), "parts": [asdict(part) for part in parts]}))


if __name__ == "__main__":
    main()
