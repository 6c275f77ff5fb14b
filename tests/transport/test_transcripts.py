"""Recorded turns of every kind: written, read and folded the same as when they were recorded."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from assistant.codec import EVENT_TYPES, decode
from assistant.core.events import AnswerDelta, TurnEvent
from assistant.core.turn import TurnMessage, fold, without_sources
from assistant.interfaces import NumberedEvent
from assistant.transport.protocol import WITHHELD, encode_numbered
from tests.transcripts.folding import snapshot

FOLDER = Path(__file__).parents[1] / "transcripts"
FILES = sorted(FOLDER.glob("*.jsonl"))
KINDS: dict[str, Callable[[Any], Any]] = {
    "attachments": lambda turn: turn.attachments,
    "cancelled": lambda turn: turn.status == turn.finish == "cancelled" and turn.citations.items,
    "conflict": lambda turn: turn.conflicts and turn.citations.items,
    "each-source": lambda turn: turn.plan.mode == "accumulate",
    "failed": lambda turn: turn.status == "failed" and turn.error and turn.finish == "error",
    "from-cache": lambda turn: turn.from_cache and not turn.usage.calls,
    "refined": lambda turn: turn.plan.mode == "refine" and turn.steps,
    "refusal-zh": lambda turn: turn.finish == "no_answer",
    "several-turns": lambda turn: any(char > "\uffff" for char in turn.text),
    "source-changed": lambda turn: [each.change for each in turn.changes] == ["deleted"],
    "steps": lambda turn: turn.plan.evidence and turn.citations.items,
    "structured": lambda turn: turn.plan.structured and json.loads(turn.text),
}


def frames_of(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def turns_of(file: Path) -> dict[str, list[TurnEvent]]:
    """The events of each turn; what is withheld is left out."""
    turns: dict[str, list[TurnEvent]] = defaultdict(list)
    for frame in frames_of(file):
        if frame["type"] != WITHHELD:
            turns[frame["turn"]].append(decode(frame["type"], frame["d"]))
    return turns


def test_there_is_one_of_every_kind() -> None:
    assert {file.stem for file in FILES} == {*KINDS, "withheld"}
    for name, shows in KINDS.items():
        assert any(shows(fold(events)) for events in turns_of(FOLDER / f"{name}.jsonl").values()), name


def test_every_type_of_event_is_recorded() -> None:
    assert {frame["type"] for file in FILES for frame in frames_of(file)} == {*EVENT_TYPES, WITHHELD}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_recorded_frame_is_encoded_the_same_today(file: Path) -> None:
    for frame in frames_of(file):
        hidden = frame["type"] == WITHHELD
        event = AnswerDelta(0, "not to be told") if hidden else decode(frame["type"], frame["d"])
        numbered = NumberedEvent(frame["seq"], frame["turn"], datetime.fromisoformat(frame["ts"]), event)
        assert json.loads(encode_numbered(frame["sid"], numbered, [frame["turn"]] if hidden else ())) == frame


@pytest.mark.parametrize("name", KINDS)
def test_a_recorded_turn_folds_to_its_hash_and_ends_once(name: str) -> None:
    file = FOLDER / f"{name}.jsonl"
    assert [frame["seq"] for frame in frames_of(file)] == list(range(1, len(frames_of(file)) + 1))
    for events in turns_of(file).values():
        message = fold(events)
        assert message.sha256 == hashlib.sha256(message.text.encode()).hexdigest()
        assert [event.type for event in events].count("turn.done") == 1
        assert message.citations is not None
        for item in message.citations.items:
            assert 0 <= item.start < item.end <= len(message.text)
            assert item.source.end - item.source.start == len(item.source.exact)


@pytest.mark.parametrize("name", KINDS)
def test_deltas_may_come_twice_and_a_turn_in_two_parts(name: str) -> None:
    for events in turns_of(FOLDER / f"{name}.jsonl").values():
        deltas = [event for event in events if isinstance(event, AnswerDelta)]
        assert fold([*events, *deltas]) == fold(events)
        for cut in range(len(events)):
            assert fold(events[cut:], fold(events[:cut])) == fold(events)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_snapshot_that_the_page_has_to_come_to_is_that_of_the_server(file: Path) -> None:
    kept = json.loads(file.with_suffix(".snapshot.json").read_text("utf-8"))
    assert kept == snapshot(frames_of(file))


def test_what_is_withheld_says_what_a_snapshot_says() -> None:
    first, second = turns_of(FOLDER / "withheld.jsonl").values()
    asked, kept = fold(first), fold(second)
    assert asked == without_sources(asked)
    assert (asked.question, asked.text, asked.status) == ("Who approves travel?", "", "completed")
    assert (kept.question, kept.text) == ("Hello!", "Hello! 👋")
    assert asked != TurnMessage()
