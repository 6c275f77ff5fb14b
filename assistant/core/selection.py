"""Selection: from raw passages to the evidence of a turn (floor, duplicates, neighbours, diversity, order)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from assistant.core.evidence import Evidence, Passage, admit
from assistant.core.injection import suspicions
from assistant.core.text import Span, clean_for_display, words

_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True, slots=True)
class SelectionPolicy:
    """How evidence is selected.

    `floor` is the least score (calibrated by `assistant eval calibrate`); `limit` the most pieces; `near` the share of
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

    At least `minimum` pieces are kept when there are that many, whatever the floor says; the score of a passage that stands
    beside better ones of its document is lowered, so that several sources are heard.
    """
    policy = policy or SelectionPolicy()
    ranked = sorted(passages, key=lambda passage: (-passage.score, passage.id))
    above = [passage for passage in ranked if passage.score >= policy.floor]
    kept = above if len(above) >= policy.minimum else ranked[: policy.minimum]
    merged = _merge_neighbours(_without_duplicates(kept, policy.near), policy.longest)
    return tuple(_flagged(admit(passage)) for passage in _diversified(merged, policy)[: policy.limit])


_suspicions = lru_cache(maxsize=4096)(suspicions)  # the same passages come back turn after turn


def _flagged(evidence: Evidence) -> Evidence:
    return replace(evidence, flags=_suspicions(evidence.exact))


def _without_duplicates(ranked: Sequence[Passage], near: float) -> list[Passage]:
    """Drop a passage that says the same as a better one; of two editions that say the same the newer stays.

    Texts that are alike but differ in a number are not duplicates: the difference may be the point.
    """
    kept: list[tuple[Passage, frozenset[str], frozenset[str]]] = []
    for passage in ranked:
        text = clean_for_display(passage.text)
        shingles, numbers = _shingles(text), frozenset(_NUMBER.findall(text))
        twin = next((i for i, (_, s, n) in enumerate(kept) if n == numbers and _jaccard(s, shingles) >= near), None)
        if twin is None:
            kept.append((passage, shingles, numbers))
        elif _newer(passage, kept[twin][0]):
            kept[twin] = (replace(passage, score=kept[twin][0].score), shingles, numbers)
    return [passage for passage, _, _ in kept]


def _newer(one: Passage, other: Passage) -> bool:
    return one.source.date is not None and (other.source.date is None or one.source.date > other.source.date)


def _shingles(text: str) -> frozenset[str]:
    tokens = words(text)
    if len(tokens) < 3:
        return frozenset(tokens)
    return frozenset(" ".join(three) for three in zip(tokens, tokens[1:], tokens[2:], strict=False))


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    if not one and not other:
        return 1.0
    return len(one & other) / len(one | other)


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
    return replace(before, id=better.id, text=text, span=Span(before.span.start, end), score=better.score)


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

    Best first, second best last, the others between, by falling value. With `keep_order` (steps of a procedure, a timeline)
    the pieces of one document stand in the order of the document, documents by their best piece.
    """
    if keep_order:
        best = {item.source.document: place for place, item in reversed(list(enumerate(evidence)))}
        return tuple(sorted(evidence, key=lambda item: (best[item.source.document], item.span.start)))
    if len(evidence) < 3:
        return tuple(evidence)
    first, second, *rest = evidence
    return (first, *rest, second)


def shorten(evidence: Evidence, keep: Iterable[Span]) -> Evidence:
    """The evidence with only these sentences shown (document offsets inside it), neighbours joined."""
    joined: list[Span] = []
    for span in sorted(keep):
        between = evidence.quote(Span(joined[-1].end, span.start)) if joined and joined[-1].end <= span.start else None
        if joined and (between is None or not between.strip()):
            joined[-1] = Span(joined[-1].start, max(joined[-1].end, span.end))
        else:
            joined.append(span)
    return replace(evidence, kept=tuple(joined)) if joined else evidence
