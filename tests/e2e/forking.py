"""Commands of the assistant, each in a process of its own that is forked from one that has imported everything already."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.e2e.serving import environment

_PARENT = """
import json, os, sys
from assistant.cli import run

def child(order):
    os.chdir(order["folder"])
    for name in [name for name in os.environ if name.startswith("ASSISTANT_")]:
        del os.environ[name]
    os.environ.update(order["environment"])
    for number, name in ((1, order["out"]), (2, order["err"])):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    sys.argv = ["assistant", *order["arguments"]]
    run()

for line in sys.stdin:
    pid = os.fork()
    if pid == 0:
        child(json.loads(line))
        sys.exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


@dataclass(frozen=True, slots=True)
class Commands:
    """Runs commands one after the other, as `serving.run` does, without its seconds of imports."""

    parent: subprocess.Popen[str]
    scratch: Path

    def run(self, folder: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
        assert self.parent.stdin is not None
        assert self.parent.stdout is not None
        out, err = self.scratch / "out", self.scratch / "err"
        given = environment(**{"retrieval__embedder": "none", **settings})
        order: dict[str, Any] = {"folder": str(folder), "arguments": arguments, "out": str(out), "err": str(err)}
        order["environment"] = {name: value for name, value in given.items() if name.startswith("ASSISTANT_")}
        self.parent.stdin.write(json.dumps(order) + "\n")
        self.parent.stdin.flush()
        code = int(self.parent.stdout.readline())
        return subprocess.CompletedProcess(arguments, code, out.read_text("utf-8"), err.read_text("utf-8"))


@contextmanager
def commands(scratch: Path) -> Iterator[Commands]:
    """A parent of commands until the block ends; `scratch` is a folder for what they print."""
    parent = subprocess.Popen(
        [sys.executable, "-c", _PARENT],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield Commands(parent, scratch)
    finally:
        assert parent.stdin is not None
        parent.stdin.close()
        parent.wait(30)
