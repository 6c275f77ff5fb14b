"""The codec: every event survives the way through JSON; what cannot be JSON is refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields
from typing import get_args

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.codec import EVENT_TYPES, decode, encode
from assistant.core.events import AnswerDelta, TurnAccepted, TurnEvent, TurnFinished, UsageReported
from assistant.errors import BadInput

EVENTS = st.one_of(*map(st.from_type, get_args(TurnEvent)))
NAMES = st.sampled_from(sorted({field.name for kind in get_args(TurnEvent) for field in fields(kind)}))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def _or_reason(call: Callable[[], object]) -> object:
    try:
        return call()
    except BadInput as refusal:
        return refusal.data["reason"]


@given(EVENTS)
def test_an_event_survives_json_or_is_refused(event: TurnEvent) -> None:
    encoded = _or_reason(lambda: encode(event))
    if isinstance(encoded, dict):
        assert decode(event.type, orjson.loads(orjson.dumps(encoded))) == event
    else:
        assert encoded in {"nul", "surrogate", "number"}


@given(st.sampled_from(sorted(EVENT_TYPES)) | st.text(), st.dictionaries(st.text() | NAMES, JSON, max_size=6))
def test_anything_decodes_to_an_event_or_is_refused(kind: str, d: dict[str, object]) -> None:
    decoded = _or_reason(lambda: decode(kind, d))
    assert decoded in {"unknown_event", "malformed_event"} or getattr(decoded, "type", None) == kind


def test_the_fields_of_an_event_are_the_fields_of_its_frame() -> None:
    event = TurnAccepted("t", "c", "年假?", "u1")
    assert encode(event) == {"turn": "t", "client_id": "c", "text": "年假?", "by": "u1", "attachments": []}
    assert {field.name for field in fields(AnswerDelta)} == set(encode(AnswerDelta(0, "x")))


def test_unknown_fields_are_ignored() -> None:
    assert decode("turn.done", {"status": "completed", "later": [1]}) == TurnFinished("completed")


@pytest.mark.parametrize("cost", [math.nan, math.inf, -math.inf])
def test_numbers_that_json_cannot_hold_are_refused(cost: float) -> None:
    with pytest.raises(BadInput):
        encode(UsageReported(1, 1, 1, 0, cost, None, None, None))
