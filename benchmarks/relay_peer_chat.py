"""What the peers of `relay_peer.py` have in common: a server process on a free port, and a socket.io client that keeps an answer."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

import httpx
import psutil
import socketio


@dataclass(slots=True, eq=False, kw_only=True)
class Chat:
    """A client and what it was told. An error, or an answer with a word amiss, ends the benchmark."""

    url: str
    expected: str
    socket: socketio.AsyncClient = field(default_factory=lambda: socketio.AsyncClient(reconnection=False))
    frames: int = 0
    characters: int = 0
    text: str = ""
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    idle: asyncio.Event = field(default_factory=asyncio.Event)

    async def open(self) -> None:
        """Connect and wait until the server has nothing more to say."""
        raise NotImplementedError

    async def ask(self) -> None:
        """Ask; the answer comes by the events."""
        raise NotImplementedError

    async def connect(self, told: dict[str, str]) -> None:
        """Open the socket; uncompressed, as this client does not offer compression."""
        await self.socket.connect(
            self.url, auth=told, transports=["websocket"], socketio_path="ws/socket.io", wait_timeout=60
        )

    async def until(self, event: asyncio.Event) -> None:
        """Wait; a server that takes ten minutes ends the benchmark."""
        await asyncio.wait_for(event.wait(), 600)

    def reset(self) -> None:
        """Forget the last answer, but not what was counted."""
        self.text = ""
        for event in (self.begun, self.ended, self.idle):
            event.clear()

    def more(self, piece: str) -> None:
        """A piece of the answer."""
        self.text += piece
        self.characters += len(piece)
        self.frames += 1
        self.begun.set()

    def done(self, whole: str) -> None:
        """The end of the answer, with the text that the server holds to be the whole."""
        if not self.text == whole == self.expected:
            fail(f"the text is not what was sent: {len(self.text)}, {len(whole)}, {len(self.expected)} characters")
        self.ended.set()


@dataclass(frozen=True, slots=True)
class Peer:
    """A running server: its process, and what makes a client of it."""

    process: psutil.Process
    chat: Callable[[str], Chat]

    def cpu(self) -> float:
        """CPU seconds of the server and its children, the ended ones too."""
        family = [self.process, *self.process.children(recursive=True)]
        return float(sum(sum(one.cpu_times()[:4]) for one in family))


def fail(why: str) -> None:
    """End the benchmark and its server, from a handler too, whose exceptions the client would only log."""
    print(why, file=sys.stderr, flush=True)
    signal.raise_signal(signal.SIGINT)


@contextmanager
def running(command: list[str], settings: dict[str, str], ready: str) -> Iterator[psutil.Process]:
    """This command in an empty folder until the block ends; it is ready when it answers at that address with 200."""
    environment = dict(os.environ) | {"NO_PROXY": "127.0.0.1"} | settings
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
        try:
            _wait_ready(ready, process, Path(folder) / "log")
            yield psutil.Process(process.pid)
        finally:
            process.terminate()
            process.wait(30)


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = monotonic() + 300
    while monotonic() < deadline:
        with contextlib.suppress(httpx.TransportError):
            if httpx.get(url, timeout=5, trust_env=False).status_code == 200:
                return
        if process.poll() is not None:
            break
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.2)
    raise SystemExit(log.read_text("utf-8", "replace"))
