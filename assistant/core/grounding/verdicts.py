"""Verdicts: how far the places a claim rests on carry it, and whether they say the contrary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from assistant.core.grounding.alignment import Grounding, Place
from assistant.core.grounding.denial import denies
from assistant.core.grounding.figures import Figures, figures, missing, rivals
from assistant.core.grounding.indexing import EvidenceIndex

SUPPORTED_FROM: Final = 0.45
PARTIAL_FROM: Final = 0.25
"""Scores from which a claim counts as supported and as partly supported."""

_FIGURE_COST: Final = 0.08
_SAME_CLAIM: Final = 0.5
_ONLY_FIGURES: Final = 0.2


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

    The score is the mean of coverage and order, less a part for each figure that its places do not give. Where the
    best place shares most words of the claim, another value of the same sort, or a negation on one side only, makes
    it contradicted. Figures alone tie nothing: a claim of which no word stands there stays unsupported.
    """
    if not grounding.places:
        return UNSUPPORTED
    stated = figures(claim)
    shown = [figures(_text(place, index)) for place in grounding.places] if stated else []
    context = [_context(place, index) for place in grounding.places] if stated else []
    absent = missing(stated, shown + context)
    score = (grounding.covered + grounding.order) / 2 - _FIGURE_COST * len(absent)
    if not _shares_words(grounding, index):
        return Support(min(_ONLY_FIGURES, max(0.0, score)), missing=len(absent))
    against = _shared(grounding, index) >= _SAME_CLAIM and (
        (bool(absent) and rivals(absent, stated, shown[0])) or denies(claim, _text(grounding.places[0], index))
    )
    return Support(min(1.0, max(0.0, score)), against, len(absent))


def _text(place: Place, index: EvidenceIndex) -> str:
    return " ".join(unit.text for unit in index.units[place.first : place.last + 1])


def _context(place: Place, index: EvidenceIndex) -> Figures:
    """The figures of the title and section a place stands under, and the date of its document."""
    item = index.evidence[index.units[place.first].piece]
    spoken = item.source.date.isoformat() if item.source.date else ""
    return figures(f"{item.source.title}\n{item.section}\n{spoken}")


def _shares_words(grounding: Grounding, index: EvidenceIndex) -> bool:
    """Whether a word of the claim, or a form of one, stands in its places; a claim of figures only needs none."""
    words = [term for term in grounding.terms if not term[0].isdigit()]
    units = [unit for place in grounding.places for unit in index.units[place.first : place.last + 1]]
    return not words or any(
        form in unit.places for term in words for unit in units for form in (term, *index.related(term))
    )


def _shared(grounding: Grounding, index: EvidenceIndex) -> float:
    """The share of the claim's words, figures apart, that stand in its best place."""
    place = grounding.places[0]
    held = {term for unit in index.units[place.first : place.last + 1] for term in unit.places}
    about = {term for term in grounding.terms if not any(char.isdigit() for char in term)}
    return len(about & held) / len(about) if about else 0.0
