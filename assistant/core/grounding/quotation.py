"""Quotation: what somebody says a sentence rests on counts as far as it stands in the evidence, letter for letter."""

from __future__ import annotations

from typing import Final

from assistant.core.grounding.agreeing import agreement
from assistant.core.grounding.alignment import Place
from assistant.core.grounding.denial import denies
from assistant.core.grounding.figures import figures, missing
from assistant.core.grounding.indexing import EvidenceIndex
from assistant.core.grounding.reading import match_terms
from assistant.core.text import prompt_language

_MOST_UNITS: Final = 6
_LEAST_TERMS: Final = 2


def quoted(quote: str, piece: int, index: EvidenceIndex) -> Place | None:
    """The unit, or the few neighbouring ones, of a piece of evidence in which a quotation stands, white space aside.

    None when it stands nowhere, only in what was not shown, or says next to nothing ("the").
    """
    wanted = _tight(quote)
    if len(match_terms(quote)) < _LEAST_TERMS:
        return None
    units = [at for at, unit in enumerate(index.units) if unit.piece == piece]
    texts = {at: _tight(index.units[at].text) for at in units}
    for width in range(1, _MOST_UNITS + 1):
        for first in units:
            last = first + width - 1
            run = range(first, last + 1)
            if last in texts and index.adjacent(first, last) and wanted in "".join(texts[at] for at in run):
                return Place(first, last, first, 1.0)
    return None


def _tight(text: str) -> str:
    return "".join(text.split())


def carries(place: Place, claim: str, index: EvidenceIndex) -> bool:
    """Whether nothing that can be compared strictly speaks against a place carrying a claim of either language.

    Every figure of the claim is given there, and neither denies what the other says.
    """
    shown = "\n".join(unit.text for unit in index.units[place.first : place.last + 1])
    source = index.evidence[index.units[place.first].piece]
    around = f"{source.source.title}\n{source.section}"
    if prompt_language(claim) != prompt_language(shown):
        return agreement(claim, shown, around) is not None
    return not missing(figures(claim), [figures(shown), figures(around)]) and not denies(claim, shown)
