"""What a client knows: recorded turns in any order of repetitions and losses."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assistant.client.errors import OriginRefused, SocketRefused, WrongVersion, error_named, error_of_close
from assistant.client.frames import Told, Withheld, read
from assistant.client.log import Log, Outcome
from assistant.client.waiting import LONGEST_S, SHORTEST_S, back_off
from assistant.core.events import AnswerDelta, AnswerFinished
from assistant.core.turn import TurnMessage, fold
from assistant.errors import BadInput, Busy, NotAuthenticated, NotFound, OtherUser, Refusal, TokenExpired
from assistant.transport.http import encode_message
from assistant.transport.protocol import Ack, Pong
from tests.transport.test_transcripts import FILES, frames_of


def told_of(file: Path) -> list[Told]:
    read_ = [read(json.dumps(frame)) for frame in frames_of(file)]
    return [told for told in read_ if isinstance(told, Told)]


def snapshot_of(log: Log) -> dict[str, Any]:
    """As GET /api/sessions/{id} gives it."""
    turns = [
        {"turn": turn, "message": encode_message(message, withheld=turn in log.withheld)}
        for turn, message in log.turns.items()
    ]
    return json.loads(json.dumps({"session_id": "s", "epoch": "e2", "as_of_seq": log.seq, "turns": turns}))  # type: ignore[no-any-return]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_recorded_turns_are_the_fold_whatever_comes_twice(file: Path) -> None:
    log, events = Log("s", "e"), told_of(file)
    for place, told in enumerate(events):
        assert log.take(told) is Outcome.NEW
        for again in events[max(0, place - 3) : place + 1]:
            assert log.take(again) is Outcome.OLD
    for turn, message in log.turns.items():
        plain = [each.event for each in events if each.turn == turn]
        if turn not in log.withheld:
            assert message == fold(event for event in plain if event is not None and not isinstance(event, Withheld))
        else:
            assert (message.text, message.plan, message.status) == ("", None, "completed")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_snapshot_at_any_point_and_what_follows_is_the_same(file: Path) -> None:
    events = told_of(file)
    whole = Log("s", "e")
    for told in events:
        whole.take(told)
    for cut in range(len(events) + 1):
        log = Log("s", "e")
        for told in events[:cut]:
            log.take(told)
        log.restore(snapshot_of(log))
        for told in events[max(0, cut - 3) :]:
            assert log.take(told) in (Outcome.NEW, Outcome.OLD)
        told_now = {turn: replace(message, parameters=()) for turn, message in log.turns.items()}
        assert told_now == {turn: replace(message, parameters=()) for turn, message in whole.turns.items()}
        assert (log.epoch, log.seq, log.withheld) == ("e2", len(events), whole.withheld)


def test_nothing_is_applied_after_a_gap_or_to_another_text() -> None:
    log = Log("s", "e")
    log.take(Told(1, "t", AnswerDelta(0, "ab")))
    assert log.take(Told(3, "t", AnswerDelta(2, "c"))) is Outcome.HOLE
    assert log.take(Told(2, "t", AnswerDelta(1, "c"))) is Outcome.SPOILED
    assert log.take(Told(2, "t", AnswerFinished(3, "0" * 64, "stop"))) is Outcome.SPOILED
    assert (log.seq, log.turns["t"].text) == (1, "ab")
    assert log.take(Told(2, "t", None)) is Outcome.NEW  # of a type that is not known
    assert log.turns["t"] == TurnMessage(text="ab")


@pytest.mark.parametrize(
    "frame", ["", "no", "[]", "1", "{}", '{"v":2,"type":"pong","d":{}}', '{"v":1,"type":"pong"}',
              '{"v":1,"type":"pong","d":{}}', '{"v":1,"type":"answer.delta","seq":1,"turn":"t","d":{"off":"x"}}',
              '{"v":1,"type":"answer.delta","seq":"1","turn":"t","d":{}}', '{"v":1,"seq":1,"turn":"t","d":{}}',
              '{"v":1,"type":"ack","seq":1,"d":{}}'],
)  # fmt: skip
def test_what_is_no_frame_is_refused(frame: str) -> None:
    with pytest.raises(BadInput):
        read(frame)


def test_what_is_not_known_is_passed_by() -> None:
    assert read('{"v":1,"type":"news","sid":"s","d":{"x":1}}') is None
    assert read('{"v":1,"type":"news","seq":4,"turn":"t","d":{"x":1}}') == Told(4, "t", None)
    assert read('{"v":1,"type":"ack","sid":"s","d":{"id":"1","x":2}}') == Ack(id="1")
    assert read(b'{"v":1,"type":"pong","d":{"head_seq":3}}') == Pong(head_seq=3)


@pytest.mark.parametrize("snapshot", [{}, {"turns": 1}, {"turns": [{}]}, {"turns": [{"turn": "t", "message": 1}]}])
def test_a_snapshot_of_another_form_changes_nothing(snapshot: dict[str, Any]) -> None:
    log = Log("s", "e")
    log.take(Told(1, "t", AnswerDelta(0, "ab")))
    with pytest.raises(BadInput):
        log.restore({"session_id": "s", "epoch": "e", "as_of_seq": 1, **snapshot})
    assert log.turns["t"].text == "ab"


def test_closes_and_refusals_are_errors_of_their_own_types() -> None:
    finals = {
        code: type(error_of_close(code, "", new_token=True)) for code in (4500, 4501, 4502, 4503, 4504, 4505, 4599)
    }
    assert finals == {
        4500: SocketRefused,
        4501: NotAuthenticated,
        4502: SocketRefused,
        4503: OriginRefused,
        4504: OtherUser,
        4505: WrongVersion,
        4599: SocketRefused,
    }
    assert type(error_of_close(4504, "no such session", new_token=True)) is NotFound
    assert type(error_of_close(4003, "", new_token=False)) is TokenExpired
    for code in (1000, 1006, 1011, 1012, 4001, 4002, 4003, 4004, 4005, 4006, 4099):
        assert error_of_close(code, "", new_token=True) is None
    busy = error_named("busy", {"retry_after_ms": 5, "limit": None})
    assert (type(busy), busy.data) == (Busy, {"retry_after_ms": 5})
    unknown = error_named("of_tomorrow", {"code": "x", "detail": "y"})
    assert (type(unknown), unknown.data) == (Refusal, {"code": "of_tomorrow"})


def test_the_wait_grows_to_a_bound_and_is_never_nothing() -> None:
    for attempt in (0, 1, 5, 50, 10**6):
        waits = [back_off(attempt) for _ in range(50)]
        assert SHORTEST_S <= min(waits) <= max(waits) <= LONGEST_S
    assert max(back_off(0) for _ in range(50)) <= 1.0
