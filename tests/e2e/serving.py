"""A real server process on a free port, and a small client of its websocket."""

from __future__ import annotations

import contextlib
import hashlib
import json
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from ulid import ULID
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from tests.e2e.forking import Process, parent
from tests.e2e.forking import environment as environment

Frame = dict[str, Any]
DEMO_PAGES = ("18f-handbook/tools/tock.md", "18f-handbook-2021/tools/tock.md")


@dataclass(slots=True)
class Server:
    """A server process; `kill` takes it away as a power cut would.

    It is forked from a process that has imported everything, unless it is to have a Python of its own.
    """

    folder: Path
    port: int
    environment: Mapping[str, str]
    process: subprocess.Popen[bytes] | Process | None = None
    own_python: bool = False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self, *more: str) -> None:
        arguments = ["serve", "--port", str(self.port), *more]
        log = self.folder / "server.log"
        self.process = (_spawn if self.own_python else _fork)(self.folder, arguments, self.environment, log)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if is_ready(self.port):
                return
            assert self.process.poll() is None, self.log()
            time.sleep(0.03)
        raise AssertionError(f"not ready: {self.log()}")

    def log(self) -> str:
        return (self.folder / "server.log").read_text("utf-8", "replace")

    def kill(self) -> None:
        self.end(signal.SIGKILL)

    def end(self, how: signal.Signals = signal.SIGTERM) -> int:
        assert self.process is not None
        self.process.send_signal(how)
        return self.process.wait(30)


def _fork(folder: Path, arguments: Sequence[str], given: Mapping[str, str], log: Path) -> Process:
    return parent().fork(folder, arguments, given, out=log, err=log)


def _spawn(folder: Path, arguments: Sequence[str], given: Mapping[str, str], log: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "assistant", *arguments]
    with log.open("ab") as output:
        return subprocess.Popen(command, cwd=folder, env=dict(given), stderr=output, stdout=output)


def is_ready(port: int) -> bool:
    """Whether a server answers there that is ready for requests."""
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", port)):
            return False
    with contextlib.suppress(httpx.TransportError):  # dear where nobody listens: it loads certificates first
        return httpx.get(f"http://127.0.0.1:{port}/readyz", timeout=2).status_code == 200
    return False


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def a_server(folder: Path, **settings: str) -> Server:
    """A server over a database in `folder`, not started, for which everybody is ann."""
    given = environment(auth__development_user="ann", retrieval__embedder="none", **settings)
    return Server(folder, free_port(), given)


@contextlib.contextmanager
def started(server: Server, *arguments: str) -> Iterator[Server]:
    """The server runs until the block ends."""
    server.start(*arguments)
    try:
        yield server
    finally:
        if server.process is not None and server.process.poll() is None:
            server.end()


@contextlib.contextmanager
def serving(folder: Path, *arguments: str, **settings: str) -> Iterator[Server]:
    """A server over a database in `folder` until the block ends."""
    with started(a_server(folder, **settings), *arguments) as server:
        yield server


def run(folder: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the assistant in `folder`."""
    return run_with(folder, environment(**{"retrieval__embedder": "none", **settings}), *arguments)


def run_with(folder: Path, given: Mapping[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the assistant in `folder`, in this environment."""
    with tempfile.TemporaryDirectory() as name:
        out, err = Path(name) / "out", Path(name) / "err"
        code = parent().fork(folder, arguments, given, out=out, err=err).wait(120)
        return subprocess.CompletedProcess(arguments, code, out.read_text("utf-8"), err.read_text("utf-8"))


def run_in_own_python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command as a person does, imports and all."""
    command = [sys.executable, "-m", "assistant", *arguments]
    env = environment(retrieval__embedder="none")
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=120, check=False)


@dataclass(slots=True)
class Client:
    """A websocket client that keeps what a page would keep: the last number, and the text of each turn."""

    url: str
    session: str | None = None
    epoch: str = ""
    seq: int = 0
    texts: dict[str, str] = field(default_factory=dict)
    frames: list[Frame] = field(default_factory=list)
    socket: ClientConnection | None = None

    async def open(self, *, resume: bool = True, **headers: str) -> Frame:
        """Connect and open the session; the session.ready frame."""
        self.socket = await connect(
            self.url.replace("http", "ws") + "/v1/ws",
            subprotocols=[Subprotocol("assistant.v1")],
            additional_headers=headers,
        )
        d: Frame = {"client": {"name": "test", "version": "1"}, "locale": "en"}
        if self.session:
            d["session_id"] = self.session
            if resume:
                d["resume"] = {"epoch": self.epoch, "seq": self.seq}
        await self.send("session.open", d)
        ready = await self.receive()
        if ready["type"] == "session.ready":
            self.session, self.epoch = ready["d"]["session_id"], ready["d"]["epoch"]
        return ready

    async def send(self, kind: str, d: Frame, id: str | None = None) -> str:  # noqa: A002
        assert self.socket is not None
        key = id or str(ULID())
        await self.socket.send(json.dumps({"v": 1, "type": kind, "id": key, "d": d}))
        return key

    async def receive(self) -> Frame:
        """The next frame, applied: a number seen before is dropped, a hole fails the test."""
        assert self.socket is not None
        while True:
            frame: Frame = json.loads(await self.socket.recv())
            if "seq" not in frame:
                return frame
            if frame["seq"] <= self.seq:
                continue
            assert frame["seq"] == self.seq + 1, "a hole in the numbers"
            self._apply(frame)
            return frame

    def _apply(self, frame: Frame) -> None:
        self.seq = frame["seq"]
        self.frames.append(frame)
        text = self.texts.get(frame["turn"], "")
        if frame["type"] == "answer.delta":
            assert frame["d"]["off"] == len(text)
            self.texts[frame["turn"]] = text + frame["d"]["text"]
        if frame["type"] == "answer.done":
            assert frame["d"]["sha256"] == hashlib.sha256(text.encode()).hexdigest()

    async def until(self, *kinds: str) -> Frame:
        """Read until a frame of one of these types comes."""
        while True:
            frame = await self.receive()
            if frame["type"] in kinds:
                return frame

    async def ask(self, text: str, **more: Any) -> list[Frame]:
        """Ask and read to the end of the turn; its durable frames."""
        start = len(self.frames)
        await self.send("turn.start", {"text": text, "mode": "auto", **more})
        done = await self.until("turn.done", "error")
        assert done["type"] == "turn.done", done
        return self.frames[start:]

    async def close(self) -> None:
        if self.socket is not None:
            await self.socket.close()


@contextlib.asynccontextmanager
async def client(server: Server) -> AsyncIterator[Client]:
    """A client with an open session."""
    made = Client(server.url)
    await made.open()
    try:
        yield made
    finally:
        await made.close()


def of(frames: list[Frame], kind: str) -> Frame:
    """The `d` of the only frame of a type."""
    (frame,) = [frame for frame in frames if frame["type"] == kind]
    d: Frame = frame["d"]
    return d
