from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.events import AnswerDelta
from assistant.errors import BadInput
from assistant.interfaces import NumberedEvent
from assistant.transport.protocol import (
    MAX_FRAME_BYTES,
    Ack,
    CancelData,
    ClientFrame,
    ClientInfo,
    FeedbackAdd,
    FeedbackData,
    OpenData,
    Ping,
    PingData,
    Resume,
    Scope,
    SessionOpen,
    StartData,
    TurnCancel,
    TurnStart,
    decode,
    encode_client,
    encode_control,
    encode_numbered,
)

ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
AT = datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)
text = st.text(st.characters(codec="utf-8"), min_size=1, max_size=40).filter(lambda value: "\0" not in value)
seq = st.integers(0, 2**53)
frames: st.SearchStrategy[ClientFrame] = st.one_of(
    st.builds(
        SessionOpen,
        type=st.just("session.open"),
        id=st.just(ULID),
        d=st.builds(
            OpenData,
            token=st.none() | text,
            session_id=st.none() | text,
            resume=st.none() | st.builds(Resume, epoch=text, seq=seq),
            client=st.builds(ClientInfo, name=text, version=text),
            locale=st.just("zh"),
        ),
    ),
    st.builds(
        TurnStart,
        type=st.just("turn.start"),
        id=st.just(ULID),
        d=st.builds(
            StartData, text=text, mode=st.just("auto"), scope=st.none() | st.builds(Scope, collections=st.lists(text))
        ),
    ),
    st.builds(TurnCancel, type=st.just("turn.cancel"), id=st.just(ULID), d=st.builds(CancelData, turn=text)),
    st.builds(
        FeedbackAdd,
        type=st.just("feedback.add"),
        id=st.just(ULID),
        d=st.builds(FeedbackData, turn=text, rating=st.sampled_from(["up", "down"]), correction=st.none() | text),
    ),
    st.builds(Ping, type=st.just("ping"), id=st.just(ULID), d=st.builds(PingData, seq=seq)),
)


@given(frames)
def test_decoding_what_was_encoded_gives_the_same_frame(frame: ClientFrame) -> None:
    assert decode(encode_client(frame)) == frame


@given(
    st.binary(max_size=200)
    | st.text(max_size=200)
    | st.recursive(st.none() | st.integers() | text, lambda inner: st.lists(inner) | st.dictionaries(text, inner)).map(
        json.dumps
    )
)
def test_any_frame_is_decoded_ignored_or_refused(data: str | bytes) -> None:
    try:
        assert decode(data) is None or True
    except BadInput as error:
        assert error.code == "bad_input"
        assert error.data["reason"]


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        ("{", "not_json"),
        ("[]", "type"),
        ('{"type": 1}', "type"),
        ('{"v": 2, "type": "ping"}', "version"),
        ('{"type": "ping", "id": "short", "d": {}}', "id"),
        ('{"type": "turn.start", "id": "%s", "d": {"text": ""}}' % ULID, "d.text"),
        ('{"type": "turn.start", "id": "%s", "d": {"text": "%s"}}' % (ULID, "x" * 8001), "d.text"),
        ('{"type": "turn.cancel", "id": "%s", "d": {}}' % ULID, "d.turn"),
        ('{"type": "session.open", "id": "%s", "d": {"resume": {"epoch": "e", "seq": -1}}}' % ULID, "d.resume.seq"),
        ("x" * (MAX_FRAME_BYTES + 1), "too_large"),
        ('"\ud800"', "not_json"),
        ("[" * 5000, "not_json"),
    ],
)
def test_bad_frames_name_what_is_wrong(frame: str, reason: str) -> None:
    with pytest.raises(BadInput) as refused:
        decode(frame)
    assert refused.value.data["reason"] == reason


def test_unknown_types_and_fields_are_ignored() -> None:
    assert decode('{"v": 1, "type": "hologram.start", "id": 3}') is None
    frame = decode('{"v": 1, "type": "ping", "id": "%s", "d": {"seq": 4, "mood": "good"}, "more": 1}' % ULID)
    assert isinstance(frame, Ping)
    assert frame.d.seq == 4


def test_durable_frames_carry_a_number_and_control_frames_do_not() -> None:
    durable = json.loads(encode_numbered("s", NumberedEvent(7, "t", AT, AnswerDelta(0, "Hi 😀"))))
    assert durable == {
        "v": 1, "type": "answer.delta", "sid": "s", "seq": 7, "turn": "t", "ts": "2026-01-02T03:04:05.678Z",
        "d": {"off": 0, "text": "Hi 😀"},
    }  # fmt: skip
    control = json.loads(encode_control("s", Ack(id=ULID), AT))
    assert control == {
        "v": 1,
        "type": "ack",
        "sid": "s",
        "ts": "2026-01-02T03:04:05.678Z",
        "d": {"id": ULID, "duplicate": False},
    }
