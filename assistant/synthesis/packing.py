"""Packing: evidence into as few groups as fit a prompt, the sides of a conflict always in one group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from assistant.core.evidence import Evidence
from assistant.core.forms import conflict_units
from assistant.core.prompt import render_evidence
from assistant.core.text import Span, sentences
from assistant.interfaces import TokenCounter

Group = tuple[Evidence, ...]


def pack(evidence: Sequence[Evidence], counter: TokenCounter, limit: int, *, first: int | None = None) -> list[Group]:
    """Fill groups in order up to `limit` tokens of rendered evidence, the `first` up to its own; each piece is counted once.

    The pieces of one conflict never part: a unit that is larger than the limit makes a group of its own. A single piece
    that is larger is cut at sentence ends, each part beginning with the last sentence of the one before.
    """
    groups: list[Group] = []
    room = 0
    for unit, need in _counted(units(evidence), counter, limit):
        if groups and need <= room:
            groups[-1] = (*groups[-1], *unit)
            room -= need
        else:
            groups.append(unit)
            room = (limit if len(groups) > 1 or first is None else first) - need
    return groups


def units(evidence: Sequence[Evidence]) -> list[Group]:
    """The evidence in order, what conflicts together."""
    return [tuple(unit) for unit in conflict_units(evidence)]


def one_each(evidence: Sequence[Evidence], counter: TokenCounter, limit: int) -> list[Group]:
    """Each piece (or unit of conflict) in a group of its own; a piece larger than the limit is cut."""
    return [unit for unit, _ in _counted(units(evidence), counter, limit)]


def _counted(groups: Sequence[Group], counter: TokenCounter, limit: int) -> Iterator[tuple[Group, int]]:
    for group in groups:
        need = sum(counter.count(render_evidence(item)) for item in group)
        if need <= limit or len(group) > 1:
            yield group, need
        else:
            yield from (((part,), size) for part, size in _parts(group[0], counter, limit))


def _parts(item: Evidence, counter: TokenCounter, limit: int) -> Iterator[tuple[Evidence, int]]:
    """A piece that is too large, in parts that fit; a sentence that does not fit alone is a part of its own."""
    spans = [span for kept in item.kept for span in _sentences(item, kept)]
    start = 0
    while start < len(spans):
        end, size = _longest(item, spans, start, counter, limit)
        yield _part(item, spans[start:end]), size
        start = end if end >= len(spans) else max(start + 1, end - 1)  # the last sentence is the overlap


def _longest(item: Evidence, spans: Sequence[Span], start: int, counter: TokenCounter, limit: int) -> tuple[int, int]:
    """How far sentences from `start` on fit, and their tokens: by halving, each part counted a few times only."""
    low, high = start + 1, len(spans)
    size = counter.count(render_evidence(_part(item, spans[start:low])))
    while low < high:
        middle = (low + high + 1) // 2
        tried = counter.count(render_evidence(_part(item, spans[start:middle])))
        if tried <= limit:
            low, size = middle, tried
        else:
            high = middle - 1
    return low, size


def _sentences(item: Evidence, kept: Span) -> list[Span]:
    text = item.quote(kept)
    return [span.shift(kept.start) for span in sentences(text)] or [kept]


def _part(item: Evidence, spans: Sequence[Span]) -> Evidence:
    """The piece with only these neighbouring sentences, and what stands between them."""
    joined: list[Span] = []
    for span in spans:
        same = joined and any(kept.start <= joined[-1].start and span.end <= kept.end for kept in item.kept)
        joined[-1:] = [Span(joined[-1].start, span.end)] if same else [*joined[-1:], span]
    return replace(item, kept=tuple(joined))
