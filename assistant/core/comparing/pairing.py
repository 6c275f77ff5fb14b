"""Pairing: which statements of two documents are worth comparing.

Candidates come from an inverted index over the rarer terms of each statement (prefix filtering, Bayardo, Ma and
Srikant 2007): two statements that share half of their terms share one of these. Two statements belong together when
each is the other's nearest, so that neighbours in a list or table are not mixed up; a statement that stands word for
word in the other document has nothing to be compared with.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain, combinations
from math import ceil
from typing import Final, NamedTuple

from assistant.core.comparing.claims import statement_spans
from assistant.core.comparing.date_patterns import MONTHS
from assistant.core.comparing.units import NUMBER_WORDS, TENS
from assistant.core.evidence import Evidence
from assistant.core.stopwords import STOPWORDS
from assistant.core.text import Span, stem, terms

_NEAR: Final = 0.5
_PREFIX: Final = 2 / 3
_BESIDE_NUMBERS: Final = """
年 月 日 号 天 周 点 元 前 后 h q st nd rd th am pm fewer least minimum maximum within per
"""
_VALUE_WORDS: Final = frozenset(stem(word) for word in [*MONTHS, *NUMBER_WORDS, *TENS, *_BESIDE_NUMBERS.split()]) - {
    "may"
}
_DIGIT: Final = re.compile(r"\d")
_PLAIN_WORD: Final = re.compile(r"\d+(?:[.,:]\d+)*|[a-z]+(?:'[a-z]+)?")
_MARKS: Final = str.maketrans("", "", "*_`\"'“”‘’.,;:!?|#()[]。，；：！？、（）— \n\t")


class Statement(NamedTuple):
    """A statement of one piece of evidence: its place in the document, its text and its content terms.

    `topic` are the terms less numbers, months and words of bounds, what the statement is about whatever its values; all where none are
    left. `bare` is the text without marks and white space: equal for statements that differ in nothing else.
    """

    evidence: Evidence
    span: Span
    text: str
    terms: frozenset[str]
    topic: frozenset[str]
    bare: str


Side = tuple[Statement, ...]
Pair = tuple[Statement, Statement]


def statements(evidence: Sequence[Evidence]) -> Side:
    """The statements of the kept parts of one document's evidence, in the order of the document, each once."""
    found: dict[tuple[int, int], Statement] = {}
    for item in evidence:
        for kept in item.kept:
            for start, end, text, words, topic, bare in _parsed(item.quote(kept)):
                place = (kept.start + start, kept.start + end)
                if place not in found:
                    found[place] = Statement(item, Span(*place), text, words, topic, bare)
    return tuple(found[place] for place in sorted(found))


def heading_terms(statement: Statement) -> frozenset[str]:
    """The content terms of the section that a statement stands in."""
    return _section_terms(statement.evidence.section)


@lru_cache(maxsize=1024)
def _section_terms(section: str) -> frozenset[str]:
    return frozenset(terms(section))


@lru_cache(maxsize=4096)
def _parsed(text: str) -> tuple[tuple[int, int, str, frozenset[str], frozenset[str], str], ...]:
    found = []
    for span in statement_spans(text):
        part = text[span.start : span.end]
        held = _terms(part)
        topic = held - _VALUE_WORDS
        if _DIGIT.search(part):
            topic = frozenset(term for term in topic if not term[0].isdigit())
        found.append((span.start, span.end, part, held, topic or held, part.translate(_MARKS).lower()))
    return tuple(found)


def _terms(text: str) -> frozenset[str]:
    """The content terms of a text; plain English, the most frequent case, without a look at every character class."""
    plain = text.replace("’", "'")
    if not plain.isascii():
        return frozenset(terms(text))
    return frozenset(stem(word) for word in set(_PLAIN_WORD.findall(plain.lower())) - STOPWORDS)


def near_pairs(sides: Sequence[Side]) -> Iterator[tuple[int, int, list[Pair], list[Pair]]]:
    """For every two sides that have any: the pairs of statements that are each other's nearest, and which are anchored.

    They share at least half of their terms (Dice), or stand alone between statements that are the same on both sides
    (anchored).
    """
    twins = _twins(sides)
    scores = _scores(sides, twins)
    versions = {pair for numbers in twins.values() if len(numbers) > 1 for pair in combinations(sorted(numbers), 2)}
    for one, other in sorted(scores.keys() | versions):
        pairs = _mutual(sides[one], sides[other], scores.get((one, other), {}))
        anchored = anchored_pairs(sides[one], sides[other]) if (one, other) in versions else []
        pairs += [pair for pair in anchored if pair not in pairs]
        if pairs:
            yield one, other, pairs, anchored


def _scores(sides: Sequence[Side], twins: dict[str, set[int]]) -> dict[tuple[int, int], dict[tuple[int, int], float]]:
    """The Dice overlap of all pairs of statements of two sides that reaches the threshold.

    Between two with the same topic the one with the same numbers is nearer.
    """
    rank = _ranks(sides)
    common = frozenset(rank)
    index: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    found: defaultdict[tuple[int, int], dict[tuple[int, int], float]] = defaultdict(dict)
    for number, side in enumerate(sides):
        for place, statement in enumerate(side):
            prefix = _prefix(statement.topic, common, rank)
            same = twins[statement.bare]
            for at in {at for term in prefix for at in index[term] if at[0] not in same}:
                partner = sides[at[0]][at[1]]
                score = _dice(partner.topic, statement.topic)
                if score >= _NEAR and number not in twins[partner.bare]:
                    found[at[0], number][at[1], place] = score + _dice(partner.terms, statement.terms)
            for term in prefix:
                index[term].append((number, place))
    return found


def _ranks(sides: Sequence[Side]) -> dict[str, int]:
    """The place of every term that stands in two statements or more, the rarest first."""
    frequency = Counter(chain.from_iterable(statement.topic for side in sides for statement in side))
    shared = sorted((count, term) for term, count in frequency.items() if count > 1)
    return {term: place for place, (_, term) in enumerate(shared)}


def _prefix(held: frozenset[str], common: frozenset[str], rank: dict[str, int]) -> list[int]:
    """The rarest two thirds of a statement's terms, less those that stand nowhere else (they have no rank)."""
    shared = sorted([rank[term] for term in held & common])
    return shared[: max(0, ceil(_PREFIX * len(held)) - len(held) + len(shared))]


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
