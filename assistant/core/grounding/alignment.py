"""Alignment: find the sentences of the evidence that a sentence of the answer rests on.

Matching is lexical: stems for English, character pairs for Chinese, weighed by inverse document frequency over the
evidence shown (Sparck Jones 1972), with a bonus for words that stand close together on both sides. The evidence is
indexed once (an inverted file), so the cost grows with the number of matching words, not with the product of the sizes.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from itertools import pairwise
from typing import Final

from assistant.core.evidence import Evidence
from assistant.core.text import CJK, Span, clean_for_display, sentences, terms

LONGEST_UNIT: Final = 600
"""A sentence of the evidence of more characters (a page without full stops) is cited in parts."""

_CJK_FIRST: Final = re.compile(f"[{CJK}]")
_NEAR: Final = 3
_STEM_SHARED: Final = 5
_MOST_OF_STEM: Final = 0.7
_RELATED: Final = 0.5
_CANDIDATES: Final = 8
_MOST_SEEN: Final = 8
_HOPEFUL: Final = 0.6
Held = dict[str, tuple[float, str]]
"""Terms of a claim that a unit holds: each with its share, 1 or less for a related word, and that word."""
_ORDER: Final = 0.3
_PIECE: Final = 1.0
_TIE: Final = 0.02
_WORTH_WIDER: Final = 0.08
_WORTH_MORE: Final = 0.15
_MOST_PLACES: Final = 3


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
    """The terms of a text for matching, in order: content words (stemmed), numbers without commas."""
    return [term.replace(",", "") if term[0].isdigit() else term for term in terms(text)]


def _family_keys(term: str) -> Iterable[str]:
    """Under what a term is found as a relative of another: its first letters, or each pair of Chinese characters."""
    if _CJK_FIRST.match(term):
        return (term[at : at + 2] for at in range(len(term) - 1))
    return (term[:_STEM_SHARED],) if len(term) >= _STEM_SHARED and term[0].isalpha() else ()


def _akin(one: str, other: str) -> bool:
    """Whether two terms are forms of one word: most of the stem in common, or one Chinese word inside the other."""
    if one == other:
        return False
    if _CJK_FIRST.match(one):
        return one in other or other in one
    enough = math.ceil(_MOST_OF_STEM * max(len(one), len(other)))
    return one[:enough] == other[:enough] and min(len(one), len(other)) >= enough


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
        for key in _family_keys(term):
            families[key].append(term)
    return EvidenceIndex(
        tuple(evidence),
        tuple(units),
        {term: tuple(places) for term, places in postings.items()},
        {term: frozenset(pieces) for term, pieces in holders.items()},
        {key: tuple(members) for key, members in families.items()},
    )


def _units(item: Evidence, piece: int, part: int, kept: Span) -> list[Unit]:
    stored = item.quote(kept)
    shown = clean_for_display(stored)
    plain = shown == stored
    found: list[Unit] = []
    for span in sentences(stored):
        for cut in _cuts(stored, span):
            text = stored[cut.start : cut.end] if plain else clean_for_display(stored[cut.start : cut.end])
            found_terms = tuple(match_terms(text)) if plain or text in shown else ()
            if found_terms:
                found.append(Unit(piece, part, cut.shift(kept.start), text, found_terms, _places(found_terms)))
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


def _places(found: Sequence[str]) -> dict[str, tuple[int, ...]]:
    places: dict[str, tuple[int, ...]] = {}
    for at, term in enumerate(found):
        places[term] = (*places[term], at) if term in places else (at,)
    return places


@dataclass(frozen=True, slots=True)
class Place:
    """A unit, or a few neighbouring ones, that a sentence rests on.

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


def ground(
    claim: str,
    index: EvidenceIndex,
    favoured: frozenset[int] = frozenset(),
    avoided: frozenset[int] = frozenset(),
) -> Grounding:
    """Find the units that carry a claim; `favoured` pieces of evidence win a tie, no more; `avoided` units stay out."""
    said = tuple(match_terms(claim))
    if not said or not index.units:
        return NOWHERE
    return _Search(said, index, favoured, avoided).run()


class _Search:
    """One claim against one index: the weights of its terms, and how much of them each unit and piece holds."""

    def __init__(
        self, said: tuple[str, ...], index: EvidenceIndex, favoured: frozenset[int], avoided: frozenset[int]
    ) -> None:
        self._terms = said
        self._index = index
        self._favoured = favoured
        self._avoided = avoided
        self._weights = {term: index.weight(term) for term in said}
        self._total = sum(self._weights.values())
        self._neighbours = [pair for pair in pairwise(said) if pair[0] != pair[1]]
        self._held: dict[int, Held] = {}
        self._near: dict[int, frozenset[int]] = {}
        self._by_unit: defaultdict[int, float] = defaultdict(float)
        self._by_piece: defaultdict[int, float] = defaultdict(float)
        for term, weight in self._weights.items():
            self._count(term, weight)
        for unit in avoided:
            self._by_unit.pop(unit, None)

    def _count(self, term: str, weight: float) -> None:
        index = self._index
        for unit in index.postings.get(term, ()):
            self._by_unit[unit] += weight
        for piece in index.holders.get(term, ()):
            self._by_piece[piece] += weight
        for other in index.related(term):
            for unit in index.postings[other]:
                if term not in index.units[unit].places:
                    self._by_unit[unit] += weight * _RELATED

    def run(self) -> Grounding:
        places = self._candidates()
        if not places:
            return Grounding(self._terms, (), 0.0, 0.0, self._absent())
        best = max(places, key=lambda place: (self._rank(place), -place.first))
        chosen, held = [best], self._union(best)
        while len(chosen) < _MOST_PLACES and (more := self._complement(held)) is not None:
            held = _merge(held, self._union(more))
            chosen = self._joined(chosen, more)
        return Grounding(self._terms, tuple(chosen), self._coverage(held), self._order(chosen), self._absent())

    def _candidates(self) -> list[Place]:
        """The best single units and, where a neighbour adds enough, the pairs they form with it."""
        worth = {unit: held + _PIECE * self._by_piece[self._piece(unit)] for unit, held in self._by_unit.items()}
        best = nsmallest(_CANDIDATES, worth, key=lambda unit: (-worth[unit], unit))
        return [
            self._widened(Place(at, at, at, self._fit(at, at))) for at in best if worth[at] >= worth[best[0]] * _HOPEFUL
        ]

    def _widened(self, alone: Place) -> Place:
        """The place with the neighbour that adds enough to the better of the two; a weaker start is left alone."""
        best, gain = alone, _WORTH_WIDER
        mine = self._coverage(self._holds(alone.anchor))
        for first, last in ((alone.first - 1, alone.first), (alone.first, alone.first + 1)):
            other = last if first == alone.anchor else first
            if not self._by_unit.get(other) or not self._adjacent(first, last):
                continue
            more = self._coverage(_merge(self._holds(first), self._holds(last))) - mine
            if more >= gain and self._coverage(self._holds(other)) <= mine:
                best, gain = Place(first, last, alone.anchor, self._fit(first, last)), more
        return best

    def _adjacent(self, first: int, last: int) -> bool:
        one, other = self._index.units[first], self._index.units[last]
        return one.piece == other.piece and one.part == other.part

    def _complement(self, held: Held) -> Place | None:
        """The unit that adds most to what is covered, when it adds enough."""
        gains: defaultdict[int, float] = defaultdict(float)
        for term, weight in self._weights.items():
            if term not in held:
                for unit in self._index.postings.get(term, ()):
                    gains[unit] += 0.0 if unit in self._avoided else weight
        if not gains:
            return None
        best = min(gains, key=lambda unit: (-gains[unit], unit))
        return Place(best, best, best, self._fit(best, best)) if gains[best] >= _WORTH_MORE * self._total else None

    def _joined(self, chosen: Sequence[Place], more: Place) -> list[Place]:
        """The places with one more; one that touches an earlier place widens it."""
        for at, place in enumerate(chosen):
            low, high = min(place.first, more.first), max(place.last, more.last)
            touches = more.first <= place.last + 1 and place.first <= more.last + 1
            if touches and self._adjacent(low, high):
                return [*chosen[:at], Place(low, high, place.anchor, place.fit), *chosen[at + 1 :]]
        return [*chosen, more]

    def _piece(self, unit: int) -> int:
        return self._index.units[unit].piece

    def _holds(self, unit: int) -> Held:
        """The terms of the claim in a unit, each with its share and the word that stands there."""
        if unit not in self._held:
            places = self._index.units[unit].places
            held = {term: (1.0, term) for term in self._weights if term in places}
            for term in self._weights:
                if term not in held and (other := next((o for o in self._index.related(term) if o in places), "")):
                    held[term] = (_RELATED, other)
            self._held[unit] = held
        return self._held[unit]

    def _union(self, place: Place) -> Held:
        held = self._holds(place.first)
        for at in range(place.first + 1, place.last + 1):
            held = _merge(held, self._holds(at))
        return held

    def _coverage(self, held: Held) -> float:
        return sum(self._weights[term] * share for term, (share, _) in held.items()) / self._total

    def _fit(self, first: int, last: int) -> float:
        place = Place(first, last, first, 0.0)
        return (self._coverage(self._union(place)) + _ORDER * self._order([place])) / (1 + _ORDER)

    def _rank(self, place: Place) -> float:
        piece = self._piece(place.first)
        return place.fit + _PIECE * self._by_piece[piece] / self._total + (_TIE if piece in self._favoured else 0.0)

    def _order(self, places: Sequence[Place]) -> float:
        """The share of neighbouring terms of the claim that stand near each other in one of the units."""
        if not self._neighbours:
            return self._coverage(self._union(places[0]))
        near: frozenset[int] = frozenset().union(
            *(self._pairs(at) for each in places for at in (each.first, each.last))
        )
        return len(near) / len(self._neighbours)

    def _pairs(self, unit: int) -> frozenset[int]:
        """Which pairs of neighbouring terms of the claim stand near each other in a unit."""
        if unit not in self._near:
            held, places = self._holds(unit), self._index.units[unit].places
            seen = {term: places[word] for term, (_, word) in held.items()}
            self._near[unit] = frozenset(
                at
                for at, (one, other) in enumerate(self._neighbours)
                if one in seen and other in seen and _are_near(seen[one], seen[other])
            )
        return self._near[unit]

    def _absent(self) -> tuple[str, ...]:
        index = self._index
        return tuple(term for term in self._weights if term not in index.holders and not index.related(term))


def _are_near(one: Sequence[int], other: Sequence[int]) -> bool:
    if len(one) == 1 == len(other):
        return -_NEAR <= one[0] - other[0] <= _NEAR
    return any(abs(left - right) <= _NEAR for left in one[:_MOST_SEEN] for right in other[:_MOST_SEEN])


def _merge(one: Held, other: Held) -> Held:
    merged = dict(one)
    for term, held in other.items():
        if term not in merged or held[0] > merged[term][0]:
            merged[term] = held
    return merged
