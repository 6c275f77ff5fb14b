"""Selection: from raw passages to the evidence of a turn (floor, duplicates, neighbours, diversity, order)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from assistant.core.duplicates import without_duplicates
from assistant.core.evidence import Evidence, Passage, admit
from assistant.core.furniture import without_furniture
from assistant.core.injection import suspicions
from assistant.core.text import Span

_ROUNDS: Final = 3
"""How often duplicates are told anew when a chosen passage turns out to be suspicious."""


@dataclass(frozen=True, slots=True)
class SelectionPolicy:
    """How evidence is selected.

    `floor` is the least score as a share of the best one (calibrated by `assistant eval calibrate`; a share, because scores
    fall with the size of the collection); `limit` the most pieces; `near` the share of
    common word trigrams from which two texts count as the same; `crowding` the factor on the score of each further passage
    from one document; `longest` the most characters of merged neighbours.
    """

    floor: float = 0.0
    limit: int = 12
    minimum: int = 2
    near: float = 0.85
    crowding: float = 0.85
    longest: int = 3600


def select(passages: Sequence[Passage], policy: SelectionPolicy | None = None) -> tuple[Evidence, ...]:
    """Choose the evidence of a turn, best first.

    At least `minimum` pieces are kept when there are that many that differ, whatever the floor says; the score of a passage
    that stands beside better ones of its document is lowered, so that several sources are heard. A passage that looks
    like an attack never displaces the text that it copies. Furniture is left out of what is shown.
    """
    policy = policy or SelectionPolicy()
    ranked = sorted(passages, key=lambda passage: (-passage.score, passage.id))
    chosen: list[Evidence] = []
    distrusted: frozenset[str] = frozenset()
    for _ in range(_ROUNDS):
        distinct = without_duplicates(ranked, policy.near, distrusted)
        chosen = [_flagged(admit(passage)) for passage in _best(distinct, policy)]
        suspicious = frozenset(one.id for one in distinct for item in chosen if item.flags and _stands_in(one, item))
        if len(distinct) == len(ranked) or suspicious <= distrusted:
            break
        distrusted |= suspicious
    return without_furniture(chosen)


def _best(distinct: Sequence[Passage], policy: SelectionPolicy) -> list[Passage]:
    """The passages above the floor, neighbours merged, several sources first; more of them until there are enough."""
    least = policy.floor * max((passage.score for passage in distinct), default=0.0)
    count = max(policy.minimum, sum(passage.score >= least for passage in distinct))
    merged = _merge_neighbours(distinct[:count], policy.longest)
    while len(merged) < policy.minimum and count < len(distinct):
        count += 1
        merged = _merge_neighbours(distinct[:count], policy.longest)
    return _diversified(merged, policy)[: policy.limit]


_suspicions = lru_cache(maxsize=4096)(suspicions)  # the same passages come back turn after turn


def _flagged(evidence: Evidence) -> Evidence:
    return replace(evidence, flags=_suspicions(evidence.exact))


def _stands_in(passage: Passage, evidence: Evidence) -> bool:
    same = (passage.source.document, passage.source.sha256) == (evidence.source.document, evidence.source.sha256)
    return same and passage.span.overlaps(evidence.span)


def _merge_neighbours(passages: Sequence[Passage], longest: int) -> list[Passage]:
    """Join passages of one version that touch or overlap, as long as the result stays readable."""
    by_place = sorted(
        passages, key=lambda passage: (passage.source.document, passage.source.sha256, passage.span.start)
    )
    merged: list[Passage] = []
    for passage in by_place:
        before = merged[-1] if merged else None
        if before is not None and _touch(before, passage) and passage.span.end - before.span.start <= longest:
            merged[-1] = _joined(before, passage)
        else:
            merged.append(passage)
    return sorted(merged, key=lambda passage: (-passage.score, passage.id))


def _touch(before: Passage, after: Passage) -> bool:
    same = (before.source.document, before.source.sha256) == (after.source.document, after.source.sha256)
    return same and after.span.start <= before.span.end and before.page == after.page


def _joined(before: Passage, after: Passage) -> Passage:
    end = max(before.span.end, after.span.end)
    text = before.text + after.text[before.span.end - after.span.start :]
    better = before if before.score >= after.score else after
    images = tuple(dict.fromkeys((*before.images, *after.images)))
    span = Span(before.span.start, end)
    return replace(before, id=better.id, text=text, span=span, score=better.score, images=images)


def _diversified(passages: Sequence[Passage], policy: SelectionPolicy) -> list[Passage]:
    """Rank by score after lowering each further passage of a document by `crowding` once more."""
    seen: dict[str, int] = {}
    ranked: list[tuple[float, Passage]] = []
    for passage in passages:
        times = seen.get(passage.source.document, 0)
        seen[passage.source.document] = times + 1
        ranked.append((passage.score * policy.crowding**times, passage))
    return [passage for _, passage in sorted(ranked, key=lambda item: (-item[0], item[1].id))]


def order_by_attention(evidence: Sequence[Evidence], *, keep_order: bool = False) -> tuple[Evidence, ...]:
    """Arrange evidence for a reader who attends most to the beginning and the end (Liu et al. 2023, Lost in the Middle).

    Best first, second best last, the others between, by falling value. With `keep_order` (steps of a procedure)
    the pieces of one document stand in the order of the document, documents by their best piece.
    """
    if keep_order:
        best = {item.source.document: place for place, item in reversed(list(enumerate(evidence)))}
        return tuple(sorted(evidence, key=lambda item: (best[item.source.document], item.span.start)))
    if len(evidence) < 3:
        return tuple(evidence)
    first, second, *rest = evidence
    return (first, *rest, second)
