"""Crossing: a sentence in one language tied to evidence in the other, by meaning and by what both must write alike.

Words do not match between English and Chinese. How near two sentences are in meaning comes from outside, as numbers. By
itself it cites nothing: sentences on one topic are near, also where one says 25 days and the other 30. So what can be
compared strictly has to agree (`agreeing`), and nearness is taken of the rest, amounts and dates left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from typing import Final

from assistant.core.grounding.agreeing import agreement, without_figures
from assistant.core.grounding.alignment import Place
from assistant.core.grounding.figures import figures
from assistant.core.grounding.indexing import EvidenceIndex
from assistant.core.text import prompt_language

MOST_CLAIMS: Final = 24
MOST_UNITS: Final = 120
"""No more sentences of an answer, and of its evidence, are compared by meaning: each of them costs a run of a model."""

_MOST_TRIED: Final = 5
_LEAST_TERMS: Final = 2


@dataclass(frozen=True, slots=True)
class Scale:
    """From which similarity (cosine) sentences that agree may say the same (`likely`), and do where a figure or name
    ties them (`sure`). Embedders differ, so a scale belongs to one of them."""

    likely: float
    sure: float


@dataclass(frozen=True, slots=True)
class Crossed:
    """The place that says the same in the other language; `place.fit` is its nearness, `sure` whether it surely does."""

    place: Place
    sure: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is to be compared by meaning: numbers of claims and of units of the evidence; both empty, or neither."""

    claims: tuple[int, ...] = ()
    units: tuple[int, ...] = ()


def comparison(claims: Sequence[str], index: EvidenceIndex) -> Comparison:
    """Those claims that evidence of another language may carry, and the units of it, each at most so many.

    Where there are too many units, those of the best evidence are taken.
    """
    spoken = [prompt_language(unit.text) for unit in index.units]
    asked = tuple(at for at, claim in enumerate(claims) if set(spoken) - {prompt_language(claim)})[:MOST_CLAIMS]
    tongues = {prompt_language(claims[at]) for at in asked}
    others = [at for at, unit in enumerate(index.units) if tongues - {spoken[at]} and len(unit.terms) >= _LEAST_TERMS]
    kept = nsmallest(MOST_UNITS, others, key=lambda at: (-index.evidence[index.units[at].piece].score, at))
    return Comparison(asked, tuple(sorted(kept))) if asked and kept else Comparison()


def meaning(text: str) -> str:
    """The words of a sentence whose nearness in meaning counts: amounts and dates are compared by themselves."""
    return " ".join(without_figures(text).split())


def cross(claim: str, near: Mapping[int, float], index: EvidenceIndex, scale: Scale) -> Crossed | None:
    """The place that says in the other language what the claim says; None when none is near enough and agrees.

    `near` is the similarity of the claim to units of the evidence. Only the nearest few are looked at; one without
    figures may be joined by a neighbour that gives those of the claim.
    """
    tongue = prompt_language(claim)
    hopeful = [at for at in near if near[at] >= scale.likely and prompt_language(index.units[at].text) != tongue]
    for at in nsmallest(_MOST_TRIED, hopeful, key=lambda at: (-near[at], at)):
        for place in _places(at, near[at], index):
            shown = "\n".join(unit.text for unit in index.units[place.first : place.last + 1])
            item = index.evidence[index.units[at].piece]
            agreed = agreement(claim, shown, f"{item.source.title}\n{item.section}")
            if agreed is not None:
                return Crossed(place, agreed.tied and near[at] >= scale.sure)
    return None


def _places(at: int, near: float, index: EvidenceIndex) -> Iterator[Place]:
    """The unit alone; where it gives no figure of its own, also with the one after it and the one before it."""
    fit = min(1.0, max(0.0, near))
    yield Place(at, at, at, fit)
    if figures(index.units[at].text):
        return
    for other in (at + 1, at - 1):
        if 0 <= other < len(index.units) and index.adjacent(at, other):
            yield Place(min(at, other), max(at, other), at, fit)
