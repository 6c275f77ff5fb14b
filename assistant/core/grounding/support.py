"""Support: how far the evidence answers a question, as a whole and sentence by sentence."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from assistant.core.evidence import Evidence
from assistant.core.grounding.demands import ASKING, DEMANDS, NAMES, WANTED
from assistant.core.grounding.indexing import EvidenceIndex, Unit, index_evidence
from assistant.core.text import CJK, Span, terms

_CHINESE: Final = re.compile(f"[{CJK}]")
_AROUND: Final = 0.5
_FITTING: Final = 0.15
_TOPICLESS: Final = 0.3
_BASE: Final = 0.25
_COVERAGE: Final = 0.3
_FOCUS: Final = 2.5
_UNKNOWN_NAME: Final = 0.15
_MOST_UNKNOWN: Final = 2
_BEST_PIECES: Final = 2


@dataclass(frozen=True, slots=True)
class ScoredSentence:
    """A sentence of the evidence and how well it answers a question (0..1); `piece` is the place of its evidence."""

    piece: int
    evidence: str
    span: Span
    score: float


def rank_sentences(question: str, evidence: Sequence[Evidence]) -> list[ScoredSentence]:
    """Every sentence of the evidence with how well it answers the question, best first, ties in order of the evidence.

    Counted are the words of the question in the sentence (rare ones more), less strongly those in its title, section
    and neighbours, and whether it holds the kind of thing that is asked for (an amount, a time, a person, a place).
    """
    index = index_evidence(evidence)
    scores = _sentence_scores(question, index)
    scored = [
        ScoredSentence(unit.piece, index.evidence[unit.piece].id, unit.span, round(score, 4))
        for unit, score in zip(index.units, scores, strict=True)
    ]
    return sorted(scored, key=lambda each: (-each.score, each.piece, each.span))


def _sentence_scores(question: str, index: EvidenceIndex) -> list[float]:
    asked = _asked(question)
    held = _held(asked, index)
    headed = [_headed(asked, index, piece) for piece in range(len(index.evidence))]
    weights = {term: _rarity(sum(term in each for each in held), len(held)) for term in asked}
    total = sum(weights.values()) or 1.0
    wanted = next((answer for form, answer in WANTED if form.search(question)), None)
    scores: list[float] = []
    for at, unit in enumerate(index.units):
        near = headed[unit.piece] | _neighbours(held, index.units, at)
        share = sum(weights[term] * (1.0 if term in held[at] else _AROUND if term in near else 0.0) for term in asked)
        fits = _FITTING if wanted is not None and held[at] and wanted.search(unit.text) else 0.0
        scores.append(min(1.0, share / total * (1 - _FITTING) + fits))
    return scores


def _rarity(seen: int, of: int) -> float:
    """Inverse document frequency over the sentences shown (Sparck Jones 1972), never zero."""
    return math.log(1 + of / (0.5 + seen))


def _neighbours(held: Sequence[set[str]], units: Sequence[Unit], at: int) -> frozenset[str]:
    """The terms of the sentences before and after, within one part of one piece of evidence."""
    around = (place for place in (at - 1, at + 1) if 0 <= place < len(units))
    here = units[at].piece, units[at].part
    return frozenset().union(*(held[place] for place in around if (units[place].piece, units[place].part) == here))


def _asked(question: str) -> list[str]:
    """The content words of a question, once each, in order; words that only ask are left out where others remain."""
    found = list(dict.fromkeys(terms(question)))
    return [term for term in found if term not in ASKING] or found


def _headed(asked: Sequence[str], index: EvidenceIndex, piece: int) -> frozenset[str]:
    """The terms of the question in the title and section of a piece of evidence."""
    item = index.evidence[piece]
    heading = f"{item.source.title} {item.section}"
    known = frozenset(terms(heading))
    return frozenset(term for term in asked if term in known or (_CHINESE.match(term) and term in heading))


def _held(asked: Sequence[str], index: EvidenceIndex) -> list[set[str]]:
    """The terms of the question that each unit holds; Chinese words are looked for as they stand, not cut anew."""
    held: list[set[str]] = [set() for _ in index.units]
    for term in asked:
        for at in _holders(term, index):
            held[at].add(term)
    return held


def _holders(term: str, index: EvidenceIndex) -> Iterable[int]:
    if _CHINESE.match(term):
        return (at for at, unit in enumerate(index.units) if term in unit.places or term in unit.text)
    return (at for word in (term, *index.related(term)) for at in index.postings.get(word, ()))


def answerability(question: str, evidence: Sequence[Evidence]) -> float:
    """How likely the evidence answers a standalone question at all, 0..1; 0 without evidence.

    The share of the question's words that the two best pieces of evidence hold, and all sentences on average; less
    what the question demands beyond its topic: a yes or no, a reason, an amount, "other" or "latest" things, a name or
    number that the evidence never mentions, a word that points at something not named. How many pieces there are is
    not used.
    """
    index = index_evidence(evidence)
    asked = _asked(question)
    if not index.units:
        return 0.0
    topic = _topic(asked, index) if asked else _TOPICLESS
    return min(1.0, max(0.0, _BASE + topic - _demand(question, index)))


def _topic(asked: Sequence[str], index: EvidenceIndex) -> float:
    """How far the evidence is about what the question is about, 0..1."""
    held = _held(asked, index)
    pieces = {piece: set(_headed(asked, index, piece)) for piece in {unit.piece for unit in index.units}}
    for unit, found in zip(index.units, held, strict=True):
        pieces[unit.piece] |= found
    best = sorted((len(found) / len(asked) for found in pieces.values()), reverse=True)[:_BEST_PIECES]
    return _COVERAGE * _mean(best) + (1 - _COVERAGE) * min(1.0, _FOCUS * _focus(asked, held, index))


def _focus(asked: Sequence[str], held: Sequence[set[str]], index: EvidenceIndex) -> float:
    """The share of the question's words in a sentence: the mean over each piece, then over the pieces."""
    shares: dict[int, list[float]] = {}
    for unit, found in zip(index.units, held, strict=True):
        shares.setdefault(unit.piece, []).append(len(found) / len(asked))
    return _mean([_mean(each) for each in shares.values()])


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _demand(question: str, index: EvidenceIndex) -> float:
    text = " ".join(unit.text for unit in index.units).lower()
    unknown = sum(name.lower() not in text for name in set(NAMES.findall(question)))
    return sum(cost for form, cost in DEMANDS if form.search(question)) + min(_MOST_UNKNOWN, unknown) * _UNKNOWN_NAME
