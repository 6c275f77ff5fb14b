"""Merkle trees over the entries of a log: roots that grow (RFC 9162, section 2.1). Pure.

An entry is any bytes; for the audit log it is the 32 bytes of a record's hash. Leaves and inner nodes are hashed with different first
bytes (RFC 9162, 2.1.1), so that a node never passes for an entry.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

HASH_BYTES: Final = 32
EMPTY_ROOT: Final = hashlib.sha256(b"").digest()
"""The root of a tree without entries (RFC 9162, 2.1.1)."""

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
