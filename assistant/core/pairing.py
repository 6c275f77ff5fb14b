"""Pairing: which statements of two passages are worth comparing.

An inverted index over the rarer terms finds pairs that share words without looking at every pair; two statements of two
versions belong together when each is the other's nearest, so that neighbours in a list or table are not mixed up.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from assistant.core.claims import statement_spans
from assistant.core.evidence import Evidence
from assistant.core.text import Span, terms

_MIN_TERMS: Final = 2
_NEAR: Final = 0.5
_COMMON: Final = 0.25
_MIN_COMMON: Final = 12
_MARKS: Final = str.maketrans("", "", "*_`\"'“”‘’.,;:!?|。，；：！？、 \n\t")


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of one piece of evidence: its place in the document, its text and its content terms."""

    evidence: Evidence
    span: Span
    text: str
    terms: frozenset[str]

    @property
    def bare(self) -> str:
        """The text without marks and white space: equal for statements that differ in nothing else."""
        return self.text.translate(_MARKS).lower()


def statements(evidence: Evidence) -> list[Statement]:
    """The statements of the kept parts of a piece of evidence, in order."""
    found: list[Statement] = []
    for kept in evidence.kept:
        for span, words in _parsed(evidence.quote(kept)):
            place = span.shift(kept.start)
            found.append(Statement(evidence, place, evidence.quote(place), words))
    return found


@lru_cache(maxsize=4096)
def _parsed(text: str) -> tuple[tuple[Span, frozenset[str]], ...]:
    return tuple((span, frozenset(terms(text[span.start : span.end]))) for span in statement_spans(text))


def near_pairs(one: Sequence[Statement], other: Sequence[Statement]) -> list[tuple[Statement, Statement]]:
    """The pairs of statements that are each other's nearest and share at least half of their terms.

    Statements that stand word for word on the other side are taken out first: they agree.
    """
    left, right = _without_twins(one, other)
    scores = _overlaps(left, right)
    best = {i: max(row.items(), key=lambda item: (item[1], -item[0])) for i, row in scores.items() if row}
    columns: dict[int, tuple[float, int]] = {}
    for i, row in scores.items():
        for j, score in row.items():
            columns[j] = max(columns.get(j, (0.0, 0)), (score, -i))
    near = [
        (left[i], right[j]) for i, (j, score) in sorted(best.items()) if score >= _NEAR and columns[j] == (score, -i)
    ]
    return near + [pair for pair in anchored_pairs(one, other) if pair not in near]


def anchored_pairs(one: Sequence[Statement], other: Sequence[Statement]) -> list[tuple[Statement, Statement]]:
    """Single statements that differ between two that are the same on both sides (or between one and the end)."""
    texts, other_texts = [s.bare for s in one], [s.bare for s in other]
    places = {text: place for place, text in enumerate(other_texts)}
    pairs = []
    for i, text in enumerate(texts):
        if text in places:
            continue
        before = places.get(texts[i - 1], -2) if i else -1
        after = places.get(texts[i + 1], -2) if i + 1 < len(texts) else len(other_texts)
        if after - before == 2 and before > -2 and (i or i + 1 < len(texts)):
            pairs.append((one[i], other[before + 1]))
    return pairs


def sharing_pairs(
    one: Sequence[Statement], other: Sequence[Statement], least: float
) -> list[tuple[Statement, Statement, float]]:
    """All pairs whose terms agree to at least `least` (Dice), best first."""
    found = [
        (one[i], other[j], score)
        for i, row in _overlaps(one, other).items()
        for j, score in row.items()
        if score >= least
    ]
    return sorted(found, key=lambda pair: (-pair[2], pair[0].span, pair[1].span))


def _without_twins(one: Sequence[Statement], other: Sequence[Statement]) -> tuple[list[Statement], list[Statement]]:
    texts, other_texts = {s.bare for s in one}, {s.bare for s in other}
    return [s for s in one if s.bare not in other_texts], [s for s in other if s.bare not in texts]


def _overlaps(one: Sequence[Statement], other: Sequence[Statement]) -> dict[int, dict[int, float]]:
    """Dice overlap of the terms of every pair that shares at least one."""
    index: defaultdict[str, list[int]] = defaultdict(list)
    for j, statement in enumerate(other):
        for term in statement.terms:
            index[term].append(j)
    scores: dict[int, dict[int, float]] = {}
    for i, statement in enumerate(one):
        shared = Counter(j for term in statement.terms for j in index.get(term, ()))
        scores[i] = {j: 2 * count / (len(statement.terms) + len(other[j].terms)) for j, count in shared.items()}
    return scores


def related_evidence(found: Sequence[Sequence[Statement]]) -> Iterable[tuple[int, int]]:
    """The pairs of passages that share enough rarer terms in some statement to be worth comparing."""
    frequency: Counter[str] = Counter()
    for passage in found:
        frequency.update(set().union(*(s.terms for s in passage)) if passage else ())
    limit = max(_MIN_COMMON, int(len(found) * _COMMON))
    owners: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for number, passage in enumerate(found):
        for place, statement in enumerate(passage):
            for term in statement.terms:
                if 1 < frequency[term] <= limit:
                    owners[term].append((number, place))
    shared: Counter[tuple[int, int, int, int]] = Counter()
    for places in owners.values():
        for at, (number, place) in enumerate(places):
            shared.update(
                (number, other, place, other_place) for other, other_place in places[at + 1 :] if other != number
            )
    return sorted({(a, b) for (a, b, _, _), count in shared.items() if count >= _MIN_TERMS})
