"""Citations: align a finished answer to the evidence the model saw, with spans on both sides and a verdict."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from typing import Final

from assistant.core.evidence import Authority, Evidence, Region
from assistant.core.grounding.alignment import Grounding, Place, ground
from assistant.core.grounding.indexing import EvidenceIndex, index_evidence
from assistant.core.grounding.statements import Statement, statements
from assistant.core.grounding.verdicts import PARTIAL_FROM, SUPPORTED_FROM, Support, support
from assistant.core.text import Span, sentences


class Verdict(StrEnum):
    """How far the evidence carries a sentence of the answer."""

    SUPPORTED = "supported"
    PARTIAL = "partial"
    UNSUPPORTED = "unsupported"
    CONTRADICTED = "contradicted"


class CitationStatus(StrEnum):
    """Whether all, some or no sentence of the answer that states something is cited."""

    COMPLETE = "complete"
    PARTIAL = "partial"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class CitedSource:
    """The place a citation points to: `exact` is the stored text of the version at start..end (code points).

    `image` is the id of the image whose caption stands there, `region` its part of the page; None for plain text.
    """

    document: str
    version: int
    sha256: str
    title: str
    uri: str
    section: str
    start: int
    end: int
    exact: str
    page: int | None = None
    date: date | None = None
    authority: Authority = Authority.MEDIUM
    image: str | None = None
    region: Region | None = None


@dataclass(frozen=True, slots=True)
class Citation:
    """One sentence of the answer tied to one place of one document version.

    `n` is the display number of the evidence, stable in a conversation; start..end lie in the answer; score is 0..1.
    """

    n: int
    start: int
    end: int
    verdict: Verdict
    score: float
    evidence: str
    source: CitedSource


@dataclass(frozen=True, slots=True)
class SentenceVerdict:
    """The verdict on one sentence of the answer (start..end) and its support score 0..1.

    `nearest` is the place that comes closest to a sentence that no evidence carries: no citation, but where a person
    would begin to check.
    """

    start: int
    end: int
    verdict: Verdict
    score: float
    nearest: CitedSource | None = None


@dataclass(frozen=True, slots=True)
class MarkHint:
    """A mark that the model wrote itself, taken out of the text: it stood at offset `at` and named `label`."""

    at: int
    label: str


@dataclass(frozen=True, slots=True)
class Alignment:
    """Everything the alignment of one answer found; `agreement` is 1..5, None when nothing was to be judged."""

    status: CitationStatus
    citations: tuple[Citation, ...]
    sentences: tuple[SentenceVerdict, ...]
    agreement: int | None


def align(
    answer: str,
    evidence: Sequence[Evidence],
    *,
    hints: Sequence[MarkHint] = (),
    numbers: Mapping[str, int] | None = None,
) -> Alignment:
    """Align each sentence of a finished answer to the evidence that was shown.

    `numbers` maps evidence ids to the display numbers already given in the conversation; new ones follow on.
    Sentences that state nothing (greetings, headings, "Here is what I found:") get no verdict. A mark of the model
    only breaks a tie between equal sources. Deterministic; citations come in the order of the answer, best source
    of a sentence first. Of a very long answer the first `MOST_STATEMENTS` statements are judged.
    """
    index = index_evidence(evidence)
    cuts = sentences(answer)
    favoured = _favoured(cuts, hints, evidence, numbers or {})
    known: dict[_Key, _Judged] = {}
    judged = [
        _judge_once(each, index, favoured.get(each.span.start, frozenset()), known)
        for each in statements(answer, cuts, titles={item.source.title for item in evidence})[:MOST_STATEMENTS]
    ]
    given = DisplayNumbers(numbers or {})
    citations = tuple(_citation(each, place, index, given) for each in judged for place in each.cited)
    return Alignment(
        status_of([each.verdict for each in judged]),
        citations,
        tuple(_verdict(each, index) for each in judged),
        agreement([each.verdict for each in judged]),
    )


def agreement(verdicts: Sequence[Verdict]) -> int | None:
    """How far an answer agrees with its evidence, 1..5; None when nothing was judged.

    A supported sentence counts 1, a partly supported one a half, others 0; the mean m gives 1 + 4m, rounded half up.
    One contradicted sentence holds the result at 3 at most.
    """
    if not verdicts:
        return None
    worth = sum(_WORTH[verdict] for verdict in verdicts) / len(verdicts)
    level = int(1 + 4 * worth + 0.5)
    return min(level, 3) if Verdict.CONTRADICTED in verdicts else level


def status_of(verdicts: Sequence[Verdict]) -> CitationStatus:
    """Whether all, some or no sentence with these verdicts is cited; a contradicted one is, to what contradicts it."""
    cited = sum(verdict is not Verdict.UNSUPPORTED for verdict in verdicts)
    if not cited:
        return CitationStatus.NONE
    return CitationStatus.COMPLETE if cited == len(verdicts) else CitationStatus.PARTIAL


MOST_STATEMENTS: Final = 400
"""An answer with more statements than this is no answer to a person; judging all of them would hold up the others."""

_OTHER_GROUNDS: Final = 3
_AS_GOOD: Final = 0.8
_WORTH: Final = {Verdict.SUPPORTED: 1.0, Verdict.PARTIAL: 0.5, Verdict.UNSUPPORTED: 0.0, Verdict.CONTRADICTED: 0.0}


@dataclass(frozen=True, slots=True)
class _Judged:
    """A sentence of the answer with its verdict and the places that come closest to it, best first."""

    span: Span
    verdict: Verdict
    score: float
    places: tuple[Place, ...]

    @property
    def cited(self) -> tuple[Place, ...]:
        """The places it is cited to: none when no evidence carries it."""
        return () if self.verdict is Verdict.UNSUPPORTED else self.places


_Key = tuple[str, str, frozenset[int]]


def _judge_once(said: Statement, index: EvidenceIndex, favoured: frozenset[int], known: dict[_Key, _Judged]) -> _Judged:
    """The judgement of a statement; what was said before is not weighed anew."""
    key = (said.claim, said.head, favoured)
    if key not in known:
        known[key] = _judge(said, index, favoured)
    return replace(known[key], span=said.span)


def _judge(said: Statement, index: EvidenceIndex, favoured: frozenset[int]) -> _Judged:
    grounding, found = _weigh(said, index, favoured)
    return _Judged(said.span, verdict_of(found), round(found.score, 3), grounding.places)


def _verdict(judged: _Judged, index: EvidenceIndex) -> SentenceVerdict:
    uncited = judged.places[0] if judged.places and not judged.cited else None
    nearest = source_at(uncited, index) if uncited else None
    return SentenceVerdict(judged.span.start, judged.span.end, judged.verdict, judged.score, nearest)


def _weigh(said: Statement, index: EvidenceIndex, favoured: frozenset[int]) -> tuple[Grounding, Support]:
    """The best ground of a claim; where documents disagree, one that carries it goes before one that contradicts it."""
    best = ground(said.claim, index, favoured, head=said.head)
    found = support(said.claim, best, index)
    other, weighed, avoided = best, found, frozenset[int]()
    for _ in range(_OTHER_GROUNDS):
        if not weighed.contradicted or not other.places:
            break
        avoided |= frozenset(range(other.places[0].first, other.places[0].last + 1))
        other = ground(said.claim, index, favoured, avoided, said.head)
        weighed = support(said.claim, other, index)
        if not weighed.contradicted and weighed.score >= _AS_GOOD * found.score and weighed.score >= SUPPORTED_FROM:
            return other, weighed
    return best, found


def verdict_of(found: Support) -> Verdict:
    """The verdict a support stands for; a claim with a figure that its places do not give is partial at most."""
    if found.contradicted:
        return Verdict.CONTRADICTED
    if found.score >= SUPPORTED_FROM:
        return Verdict.PARTIAL if found.missing else Verdict.SUPPORTED
    return Verdict.PARTIAL if found.score >= PARTIAL_FROM else Verdict.UNSUPPORTED


class DisplayNumbers:
    """The display numbers of a conversation: old ones stay, new ones follow the highest in order of first use."""

    def __init__(self, given: Mapping[str, int]) -> None:
        self._given = dict(given)
        self._next = max(given.values(), default=0) + 1

    def of(self, evidence: str) -> int:
        """The number of a piece of evidence, a new one where it has none."""
        if evidence not in self._given:
            self._given[evidence] = self._next
            self._next += 1
        return self._given[evidence]


def _citation(judged: _Judged, place: Place, index: EvidenceIndex, numbers: DisplayNumbers) -> Citation:
    item = index.evidence[index.units[place.first].piece]
    return Citation(
        n=numbers.of(item.id),
        start=judged.span.start,
        end=judged.span.end,
        verdict=judged.verdict,
        score=judged.score,
        evidence=item.id,
        source=source_at(place, index),
    )


def source_at(place: Place, index: EvidenceIndex) -> CitedSource:
    """What a citation of a place points to: the text of its units in their document version."""
    first, last = index.units[place.first], index.units[place.last]
    return _source(index.evidence[first.piece], Span(first.span.start, last.span.end))


def _source(item: Evidence, span: Span) -> CitedSource:
    version = item.source
    picture = next((image for image in item.images if image.span.overlaps(span)), None)
    return CitedSource(
        document=version.document,
        version=version.number,
        sha256=version.sha256,
        title=version.title,
        uri=version.uri,
        section=item.section,
        start=span.start,
        end=span.end,
        exact=item.quote(span),
        page=picture.page if picture and picture.page else item.page,
        date=version.date,
        authority=version.authority,
        image=picture.id if picture else None,
        region=picture.region if picture else None,
    )


def _favoured(
    cuts: Sequence[Span], hints: Sequence[MarkHint], evidence: Sequence[Evidence], numbers: Mapping[str, int]
) -> dict[int, frozenset[int]]:
    """For the start of each sentence the pieces of evidence that the model's own marks in it or behind it name."""
    found: dict[int, frozenset[int]] = {}
    starts = [span.start for span in cuts]
    for hint in hints:
        at = bisect_left(starts, max(1, hint.at)) - 1
        piece = _named(hint.label, evidence, numbers)
        if at >= 0 and piece is not None:
            found[starts[at]] = found.get(starts[at], frozenset()) | {piece}
    return found


def _named(label: str, evidence: Sequence[Evidence], numbers: Mapping[str, int]) -> int | None:
    """The place of the evidence a label means: its id, its display number, or else its place in the prompt."""
    for at, item in enumerate(evidence):
        if label == item.id or (label.isascii() and label.isdigit() and numbers.get(item.id) == int(label[:9])):
            return at
    if label.isascii() and label.isdigit() and 1 <= int(label[:9]) <= len(evidence):
        return int(label[:9]) - 1
    return None
