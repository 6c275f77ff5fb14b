"""Opinions: what a second look at the doubtful sentences of an answer may change in its citations.

The alignment by words comes first and decides what it can. A second look, by meaning or by a model, only ever raises: it
cites a sentence that nothing carried, or carries one fully that was carried in part. What the words contradict stays.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from assistant.core.citations import (
    Alignment,
    Citation,
    DisplayNumbers,
    SentenceVerdict,
    Verdict,
    agreement,
    source_at,
    status_of,
)
from assistant.core.grounding.alignment import Place
from assistant.core.grounding.indexing import EvidenceIndex
from assistant.core.grounding.statements import claim
from assistant.core.text import Span

_RISING: Final = (Verdict.UNSUPPORTED, Verdict.PARTIAL, Verdict.SUPPORTED)


@dataclass(frozen=True, slots=True)
class Doubt:
    """A sentence of an answer that the words of the evidence do not fully carry: where it stands, what it claims."""

    span: Span
    claim: str


@dataclass(frozen=True, slots=True)
class Opinion:
    """That a place of the evidence carries a sentence, `verdict` supported or partial, with a score 0..1."""

    place: Place
    verdict: Verdict
    score: float


def doubts(answer: str, found: Alignment, verdicts: Collection[Verdict], *, structured: bool = False) -> list[Doubt]:
    """The sentences of an answer with one of these verdicts, in order; `structured` answers are JSON."""
    doubted = (Span(each.start, each.end) for each in found.sentences if each.verdict in verdicts)
    return [Doubt(span, claim(_said(answer[span.start : span.end], structured=structured))) for span in doubted]


def _said(text: str, *, structured: bool) -> str:
    """What is written there: the escapes of JSON read, where it is JSON."""
    if not (structured and "\\" in text):
        return text
    try:
        return str(json.loads(f'"{text}"', strict=False))
    except ValueError:
        return text


def seconded(
    found: Alignment, opinions: Mapping[Span, Opinion], index: EvidenceIndex, numbers: Mapping[str, int]
) -> Alignment:
    """The alignment with those opinions that raise the verdict of their sentence; they cite their place alone.

    Display numbers are given anew from `numbers`, in the order of the answer, as `align` gives them.
    """
    taken = {
        Span(each.start, each.end): opinion
        for each in found.sentences
        if (opinion := opinions.get(Span(each.start, each.end))) and _raises(opinion, each)
    }
    if not taken:
        return found
    sentences = tuple(_raised(each, taken.get(Span(each.start, each.end))) for each in found.sentences)
    verdicts = [each.verdict for each in sentences]
    given = DisplayNumbers(numbers)
    citations = tuple(replace(each, n=given.of(each.evidence)) for each in _citations(found, taken, index))
    return Alignment(status_of(verdicts), citations, sentences, agreement(verdicts))


def _raises(opinion: Opinion, sentence: SentenceVerdict) -> bool:
    known = sentence.verdict in _RISING
    return known and _RISING.index(opinion.verdict) > _RISING.index(sentence.verdict)


def _raised(sentence: SentenceVerdict, opinion: Opinion | None) -> SentenceVerdict:
    if opinion is None:
        return sentence
    return SentenceVerdict(sentence.start, sentence.end, opinion.verdict, round(opinion.score, 3))


def _citations(found: Alignment, taken: Mapping[Span, Opinion], index: EvidenceIndex) -> Iterator[Citation]:
    """The citations in the order of the answer, those of raised sentences replaced; their numbers are not given yet."""
    for each in found.sentences:
        span = Span(each.start, each.end)
        if (opinion := taken.get(span)) is None:
            yield from (item for item in found.citations if (item.start, item.end) == (span.start, span.end))
            continue
        evidence = index.evidence[index.units[opinion.place.first].piece].id
        source = source_at(opinion.place, index)
        yield Citation(0, span.start, span.end, opinion.verdict, round(opinion.score, 3), evidence, source)
