"""Processes of the assistant that are forked from one that has imported everything: a start costs no seconds of imports."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

_PARENT: Final = """
import atexit, gc, importlib, json, os, pkgutil, signal, sys, threading
import uvicorn.loops.auto, uvicorn.protocols.http.auto, uvicorn.protocols.websockets.auto
import litellm
import assistant.app, assistant.commands, assistant.jobs.postgresql
from assistant.cli import run
from assistant.llm.tokens import counter_for, window_for
from tests.e2e.killing import lie_in_wait

for found in pkgutil.iter_modules(assistant.commands.__path__):
    importlib.import_module(f"assistant.commands.{found.name}")
counter_for("test-model"), window_for("test-model")  # tables that every child would read
scratch, living = sys.argv[1], set()

def reap(*_):
    while living:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        with open(f"{scratch}/{pid}.new", "w") as file:
            file.write(str(os.waitstatus_to_exitcode(status)))
        os.rename(file.name, f"{scratch}/{pid}")
        living.discard(pid)

def child(order):
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["environment"])
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, name in ((1, order["out"]), (2, order["err"])):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND), number)
    sys.argv = ["assistant", *order["arguments"]]
    lie_in_wait()
    try:
        run()
    except SystemExit as end:
        return end.code or 0
    return 0

gc.collect()
gc.freeze()  # what is never looked at again is shared, not copied
signal.signal(signal.SIGCHLD, reap)
for line in sys.stdin:
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    pid = os.fork()
    if pid == 0:
        code = child(json.loads(line))
        threading._shutdown()
        atexit._run_exitfuncs()
        sys.stdout.flush(), sys.stderr.flush()
        os._exit(code)  # without the seconds in which all modules are taken apart
    if os.path.exists(f"{scratch}/{pid}"):
        os.unlink(f"{scratch}/{pid}")  # of another process of this number
    living.add(pid)
    print(pid, flush=True)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
for pid in living:
    os.kill(pid, signal.SIGKILL)
os._exit(0)
"""


@dataclass(slots=True)
class Process:
    """A forked process, with the methods of Popen that a test needs; it is the parent's child, not ours."""

    pid: int
    ended: Path
    """Holds the exit code when there is one."""

    def poll(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        return int(self.ended.read_text()) if self.ended.exists() else None

    def wait(self, timeout: float) -> int:
        """The exit code; raises TimeoutExpired after so many seconds."""
        deadline = time.monotonic() + timeout
        while (code := self.poll()) is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout)
            time.sleep(0.01)
        return code

    def send_signal(self, how: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, how)


class Parent:
    """The process that all others are forked from; it ends with this one, and takes those that are left with it."""

    def __init__(self) -> None:
        self._scratch = Path(tempfile.mkdtemp(prefix="assistant-forked-"))
        self._lock = threading.Lock()
        command = [sys.executable, "-c", _PARENT, str(self._scratch)]
        self._process = subprocess.Popen(
            command, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def fork(
        self, folder: Path, arguments: Sequence[str], given: Mapping[str, str], *, out: Path, err: Path
    ) -> Process:
        """Begin `assistant` with these arguments in a folder; what it prints is appended to `out` and `err`."""
        order: dict[str, Any] = {"folder": str(folder), "arguments": arguments, "environment": dict(given)}
        order |= {"out": str(out), "err": str(err)}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._lock:
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
            pid = int(self._process.stdout.readline())
        return Process(pid, self._scratch / str(pid))

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)
        shutil.rmtree(self._scratch, ignore_errors=True)


@cache
def parent() -> Parent:
    """The one parent of this process, started when it is first needed."""
    made = Parent()
    atexit.register(made.close)
    return made


def environment(**settings: str) -> dict[str, str]:
    """The environment of a process: nothing of ours but what is named; `model__kind` becomes ASSISTANT_MODEL__KIND."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("ASSISTANT_")}
    clean["PYTHONPATH"] = str(Path(__file__).parents[2])
    clean["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    return clean | {f"ASSISTANT_{name.upper()}": value for name, value in settings.items()}
