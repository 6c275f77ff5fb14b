from __future__ import annotations

import hashlib
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.merkle import EMPTY_ROOT, CompactRange

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
        assert CompactRange().extended(bytes.fromhex(leaf) for leaf in leaves[:size]).root().hex() == root


@pytest.mark.parametrize("size", range(len(ENTRIES)))
def test_the_root_is_the_defined_one_at_every_size(size: int) -> None:
    assert CompactRange().extended(ENTRIES[:size]).root() == plain_root(ENTRIES[:size])


@given(st.lists(st.binary(max_size=40), max_size=80), st.integers(0, 80))
def test_a_log_grown_in_pieces_has_the_same_root_and_a_short_memory(entries: list[bytes], cut: int) -> None:
    grown = CompactRange().extended(entries[:cut]).extended(entries[cut:])
    assert grown == CompactRange().extended(entries)
    assert grown.root() == plain_root(entries)
    assert len(grown.peaks) == len(entries).bit_count()


def test_an_empty_log_has_the_empty_root() -> None:
    assert CompactRange().root() == EMPTY_ROOT
