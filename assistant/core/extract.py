"""Answer a question by quotation alone: the sentences, list items and rows that answer it, word for word."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from rapidfuzz import fuzz

from assistant.core.asking import Asked, take_apart
from assistant.core.blocks import BlockKind
from assistant.core.conflicts import Conflict
from assistant.core.evidence import Evidence
from assistant.core.modes import QuestionKind
from assistant.core.phrases import REFUSALS, conflict_lines, refusal
from assistant.core.quotable import Quotable, introduces, quotables
from assistant.core.relevance import Rated, rate
from assistant.core.text import language, sentences, terms

ANSWERABLE: Final = 0.55
"""Share of the question's weighted words that one passage has to cover before it counts as an answer."""

_LONGEST_LIST: Final = 14
_FULL: Final = 0.9
_SAME: Final = 88.0
_SAME_WORDS: Final = 0.75
_NEEDS_BEFORE: Final = re.compile(
    r"(?:this|that|these|those|they|it|its|he|she|such|however|also|otherwise|then|instead|therefore|so,|but|and|or"
    r"|if so|in this case|the (?:former|latter|same))\b|[此这该其它]|他们|它们|因此|但是|但|所以|然而|否则|同时|另外",
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
    asked = take_apart(question)
    rated = rate(asked, quotables(evidence), [item.score for item in evidence])
    rated = [item for item in rated if not evidence[item.unit.evidence].flags] or rated
    best = max(rated, key=lambda item: item.score, default=None)
    coverage = _answerability(asked, rated, best) if best else 0.0
    if best is None or coverage < ANSWERABLE:
        return Extraction(refusal(reply_language), False, coverage)
    touched = _touched(rated, evidence, conflicts)
    chosen = _choose(asked, rated, evidence, touched)
    told = conflict_lines(touched, evidence, reply_language)
    quoted = _compose(rated, chosen)
    return Extraction("\n\n".join([*told, *quoted]), True, coverage)


def _answerability(asked: Asked, rated: Sequence[Rated], best: Rated) -> float:
    """How much of the question is covered: by the best passage, or for summaries and comparisons by all together."""
    if asked.kind not in (QuestionKind.SUMMARY, QuestionKind.COMPARISON):
        return best.coverage
    together = frozenset[str]().union(*(item.covered for item in rated))
    return max(best.coverage, len(together) / max(1, len(asked.terms)))


def improve(draft: str, found: Extraction) -> Extraction:
    """A draft after more evidence was read: kept, replaced when it was a refusal, or continued with what is new."""
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


def _choose(asked: Asked, rated: Sequence[Rated], evidence: Sequence[Evidence], told: Sequence[Conflict]) -> set[int]:
    """The places (in `rated`) of what is quoted beside the conflicts that are told."""
    said = [side.quote for conflict in told for side in conflict.sides]
    passed_over = {place for place, item in enumerate(evidence) if item.preferred is False}
    ranked = sorted(range(len(rated)), key=lambda place: (-rated[place].score, place))
    ranked = [place for place in ranked if not any(_within(rated[place].unit.text, quote) for quote in said)]
    fresh = [place for place in ranked if rated[place].unit.evidence not in passed_over]
    ranked = fresh if told else fresh or ranked
    if asked.kind is QuestionKind.SUMMARY:
        return _one_per_section(rated, ranked)
    if told:
        best = max(item.score for item in rated)
        ranked = [place for place in ranked if rated[place].score >= 0.95 * best][:1]
    said_already = bool(ranked) and rated[ranked[0]].own > _FULL and not asked.listing
    limit = 4 if asked.kind is QuestionKind.COMPARISON else 2 if said_already else 3
    return _with_company(rated, _best_few(rated, ranked, limit), asked.listing)


def _best_few(rated: Sequence[Rated], ranked: Sequence[int], limit: int) -> list[int]:
    """The best one, then those that say something else and are nearly as good, or cover words still uncovered."""
    chosen: list[int] = []
    for place in ranked:
        item, best = rated[place], rated[ranked[0]]
        if len(chosen) >= limit or item.score < 0.5 * best.score:
            break
        if any(_alike(item.unit.text, rated[other].unit.text) for other in chosen):
            continue
        uncovered = item.covered - frozenset[str]().union(*(rated[other].covered for other in chosen))
        beside = any(_beside(item.unit, rated[other].unit) for other in chosen)
        if any(_outdone(item, rated[other]) for other in chosen):
            continue
        enough = (0.5 if uncovered else 0.7) if beside else (0.8 if uncovered else 0.92)
        if item.score >= enough * best.score and item.own >= 0.35 * best.own:
            chosen.append(place)
    return chosen


def _outdone(one: Rated, other: Rated) -> bool:
    """Whether a row or item says less of what is asked than another of the same list."""
    return _same_list(one.unit, other.unit) and _is_listed(one.unit) and one.covered < other.covered


def _beside(one: Quotable, other: Quotable) -> bool:
    return (one.evidence, one.section) == (other.evidence, other.section) and abs(one.block - other.block) <= 1


def _alike(one: str, other: str) -> bool:
    """Whether two quotations say the same: one inside the other, nearly the same letters, or nearly the same words."""
    if one in other or other in one or fuzz.ratio(one, other, score_cutoff=_SAME) > 0:
        return True
    few, many = sorted((set(terms(one)), set(terms(other))), key=len)
    return len(few) >= 3 and len(few & many) >= _SAME_WORDS * len(many)


def _one_per_section(rated: Sequence[Rated], ranked: Sequence[int], limit: int = 6) -> set[int]:
    """The best quotable of each section among the best sections."""
    best = rated[ranked[0]].score if ranked else 0.0
    seen: dict[tuple[int, int], int] = {}
    for place in ranked:
        unit = rated[place].unit
        if rated[place].covered and rated[place].score >= 0.3 * best and not introduces(unit.text):
            seen.setdefault((unit.evidence, unit.section), place)
    return set(list(seen.values())[:limit])


def _with_company(rated: Sequence[Rated], chosen: Sequence[int], wants_list: bool) -> set[int]:
    """The chosen and what they cannot stand without: a lead's list, a fragment's lead, the sentence before."""
    units = [item.unit for item in rated]
    kept: set[int] = set()
    for place in chosen:
        kept.add(place)
        unit = units[place]
        kept.update(_children(units, place))
        if _is_listed(unit) and wants_list:
            kept.update(_whole_list(units, place))
        elif unit.kind is BlockKind.ITEM and unit.parent is not None and _needs_lead(units, place, chosen):
            kept.add(unit.parent)
        elif unit.kind is BlockKind.PROSE and _NEEDS_BEFORE.match(unit.text):
            kept.update(_before(units, place))
    return kept


def _needs_lead(units: Sequence[Quotable], place: int, chosen: Collection[int]) -> bool:
    """Whether a list item says too little by itself: a fragment, or one of several items of the list."""
    unit = units[place]
    fragment = unit.text[-1] not in ".!?。！？" or len(unit.text.encode("utf-8", "replace")) < 48
    return fragment or any(units[other].parent == unit.parent for other in chosen if other != place)


def _children(units: Sequence[Quotable], place: int) -> list[int]:
    """What stands under a lead, however deep, as long as a reader would want it."""
    inside = {place}
    for other in range(place + 1, len(units)):
        if units[other].evidence != units[place].evidence:
            break
        if units[other].parent in inside:
            inside.add(other)
    return sorted(inside - {place})[:_LONGEST_LIST]


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


def _compose(rated: Sequence[Rated], chosen: Collection[int]) -> list[str]:
    """The paragraphs of the answer, the best section first, each section in the order of its document.

    Sentences of one block run on, list items and rows stand on lines of their own.
    """
    units = [item.unit for item in rated]
    best: dict[tuple[int, int], float] = {}
    for place in chosen:
        section = (units[place].evidence, units[place].section)
        best[section] = max(best.get(section, 0.0), rated[place].score)
    runs: list[list[Quotable]] = []
    for place in sorted(chosen, key=lambda at: (-best[units[at].evidence, units[at].section], at)):
        if runs and _runs_on(runs[-1][-1], units[place]):
            runs[-1].append(units[place])
        else:
            runs.append([units[place]])
    return [_listed(run) if _is_listed(run[0]) else _prose(run) for run in runs]


def _runs_on(last: Quotable, unit: Quotable) -> bool:
    if (last.evidence, last.section) != (unit.evidence, unit.section) or _is_listed(last) != _is_listed(unit):
        return False
    return _is_listed(unit) or last.block == unit.block


def _is_listed(unit: Quotable) -> bool:
    return unit.kind in (BlockKind.ITEM, BlockKind.ROW)


def _prose(run: Sequence[Quotable]) -> str:
    return ("" if language(run[0].text) == "zh" else " ").join(unit.text for unit in run)


def _listed(run: Sequence[Quotable]) -> str:
    """A list with its marks; numbers count on, whatever the author wrote; a single item needs no mark."""
    if len(run) == 1:
        return run[0].text
    counts: dict[int, int] = {}
    lines = []
    top = min(unit.level for unit in run)
    for unit in run:
        counts = {level: count for level, count in counts.items() if level <= unit.level}
        counts[unit.level] = counts.get(unit.level, 0) + 1
        mark = f"{counts[unit.level]}." if unit.marker.endswith(".") else "-"
        lines.append(f"{'   ' * (unit.level - top)}{mark} {unit.text}")
    return "\n".join(lines)
