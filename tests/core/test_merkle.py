from __future__ import annotations

import hashlib
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.merkle import (
    EMPTY_ROOT,
    CompactRange,
    consistency_proof,
    inclusion_proof,
    inclusion_proofs,
    root_of,
    verify_consistency,
    verify_inclusion,
)
from assistant.errors import BadInput

ENTRIES = [bytes([n]) * (n % 5) for n in range(70)]


def plain_root(entries: Sequence[bytes]) -> bytes:
    """The definition of RFC 9162, 2.1.1, word for word."""
    if not entries:
        return hashlib.sha256().digest()
    if len(entries) == 1:
        return hashlib.sha256(b"\0" + entries[0]).digest()
    k = 1
    while k * 2 < len(entries):
        k *= 2
    return hashlib.sha256(b"\1" + plain_root(entries[:k]) + plain_root(entries[k:])).digest()


def plain_path(m: int, entries: Sequence[bytes]) -> list[bytes]:
    """The definition of RFC 9162, 2.1.3.1."""
    if len(entries) == 1:
        return []
    k = 1
    while k * 2 < len(entries):
        k *= 2
    if m < k:
        return [*plain_path(m, entries[:k]), plain_root(entries[k:])]
    return [*plain_path(m - k, entries[k:]), plain_root(entries[:k])]


def test_roots_are_those_of_the_published_test_vectors() -> None:
    """The eight leaves with which implementations of Certificate Transparency are tested."""
    leaves = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"]
    roots = {
        1: "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        2: "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        3: "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        8: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    }
    for size, root in roots.items():
        assert root_of(bytes.fromhex(leaf) for leaf in leaves[:size]).hex() == root


@pytest.mark.parametrize("size", range(len(ENTRIES)))
def test_the_root_is_the_defined_one_at_every_size(size: int) -> None:
    assert root_of(ENTRIES[:size]) == plain_root(ENTRIES[:size])


@given(st.lists(st.binary(max_size=40), max_size=80), st.integers(0, 80))
def test_a_log_grown_in_pieces_has_the_same_root_and_a_short_memory(entries: list[bytes], cut: int) -> None:
    grown = CompactRange().extended(entries[:cut]).extended(entries[cut:])
    assert grown == CompactRange().extended(entries)
    assert grown.root() == plain_root(entries)
    assert len(grown.peaks) == len(entries).bit_count()


def test_an_empty_log_has_the_empty_root() -> None:
    assert CompactRange().root() == EMPTY_ROOT


@given(st.integers(1, len(ENTRIES)), st.data())
def test_an_inclusion_proof_is_the_defined_one_and_holds(size: int, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, size - 1))
    proof = inclusion_proof(ENTRIES, index, size)
    assert list(proof) == plain_path(index, ENTRIES[:size])
    assert verify_inclusion(ENTRIES[index], index, size, proof, plain_root(ENTRIES[:size]))


@given(st.integers(1, len(ENTRIES)), st.data())
def test_many_proofs_come_from_one_pass(size: int, data: st.DataObject) -> None:
    indices = data.draw(st.sets(st.integers(0, size - 1)))
    proofs = inclusion_proofs(iter(ENTRIES), indices, size)
    assert proofs == {index: tuple(plain_path(index, ENTRIES[:size])) for index in indices}


@given(st.integers(1, len(ENTRIES)), st.data())
def test_an_inclusion_proof_holds_for_nothing_else(size: int, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, size - 1))
    proof, root = inclusion_proof(ENTRIES, index, size), plain_root(ENTRIES[:size])
    assert not verify_inclusion(b"other", index, size, proof, root)
    assert not verify_inclusion(ENTRIES[index], index, size, (*proof, root), root)
    assert not verify_inclusion(ENTRIES[index], index, size, proof, bytes(32))
    other = data.draw(st.integers(-1, size + 1).filter(lambda n: n != index))
    assert not verify_inclusion(ENTRIES[index], other, size, proof, root)
    for at in range(len(proof)):
        assert not verify_inclusion(ENTRIES[index], index, size, (*proof[:at], *proof[at + 1 :]), root)
        assert not verify_inclusion(ENTRIES[index], index, size, (*proof[:at], bytes(32), *proof[at + 1 :]), root)


@pytest.mark.parametrize("new", range(1, 34))
def test_a_consistency_proof_holds_between_all_sizes(new: int) -> None:
    for old in range(1, new + 1):
        proof = consistency_proof(ENTRIES, old, new)
        assert len(proof) <= new.bit_length() + 1
        assert verify_consistency(old, new, proof, plain_root(ENTRIES[:old]), plain_root(ENTRIES[:new]))


@given(st.integers(2, len(ENTRIES)), st.data())
def test_no_consistency_proof_hides_a_rewritten_past(new: int, data: st.DataObject) -> None:
    old = data.draw(st.integers(1, new - 1))
    at = data.draw(st.integers(0, old - 1))
    forged = [*ENTRIES[:at], b"rewritten", *ENTRIES[at + 1 :]]
    signed = plain_root(ENTRIES[:old])
    for entries in (ENTRIES, forged):
        proof = consistency_proof(entries, old, new)
        assert not verify_consistency(old, new, proof, signed, plain_root(forged[:new]))


@given(st.integers(2, len(ENTRIES)), st.data())
def test_a_bent_consistency_proof_fails(new: int, data: st.DataObject) -> None:
    old = data.draw(st.integers(1, new - 1))
    proof, roots = consistency_proof(ENTRIES, old, new), (plain_root(ENTRIES[:old]), plain_root(ENTRIES[:new]))
    assert not verify_consistency(old, new, (), *roots)
    assert not verify_consistency(old, new, (*proof, bytes(32)), *roots)
    assert not verify_consistency(new, old, proof, *roots)
    assert not verify_consistency(old, new, proof, *reversed(roots))
    for at in range(len(proof)):
        assert not verify_consistency(old, new, (*proof[:at], bytes(32), *proof[at + 1 :]), *roots)


@given(st.lists(st.binary(max_size=33), max_size=10), st.integers(-3, 2**70), st.integers(-3, 2**70))
def test_any_proof_gets_an_answer(proof: list[bytes], one: int, two: int) -> None:
    assert not verify_inclusion(b"x", one, two, proof, bytes(32))
    assert not verify_consistency(one, two, proof, bytes(32), b"\1" * 32)


def test_bytes_of_one_side_cannot_be_lent_to_the_other() -> None:
    proof = inclusion_proof(ENTRIES, 0, 4)
    root = plain_root(ENTRIES[:4])
    assert not verify_inclusion(ENTRIES[0], 0, 4, (proof[0] + proof[1][:1], proof[1][1:]), root)


@pytest.mark.parametrize(("index", "size"), [(-1, 3), (3, 3), (0, 0), (0, 100)])
def test_a_proof_that_cannot_be_is_refused(index: int, size: int) -> None:
    with pytest.raises(BadInput):
        inclusion_proof(ENTRIES, index, size)


@pytest.mark.parametrize(("old", "new"), [(0, 3), (4, 3), (-1, 3), (1, 100)])
def test_a_consistency_that_cannot_be_is_refused(old: int, new: int) -> None:
    with pytest.raises(BadInput):
        consistency_proof(ENTRIES, old, new)
