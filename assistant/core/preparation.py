"""Preparation: small steps that order, thin out or join the evidence before any mode reads it; they compose."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from typing import Final

from assistant.core.evidence import Evidence, evidence_id
from assistant.core.similarity import neighbours_together
from assistant.core.text import Span, words

Preparation = Callable[[str, Sequence[Evidence]], Sequence[Evidence]]
"""A step: the question and the evidence in, the evidence out; the order is the order of the prompt."""

_NAME: Final = re.compile(r"(?<![.!?。！？]\s)(?<!^)\b[A-Z][\w&-]+(?:\s+[A-Z][\w&-]+)*", re.MULTILINE)
_LEAST_WORDS: Final = 5
_LEAST_LETTERS: Final = 0.4
_WINDOW: Final = 3
_LONGEST: Final = 3600


def by_date(question: str, evidence: Sequence[Evidence]) -> Sequence[Evidence]:
    """Oldest first; pieces without a date stand first, in their order."""
    return sorted(evidence, key=lambda item: item.source.date or date.min)


def newest_first(question: str, evidence: Sequence[Evidence]) -> Sequence[Evidence]:
    """Newest first; pieces without a date stand last, in their order."""
    return sorted(evidence, key=lambda item: item.source.date or date.min, reverse=True)


def one_per_source(question: str, evidence: Sequence[Evidence]) -> Sequence[Evidence]:
    """Of each document only the piece with the best score, in the order of their first appearance."""
    best: dict[str, Evidence] = {}
    for item in evidence:
        known = best.get(item.source.document)
        if known is None or item.score > known.score:
            best[item.source.document] = item
    return tuple(best.values())


def by_topic(question: str, evidence: Sequence[Evidence]) -> Sequence[Evidence]:
    """Similar pieces beside each other, the first one first."""
    return neighbours_together(evidence)


def by_entity(question: str, evidence: Sequence[Evidence]) -> Sequence[Evidence]:
    """Pieces that speak of one name beside each other, names in the order of their first appearance.

    The name of a piece is the one it says most often that other pieces say too; a piece without such a name goes by the
    title of its document.
    """
    names = [Counter(_NAME.findall(item.text)) for item in evidence]
    shared = Counter(name for found in names for name in found)
    keys = [_entity(item, found, shared) for item, found in zip(evidence, names, strict=True)]
    place = {key: index for index, key in reversed(list(enumerate(keys)))}
    ordered = sorted(range(len(keys)), key=lambda index: (place[keys[index]], index))
    return tuple(evidence[index] for index in ordered)


def _entity(item: Evidence, found: Counter[str], shared: Counter[str]) -> str:
    common = {name: count for name, count in found.items() if shared[name] > 1}
    return max(common, key=lambda name: (common[name], shared[name], name)) if common else item.source.title


def without_low_quality(question: str, evidence: Sequence[Evidence]) -> Sequence[Evidence]:
    """Without pieces that say nothing: a few words, or mostly marks and numbers; the best piece always stays."""
    kept = tuple(item for item in evidence if _says_something(item.text))
    return kept or tuple(sorted(evidence, key=lambda item: -item.score)[:1])


def _says_something(text: str) -> bool:
    letters = sum(char.isalpha() for char in text)
    solid = sum(not char.isspace() for char in text)
    return len(words(text)) >= _LEAST_WORDS and letters >= _LEAST_LETTERS * max(1, solid)


def sliding_windows(question: str, evidence: Sequence[Evidence]) -> Sequence[Evidence]:
    """Neighbouring pieces of one document version joined to overlapping windows of three; others stay as they are."""
    runs = _runs(sorted(evidence, key=lambda item: (item.source.document, item.source.sha256, item.span.start)))
    windows = [window for run in runs for window in _windows(run)]
    return tuple(sorted(windows, key=lambda item: -item.score))


def _runs(ordered: Sequence[Evidence]) -> list[list[Evidence]]:
    runs: list[list[Evidence]] = []
    for item in ordered:
        before = runs[-1][-1] if runs else None
        touches = before is not None and before.source == item.source and before.span.end >= item.span.start
        if touches:
            runs[-1].append(item)
        else:
            runs.append([item])
    return runs


def _windows(run: Sequence[Evidence]) -> list[Evidence]:
    last = max(1, len(run) - _WINDOW + 1)
    joined = [run[start : start + _WINDOW] for start in range(last)]
    return [_joined(part) if part[-1].span.end - part[0].span.start <= _LONGEST else part[0] for part in joined]


def _joined(part: Sequence[Evidence]) -> Evidence:
    first = part[0]
    text, end = first.exact, first.span.end
    for item in part[1:]:
        if item.span.end > end:
            text, end = text + item.exact[end - item.span.start :], item.span.end
    span = Span(first.span.start, end)
    images = tuple(dict.fromkeys(image for item in part for image in item.images))
    return replace(
        first,
        id=evidence_id(first.source, span),
        span=span,
        exact=text,
        kept=(span,),
        score=max(item.score for item in part),
        flags=tuple(dict.fromkeys(flag for item in part for flag in item.flags)),
        images=images,
    )


PREPARATIONS: Final[dict[str, Preparation]] = {
    "by_date": by_date,
    "newest_first": newest_first,
    "one_per_source": one_per_source,
    "by_topic": by_topic,
    "by_entity": by_entity,
    "without_low_quality": without_low_quality,
    "sliding_windows": sliding_windows,
}
"""The built-in steps by name."""


def prepare(question: str, evidence: Sequence[Evidence], steps: Sequence[Preparation]) -> tuple[Evidence, ...]:
    """The evidence after all steps, in their order; a piece that comes twice is kept once."""
    for step in steps:
        evidence = step(question, evidence)
    return tuple({item.id: item for item in evidence}.values())
