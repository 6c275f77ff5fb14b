"""Alignment: find the sentences of the evidence that a sentence of the answer rests on.

Matching is lexical: stems for English, words for Chinese, weighed by how rare they are in the evidence shown. Which
sentence it is, is decided by the words it holds and whether they stand close together on both sides; which piece of
evidence, by that and by BM25 over the pieces, since an answer often sums up a passage rather than one sentence of it.
The evidence is indexed once, so the cost grows with the matching words, not with the product of the sizes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import nsmallest
from itertools import pairwise
from typing import Final

from assistant.core.grounding.indexing import EvidenceIndex
from assistant.core.grounding.reading import match_terms
from assistant.core.grounding.rows import is_named, row_meant, row_name

_NEAR: Final = 3
_RELATED: Final = 0.5
_CANDIDATES: Final = 8
_MOST_SEEN: Final = 8
_MOST_NEIGHBOURS: Final = 2000
_HOPEFUL: Final = 0.75
Held = dict[str, tuple[float, str]]
"""Terms of a claim that a unit holds: each with its share, 1 or less for a related word, and that word."""
_ORDER: Final = 0.3
_PIECE: Final = 2.0
_WHOLE_PIECE: Final = 1.0
_QUOTED: Final = 0.6
_QUOTATION: Final = 3.0
_TIE: Final = 0.02
_WORTH_WIDER: Final = 0.08
_WORTH_MORE: Final = 0.15
_MOST_PLACES: Final = 3


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
    head: str = "",
) -> Grounding:
    """Find the units that carry a claim; `favoured` pieces of evidence win a tie, no more; `avoided` units stay out.

    `head` is the head of the table in which the claim is a row; it names things, but claims nothing.
    """
    if not index.units or not match_terms(claim):
        return NOWHERE
    return _Search(claim, head, index, favoured, avoided).run()


class _Search:
    """One claim against one index: the weights of its terms, and how much of them each unit and piece holds."""

    def __init__(
        self,
        claim: str,
        head: str,
        index: EvidenceIndex,
        favoured: frozenset[int],
        avoided: frozenset[int],
    ) -> None:
        self._claim = claim
        self._head = head
        self._terms = said = tuple(match_terms(claim))
        self._index = index
        self._favoured = favoured
        self._avoided = avoided
        self._weights = {term: index.weight(term) for term in said}
        self._total = sum(self._weights.values())
        self._neighbours = [pair for pair in pairwise(said) if pair[0] != pair[1]][:_MOST_NEIGHBOURS]
        self._held: dict[int, Held] = {}
        self._near: dict[int, frozenset[int]] = {}
        self._by_unit: defaultdict[int, float] = defaultdict(float)
        for term, weight in self._weights.items():
            self._count(term, weight)
        for unit in avoided:
            self._by_unit.pop(unit, None)
        self._meant = self._pieces_meant()

    def _count(self, term: str, weight: float) -> None:
        index = self._index
        for unit in index.postings.get(term, ()):
            self._by_unit[unit] += weight
        for other in index.related(term):
            for unit in index.postings[other]:
                if term not in index.units[unit].places:
                    self._by_unit[unit] += weight * _RELATED

    def _pieces_meant(self) -> dict[int, float]:
        """How far the words of the claim tell that a piece of evidence is meant, 0 to the weight of a whole piece."""
        told = [self._index.tells(term) for term in self._weights]
        total = sum(each.weight for each in told)
        taken: defaultdict[int, float] = defaultdict(float)
        for each in told:
            for piece, share in each.pieces.items():
                taken[piece] += share
        return {piece: _PIECE * min(_WHOLE_PIECE, share / total) for piece, share in taken.items()}

    def run(self) -> Grounding:
        places = self._candidates()
        if not places:
            return Grounding(self._terms, (), 0.0, 0.0, self._absent())
        best = self._best(places)
        chosen, held = [best], self._union(best)
        while len(chosen) < _MOST_PLACES and (more := self._complement(held)) is not None:
            held = _merge(held, self._union(more))
            chosen = self._joined(chosen, more)
        return Grounding(self._terms, tuple(chosen), self._coverage(held), self._order(chosen), self._absent())

    def _candidates(self) -> list[Place]:
        """The best single units by their words and what these tell about the piece, and the best by words alone."""
        words = self._by_unit
        worth = {unit: held / self._total + self._meant[self._piece(unit)] for unit, held in words.items()}
        best = nsmallest(_CANDIDATES, worth, key=lambda unit: (-worth[unit], unit))
        hopeful = [unit for unit in best if worth[unit] >= worth[best[0]] * _HOPEFUL]
        favoured = [unit for unit in words if self._piece(unit) in self._favoured] if self._favoured else []
        quoted = [min(units, key=lambda unit: (-words[unit], unit)) for units in (words, favoured) if units]
        found = dict.fromkeys([*hopeful, *quoted])
        if self._avoided:  # what the row that is meant denies, no other row of its table can carry
            found = {at: None for at in found if self._meant_at(at) not in self._avoided}
        return [Place(at, at, at, self._fit(at, at)) for at in found]

    def _widened(self, alone: Place) -> Place:
        """The unit with the neighbour that adds enough to the better of the two; a weaker start is left alone."""
        best, gain = alone, _WORTH_WIDER
        held = self._holds(alone.anchor)
        mine = self._coverage(held)
        for first, last in ((alone.first - 1, alone.first), (alone.first, alone.first + 1)):
            other = last if first == alone.anchor else first
            if not self._by_unit.get(other) or not self._index.adjacent(first, last):
                continue
            more = self._coverage(_merge(self._holds(first), self._holds(last))) - mine
            if more >= gain and self._coverage(self._holds(other)) <= mine and self._may_add(other, held):
                best, gain = Place(first, last, alone.anchor, self._fit(first, last)), more
        return best

    def _complement(self, held: Held) -> Place | None:
        """The unit that adds most to what is covered, when it adds enough."""
        gains: defaultdict[int, float] = defaultdict(float)
        for term, weight in self._weights.items():
            if term not in held:
                for unit in self._index.postings.get(term, ()):
                    gains[unit] += 0.0 if unit in self._avoided else weight
        enough = [unit for unit, gain in gains.items() if gain >= _WORTH_MORE * self._total]
        likely = nsmallest(_CANDIDATES, enough, key=lambda unit: (-gains[unit], unit))
        best = next((unit for unit in likely if self._may_add(unit, held)), None)
        return None if best is None else Place(best, best, best, self._fit(best, best))

    def _may_add(self, unit: int, held: Held) -> bool:
        """Whether a unit may lend its words: a row of a table only where it is meant, or figures of two rows would mix.

        It is meant where the claim or the head of its table names its first cell, or where it has a word that nothing
        else has given; its figures alone name nothing.
        """
        name = row_name(self._index.units[unit].text)
        if name is None:
            return True
        gives = self._holds(unit).keys() - held.keys()
        return is_named(name, f"{self._head}\n{self._claim}") or any(not term[0].isdigit() for term in gives)

    def _joined(self, chosen: Sequence[Place], more: Place) -> list[Place]:
        """The places with one more; one that touches an earlier place widens it."""
        for at, place in enumerate(chosen):
            low, high = min(place.first, more.first), max(place.last, more.last)
            touches = more.first <= place.last + 1 and place.first <= more.last + 1
            if touches and self._index.adjacent(low, high):
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

    def _best(self, alone: Sequence[Place]) -> Place:
        """Of the piece of evidence that is meant, the place that fits best; the first of equals.

        A favoured piece is taken where one of its units fits as well as the best of the piece that is meant.
        """
        first = max(alone, key=lambda place: (self._rank(place), -place.first))
        equals = [place for place in alone if place.fit >= first.fit - _TIE]
        meant = max(equals, key=lambda place: (self._is_favoured(place), self._rank(place), -place.first))
        places = [self._widened(place) for place in alone if self._piece(place.anchor) == self._piece(meant.anchor)]
        return self._row_meant(max(places, key=lambda place: (place.fit, -place.first)))

    def _row_meant(self, best: Place) -> Place:
        """The place itself, or the row of its table that the claim names where the place is another row."""
        at = self._meant_at(best.anchor)
        return best if at == best.anchor else Place(at, at, at, self._fit(at, at))

    def _meant_at(self, unit: int) -> int:
        return row_meant(unit, self._claim, self._index, is_row=bool(self._head))

    def _is_favoured(self, place: Place) -> bool:
        return self._piece(place.anchor) in self._favoured

    def _rank(self, place: Place) -> float:
        """How much speaks for the piece a unit stands in: the unit, the piece as a whole, a near quotation.

        The last keeps a sentence that was taken over word for word ahead of any piece on the same topic.
        """
        quoted = _QUOTATION * max(0.0, place.fit - _QUOTED)
        return place.fit + self._meant[self._piece(place.anchor)] + quoted

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
        return tuple(term for term in self._weights if not index.holds(term) and not index.related(term))


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
