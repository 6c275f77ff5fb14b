"""Hashing the stored text of a body gives the hash that was written, for every body, and no other text gives it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.audit import AuditDraft, AuditKind, AuditRecord, StoredBody, canonical, genesis, hash_of, place

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | TEXT
    | st.floats(allow_nan=False, allow_infinity=False)
)
BODIES = st.dictionaries(
    TEXT, st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner), max_leaves=9)
)


def placed(body: dict[str, Any], **names: Any) -> AuditRecord:
    draft = AuditDraft("acme", AuditKind.TURN, "u1", datetime(2026, 1, 1, tzinfo=UTC), body=body, **names)
    return place(draft, id_="r1", seq=7, previous=genesis("acme"), sealed_sha256=None)


def stored(record: AuditRecord, text: str | None = None) -> AuditRecord:
    text = canonical(record.body).decode() if text is None else text
    return replace(record, body=StoredBody.read(text, json.loads(text)))


@given(BODIES, TEXT, TEXT)
def test_the_stored_text_hashes_as_what_was_written(body: dict[str, Any], conversation: str, turn: str) -> None:
    record = placed(body, conversation=conversation, turn=turn)
    assert hash_of(stored(record)) == record.hash


@pytest.mark.parametrize(
    "text", ['{"a": 1}', '{"a":1.0}', '{"b":2,"a":1}', '{"a":2}', '{"a":1,"a":1}', "{}", '{"a":1} ']
)
def test_any_other_text_has_another_hash(text: str) -> None:
    record = placed({"a": 1})
    assert hash_of(stored(record, text)) != record.hash


def test_text_that_ends_the_body_early_has_another_hash() -> None:
    record = placed({"a": 1}, conversation="c1")
    forged = '{"a":1},"conversation":"c2"'
    assert hash_of(replace(record, body=StoredBody.read(forged, {"a": 1}))) != record.hash


@pytest.mark.parametrize("change", [{"seq": True}, {"turn": b"t"}, {"actor": "\ud800"}, {"seq": 2**60}])
def test_a_field_of_another_type_is_an_edit(change: dict[str, Any]) -> None:
    record = stored(placed({"a": 1}))
    try:
        assert hash_of(replace(record, **change)) != record.hash
    except Exception as error:
        assert type(error).__name__ in ("BadInput", "TypeError")
