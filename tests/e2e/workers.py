"""Server processes that are forked from one that has imported everything already, so that a test can afford many."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from tests.e2e.serving import Server, environment, free_port

KILL = "TEST_KILL"
COMMITS = "TEST_COMMITS"

_PARENT = """
import json, os, signal, sys
import uvicorn.loops.auto, uvicorn.protocols.http.auto
import assistant.commands.serve
from assistant.cli import run
from assistant.llm.tokens import counter_for, window_for
from tests.e2e.killing import lie_in_wait

counter_for("test-model"), window_for("test-model")  # tables that every child would read

def child(order):
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.chdir(order["folder"])
    for name in [name for name in os.environ if name.startswith("ASSISTANT_")]:
        del os.environ[name]
    os.environ.update(order["environment"])
    log = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    sys.argv = ["assistant", *order["arguments"]]
    lie_in_wait()
    run()

signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them: the dead leave nothing behind
for line in sys.stdin:
    pid = os.fork()
    if pid == 0:
        try:
            child(json.loads(line))
        finally:
            os._exit(0)
    print(pid, flush=True)
"""


@dataclass(slots=True)
class Forked(Server):
    """A server that the stable forked; it is the stable's child, not ours."""

    stable: Stable | None = None
    pid: int = 0
    _started: str = ""

    def begin(self, **more: str) -> None:
        """Start and do not wait."""
        assert self.stable is not None
        self.pid = self.stable.fork(self.folder, self.port, {**self.environment, **more})
        self._started = _started_at(self.pid)

    def start(self, *_: str, **more: str) -> None:
        self.begin(**more)
        self.wait_ready()

    def wait_ready(self) -> None:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with contextlib.suppress(httpx.TransportError):
                if httpx.get(f"{self.url}/readyz", timeout=2).status_code == 200:
                    return
            assert self.lives(), self.log()
            time.sleep(0.03)
        raise AssertionError(f"not ready: {self.log()}")

    def log(self) -> str:
        return self.log_file.read_text("utf-8", "replace") if self.log_file.exists() else ""

    @property
    def log_file(self) -> Path:
        return self.folder / f"server-{self.port}.log"

    def lives(self) -> bool:
        return self.pid != 0 and _started_at(self.pid) == self._started

    def send(self, how: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, how)

    def end(self, how: signal.Signals = signal.SIGTERM) -> int:
        self.send(how)
        until(lambda: not self.lives(), 30)
        return 0


@dataclass(slots=True)
class Stable:
    """The parent of servers."""

    parent: subprocess.Popen[str]
    servers: list[Forked]
    lock: threading.Lock = field(default_factory=threading.Lock)

    def fork(self, folder: Path, port: int, given: dict[str, str]) -> int:
        assert self.parent.stdin is not None
        assert self.parent.stdout is not None
        wanted = {name: value for name, value in given.items() if name.startswith(("ASSISTANT_", "TEST_"))}
        order: dict[str, Any] = {"folder": str(folder), "environment": wanted, "log": f"{folder}/server-{port}.log"}
        order["arguments"] = ["serve", "--port", str(port)]
        with self.lock:
            self.parent.stdin.write(json.dumps(order) + "\n")
            self.parent.stdin.flush()
            return int(self.parent.stdout.readline())

    def server(self, folder: Path, **settings: str) -> Forked:
        """A server over what is in `folder`, not started yet."""
        given = environment(
            auth__development_user="ann",
            retrieval__embedder="none",
            server__starts_per_minute="1000",
            **settings,
        )
        made = Forked(folder, free_port(), given, stable=self)
        self.servers.append(made)
        return made

    def end(self) -> None:
        """End all servers that still run."""
        for server in self.servers:
            if server.lives():
                server.send(signal.SIGCONT)
                server.end(signal.SIGKILL)
        self.servers.clear()


@contextmanager
def stable() -> Iterator[Stable]:
    """A parent of servers until the block ends, and of none thereafter."""
    parent = subprocess.Popen(
        [sys.executable, "-c", _PARENT], env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    made = Stable(parent, [])
    try:
        yield made
    finally:
        made.end()
        assert parent.stdin is not None
        parent.stdin.close()
        parent.wait(30)


def _started_at(process: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19]
    return ""


def until(true: Callable[[], bool], seconds: float = 20) -> float:
    """Wait until it is true; after how many seconds it was."""
    started = time.monotonic()
    while not true():
        assert time.monotonic() - started < seconds, "it did not happen in time"
        time.sleep(0.02)
    return time.monotonic() - started
