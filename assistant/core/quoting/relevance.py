"""How well a quotable answers a question: the share of the question's words it covers, rare words counting more.

Words count as inverse document frequency weighs them (Robertson & Spärck Jones 1976), over the quotables at hand. A
word in the heading, title or lead counts less than in the sentence itself, a related form less than the word; words
that stand together in the question count more where they stand together in the text.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from rapidfuzz import fuzz

from assistant.core.questions import QuestionKind
from assistant.core.quoting.asking import Asked, matching_terms
from assistant.core.quoting.blocks import BlockKind
from assistant.core.quoting.quotable import Quotable, introduces
from assistant.core.quoting.wordforms import joined_forms, related_words

_IN_CONTEXT: Final = 0.85
_NEARBY: Final = 0.4
_RELATED: Final = 0.75
_PHRASE: Final = 0.2
_PRIOR: Final = 0.1
_SAME: Final = 90.0
_LIGHT: Final = 0.6
_TORN: Final = 0.2


@dataclass(frozen=True, slots=True)
class Rated:
    """A quotable with its relevance, all 0..1 but `score`, which adds how well its form fits the question.

    `coverage` counts the question's words in the quotable, its context and its neighbours, `own` those in itself;
    `covered` are the words of the question that it holds itself.
    """

    unit: Quotable
    coverage: float
    own: float
    score: float
    covered: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Bags:
    """The words of one quotable: its own in order, those of its headings, title and lead, those of its neighbours."""

    words: tuple[str, ...]
    around: tuple[str, ...]
    own: frozenset[str]
    heading: frozenset[str]
    context: frozenset[str]
    near: frozenset[str]


def rate(asked: Asked, units: Sequence[Quotable], prior: Sequence[float]) -> list[Rated]:
    """Rate every quotable, in their order. `prior` is the score of each piece of evidence, of any scale."""
    bags = _bags(units)
    vocabulary = frozenset[str]().union(*(bag.own | bag.context for bag in bags))
    short = {word: group for word, group in joined_forms(asked.terms).items() if word in vocabulary}
    related = {
        term: related_words(term, vocabulary).union(word for word, group in short.items() if term in group)
        for term in asked.terms
    }
    weights = _weights(asked, bags, related)
    top = max((abs(value) for value in prior), default=0.0) or 1.0
    return [
        _rated(asked, units, place, bag, weights, related, prior[units[place].evidence] / top)
        for place, bag in enumerate(bags)
    ]


def _rated(
    asked: Asked,
    units: Sequence[Quotable],
    place: int,
    bag: _Bags,
    weights: Mapping[str, float],
    related: Mapping[str, frozenset[str]],
    prior: float,
) -> Rated:
    own = {term: _match(term, bag.own, related) for term in asked.terms}
    around = {
        term: max(_IN_CONTEXT * _match(term, bag.context, related), _NEARBY * _match(term, bag.near, related))
        for term in asked.terms
    }
    in_itself = sum(weights[term] * value for term, value in own.items())
    coverage = sum(weights[term] * max(own[term], around[term]) for term in asked.terms)
    headed = _agreement(asked, bag.heading, weights, related)
    phrase = _phrases(asked.pairs, bag.words)
    together = max(phrase, 0.9 * _phrases(asked.pairs, bag.around))
    coverage -= _TORN * (1 - together) if asked.pairs else 0.0
    score = 0.4 * in_itself + 0.6 * coverage + _PHRASE * together + _PRIOR * prior
    score += _form(asked, units, place, in_itself, headed)
    return Rated(units[place], coverage, in_itself, score, frozenset(term for term, value in own.items() if value > 0))


def _bags(units: Sequence[Quotable]) -> list[_Bags]:
    words = [tuple(matching_terms(unit.text)) for unit in units]
    contexts: dict[str, tuple[str, ...]] = {}
    for unit in units:
        for text in (unit.context, unit.heading):
            if text not in contexts:
                contexts[text] = tuple(matching_terms(text))
    return [
        _Bags(
            words[place],
            contexts[unit.context],
            frozenset(words[place]),
            frozenset(contexts[unit.heading]),
            frozenset(contexts[unit.context]),
            _near(units, words, place),
        )
        for place, unit in enumerate(units)
    ]


def _near(units: Sequence[Quotable], words: Sequence[Sequence[str]], place: int) -> frozenset[str]:
    """The words of the two sentences before and after, inside the same section."""
    around = range(max(0, place - 2), min(len(units), place + 3))
    here = (units[place].evidence, units[place].section)
    same = (words[other] for other in around if (units[other].evidence, units[other].section) == here)
    return frozenset[str]().union(*same)


def _weights(asked: Asked, bags: Sequence[_Bags], related: Mapping[str, frozenset[str]]) -> dict[str, float]:
    """The weight of each asked word, adding up to one; a rare word weighs more, a light one less.

    Rarity among a few passages found for the question is a rough measure, so half of it is evened out.
    """
    rare = {}
    for term in asked.terms:
        seen = sum(_match(term, bag.own | bag.context, related) > 0 for bag in bags)
        rare[term] = math.log(1.5 + (len(bags) + 0.5) / (seen + 0.5))
    mean = sum(rare.values()) / max(1, len(rare))
    raw = {term: (mean + value) * (_LIGHT if term in asked.light else 1.0) for term, value in rare.items()}
    total = sum(raw.values()) or 1.0
    return {term: value / total for term, value in raw.items()}


def _match(term: str, bag: Set[str], related: Mapping[str, frozenset[str]]) -> float:
    if term in bag:
        return 1.0
    return _RELATED if not related[term].isdisjoint(bag) else 0.0


def _phrases(pairs: Sequence[tuple[str, str]], words: Sequence[str]) -> float:
    """The share of the question's word pairs that stand at most one word apart in the text, in order."""
    if not pairs:
        return 0.0
    close = set(pairwise(words)) | set(zip(words, words[2:], strict=False))
    return sum(pair in close for pair in pairs) / len(pairs)


def _agreement(
    asked: Asked, heading: frozenset[str], weights: Mapping[str, float], related: Mapping[str, frozenset[str]]
) -> float:
    """How well a heading is about the question: the harmonic mean of what it covers and of what it adds."""
    recall = sum(weights[term] * _match(term, heading, related) for term in asked.terms)
    shared = sum(_match(term, heading, related) > 0 for term in asked.terms)
    precision = min(1.0, shared / max(1, len(heading)))
    return 2 * recall * precision / (recall + precision) if recall and precision else 0.0


def _form(asked: Asked, units: Sequence[Quotable], place: int, own: float, headed: float) -> float:
    """What the form of a quotable adds or takes: the kind of thing asked for, its place in a section, its length."""
    unit = units[place]
    value = 0.0
    if own > 0.2 or headed > 0.5:
        value += 0.18 * asked.answers(unit.text)
        value += 0.1 * asked.cued(unit.text)
        value += 0.08 if asked.kind is QuestionKind.PROCEDURE and asked.instructs(unit.text) else 0.0
        value += 0.2 if asked.defines(unit.text) and not introduces(unit.text) else 0.0
    first = place == 0 or (units[place - 1].section, units[place - 1].evidence) != (unit.section, unit.evidence)
    value += 0.06 * headed + (0.12 * headed + 0.02 if first else 0.0)
    if place < 2 or units[place - 2].section != unit.section:
        value += (
            0.2
            if len(asked.question.encode()) > 8 and fuzz.partial_ratio(asked.question, unit.heading) > _SAME
            else 0.0
        )
    size = len(unit.text.encode("utf-8", "replace"))
    value -= min(0.12, 0.0004 * max(0, size - 200))
    leads = any(other.parent == place for other in units[place + 1 : place + 8])
    if asked.listing and (leads or unit.marker.endswith(".")):
        value += 0.08
    if unit.kind is BlockKind.PROSE and unit.text[-1].isalnum():
        value -= 0.1  # a heading that is not marked as one, or a cut sentence
    value -= 0.12 if size < 24 else 0.0
    value -= 0.2 if unit.kind is BlockKind.CODE or unit.text.endswith(("?", "？")) else 0.0
    value -= 0.2 if introduces(unit.text) and not leads else 0.0
    return value
