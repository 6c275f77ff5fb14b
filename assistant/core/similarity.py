"""Similarity of pieces of evidence by their words, to bring together what speaks of the same."""

from __future__ import annotations

from collections.abc import Sequence

from assistant.core.evidence import Evidence
from assistant.core.forms import conflict_units
from assistant.core.text import terms


def neighbours_together(evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """The same evidence in an order in which similar pieces stand beside each other, the first one first.

    A greedy chain: after each piece comes the one most like it that is left (pieces that conflict count as one).
    """
    left = [(tuple(unit), _words(unit)) for unit in conflict_units(evidence)]
    if not left:
        return ()
    chain = [left.pop(0)]
    while left:
        said = chain[-1][1]
        best = max(range(len(left)), key=lambda place: (_overlap(said, left[place][1]), -place))
        chain.append(left.pop(best))
    return tuple(item for unit, _ in chain for item in unit)


def _words(unit: Sequence[Evidence]) -> frozenset[str]:
    return frozenset(word for item in unit for word in terms(f"{item.source.title} {item.section} {item.text}"))


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """The Jaccard index, 0..1."""
    return len(one & other) / len(one | other) if one or other else 0.0
