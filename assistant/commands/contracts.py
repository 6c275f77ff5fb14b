"""The generated contracts: write them anew, or say which are not what the code makes."""

from __future__ import annotations

from pathlib import Path

from assistant.errors import BadInput
from assistant.transport.contracts.documents import generate


def write_contracts(root: Path, *, check: bool = False) -> list[str]:
    """The files of the repository at `root` that were not what the code makes; with `check` they stay as they are.

    Raises BadInput where `root` is no repository of this program.
    """
    if not (root / "docs").is_dir() or not (root / "web" / "src").is_dir():
        raise BadInput("contracts are written in the repository, not where the program is installed", reason="root")
    return generate(root, write=not check)
