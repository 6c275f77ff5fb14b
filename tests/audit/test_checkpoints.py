from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.audit.checkpoints import Checkpoint, checkpoint_in, checkpoint_of, sign_checkpoint
from assistant.audit.signing import verify_signature
from assistant.core.audit import canonical
from assistant.core.merkle import CompactRange
from assistant.errors import BadInput
from tests.audit.chains import SIGNER, STRANGER, chain, checkpoint

ONE = checkpoint(chain(5), 5)


@given(
    st.text(max_size=20),
    st.lists(st.binary(min_size=32, max_size=32), min_size=1, max_size=9),
    st.datetimes(timezones=st.just(UTC)),
)
def test_a_checkpoint_comes_back_from_its_row_and_its_line(tenant: str, entries: list[bytes], at: datetime) -> None:
    made = sign_checkpoint(tenant, CompactRange().extended(entries), entries[-1].hex(), at, SIGNER)
    assert checkpoint_of(made.row()) == made
    assert checkpoint_in(made.line()) == made
    assert made.line().count(b"\n") == 1
    assert made.size == len(entries)


def test_the_signature_is_over_everything_else_as_canonical_json() -> None:
    told = {name: value for name, value in json.loads(ONE.line()).items() if name != "signature"}
    assert set(told) == {"tenant", "size", "root", "head", "at", "key_id"}
    assert verify_signature(SIGNER.public, canonical(told), ONE.signature_bytes())
    assert not verify_signature(STRANGER.public, canonical(told), ONE.signature_bytes())


SPOILT: dict[str, list[Any]] = {
    "tenant": [None, 1, b"acme"],
    "size": [0, -1, 1.0, True, "5", None, 2**53],
    "root": ["", "0" * 63, "G" * 64, "A" * 64, None, "0" * 64 + "\n"],
    "head": [5, "0" * 65],
    "at": ["", "yesterday", "2026-11-30", "2026-11-30T12:00:00Z", "2026-11-30T12:00:00.000+00:00", 0, None],
    "key_id": ["", "xyz", "0" * 17, None],
    "signature": ["", "%", "AAAA", "é" * 88, None, "A" * 87 + "="],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in SPOILT.items() for value in values])
def test_a_spoilt_field_is_refused(name: str, value: object) -> None:
    with pytest.raises(BadInput):
        checkpoint_of({**ONE.row(), name: value})


@pytest.mark.parametrize("name", sorted(Checkpoint.__slots__))
def test_a_missing_field_is_refused(name: str) -> None:
    row = ONE.row()
    del row[name]
    with pytest.raises(BadInput):
        checkpoint_of(row)


@given(st.binary(max_size=300))
def test_any_line_is_a_checkpoint_or_refused(line: bytes) -> None:
    with pytest.raises(BadInput):
        checkpoint_in(line)


@pytest.mark.parametrize(
    "line", [b"null", b"[]", b"{}", b"\xff", ONE.line()[:-2], b"[" * 10_000, ONE.line() + b" " * 20_000]
)
def test_a_hostile_line_is_refused(line: bytes) -> None:
    with pytest.raises(BadInput):
        checkpoint_in(line)


def test_a_log_without_records_has_no_checkpoint() -> None:
    with pytest.raises(BadInput):
        sign_checkpoint("acme", CompactRange(), "0" * 64, datetime.now(UTC), SIGNER)
