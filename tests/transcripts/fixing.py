"""Recorded frames with ids and times that are the same in every recording, so that a change of a transcript can be read."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any, Final

from tests.transcripts.folding import snapshot

Frame = dict[str, Any]

_START: Final = datetime(2026, 11, 30, 12, tzinfo=UTC)
_IDS: Final = (
    (re.compile(r"\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b"), "01K000000000000000000000{:02d}"),
    (re.compile(r"\bd[0-9a-f]{20}\b"), "d{:020x}"),
    (re.compile(r"\be[0-9a-f]{10}\b"), "e{:010x}"),
    (re.compile(r"\bu[0-9a-f]{20}\b"), "u{:020x}"),
)
_TIMES: Final = {"ms_first_token": 120, "ms_answer": 480, "ms_citations": 520}


def fixed(frames: Sequence[Frame]) -> list[Frame]:
    """The frames with their ids in order of appearance, 40 ms between them, and hashes of records that name their turn."""
    text = "\n".join(json.dumps(frame, ensure_ascii=False) for frame in frames)
    for pattern, shown in _IDS:
        text = _renamed(text, pattern, shown)
    return [_timed(json.loads(line)) for line in text.split("\n")]


def _renamed(text: str, pattern: re.Pattern[str], shown: str) -> str:
    numbers, names = count(1), dict[str, str]()

    def name(found: re.Match[str]) -> str:
        if found[0] not in names:
            names[found[0]] = shown.format(next(numbers))
        return names[found[0]]

    return pattern.sub(name, text)


def _timed(frame: Frame) -> Frame:
    at = _START + timedelta(milliseconds=40 * frame["seq"])
    d = frame["d"]
    d |= {name: _TIMES[name] for name in _TIMES if d.get(name) is not None}
    if d.get("record_hash"):
        d["record_hash"] = hashlib.sha256(frame["turn"].encode()).hexdigest()
    return {**frame, "ts": at.isoformat(timespec="milliseconds").replace("+00:00", "Z")}


def write(path: Path, frames: Sequence[Frame]) -> None:
    """Keep the frames, one a line, and beside them the snapshot that the server makes of them."""
    told = fixed(frames)
    path.write_text("".join(json.dumps(frame, ensure_ascii=False) + "\n" for frame in told), "utf-8")
    folded = json.dumps(snapshot(told), ensure_ascii=False)
    path.with_suffix(".snapshot.json").write_text(folded + "\n", "utf-8")
