"""Comparison: the disagreements between two passages, with what they are about and how much they matter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from assistant.core.claims import Reading, TokenKind, content, is_condition, read
from assistant.core.differences import Difference, DifferenceKind, Segment, align, judge
from assistant.core.pairing import Statement, anchored_pairs, near_pairs
from assistant.core.text import terms

_ALIGNED: Final = 0.6
_LINKED: Final = 0.5
_ANCHORED: Final = 0.3
_MIN_SHARED: Final = 2


@dataclass(frozen=True, slots=True)
class Finding:
    """Two statements that disagree: what differs, on what topic, whether both are versions of one document."""

    one: Statement
    other: Statement
    differences: tuple[Difference, ...]
    topic: str
    linked: bool
    weight: float

    @property
    def why(self) -> str:
        """What differs in plain words: "36 hours / 32 hours"."""
        return "; ".join(f"{d.one or '-'} / {d.other or '-'}" for d in self.differences[:3])

    def repeats(self, earlier: Finding) -> bool:
        """Whether an earlier finding already tells of the same disagreement."""
        return self.topic == earlier.topic or self.why == earlier.why


def compare(
    one: Sequence[Statement], other: Sequence[Statement], question: str, *, linked: bool
) -> list[Finding]:
    """The disagreements between two passages, those about the question with the greatest weight."""
    asked = frozenset(terms(question))
    anchored = anchored_pairs(one, other)
    found = [
        _aligned(left, right, asked, linked=linked, least=_ANCHORED if (left, right) in anchored else _ALIGNED)
        for left, right in near_pairs(one, other)
    ]
    return [finding for finding in found if finding is not None]


def _aligned(one: Statement, other: Statement, asked: frozenset[str], *, linked: bool, least: float) -> Finding | None:
    left, right = read(one.text, one.evidence.source.date), read(other.text, other.evidence.source.date)
    likeness, segments = align(left, right)
    if likeness < (min(least, _LINKED) if linked else least) or not _same_conditions(left, right, segments):
        return None
    differences = judge(left, right, segments)
    if not differences:
        return None
    return Finding(one, other, tuple(differences), _topic(left, segments), linked, likeness)


def _same_conditions(one: Reading, other: Reading, segments: Sequence[Segment]) -> bool:
    """Whether two aligned statements hold for the same years and groups, so that their values can be compared."""
    if one.row != other.row:
        return False
    if one.periods - other.periods and other.periods - one.periods:
        return False
    return not (one.groups - other.groups and other.groups - one.groups)


def _topic(one: Reading, segments: Sequence[Segment]) -> str:
    return " ".join(token.key for token in one.tokens if token.kind in (TokenKind.WORD, TokenKind.NAME))[:60]
