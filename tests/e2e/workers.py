"""Servers of which a test needs many, or kills."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.e2e.forking import environment, parent
from tests.e2e.serving import Server, free_port, is_ready

KILL = "TEST_KILL"
COMMITS = "TEST_COMMITS"


@dataclass(slots=True)
class Forked(Server):
    """A server that can be begun without waiting, with a log of its own."""

    pid: int = 0
    _started: str = ""

    def begin(self, **more: str) -> None:
        """Start and do not wait."""
        arguments, given = ["serve", "--port", str(self.port)], {**self.environment, **more}
        self.pid = parent().fork(self.folder, arguments, given, out=self.log_file, err=self.log_file).pid
        self._started = _started_at(self.pid)

    def start(self, *_: str, **more: str) -> None:
        self.begin(**more)
        self.wait_ready()

    def wait_ready(self) -> None:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if is_ready(self.port):
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
    """Servers that end together."""

    servers: list[Forked] = field(default_factory=list)

    def server(self, folder: Path, **settings: str) -> Forked:
        """A server over what is in `folder`, not started yet."""
        given = environment(
            auth__development_user="ann",
            retrieval__embedder="none",
            server__starts_per_minute="1000",
            **settings,
        )
        made = Forked(folder, free_port(), given)
        self.servers.append(made)
        return made

    def end(self) -> None:
        """End all servers that still run."""
        for server in self.servers:
            if server.lives():
                server.send(signal.SIGCONT)
                server.end(signal.SIGKILL)
        self.servers.clear()


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
