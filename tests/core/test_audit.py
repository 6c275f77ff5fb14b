from __future__ import annotations

import json
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.audit import AuditDraft, AuditKind, AuditRecord, canonical, genesis, hash_of, place
from assistant.errors import BadInput

AT = datetime(2026, 11, 30, 12, 0, 0, 123456, UTC)
DRAFT = AuditDraft(
    "acme", AuditKind.TURN, "u1", AT, "u1", "c1", "t1", {"mode": "compact", "cost": 0.5, "名": ["é", None]}
)
RECORD = place(DRAFT, id_="01", seq=1, previous=genesis("acme"), sealed_sha256="ab")


def test_a_record_carries_the_hash_of_everything_in_it() -> None:
    assert hash_of(RECORD) == RECORD.hash
    assert RECORD.at == "2026-11-30T12:00:00.123Z"
    changed: dict[str, Any] = {"seq": 2, "body": {}, "kind": AuditKind.VIEW, "sealed_sha256": None, "subject": None}
    for field in fields(AuditRecord):
        if field.name != "hash":
            other = replace(RECORD, **{field.name: changed.get(field.name, "other")})
            assert hash_of(other) != RECORD.hash, field.name


def test_the_hash_does_not_depend_on_the_order_of_members_or_on_the_zone() -> None:
    turned = replace(
        DRAFT, body=dict(reversed(list((DRAFT.body or {}).items()))), at=AT.astimezone(timezone(timedelta(hours=8)))
    )
    assert place(turned, id_="01", seq=1, previous=genesis("acme"), sealed_sha256="ab") == RECORD


def test_tenants_begin_differently() -> None:
    assert genesis("acme") != genesis("rival")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(-1e15, 1e15) | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=8,
    )
)
def test_canonical_json_survives_a_round_trip(value: object) -> None:
    text = canonical(value)
    assert canonical(json.loads(text)) == text


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**60, "\ud800", {"a": {1, 2}}])
def test_what_json_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises(BadInput):
        canonical({"value": value})
