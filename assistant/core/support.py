"""Support: how far the evidence carries a sentence, and how far it answers a question at all."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from assistant.core.alignment import EvidenceIndex, Grounding, Place, match_terms
from assistant.core.figures import Figures, denials, figures, missing, rivals

SUPPORTED_FROM: Final = 0.45
PARTIAL_FROM: Final = 0.25
"""Scores from which a sentence counts as supported and as partly supported."""

_FIGURE_COST: Final = 0.08
_SAME_CLAIM: Final = 0.6
_REACH: Final = 60
_CLAUSE_END: Final = re.compile(r"[,;:.!?，；：。！？]")
_DENYING: Final = frozenset({"prohibit", "forbidden", "unabl"})


@dataclass(frozen=True, slots=True)
class Support:
    """How far the evidence carries one claim: score 0..1, and whether it says the contrary.

    `missing` counts figures of the claim that its places do not give: such a claim is never fully supported.
    """

    score: float
    contradicted: bool = False
    missing: int = 0


UNSUPPORTED: Final = Support(0.0)


def support(claim: str, grounding: Grounding, index: EvidenceIndex) -> Support:
    """Weigh a grounded claim: words covered, word order, figures, negation.

    The score is the mean of coverage and order less a part for each figure that is missing from the places. A figure
    of the same sort with another value, or a negation on one side only, turns a claim that matches well otherwise
    into a contradicted one.
    """
    if not grounding.places:
        return UNSUPPORTED
    stated = figures(claim)
    shown = [_figures(place, index) for place in grounding.places]
    absent = missing(stated, shown + [_context(place, index) for place in grounding.places]) if stated else ()
    score = (grounding.covered + grounding.order) / 2 - _FIGURE_COST * len(absent)
    against = _shared(grounding, index) >= _SAME_CLAIM and (
        rivals(absent, stated, shown[0]) or _denied(claim, _text(grounding.places[0], index))
    )
    return Support(min(1.0, max(0.0, score)), against, len(absent))


def _text(place: Place, index: EvidenceIndex) -> str:
    return " ".join(unit.text for unit in index.units[place.first : place.last + 1])


def _figures(place: Place, index: EvidenceIndex) -> Figures:
    return figures(_text(place, index))


def _context(place: Place, index: EvidenceIndex) -> Figures:
    """The figures of the title and section a place stands under, and the date of its document."""
    item = index.evidence[index.units[place.first].piece]
    spoken = item.source.date.isoformat() if item.source.date else ""
    return figures(f"{item.source.title}\n{item.section}\n{spoken}")


def _shared(grounding: Grounding, index: EvidenceIndex) -> float:
    """The share of the claim's words, figures apart, that stand in its best place."""
    place = grounding.places[0]
    held = {term for unit in index.units[place.first : place.last + 1] for term in unit.places}
    about = {term for term in grounding.terms if not any(char.isdigit() for char in term)}
    return len(about & held) / len(about) if about else 0.0


def _denied(claim: str, shown: str) -> bool:
    """Whether one side denies what the other states: the same word always negated here and never negated there."""
    return bool(_negated(claim) & _stated(shown)) or bool(_negated(shown) & _stated(claim))


def _negated(text: str) -> frozenset[str]:
    return frozenset(term for term in (_target(text, at) for at in denials(text)) if term)


def _target(text: str, at: int) -> str | None:
    """The word a negation that ends at `at` falls on: the next content word of the clause, else the one before."""
    after = match_terms(_CLAUSE_END.split(text[at : at + _REACH], maxsplit=1)[0])
    if after:
        return after[0]
    before = match_terms(_CLAUSE_END.split(text[max(0, at - _REACH) : at])[-1])
    return before[-2] if len(before) > 1 and before[-1] in _DENYING else before[-1] if before else None


def _stated(text: str) -> frozenset[str]:
    return frozenset(match_terms(text)) - _negated(text)
