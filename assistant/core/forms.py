"""The forms one piece of evidence may take in a prompt, from a few sentences to all of its text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from assistant.core.conflicts import Conflict
from assistant.core.evidence import Evidence
from assistant.core.grounding.support import rank_sentences
from assistant.core.shortening import shorten
from assistant.core.text import Span

CORE_SENTENCES: Final = 1
RELEVANT_SENTENCES: Final = 5


def evidence_forms(question: str, evidence: Evidence, conflicts: Sequence[Conflict]) -> tuple[Evidence, ...]:
    """The core, the relevant sentences and the full text of one piece of evidence, shortest first.

    The claims of its conflicts belong to every form: without them a marker would point at nothing.
    """
    claims = [side.span for conflict in conflicts for side in conflict.sides if side.evidence == evidence.id]
    ranked = [scored.span for scored in rank_sentences(question, (evidence,))]
    core = _at_least(claims, ranked, CORE_SENTENCES)
    relevant = _at_least(claims, ranked, RELEVANT_SENTENCES)
    forms = [shorten(evidence, core), shorten(evidence, relevant), evidence]
    return tuple(form for place, form in enumerate(forms) if form.kept not in [other.kept for other in forms[:place]])


def _at_least(claims: Sequence[Span], ranked: Sequence[Span], count: int) -> list[Span]:
    wanted = list(claims)
    for span in ranked:
        if len(wanted) >= max(count, len(claims)):
            break
        if not any(span.overlaps(other) for other in wanted):
            wanted.append(span)
    return wanted


def conflict_units(evidence: Sequence[Evidence]) -> list[list[Evidence]]:
    """Group evidence that conflicts, directly or through others; order of first appearance, singles on their own."""
    units: list[list[Evidence]] = []
    place: dict[str, int] = {}
    neighbours = {item.id: set(item.conflicts) for item in evidence}
    for item in evidence:
        if item.id in place:
            units[place[item.id]].append(item)
            continue
        units.append([item])
        for other in _reachable(item.id, neighbours):
            place[other] = len(units) - 1
    return units


def _reachable(start: str, neighbours: dict[str, set[str]]) -> set[str]:
    found, open_ends = {start}, [start]
    while open_ends:
        for other in neighbours.get(open_ends.pop(), set()) - found:
            if other in neighbours:
                found.add(other)
                open_ends.append(other)
    return found
