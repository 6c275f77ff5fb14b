"""What became of the plan: did the answer refuse, and what did it do with the conflicts it was shown?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from assistant.core.citations import Citation, Verdict
from assistant.core.conflicts import Claim, Conflict
from assistant.core.events import ConflictShown, ConflictSide, EvidenceShown
from assistant.core.evidence import Evidence
from assistant.core.text import Span

_CARRYING: Final = (Verdict.SUPPORTED, Verdict.PARTIAL)


def is_refusal(text: str, refusal: str) -> bool:
    """Whether an answer is nothing but the refusal sentence (full stop and white space aside)."""
    return text.strip().rstrip(".。") == refusal.strip().rstrip(".。")


def shown_conflicts(
    conflicts: Sequence[Conflict],
    evidence: Sequence[Evidence],
    citations: Sequence[Citation],
    numbers: Mapping[str, int],
) -> tuple[ConflictShown, ...]:
    """The conflicts as they are shown to people, each with what the answer did about it."""
    titles = {item.id: item.source.title for item in evidence}
    return tuple(
        ConflictShown(
            topic=conflict.topic,
            kind=conflict.kind.value,
            sides=tuple(_side(side, conflict, titles, numbers) for side in conflict.sides),
            resolution=conflict.resolution.value,
            note=conflict.why,
            followed=followed(conflict, citations),
        )
        for conflict in conflicts
    )


def _side(side: Claim, conflict: Conflict, titles: Mapping[str, str], numbers: Mapping[str, int]) -> ConflictSide:
    return ConflictSide(
        evidence=side.evidence,
        n=numbers.get(side.evidence),
        claim=side.quote,
        title=titles.get(side.evidence, ""),
        date=side.date,
        authority=side.authority,
        preferred=conflict.preferred == side.evidence,
    )


def followed(conflict: Conflict, citations: Sequence[Citation]) -> str:
    """What an answer did with a conflict: both (named), preferred, other, or silent.

    A side counts as named when a sentence that its claim carries is cited to it.
    """
    named = {side.evidence for side in conflict.sides if any(_rests_on(citation, side) for citation in citations)}
    if len(named) == len(conflict.sides):
        return "both"
    if not named:
        return "silent"
    return "preferred" if conflict.preferred in named else "other"


def _rests_on(citation: Citation, side: Claim) -> bool:
    place = Span(citation.source.start, citation.source.end)
    return citation.evidence == side.evidence and citation.verdict in _CARRYING and place.overlaps(side.span)


def shown_evidence(
    evidence: Sequence[Evidence], tokens: Sequence[int], numbers: Mapping[str, int]
) -> tuple[EvidenceShown, ...]:
    """The evidence list of a plan, in prompt order, without texts."""
    return tuple(
        EvidenceShown(
            id=item.id,
            n=numbers.get(item.id),
            title=item.source.title,
            uri=item.source.uri,
            section=item.section,
            date=item.source.date,
            authority=item.source.authority,
            score=round(item.score, 4),
            tokens=size,
            conflicts=item.conflicts,
            preferred=item.preferred,
            flags=item.flags,
        )
        for item, size in zip(evidence, tokens, strict=True)
    )
