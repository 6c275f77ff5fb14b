"""Alignment: find the sentences of the evidence that a sentence of the answer rests on.

Matching is lexical: stems for English, character pairs for Chinese, weighed by inverse document frequency over the
evidence shown (Sparck Jones 1972), with a bonus for words that stand close together on both sides. The evidence is
indexed once (an inverted file), so the cost grows with the number of matching words, not with the product of the sizes.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from assistant.core.evidence import Evidence
from assistant.core.stopwords import STOPWORDS
from assistant.core.text import CJK, Span, clean_for_display, sentences, stem

LONGEST_UNIT: Final = 600
"""A sentence of the evidence of more characters (a page without full stops) is cited in parts."""

_TOKEN: Final = re.compile(rf"[{CJK}]+|\d+(?:[.,:]\d+)*|[^\W\d_{CJK}]+(?:['’][^\W\d_{CJK}]+)?")
_CJK_FIRST: Final = re.compile(f"[{CJK}]")
_NEAR: Final = 3
_STEM_SHARED: Final = 5
_RELATED: Final = 0.5
_CANDIDATES: Final = 10


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence of the evidence: `piece` is the place of its evidence, `part` numbers the kept part it stands in."""

    piece: int
    part: int
    span: Span
    text: str
    terms: tuple[str, ...]
    places: Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class EvidenceIndex:
    """The evidence of one turn, cut into units and indexed by term; build it with `index_evidence`."""

    evidence: tuple[Evidence, ...]
    units: tuple[Unit, ...]
    postings: Mapping[str, tuple[int, ...]]
    holders: Mapping[str, frozenset[int]]
    families: Mapping[str, tuple[str, ...]]
    known: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def weight(self, term: str) -> float:
        """1 for a word of every unit, up to 2 for a rare or unseen one; numbers count half as much again."""
        seen = len(self.postings.get(term, ()))
        rarity = math.log(1 + len(self.units) / (0.5 + seen)) / math.log(1 + 2 * len(self.units) + 1e-9)
        return (1 + rarity) * (1.5 if term[0].isdigit() else 1.0)

    def related(self, term: str) -> tuple[str, ...]:
        """Other words of the evidence that share the stem's first letters ("employe", "employ")."""
        if term not in self.known:
            self.known[term] = tuple(
                other for other in self.families.get(term[:_STEM_SHARED], ()) if _akin(term, other)
            )
        return self.known[term]


def match_terms(text: str) -> list[str]:
    """The terms of a text for matching, in order: stems without stop words, numbers, overlapping pairs of Chinese characters."""
    found: list[str] = []
    for match in _TOKEN.finditer(text):
        token = match.group()
        if _CJK_FIRST.match(token):
            found.extend(_pairs(token))
        elif token[0].isdigit():
            found.append(token.replace(",", ""))
        elif (word := token.lower()) not in STOPWORDS:
            found.append(stem(word))
    return found


def _pairs(run: str) -> list[str]:
    if len(run) == 1:
        return [] if run in STOPWORDS else [run]
    pairs = (run[at : at + 2] for at in range(len(run) - 1))
    return [pair for pair in pairs if pair not in STOPWORDS and not (pair[0] in STOPWORDS and pair[1] in STOPWORDS)]


def _akin(one: str, other: str) -> bool:
    if one == other:
        return False
    shared = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        shared += 1
    return shared >= 0.7 * max(len(one), len(other))


def index_evidence(evidence: Sequence[Evidence]) -> EvidenceIndex:
    """Cut the kept parts of the evidence into units and index them; hidden text (comments, scripts) is left out."""
    units: list[Unit] = []
    for piece, item in enumerate(evidence):
        for part, kept in enumerate(item.kept):
            units.extend(_units(item, piece, part, kept))
    postings: defaultdict[str, list[int]] = defaultdict(list)
    holders: defaultdict[str, set[int]] = defaultdict(set)
    for at, unit in enumerate(units):
        for term in unit.places:
            postings[term].append(at)
            holders[term].add(unit.piece)
    for piece, item in enumerate(evidence):
        for term in match_terms(f"{item.source.title} {item.section}"):
            holders[term].add(piece)
    families: defaultdict[str, list[str]] = defaultdict(list)
    for term in postings:
        if len(term) >= _STEM_SHARED and term[0].isalpha():
            families[term[:_STEM_SHARED]].append(term)
    return EvidenceIndex(
        tuple(evidence),
        tuple(units),
        {term: tuple(places) for term, places in postings.items()},
        {term: frozenset(pieces) for term, pieces in holders.items()},
        {start: tuple(terms) for start, terms in families.items()},
    )


def _units(item: Evidence, piece: int, part: int, kept: Span) -> list[Unit]:
    stored = item.quote(kept)
    shown = clean_for_display(stored)
    found: list[Unit] = []
    for span in sentences(stored):
        for cut in _cuts(stored, span):
            text = clean_for_display(stored[cut.start : cut.end])
            if shown is not stored and text not in shown:
                continue
            terms = tuple(match_terms(text))
            if terms:
                found.append(Unit(piece, part, cut.shift(kept.start), text, terms, _places(terms)))
    return found


def _cuts(text: str, span: Span) -> list[Span]:
    """The span itself, or parts of it that end at white space or a mark, none much longer than the longest unit."""
    cuts: list[Span] = []
    start = span.start
    while span.end - start > LONGEST_UNIT:
        window = text[start + LONGEST_UNIT // 2 : start + LONGEST_UNIT]
        gap = max(window.rfind(mark) for mark in (" ", "\t", ";", "；", ",", "，", "、", "|"))
        end = start + LONGEST_UNIT // 2 + gap + 1 if gap >= 0 else start + LONGEST_UNIT
        cuts.append(_trimmed(text, start, end))
        start = end
    cuts.append(_trimmed(text, start, span.end))
    return cuts


def _trimmed(text: str, start: int, end: int) -> Span:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Span(start, end)


def _places(terms: Sequence[str]) -> dict[str, tuple[int, ...]]:
    places: dict[str, tuple[int, ...]] = {}
    for at, term in enumerate(terms):
        places[term] = (*places.get(term, ()), at)
    return places


@dataclass(frozen=True, slots=True)
class Place:
    """One or two neighbouring units that a sentence rests on.

    `anchor` is the one that matches best by itself, `fit` (0..1) how well the place matches.
    """

    first: int
    last: int
    anchor: int
    fit: float


@dataclass(frozen=True, slots=True)
class Grounding:
    """Where a sentence finds its words in the evidence.

    `places` best first; `covered` is the weighed share of its terms found there, `order` the share of neighbouring
    terms that are neighbours there too (both 0..1); `absent` are its terms found nowhere in the evidence.
    """

    terms: tuple[str, ...]
    places: tuple[Place, ...]
    covered: float
    order: float
    absent: tuple[str, ...]


NOWHERE: Final = Grounding((), (), 0.0, 0.0, ())


def ground(claim: str, index: EvidenceIndex, favoured: frozenset[int] = frozenset()) -> Grounding:
    """Find the units that carry a claim; pieces of evidence in `favoured` win a tie, no more."""
    terms = tuple(match_terms(claim))
    if not terms or not index.units:
        return NOWHERE
    return _Search(terms, index, favoured).run()


class _Search:
    """One claim against one index: the weights of its terms, and what each unit holds of them."""

    def __init__(self, terms: tuple[str, ...], index: EvidenceIndex, favoured: frozenset[int]) -> None:
        self._terms = terms
        self._index = index
        self._favoured = favoured
        self._weights = {term: index.weight(term) for term in terms}
        self._total = sum(self._weights.values())
        self._neighbours = [pair for pair in zip(terms, terms[1:], strict=False) if pair[0] != pair[1]]
        self._held: defaultdict[int, dict[str, tuple[float, str]]] = defaultdict(dict)
        for term in self._weights:
            for other in index.related(term):
                for unit in index.postings[other]:
                    self._held[unit].setdefault(term, (_RELATED, other))
            for unit in index.postings.get(term, ()):
                self._held[unit][term] = (1.0, term)

    def run(self) -> Grounding:
        ranked = self._candidates()
        if not ranked:
            return Grounding(self._terms, (), 0.0, 0.0, self._absent())
        best = max(ranked, key=lambda place: (self._rank(place), -place.first))
        places, held = [best], self._union(best)
        while len(places) < _MOST_PLACES and (more := self._complement(held)) is not None:
            places.append(more)
            held = _merge(held, self._union(more))
        order = self._order(places)
        return Grounding(self._terms, tuple(places), self._coverage(held), order, self._absent())

    def _candidates(self) -> list[Place]:
        """The best single units and, where a neighbour adds enough, the pairs they form with it."""
        scored = [
            (self._coverage(held) + _PIECE * self._piece(self._index.units[at].piece), at)
            for at, held in self._held.items()
        ]
        scored.sort(key=lambda pair: (-pair[0], pair[1]))
        places: list[Place] = []
        for _, at in scored[:_CANDIDATES]:
            alone = Place(at, at, at, self._fit(at, at))
            places.append(self._widened(alone))
        return places

    def _widened(self, alone: Place) -> Place:
        """The place with the neighbour that adds enough to the better of the two; a weaker start is left alone."""
        best, gain = alone, _WORTH_WIDER
        mine = self._covers(alone.anchor)
        for first, last in ((alone.first - 1, alone.first), (alone.first, alone.first + 1)):
            if first < 0 or last >= len(self._index.units) or not self._adjacent(first, last):
                continue
            other = last if first == alone.anchor else first
            more = self._coverage(self._union(Place(first, last, first, 0.0))) - mine
            if more >= gain and self._covers(other) <= mine:
                best, gain = Place(first, last, alone.anchor, self._fit(first, last)), more
        return best

    def _covers(self, at: int) -> float:
        return self._coverage(self._held.get(at, {}))

    def _adjacent(self, first: int, last: int) -> bool:
        one, other = self._index.units[first], self._index.units[last]
        return one.piece == other.piece and one.part == other.part

    def _complement(self, held: Mapping[str, tuple[float, str]]) -> Place | None:
        """The unit that adds most to what is covered, when it adds enough."""
        gains: defaultdict[int, float] = defaultdict(float)
        for term, weight in self._weights.items():
            if term not in held:
                for unit in self._index.postings.get(term, ()):
                    gains[unit] += weight
        if not gains:
            return None
        best = max(gains, key=lambda unit: (gains[unit], -unit))
        return Place(best, best, best, self._fit(best, best)) if gains[best] >= _WORTH_MORE * self._total else None

    def _union(self, place: Place) -> dict[str, tuple[float, str]]:
        held = self._held.get(place.first, {})
        return held if place.first == place.last else _merge(held, self._held.get(place.last, {}))

    def _coverage(self, held: Mapping[str, tuple[float, str]]) -> float:
        return sum(self._weights[term] * share for term, (share, _) in held.items()) / self._total

    def _piece(self, piece: int) -> float:
        holders = self._index.holders
        return sum(weight for term, weight in self._weights.items() if piece in holders.get(term, ())) / self._total

    def _fit(self, first: int, last: int) -> float:
        place = Place(first, last, first, 0.0)
        return (self._coverage(self._union(place)) + _ORDER * self._order([place])) / (1 + _ORDER)

    def _rank(self, place: Place) -> float:
        piece = self._index.units[place.first].piece
        return place.fit + _PIECE * self._piece(piece) + (_TIE if piece in self._favoured else 0.0)

    def _order(self, places: Sequence[Place]) -> float:
        """The share of neighbouring terms of the claim that stand near each other in one of the units."""
        if not self._neighbours:
            return self._coverage(self._union(places[0]))
        units = {at for place in places for at in (place.first, place.last)}
        near = sum(any(self._are_near(pair, at) for at in units) for pair in self._neighbours)
        return near / len(self._neighbours)

    def _are_near(self, pair: tuple[str, str], at: int) -> bool:
        held = self._held.get(at, {})
        if pair[0] not in held or pair[1] not in held:
            return False
        places = self._index.units[at].places
        one, other = places[held[pair[0]][1]], places[held[pair[1]][1]]
        return any(abs(left - right) <= _NEAR for left in one[:8] for right in other[:8])

    def _absent(self) -> tuple[str, ...]:
        index = self._index
        return tuple(term for term in self._weights if term not in index.holders and not index.related(term))


def _merge(
    one: Mapping[str, tuple[float, str]], other: Mapping[str, tuple[float, str]]
) -> dict[str, tuple[float, str]]:
    merged = dict(one)
    for term, held in other.items():
        if term not in merged or held[0] > merged[term][0]:
            merged[term] = held
    return merged


_ORDER: Final = 0.3
_PIECE: Final = 1.0
_TIE: Final = 0.02
_WORTH_WIDER: Final = 0.08
_WORTH_MORE: Final = 0.15
_MOST_PLACES: Final = 3
