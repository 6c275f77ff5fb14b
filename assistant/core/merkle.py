"""Merkle trees over the entries of a log: roots that grow, proofs, and their checks (RFC 9162, section 2.1). Pure.

An entry is any bytes; for the audit log it is the 32 bytes of a record's hash. Leaves and inner nodes are hashed with different first
bytes (RFC 9162, 2.1.1), so that a node never passes for an entry. Entries are counted from 0, sizes are numbers of entries.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from assistant.errors import BadInput

HASH_BYTES: Final = 32
EMPTY_ROOT: Final = hashlib.sha256(b"").digest()
"""The root of a tree without entries (RFC 9162, 2.1.1)."""

Range = tuple[int, int]
"""The subtree over the entries from the first number up to, not including, the second."""

_LEAF: Final = b"\0"
_NODE: Final = b"\1"


def leaf_hash(entry: bytes) -> bytes:
    """The hash of an entry as a leaf, 32 bytes."""
    return hashlib.sha256(_LEAF + entry).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of an inner node over those of its two sides, 32 bytes."""
    return hashlib.sha256(_NODE + left + right).digest()


@dataclass(frozen=True, slots=True)
class CompactRange:
    """What must be kept of `size` entries to go on: one hash per complete subtree, the largest (leftmost) first.

    There are as many as `size` has set bits, so memory grows with the logarithm of the log.
    """

    size: int = 0
    peaks: tuple[bytes, ...] = ()

    def extended(self, entries: Iterable[bytes]) -> CompactRange:
        """The tree after these entries came behind those it had."""
        size, peaks = self.size, list(self.peaks)
        for entry in entries:
            node, bits = leaf_hash(entry), size
            while bits & 1:
                node, bits = node_hash(peaks.pop(), node), bits >> 1
            peaks.append(node)
            size += 1
        return CompactRange(size, tuple(peaks))

    def root(self) -> bytes:
        """The root hash of all entries so far, 32 bytes."""
        if not self.peaks:
            return EMPTY_ROOT
        *left, node = self.peaks
        for peak in reversed(left):
            node = node_hash(peak, node)
        return node


def root_of(entries: Iterable[bytes]) -> bytes:
    """The root hash of all entries, 32 bytes."""
    return CompactRange().extended(entries).root()


def inclusion_proof(entries: Iterable[bytes], index: int, size: int) -> tuple[bytes, ...]:
    """The proof that entry `index` is in the tree of the first `size` entries, from the leaf up (RFC 9162, 2.1.3.1).

    Raises BadInput where the index is not below the size, or there are fewer entries.
    """
    return inclusion_proofs(entries, (index,), size)[index]


def inclusion_proofs(entries: Iterable[bytes], indices: Collection[int], size: int) -> dict[int, tuple[bytes, ...]]:
    """The inclusion proof of each index, in one pass over the entries; memory grows with the proofs, not with the log.

    Raises BadInput as `inclusion_proof`.
    """
    if not indices:
        return {}
    if not all(0 <= index < size for index in indices):
        raise BadInput("an index is not inside the tree", reason="index", size=size)
    paths = {index: _path(index, size) for index in indices}
    found = _nodes(entries, size, {span for path in paths.values() for span in path})
    return {index: tuple(found[span] for span in path) for index, path in paths.items()}


def consistency_proof(entries: Iterable[bytes], old: int, new: int) -> tuple[bytes, ...]:
    """The proof that the tree of the first `new` entries begins with the tree of the first `old` (RFC 9162, 2.1.4.1).

    Raises BadInput unless 0 < old <= new, or where there are fewer entries.
    """
    if not 0 < old <= new:
        raise BadInput("the older tree is empty or larger than the newer", reason="size", size=old)
    path = _growth(old, new)
    found = _nodes(entries, new, set(path))
    return tuple(found[span] for span in path)


def verify_inclusion(entry: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> bool:
    """Whether the proof shows that `entry` is number `index` of the `size` entries under `root` (RFC 9162, 2.1.3.2)."""
    if not (0 <= index < size and _are_hashes(proof)):
        return False
    place, last, node = index, size - 1, leaf_hash(entry)
    for other in proof:
        if last == 0:
            return False
        if place & 1 or place == last:
            node = node_hash(other, node)
            place, last = _skip_levels(place, last)
        else:
            node = node_hash(node, other)
        place, last = place >> 1, last >> 1
    return last == 0 and node == root


def verify_consistency(old: int, new: int, proof: Sequence[bytes], old_root: bytes, new_root: bytes) -> bool:
    """Whether the proof shows that the tree `new_root` begins with the tree `old_root` (RFC 9162, 2.1.4.2)."""
    if not (0 < old <= new and _are_hashes(proof)):
        return False
    if old == new:
        return not proof and old_root == new_root
    nodes = [old_root, *proof] if old & (old - 1) == 0 else list(proof)
    if not proof:
        return False
    place, last = old - 1, new - 1
    while place & 1:
        place, last = place >> 1, last >> 1
    return _grown(place, last, nodes) == (old_root, new_root)


def _grown(place: int, last: int, nodes: Sequence[bytes]) -> tuple[bytes, bytes] | None:
    """The two roots that the nodes of a consistency proof add up to; None where their number is wrong."""
    older = newer = nodes[0]
    for other in nodes[1:]:
        if last == 0:
            return None
        if place & 1 or place == last:
            older, newer = node_hash(other, older), node_hash(other, newer)
            place, last = _skip_levels(place, last)
        else:
            newer = node_hash(newer, other)
        place, last = place >> 1, last >> 1
    return (older, newer) if last == 0 else None


def _skip_levels(place: int, last: int) -> tuple[int, int]:
    """Up over the levels at which a node on the right edge has no sibling."""
    while not place & 1 and place:
        place, last = place >> 1, last >> 1
    return place, last


def _are_hashes(proof: Sequence[bytes]) -> bool:
    """Other lengths would let the bytes of one side pass for those of the other."""
    return all(len(node) == HASH_BYTES for node in proof)


def _split(start: int, end: int) -> int:
    """Where the subtree over [start, end) divides: after the largest power of two that leaves something."""
    return start + (1 << (end - start - 1).bit_length() - 1)


def _path(index: int, size: int) -> list[Range]:
    start, end, path = 0, size, list[Range]()
    while end - start > 1:
        middle = _split(start, end)
        if index < middle:
            path.append((middle, end))
            end = middle
        else:
            path.append((start, middle))
            start = middle
    return path[::-1]


def _growth(old: int, new: int) -> list[Range]:
    start, end, path = 0, new, list[Range]()
    while end != old:
        middle = _split(start, end)
        if old <= middle:
            path.append((middle, end))
            end = middle
        else:
            path.append((start, middle))
            start = middle
    if start:
        path.append((start, end))
    return path[::-1]


def _nodes(entries: Iterable[bytes], size: int, wanted: set[Range]) -> dict[Range, bytes]:
    """The hashes of the wanted subtrees [start, end) of the tree over the first `size` entries, in one pass."""
    found: dict[Range, bytes] = {}
    peaks: list[tuple[int, bytes]] = []
    count = 0
    for entry in islice(entries, size):
        _push(peaks, count, leaf_hash(entry), wanted, found)
        count += 1
    if count < size:
        raise BadInput("there are fewer entries than the tree has", reason="entries", size=size)
    _, node = peaks.pop()
    while peaks:
        start, left = peaks.pop()
        node = node_hash(left, node)
        found[start, size] = node
    return found


def _push(
    peaks: list[tuple[int, bytes]],
    start: int,
    node: bytes,
    wanted: set[Range],
    found: dict[Range, bytes],
) -> None:
    bits, end = start, start + 1
    if (start, end) in wanted:
        found[start, end] = node
    while bits & 1:
        start, left = peaks.pop()
        node, bits = node_hash(left, node), bits >> 1
        if (start, end) in wanted:
            found[start, end] = node
    peaks.append((start, node))
