from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.audit.export_proof import Exported, Folding, Node, Pruning, leaf
from assistant.core.merkle import CompactRange
from assistant.errors import BadInput

LOGS = st.integers(0, 70).flatmap(lambda size: st.tuples(st.just(size), st.sets(st.integers(1, size + 3))))


def hashes(size: int) -> list[tuple[int, str]]:
    return [(seq, hashlib.sha256(bytes([seq])).hexdigest()) for seq in range(1, size + 1)]


def exported(seqs: set[int]) -> Exported:
    held = Exported()
    for seq in sorted(seqs):
        held.add(seq)
    return held


def pruned(size: int, seqs: set[int], step: int = 1000) -> list[Node]:
    pruning = Pruning(size, exported(seqs))
    log = hashes(size + 2)
    found = [node for at in range(0, len(log), step) for node in pruning.feed(log[at : at + step])]
    assert pruning.finished
    return found


@given(LOGS, st.integers(1, 9))
def test_exported_records_and_the_nodes_give_the_root(log: tuple[int, set[int]], step: int) -> None:
    size, seqs = log
    own = [leaf(seq, hashed) for seq, hashed in hashes(size) if seq in seqs]
    folding = Folding()
    for node in sorted([*own, *pruned(size, seqs, step)], key=lambda node: node.low):
        folding.add(node)
    assert folding.end == size
    assert (folding.root() or hashlib.sha256().digest()) == CompactRange().extended(
        bytes.fromhex(hashed) for _, hashed in hashes(size)
    ).root()


@given(LOGS)
def test_nodes_come_left_to_right_and_cover_no_exported_record(log: tuple[int, set[int]]) -> None:
    size, seqs = log
    nodes = pruned(size, seqs)
    assert [node.low for node in nodes] == sorted(node.low for node in nodes)
    covered = [seq for node in nodes for seq in range(node.low + 1, node.high + 1)]
    assert sorted(covered) == [seq for seq in range(1, size + 1) if seq not in seqs]


def test_few_nodes_stand_for_many_records() -> None:
    assert len(pruned(64, {1})) == 6
    assert pruned(64, set(range(1, 65))) == []
    assert len(pruned(64, set())) == 1


def test_a_log_with_a_hole_has_no_proof() -> None:
    pruning = Pruning(5, exported({1}))
    with pytest.raises(BadInput):
        pruning.feed([pair for pair in hashes(5) if pair[0] != 3])


def test_a_log_that_ends_early_is_not_finished() -> None:
    pruning = Pruning(5, exported({1}))
    pruning.feed(hashes(4))
    assert not pruning.finished


@pytest.mark.parametrize("seqs", [(1, 1), (2, 1), (0,), (-1,)])
def test_numbers_ascend_from_one(seqs: tuple[int, ...]) -> None:
    held = Exported()
    with pytest.raises(BadInput):
        for seq in seqs:
            held.add(seq)


def test_subtrees_must_follow_each_other() -> None:
    folding = Folding()
    folding.add(leaf(1, "00"))
    with pytest.raises(BadInput):
        folding.add(leaf(3, "00"))


def test_the_first_subtree_begins_at_the_start() -> None:
    with pytest.raises(BadInput):
        Folding().add(leaf(2, "00"))
