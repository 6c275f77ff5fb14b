"""Labelled data: JSON lines in a folder, in the formats of the public sets that the suites name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from assistant.errors import BadInput

Item = dict[str, Any]


def read_items(folder: Path, name: str) -> list[Item]:
    """All items of `<name>.jsonl`; BadInput with the line number when a line is not a JSON object."""
    path = folder / f"{name}.jsonl"
    if not path.is_file():
        raise BadInput(f"there is no {path.name} in the folder", reason="missing_file", file=path.name)
    return list(_items(path))


def _items(path: Path) -> Iterator[Item]:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                item = orjson.loads(line)
            except orjson.JSONDecodeError:
                item = None
            if not isinstance(item, dict):
                raise BadInput(f"{path.name} line {number} is not a JSON object", reason="not_json", line=number)
            yield item
