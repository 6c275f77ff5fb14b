"""Pairing: which statements of two documents are worth comparing.

Candidates come from an inverted index over the rarer terms of each statement (prefix filtering, Bayardo, Ma and
Srikant 2007): two statements that share half of their terms share one of these. Two statements belong together when each
is the other's nearest, so that neighbours in a list or table are not mixed up; a statement that stands word for word in
the other document has nothing to be compared with.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from typing import Final

from assistant.core.claims import statement_spans
from assistant.core.evidence import Evidence
from assistant.core.text import Span, terms

_NEAR: Final = 0.5
_PREFIX: Final = 2 / 3
_MARKS: Final = str.maketrans("", "", "*_`\"'“”‘’.,;:!?|#()[]。，；：！？、（）— \n\t")


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of one piece of evidence: its place in the document, its text and its content terms.

    `bare` is the text without marks and white space: equal for statements that differ in nothing else.
    """

    evidence: Evidence
    span: Span
    text: str
    terms: frozenset[str]
    bare: str


Side = tuple[Statement, ...]
Pair = tuple[Statement, Statement]


def statements(evidence: Sequence[Evidence]) -> Side:
    """The statements of the kept parts of one document's evidence, in the order of the document, each once."""
    found: dict[Span, Statement] = {}
    for item in evidence:
        for kept in item.kept:
            for span, text, words, bare in _parsed(item.quote(kept)):
                found.setdefault(span.shift(kept.start), Statement(item, span.shift(kept.start), text, words, bare))
    return tuple(found[span] for span in sorted(found))


def heading_terms(statement: Statement) -> frozenset[str]:
    """The content terms of the section that a statement stands in."""
    return _section_terms(statement.evidence.section)


@lru_cache(maxsize=1024)
def _section_terms(section: str) -> frozenset[str]:
    return frozenset(terms(section))


@lru_cache(maxsize=4096)
def _parsed(text: str) -> tuple[tuple[Span, str, frozenset[str], str], ...]:
    parts = ((span, text[span.start : span.end]) for span in statement_spans(text))
    return tuple((span, part, frozenset(terms(part)), part.translate(_MARKS).lower()) for span, part in parts)


def near_pairs(sides: Sequence[Side]) -> Iterator[tuple[int, int, list[Pair]]]:
    """For every two sides that have any: the pairs of statements that are each other's nearest.

    They share at least half of their terms (Dice), or stand alone between statements that are the same on both sides.
    """
    scores = _scores(sides)
    for one in range(len(sides)):
        for other in range(one + 1, len(sides)):
            pairs = _mutual(sides[one], sides[other], scores.get((one, other), {}))
            pairs += [pair for pair in anchored_pairs(sides[one], sides[other]) if pair not in pairs]
            if pairs:
                yield one, other, pairs


def _scores(sides: Sequence[Side]) -> dict[tuple[int, int], dict[tuple[int, int], float]]:
    """The Dice overlap of all pairs of statements of two sides that reaches the threshold."""
    frequency = Counter(term for side in sides for statement in side for term in statement.terms)
    twins = _twins(sides)
    index: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    found: defaultdict[tuple[int, int], dict[tuple[int, int], float]] = defaultdict(dict)
    for number, side in enumerate(sides):
        for place, statement in enumerate(side):
            rarest = sorted(statement.terms, key=lambda term: (frequency[term], term))
            prefix = rarest[: ceil(_PREFIX * len(rarest))]
            for at in dict.fromkeys(at for term in prefix for at in index[term] if at[0] != number):
                partner = sides[at[0]][at[1]]
                if number in twins[partner.bare] or at[0] in twins[statement.bare]:
                    continue
                score = _dice(partner.terms, statement.terms)
                if score >= _NEAR:
                    found[at[0], number][at[1], place] = score
            for term in prefix:
                index[term].append((number, place))
    return found


def _twins(sides: Sequence[Side]) -> dict[str, set[int]]:
    """The sides on which each text stands word for word."""
    found: defaultdict[str, set[int]] = defaultdict(set)
    for number, side in enumerate(sides):
        for statement in side:
            found[statement.bare].add(number)
    return found


def _dice(one: frozenset[str], other: frozenset[str]) -> float:
    whole = len(one) + len(other)
    return 2 * len(one & other) / whole if whole else 0.0


def _mutual(one: Side, other: Side, scores: dict[tuple[int, int], float]) -> list[Pair]:
    """The pairs in which each statement is the nearest of the other; the earlier one where two are equally near."""
    best: dict[int, tuple[float, int]] = {}
    best_other: dict[int, tuple[float, int]] = {}
    for (place, partner), score in scores.items():
        best[place] = max(best.get(place, (0.0, 0)), (score, -partner))
        best_other[partner] = max(best_other.get(partner, (0.0, 0)), (score, -place))
    return [
        (one[place], other[-partner])
        for place, (score, partner) in sorted(best.items())
        if best_other[-partner] == (score, -place)
    ]


def anchored_pairs(one: Side, other: Side) -> list[Pair]:
    """Single statements that differ between two that are the same on both sides (or between one and the end)."""
    places = {statement.bare: place for place, statement in enumerate(other)}
    pairs = []
    for place, statement in enumerate(one):
        if statement.bare in places or len(one) == 1:
            continue
        before = places.get(one[place - 1].bare, -2) if place else -1
        after = places.get(one[place + 1].bare, -2) if place + 1 < len(one) else len(other)
        if before > -2 and after - before == 2:
            pairs.append((statement, other[before + 1]))
    return pairs
