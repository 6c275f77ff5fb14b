"""One worker of the assistant in a process of its own, and sockets to it that keep what a page keeps."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

import httpx
import orjson
import psutil
from ulid import ULID
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

ROOT = Path(__file__).parents[1]
Frame = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Worker:
    """A running worker: its address and its process."""

    url: str
    process: psutil.Process

    def cpu(self) -> float:
        """CPU seconds that it has used."""
        times = self.process.cpu_times()
        return float(times.user + times.system)

    def memory(self) -> int:
        """Bytes that are its own (USS: what would be free if it ended)."""
        return int(self.process.memory_full_info().uss)

    def files(self) -> int:
        """Open files and sockets."""
        return int(self.process.num_fds())


@contextmanager
def worker(home: Path | None = None, /, **settings: str) -> Iterator[Worker]:
    """A worker with these settings, until the block ends; `model__name` becomes ASSISTANT_MODEL__NAME.

    Its keys and its SQLite file are in `home`, which workers of one database share; without one all is new.
    """
    common = {
        "auth__development_user": "bench", "retrieval__embedder": "none", "server__running_turns_per_user": "100",
        "server__starts_per_minute": "10000", "server__log_level": "warning",
    }  # fmt: skip
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ASSISTANT_")}
    environment |= {f"ASSISTANT_{name.upper()}": value for name, value in {**common, **settings}.items()}
    environment |= {"PYTHONPATH": str(ROOT)}
    port = _free_port()
    with tempfile.TemporaryDirectory() as made, (Path(made) / "log").open("wb") as log:
        folder = home or Path(made)
        command = [sys.executable, "-m", "assistant", "serve", "--port", str(port)]
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
        try:
            _wait_ready(f"http://127.0.0.1:{port}", process, Path(made) / "log")
            yield Worker(f"http://127.0.0.1:{port}", psutil.Process(process.pid))
        finally:
            process.terminate()
            process.wait(30)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = monotonic() + 120
    while monotonic() < deadline:
        with contextlib.suppress(httpx.TransportError):
            if httpx.get(f"{url}/readyz", timeout=5, trust_env=False).status_code == 200:
                return
        if process.poll() is not None:
            break
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.2)
    raise SystemExit(log.read_text("utf-8", "replace"))


@dataclass(slots=True)
class Page:
    """A socket with an open session. A hole in the numbers, a wrong offset or a wrong hash ends the benchmark."""

    socket: ClientConnection
    session: str
    epoch: str
    seq: int = 0
    texts: dict[str, str] = field(default_factory=dict)
    deltas: int = 0
    characters: int = 0

    async def receive(self) -> Frame:
        """The next frame, checked and applied."""
        frame: Frame = orjson.loads(await self.socket.recv(decode=False))
        if "seq" in frame:
            if frame["seq"] != self.seq + 1:
                raise SystemExit(f"a hole in the numbers: {frame['seq']} after {self.seq}")
            self.seq = frame["seq"]
            self._apply(frame)
        return frame

    def _apply(self, frame: Frame) -> None:
        text, d = self.texts.get(frame["turn"], ""), frame["d"]
        if frame["type"] == "answer.delta":
            if d["off"] != len(text):
                raise SystemExit(f"text at {d['off']} after {len(text)}")
            self.texts[frame["turn"]] = text + d["text"]
            self.deltas += 1
            self.characters += len(d["text"])
        elif frame["type"] == "answer.done" and d["sha256"] != hashlib.sha256(text.encode()).hexdigest():
            raise SystemExit("the text is not what was sent")

    async def until(self, *kinds: str) -> Frame:
        """Read to a frame of one of these types; an error ends the benchmark."""
        while True:
            frame = await self.receive()
            if frame["type"] in kinds:
                return frame
            if frame["type"] == "error":
                raise SystemExit(f"refused: {frame['d']}")

    async def start(self, text: str, mode: str = "generation") -> None:
        """Ask; the answer comes by `until`."""
        await self.send("turn.start", {"text": text, "mode": mode})

    async def send(self, kind: str, d: Frame) -> None:
        """Send a frame."""
        await self.socket.send(orjson.dumps({"v": 1, "type": kind, "id": str(ULID()), "d": d}).decode())


async def open_page(
    url: str, session: str | None = None, epoch: str = "", seq: int = 0, *, buffer: int | None = None, token: str = ""
) -> Page:
    """A socket with a new session, or one that comes back to its own; `buffer` bytes may wait for it in the kernel.

    Without a `token` the development user asks.
    """
    made = await connect(
        url.replace("http", "ws") + "/v1/ws",
        subprotocols=[Subprotocol("assistant.v1")], origin=Origin(url),
        sock=_narrow(url, buffer) if buffer else None,
        compression=None, proxy=None, open_timeout=60, ping_interval=None,
    )  # fmt: skip
    page = Page(made, session or "", epoch, seq)
    d: Frame = {"client": {"name": "bench", "version": "1"}, "locale": "en"}
    if token:
        d |= {"token": token}
    if session:
        d |= {"session_id": session, "resume": {"epoch": epoch, "seq": seq}}
    await page.send("session.open", d)
    ready = await page.until("session.ready")
    if session and not ready["d"]["recovered"]:
        raise SystemExit("a session was not resumed")
    page.session, page.epoch = ready["d"]["session_id"], ready["d"]["epoch"]
    return page


def _narrow(url: str, buffer: int) -> socket.socket:
    narrow = socket.socket()
    narrow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    narrow.connect(("127.0.0.1", int(url.rsplit(":", 1)[1])))
    return narrow


@asynccontextmanager
async def pages(url: str, count: int, at_once: int = 50) -> AsyncIterator[list[Page]]:
    """So many sockets, each with a session of its own."""
    gate = asyncio.Semaphore(at_once)

    async def one() -> Page:
        async with gate:
            return await open_page(url)

    opened = await asyncio.gather(*(one() for _ in range(count)))
    try:
        yield list(opened)
    finally:
        await asyncio.gather(*(page.socket.close() for page in opened), return_exceptions=True)
