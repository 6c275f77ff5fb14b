"""Sealed text: opens with its key for its record, and for nothing else."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from hypothesis import given
from hypothesis import strategies as st

from assistant.errors import BadInput
from assistant.store.engine import Database
from assistant.store.sealing import KEY_BITS, NONCE_BYTES, destroy_key, key_for, key_of, seal, sealed_hash, unseal
from tests.store.audit_filling import START

KEY = AESGCM.generate_key(KEY_BITS)
OWNER = {"tenant": "acme", "subject": "u1", "record": "r1"}
TEXTS = st.dictionaries(st.text(max_size=20), st.text(max_size=300), max_size=4)


@given(TEXTS)
def test_sealed_text_opens_again(personal: dict[str, str]) -> None:
    assert unseal(KEY, seal(KEY, personal, **OWNER), **OWNER) == personal


@given(st.data())
def test_any_changed_byte_is_noticed(data: st.DataObject) -> None:
    sealed = bytearray(seal(KEY, {"question": "wie viele Tage?"}, **OWNER))
    place = data.draw(st.integers(0, len(sealed) - 1))
    sealed[place] ^= data.draw(st.integers(1, 255))
    with pytest.raises(BadInput):
        unseal(KEY, bytes(sealed), **OWNER)


@given(st.integers(0, 60))
def test_a_cut_text_is_noticed(length: int) -> None:
    with pytest.raises(BadInput):
        unseal(KEY, seal(KEY, {"question": "x" * 100}, **OWNER)[:length], **OWNER)


@pytest.mark.parametrize(
    "other", [{"tenant": "b"}, {"subject": "u2"}, {"record": "r2"}, {"tenant": "acme\x00", "subject": ""}]
)
def test_the_text_belongs_to_its_record(other: dict[str, str]) -> None:
    sealed = seal(KEY, {"question": "?"}, **OWNER)
    with pytest.raises(BadInput):
        unseal(KEY, sealed, **(OWNER | other))
    with pytest.raises(BadInput):
        unseal(AESGCM.generate_key(KEY_BITS), sealed, **OWNER)


def test_the_same_text_is_never_sealed_the_same() -> None:
    sealed = [seal(KEY, {"question": "?"}, **OWNER) for _ in range(50)]
    assert len({each[:NONCE_BYTES] for each in sealed}) == len(set(map(sealed_hash, sealed))) == 50


def test_text_that_utf8_cannot_hold_is_refused() -> None:
    with pytest.raises(BadInput):
        seal(KEY, {"question": "\ud800"}, **OWNER)


async def test_a_key_is_made_once_and_destroyed_for_good(database: Database) -> None:
    async with database.write() as connection:
        assert await key_of(connection, "acme", "u1") is None
        key = await key_for(connection, "acme", "u1", START)
        assert key is not None
        assert len(key) == KEY_BITS // 8
        assert await key_for(connection, "acme", "u1", START) == await key_of(connection, "acme", "u1") == key
        assert await key_for(connection, "rival", "u1", START) != key
    async with database.write() as connection:
        await destroy_key(connection, "acme", "u1", START)
        await destroy_key(connection, "acme", "unknown", START)
        assert await key_for(connection, "acme", "u1", START) is None
        assert await key_for(connection, "acme", "unknown", START) is None
        assert await key_of(connection, "rival", "u1") is not None
