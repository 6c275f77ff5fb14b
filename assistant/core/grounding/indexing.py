"""The evidence of one turn, cut into units and indexed by term: where a term stands, and how much it tells.

Two weights are kept apart. Among units a term weighs by inverse document frequency over the units shown (Sparck Jones
1972). Among pieces of evidence it weighs as in BM25 (Robertson and Zaragoza 2009), the pieces being the documents: a
word that few pieces hold tells more about which one is meant, and a piece that keeps coming back to it takes more.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from assistant.core.evidence import Evidence
from assistant.core.grounding.reading import match_terms, read
from assistant.core.text import CJK, Span

_CJK_FIRST: Final = re.compile(f"[{CJK}]")
_STEM_SHARED: Final = 5
_MOST_OF_STEM: Final = 0.7
_SATURATION: Final = 1.2
_LENGTH_COUNTS: Final = 0.4


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence of the evidence: `piece` is the place of its evidence, `part` numbers the kept part it stands in.

    `span` lies in the document; `text`, `terms` and `places` as in `Cut`.
    """

    piece: int
    part: int
    span: Span
    text: str
    terms: tuple[str, ...]
    places: Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Told:
    """How much a term tells about which piece of evidence is meant, and how much of that each piece takes.

    A piece of mean length that holds the term once takes all of its `weight`, one that repeats it up to 2.2 times that.
    """

    weight: float
    pieces: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class EvidenceIndex:
    """The evidence of one turn, cut into units and indexed by term; build it with `index_evidence`.

    `postings` name the units that hold a term, `headings` the pieces whose title or section does; `families` are the
    terms of the units that may be forms of one word, `lengths` the number of terms of each piece.
    """

    evidence: tuple[Evidence, ...]
    units: tuple[Unit, ...]
    postings: Mapping[str, Sequence[int]]
    headings: Mapping[str, Sequence[int]]
    families: Mapping[str, Sequence[str]]
    lengths: Sequence[int]
    known: dict[str, tuple[str, ...]] = field(default_factory=dict)
    told: dict[str, Told] = field(default_factory=dict)

    def weight(self, term: str) -> float:
        """1 for a word of every unit, up to 2 for a rare or unseen one; numbers count half as much again."""
        seen = len(self.postings.get(term, ()))
        rarity = math.log(1 + len(self.units) / (0.5 + seen)) / math.log(1 + 2 * len(self.units) + 1e-9)
        return (1 + rarity) * (1.5 if term[0].isdigit() else 1.0)

    def related(self, term: str) -> tuple[str, ...]:
        """Other words of the evidence that are forms of this one ("employe", "employ") or hold it ("年假", "带薪年假")."""
        if term not in self.known:
            others = (other for key in _family_keys(term) for other in self.families.get(key, ()))
            self.known[term] = tuple(dict.fromkeys(other for other in others if _akin(term, other)))
        return self.known[term]

    def tells(self, term: str) -> Told:
        """What the term, or in a piece without it a related word, tells about the piece (BM25, idf never negative)."""
        if term not in self.told:
            self.told[term] = self._weighed(self._counted(term))
        return self.told[term]

    def holds(self, term: str) -> bool:
        """Whether the term stands anywhere in the evidence, titles and sections included."""
        return term in self.postings or term in self.headings

    def adjacent(self, one: int, other: int) -> bool:
        """Whether two units stand in the same kept part of a piece of evidence."""
        here, there = self.units[one], self.units[other]
        return (here.piece, here.part) == (there.piece, there.part)

    def _counted(self, term: str) -> dict[int, int]:
        """How often each piece holds the term, or else the related word that it holds most often."""
        counted: dict[int, int] = {}
        for other in self.related(term):
            for piece, count in self._own(other).items():
                counted[piece] = max(count, counted.get(piece, 0))
        return counted | self._own(term)

    def _own(self, term: str) -> dict[int, int]:
        counted = dict.fromkeys(self.headings.get(term, ()), 1)
        for at in self.postings.get(term, ()):
            unit = self.units[at]
            counted[unit.piece] = counted.get(unit.piece, 0) + len(unit.places[term])
        return counted

    def _weighed(self, counted: Mapping[int, int]) -> Told:
        pieces = len(self.lengths)
        weight = math.log(1 + (pieces - len(counted) + 0.5) / (len(counted) + 0.5))
        mean = sum(self.lengths) / pieces or 1.0
        taken: dict[int, float] = {}
        for piece, count in counted.items():
            damping = _SATURATION * (1 - _LENGTH_COUNTS + _LENGTH_COUNTS * self.lengths[piece] / mean)
            taken[piece] = weight * count * (_SATURATION + 1) / (count + damping)
        return Told(weight, taken)


def index_evidence(evidence: Sequence[Evidence]) -> EvidenceIndex:
    """Cut the kept parts of the evidence into units and index them; hidden text (comments, scripts) is left out."""
    units = tuple(unit for piece, item in enumerate(evidence) for unit in _units(piece, item))
    postings: defaultdict[str, list[int]] = defaultdict(list)
    lengths = [0] * len(evidence)
    for at, unit in enumerate(units):
        lengths[unit.piece] += len(unit.terms)
        for term in unit.places:
            postings[term].append(at)
    families: defaultdict[str, list[str]] = defaultdict(list)
    for term in postings:
        for key in _family_keys(term):
            families[key].append(term)
    headings: defaultdict[str, list[int]] = defaultdict(list)
    for piece, item in enumerate(evidence):
        for term in dict.fromkeys(match_terms(f"{item.source.title} {item.section}")):
            headings[term].append(piece)
    return EvidenceIndex(tuple(evidence), units, dict(postings), dict(headings), dict(families), lengths)


def _units(piece: int, item: Evidence) -> Iterable[Unit]:
    for part, kept in enumerate(item.kept):
        for cut in read(item.quote(kept)):
            yield Unit(piece, part, cut.span.shift(kept.start), cut.text, cut.terms, cut.places)


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
