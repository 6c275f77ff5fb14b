from __future__ import annotations

import hashlib
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from assistant.codec import decode
from assistant.core.events import TurnEvent
from assistant.core.turn import fold
from assistant.interfaces import NumberedEvent
from assistant.transport.protocol import encode_numbered

FILES = sorted((Path(__file__).parents[1] / "transcripts").glob("*.jsonl"))


def frames_of(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def test_there_are_transcripts() -> None:
    assert len(FILES) >= 3


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_recorded_frame_is_encoded_the_same_today(file: Path) -> None:
    for frame in frames_of(file):
        event = decode(frame["type"], frame["d"])
        numbered = NumberedEvent(frame["seq"], frame["turn"], datetime.fromisoformat(frame["ts"]), event)
        assert json.loads(encode_numbered(frame["sid"], numbered)) == frame


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_recorded_turn_folds_to_its_hash_and_ends_once(file: Path) -> None:
    turns: dict[str, list[TurnEvent]] = {}
    for place, frame in enumerate(frames_of(file), start=1):
        assert frame["seq"] == place
        turns.setdefault(frame["turn"], []).append(decode(frame["type"], frame["d"]))
    for events in turns.values():
        message = fold(events)
        assert message.sha256 == hashlib.sha256(message.text.encode()).hexdigest()
        assert [event.type for event in events].count("turn.done") == 1
        assert message.citations is not None
        for item in message.citations.items:
            assert 0 <= item.start < item.end <= len(message.text)
            assert item.source.end - item.source.start == len(item.source.exact)
