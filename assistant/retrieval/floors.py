"""Score floors by embedder, as `assistant eval calibrate` measures them: packaged ones, and the operator's own."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import orjson

from assistant.errors import BadSetting

PACKAGED: Final = Path(__file__).with_name("floors.json")
"""The floors measured for the built-in embedders."""
WORDS: Final = "words"
"""The name under which the floor of a search without an embedder stands."""


def load_floors(path: Path | None = None) -> dict[str, float]:
    """The floors by name of the embedder: the packaged ones, replaced by those of the operator's file where it has them.

    Raises BadSetting when a file cannot be read or holds anything but objects with a floor in 0..1.
    """
    floors = {name: entry["floor"] for name, entry in read_entries(PACKAGED).items()}
    if path is not None:
        floors |= {name: entry["floor"] for name, entry in read_entries(path).items()}
    return floors


def floor_for(embedder: str | None, floors: Mapping[str, float]) -> float:
    """The floor of the embedder of this name (None: words only); 0, which drops nothing, where none was measured."""
    return floors.get(embedder or WORDS, 0.0)


def read_entries(path: Path) -> dict[str, dict[str, Any]]:
    """What the file says of each embedder; each entry has a `floor` in 0..1. Raises BadSetting like `load_floors`."""
    try:
        found = orjson.loads(path.read_bytes())
    except OSError as error:
        raise _broken(path, f"cannot be read: {error.strerror}") from None
    except orjson.JSONDecodeError:
        raise _broken(path, "is not JSON") from None
    if not isinstance(found, dict):
        raise _broken(path, "is not an object with embedders as names")
    for name, entry in found.items():
        if not isinstance(entry, dict) or not _is_floor(entry.get("floor")):
            raise _broken(path, f"has no floor between 0 and 1 for {name[:100]!r}")
    return found


def _is_floor(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _broken(path: Path, why: str) -> BadSetting:
    return BadSetting(f"the file of floors {why}", setting="retrieval.floors", file=path.name)


def write_entry(path: Path, name: str, entry: Mapping[str, float | int]) -> None:
    """Put the entry of one embedder into the file and keep the others: all of it or nothing is written.

    Raises BadSetting when what is there is broken or the folder cannot be written; the file then stays as it was.
    """
    entries = (read_entries(path) if path.exists() else {}) | {name: dict(entry)}
    options = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
    try:
        _replace(path, orjson.dumps(entries, option=options))
    except OSError as error:
        raise _broken(path, f"cannot be written: {error.strerror}") from None


def _replace(path: Path, content: bytes) -> None:
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.name, delete=False) as new:
        try:
            new.write(content)
            new.flush()
            os.fsync(new.fileno())
            Path(new.name).chmod(0o644)
            Path(new.name).replace(path)
        except BaseException:
            Path(new.name).unlink(missing_ok=True)
            raise
