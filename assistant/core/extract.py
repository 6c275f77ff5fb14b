"""Answer a question by quotation alone: the sentences, list items and rows that answer it, word for word."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from rapidfuzz import fuzz

from assistant.core.blocks import BlockKind
from assistant.core.conflicts import Conflict
from assistant.core.evidence import Evidence
from assistant.core.modes import QuestionKind, question_kind
from assistant.core.phrases import REFUSALS, conflict_lines, refusal
from assistant.core.quotable import Quotable, introduces, quotables
from assistant.core.relevance import Rated, question_terms, rate
from assistant.core.text import language, sentences

ANSWERABLE: Final = 0.5
"""Share of the question's weighted words that one passage has to cover before it counts as an answer."""

_LONGEST_LIST: Final = 14
_SAME: Final = 88.0
_LISTING: Final = re.compile(
    r"\b(?:what|which) (?:\w+ )?(?:are|kinds?|types?|steps?|things?|items?|documents?|activities|options|ways|benefits|requirements"
    r"|reasons|rules|conditions|tools|\w+s (?:are|do|does|can|should|must|count|qualify))\b|\blist\b|\bexamples? of\b"
    r"|哪些|列出|哪几|步骤|流程|有什么|清单|注意事项",
    re.IGNORECASE,
)
_NEEDS_BEFORE: Final = re.compile(
    r"(?:this|that|these|those|they|it|its|he|she|such|however|also|otherwise|then|instead|therefore|so,|but|and|or|if so"
    r"|in this case|the (?:former|latter|same))\b|[此这该其它]|他们|它们|因此|但是|但|所以|然而|否则|同时|另外",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Extraction:
    """An answer made of quotations. `answered` is False when the evidence holds none; `coverage` is 0..1."""

    text: str
    answered: bool
    coverage: float


def extract(
    question: str,
    evidence: Sequence[Evidence],
    conflicts: Sequence[Conflict] = (),
    reply_language: str = "en",
) -> Extraction:
    """Answer from the evidence by quotation, in the order of the documents; the same input gives the same text.

    One to three sentences for a lookup, a whole list with its lead for procedures and enumerations, one sentence per
    section for a summary. A conflict that touches the question is told with both sides. Without an answer the text
    says so in `reply_language`.
    """
    rated = rate(question, quotables(evidence), [item.score for item in evidence])
    best = max((item.coverage for item in rated), default=0.0)
    if not question_terms(question) or best < ANSWERABLE:
        return Extraction(refusal(reply_language), False, best)
    rated = [item for item in rated if evidence[item.unit.evidence].flags == ()] or rated
    open_conflicts = _touched(rated, evidence, conflicts)
    chosen = _choose(question, rated, evidence, open_conflicts)
    told = [conflict_lines(conflict, evidence, reply_language) for conflict in open_conflicts]
    quoted = _compose([item.unit for item in rated], sorted(chosen))
    return Extraction("\n\n".join([*told, *quoted]), True, best)


def improve(draft: str, question: str, found: Extraction) -> Extraction:
    """A draft answer after more evidence was read: kept, replaced when it was a refusal, or continued with what is new."""
    draft = draft.strip()
    if not draft or draft in REFUSALS:
        return found
    if not found.answered:
        return Extraction(draft, True, found.coverage)
    known = [draft[span.start : span.end] for span in sentences(draft)]
    news = [part for part in found.text.split("\n\n") if not _known(part, known)]
    return Extraction("\n\n".join([draft, *news]), True, found.coverage)


def _known(part: str, known: Sequence[str]) -> bool:
    pieces = [part[span.start : span.end] for span in sentences(part)]
    return all(any(_alike(piece, one) for one in known) for piece in pieces)


def _touched(rated: Sequence[Rated], evidence: Sequence[Evidence], conflicts: Sequence[Conflict]) -> list[Conflict]:
    """The conflicts whose claims are about as relevant as the best answer, the most relevant first, three at most."""
    best = max(item.score for item in rated)
    places = {item.id: place for place, item in enumerate(evidence)}
    found = []
    for conflict in conflicts:
        if not all(side.evidence in places for side in conflict.sides):
            continue
        relevance = max(
            (
                item.score
                for item in rated
                for side in conflict.sides
                if item.unit.evidence == places[side.evidence] and _within(item.unit.text, side.quote)
            ),
            default=0.0,
        )
        if relevance >= 0.8 * best:
            found.append((-relevance, conflict.id, conflict))
    return [conflict for _, _, conflict in sorted(found, key=lambda entry: entry[:2])[:3]]


def _within(one: str, other: str) -> bool:
    """Whether one text is part of the other, but for spacing and small edits."""
    short, long = sorted((" ".join(one.split()), " ".join(other.split())), key=len)
    return bool(short) and (short in long or fuzz.partial_ratio(short, long, score_cutoff=_SAME) > 0)


def _choose(question: str, rated: Sequence[Rated], evidence: Sequence[Evidence], told: Sequence[Conflict]) -> set[int]:
    """The places (in `rated`) of what is quoted."""
    said = [side.quote for conflict in told for side in conflict.sides]
    passed_over = {place for place, item in enumerate(evidence) if item.preferred is False}
    ranked = sorted(range(len(rated)), key=lambda place: (-rated[place].score, place))
    ranked = [place for place in ranked if not any(_within(rated[place].unit.text, quote) for quote in said)]
    fresh = [place for place in ranked if rated[place].unit.evidence not in passed_over]
    ranked = fresh if told else fresh or ranked
    kind = question_kind(question)
    if kind is QuestionKind.SUMMARY:
        return _one_per_section(rated, ranked)
    wants_list = kind is QuestionKind.PROCEDURE or bool(_LISTING.search(question))
    if told:
        best = max(item.score for item in rated)
        return _with_company(rated, [place for place in ranked if rated[place].score >= 0.95 * best][:1], wants_list)
    limit = 4 if kind is QuestionKind.COMPARISON else 3
    return _with_company(rated, _best_few(rated, ranked, limit, wants_list), wants_list)


def _best_few(rated: Sequence[Rated], ranked: Sequence[int], limit: int, wants_list: bool) -> list[int]:
    """The best one, then those that say something else and are nearly as good or cover words still uncovered."""
    if not ranked:
        return []
    chosen = [ranked[0]]
    best = rated[ranked[0]]
    for place in ranked[1:]:
        item = rated[place]
        if len(chosen) >= limit or item.score < 0.6 * best.score or item.coverage < 0.6 * best.coverage:
            break
        if any(_alike(item.unit.text, rated[other].unit.text) for other in chosen):
            continue
        uncovered = item.covered - frozenset().union(*(rated[other].covered for other in chosen))
        near = 0.92 if wants_list else 0.85
        if item.score >= near * best.score or (uncovered and item.coverage >= 0.75 * best.coverage):
            chosen.append(place)
    return chosen


def _alike(one: str, other: str) -> bool:
    return one in other or other in one or fuzz.ratio(one, other, score_cutoff=_SAME) > 0


def _one_per_section(rated: Sequence[Rated], ranked: Sequence[int], limit: int = 6) -> set[int]:
    """The best quotable of each section among the best sections."""
    best = rated[ranked[0]].score if ranked else 0.0
    seen: dict[tuple[int, int], int] = {}
    for place in ranked:
        unit = rated[place].unit
        if rated[place].score >= 0.5 * best and not introduces(unit.text):
            seen.setdefault((unit.evidence, unit.section), place)
    return set(list(seen.values())[:limit])


def _with_company(rated: Sequence[Rated], chosen: Sequence[int], wants_list: bool) -> set[int]:
    """The chosen with what they cannot stand without: the list under a lead, the lead of a fragment, the sentence before."""
    units = [item.unit for item in rated]
    places = {units[place]: place for place in range(len(units))}
    kept: set[int] = set()
    for place in chosen:
        kept.add(place)
        unit = units[place]
        if introduces(unit.text):
            kept.update(_children(units, place))
        if unit.kind in (BlockKind.ITEM, BlockKind.ROW) and wants_list:
            kept.update(_whole_list(units, place))
        elif unit.kind is BlockKind.PROSE and _NEEDS_BEFORE.match(unit.text):
            kept.update(_before(units, place))
    assert len(places) <= len(units)
    return kept


def _children(units: Sequence[Quotable], place: int) -> list[int]:
    """What stands directly under a lead, with everything below it, as long as a reader would want it."""
    below = []
    inside = {place}
    for other in range(place + 1, len(units)):
        parent = units[other].parent
        if parent in inside:
            inside.add(other)
            below.append(other)
        elif (
            units[other].evidence != units[place].evidence
            or units[other].kind is not BlockKind.PROSE
            or units[other].level == 0
        ):
            break
    return below[:_LONGEST_LIST]


def _whole_list(units: Sequence[Quotable], place: int) -> list[int]:
    """The list a quotable belongs to, and the line that introduces it."""
    top = place
    while (parent := units[top].parent) is not None and units[parent].kind is BlockKind.ITEM:
        top = parent
    lead = units[top].parent
    if lead is not None:
        return [lead, *_children(units, lead)]
    start = end = place
    while start > 0 and _same_list(units[start - 1], units[place]):
        start -= 1
    while end + 1 < len(units) and _same_list(units[end + 1], units[place]):
        end += 1
    return list(range(start, end + 1))[:_LONGEST_LIST]


def _same_list(one: Quotable, other: Quotable) -> bool:
    return one.kind is other.kind and (one.evidence, one.section) == (other.evidence, other.section)


def _before(units: Sequence[Quotable], place: int) -> list[int]:
    """The sentence before, when it stands in the same block."""
    if place == 0:
        return []
    before, unit = units[place - 1], units[place]
    same = (before.evidence, before.block) == (unit.evidence, unit.block)
    return [place - 1] if same else []


def _compose(units: Sequence[Quotable], places: Iterable[int]) -> list[str]:
    """The paragraphs of the answer: sentences of one block run on, list items and rows stand on lines of their own."""
    paragraphs: list[str] = []
    last: Quotable | None = None
    for place in places:
        unit = units[place]
        listed = unit.kind in (BlockKind.ITEM, BlockKind.ROW)
        line = f"{'  ' * unit.level}{unit.marker or '-'} {unit.text}" if listed else unit.text
        if last is not None and _runs_on(last, unit, listed):
            joint = "\n" if listed else "" if language(unit.text) == "zh" else " "
            paragraphs[-1] += joint + line
        else:
            paragraphs.append(line.lstrip() if listed else line)
        last = unit
    return paragraphs


def _runs_on(last: Quotable, unit: Quotable, listed: bool) -> bool:
    if last.evidence != unit.evidence:
        return False
    if listed:
        return last.kind in (BlockKind.ITEM, BlockKind.ROW) and last.section == unit.section
    return last.block == unit.block
