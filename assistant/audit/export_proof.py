"""The part of the Merkle tree of a log that an export needs to show that its records are in the log. Pure.

Of the tree over all records of a checkpoint (RFC 9162, section 2.1) only what the export lacks is given: the roots of the largest
subtrees without an exported record. With the exported records they give the root; a whole log needs none. It is the inclusion proof of
all exported records at once.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assistant.core.merkle import leaf_hash, node_hash
from assistant.errors import BadInput


class Exported:
    """The sequence numbers of the exported records, as ranges: eight bytes for each end, whatever the number of records."""

    def __init__(self) -> None:
        self._starts = array("Q")
        self._ends = array("Q")

    def add(self, seq: int) -> None:
        """One more record; BadInput unless its number is above those before."""
        if seq < 1 or (self._ends and seq <= self._ends[-1]):
            raise BadInput("records do not come in the order of their numbers", reason="order", seq=seq)
        if self._ends and seq == self._ends[-1] + 1:
            self._ends[-1] = seq
        else:
            self._starts.append(seq)
            self._ends.append(seq)

    def any_of(self, low: int, high: int) -> bool:
        """Whether a record with low < number <= high is among them, that is a leaf low..high of the tree."""
        at = bisect_right(self._starts, high) - 1
        return at >= 0 and self._ends[at] > low

    @property
    def ranges(self) -> int:
        """How many unbroken ranges they form."""
        return len(self._starts)

    @property
    def first(self) -> int:
        """The lowest number, 0 when there is none."""
        return self._starts[0] if self._starts else 0

    @property
    def last(self) -> int:
        """The highest number, 0 when there is none."""
        return self._ends[-1] if self._ends else 0


@dataclass(frozen=True, slots=True)
class Node:
    """The hash of a subtree: leaves low..high (from 0, the end outside) of the tree."""

    low: int
    high: int
    hash: bytes


class Folding:
    """Folds neighbouring subtrees of one tree, from left to right, into its root; keeps O(log n) hashes.

    The tree may be a subtree itself, whose first leaf is `start`.
    """

    def __init__(self, start: int = 0) -> None:
        self._start = start
        self._stack: list[Node] = []

    @property
    def end(self) -> int:
        """Where the next subtree has to begin."""
        return self._stack[-1].high if self._stack else self._start

    def add(self, node: Node) -> None:
        """The next subtree; BadInput when it does not begin where the last one ended (the first: at the start)."""
        if node.low != self.end:
            raise BadInput("a subtree does not follow the one before", reason="gap", at=self.end)
        self._stack.append(node)
        while len(self._stack) > 1 and _whole(self._stack[-2], self._stack[-1]):
            self._merge()

    def root(self) -> bytes | None:
        """The root over all that was added, None when nothing was."""
        stack = list(self._stack)
        while len(self._stack) > 1:
            self._merge()
        root = self._stack[0].hash if self._stack else None
        self._stack = stack
        return root

    def _merge(self) -> None:
        right, left = self._stack.pop(), self._stack.pop()
        self._stack.append(Node(left.low, right.high, node_hash(left.hash, right.hash)))


def _whole(left: Node, right: Node) -> bool:
    """Whether two neighbours are the halves of one perfect subtree."""
    width = left.high - left.low
    return width == right.high - right.low and width & (width - 1) == 0 and left.low % (2 * width) == 0


def leaf(seq: int, record_hash: str) -> Node:
    """The leaf of the record number `seq`; ValueError when its hash is not hexadecimal."""
    return Node(seq - 1, seq, leaf_hash(bytes.fromhex(record_hash)))


class Pruning:
    """Makes, from all record hashes of a checkpoint in order, the nodes that an export needs; keeps O(log n) hashes."""

    def __init__(self, size: int, exported: Exported) -> None:
        self._pieces = _pieces(0, size, exported)
        self._piece = next(self._pieces, None)
        self._folding = Folding()

    def feed(self, hashes: Sequence[tuple[int, str]]) -> list[Node]:
        """The nodes that are complete after these records (number and hash), left to right.

        Records beyond the checkpoint are ignored; BadInput for one that is missing.
        """
        done: list[Node] = []
        for seq, hashed in hashes:
            if self._piece is None:
                break
            low, high, needed = self._piece
            if seq != self._folding.end + 1:
                raise BadInput("a record of the checkpoint is missing", reason="gap", seq=seq)
            self._folding.add(leaf(seq, hashed))
            if seq == high:
                done += [Node(low, high, self._folding.root() or b"")] if needed else []
                self._piece, self._folding = next(self._pieces, None), Folding(high)
        return done

    @property
    def finished(self) -> bool:
        """Whether all leaves of the checkpoint have been seen."""
        return self._piece is None


def _pieces(low: int, high: int, exported: Exported) -> Iterator[tuple[int, int, bool]]:
    """The tree cut into leaves that are exported (False) and largest subtrees without any (True), left to right."""
    if low >= high:
        return
    if not exported.any_of(low, high):
        yield low, high, True
    elif high - low == 1:
        yield low, high, False
    else:
        middle = low + (1 << (high - low - 1).bit_length() - 1)
        yield from _pieces(low, middle, exported)
        yield from _pieces(middle, high, exported)
