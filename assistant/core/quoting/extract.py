"""Answer a question by quotation alone: the sentences, list items and rows that answer it, word for word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rapidfuzz import fuzz

from assistant.core.conflicts import Claim, Conflict
from assistant.core.evidence import Evidence
from assistant.core.grounding.support import answerability
from assistant.core.questions import QuestionKind
from assistant.core.quoting.asking import Asked, take_apart
from assistant.core.quoting.blocks import tidy
from assistant.core.quoting.composition import compose, is_listed, same_list, with_company
from assistant.core.quoting.phrases import REFUSALS, conflict_lines, refusal
from assistant.core.quoting.quotable import Quotable, introduces, quotables
from assistant.core.quoting.relevance import Rated, rate
from assistant.core.text import clean_for_display, sentences, terms

ANSWERABLE: Final = 0.55
"""What the coverage of the question by the best passage and the answerability of the evidence must reach on average.

Measured on questions of MTRAG with their passages: 65 % of the answerable and 24 % of the unanswerable ones reach it.
"""

_FULL: Final = 0.9
_SIDE: Final = 0.7
_NEAR: Final = 0.8
_MOMENT_MISSED: Final = 0.25
_SAME: Final = 88.0
_SAME_WORDS: Final = 0.75


@dataclass(frozen=True, slots=True)
class Extraction:
    """An answer made of quotations; `answered` is False when there is none, `coverage` (0..1) decides that."""

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
    coverage = _coverage(asked, rated, best, answerability(question, evidence)) if best else 0.0
    if best is None or coverage < ANSWERABLE:
        return Extraction(refusal(reply_language), False, coverage)
    touched, said = _touched(rated, evidence, conflicts)
    chosen = _choose(asked, rated, evidence, [said[side] for conflict in touched for side in conflict.sides])
    told = conflict_lines(touched, said, evidence, reply_language)
    quoted = compose(rated, chosen)
    return Extraction("\n\n".join([*told, *quoted]), True, coverage)


def _coverage(asked: Asked, rated: Sequence[Rated], best: Rated, answerable: float) -> float:
    """How sure it is that there is an answer: the mean of coverage and answerability.

    A question is covered by its best passage, a summary or comparison by all together. What holds only at the moment
    of asking ("today") is hardly in a document that does not speak of it.
    """
    covered = best.coverage
    if asked.kind in (QuestionKind.SUMMARY, QuestionKind.COMPARISON):
        together = frozenset[str]().union(*(item.covered for item in rated))
        covered = max(covered, len(together) / max(1, len(asked.terms)))
    return max(0.0, (covered + answerable) / 2 - (_MOMENT_MISSED if asked.moments - best.covered else 0.0))


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


def _touched(
    rated: Sequence[Rated], evidence: Sequence[Evidence], conflicts: Sequence[Conflict]
) -> tuple[list[Conflict], dict[Claim, str]]:
    """The conflicts of which both sides are about as relevant as the best answer, three at most, the best first.

    With them the whole sentence that each claim stands in, for a claim may be a wrapped line of it.
    """
    best = max(item.score for item in rated)
    places = {item.id: place for place, item in enumerate(evidence)}
    found: list[tuple[float, str, Conflict]] = []
    said: dict[Claim, str] = {}
    for conflict in conflicts:
        homes = [_home(side, places.get(side.evidence), rated) for side in conflict.sides]
        scores = [home.score for home in homes if home is not None]
        if len(scores) < len(homes) or min(scores) < _SIDE * best or max(scores) < _NEAR * best:
            continue
        found.append((-max(scores), conflict.id, conflict))
        said |= {side: home.unit.text for side, home in zip(conflict.sides, homes, strict=True) if home}
    return [conflict for _, _, conflict in sorted(found, key=lambda entry: entry[:2])[:3]], said


def _home(claim: Claim, place: int | None, rated: Sequence[Rated]) -> Rated | None:
    """The quotable that a claim stands in: the one of its evidence that shares most with it."""
    quote = tidy(clean_for_display(claim.quote))
    mine = [item for item in rated if item.unit.evidence == place and _within(item.unit.text, quote)]
    return max(mine, key=lambda item: (min(len(item.unit.text), len(quote)), item.score), default=None)


def _within(one: str, other: str) -> bool:
    """Whether one text is part of the other, but for spacing and small edits."""
    short, long = sorted((" ".join(one.split()), " ".join(other.split())), key=len)
    return bool(short) and (short in long or fuzz.partial_ratio(short, long, score_cutoff=_SAME) > 0)


def _choose(asked: Asked, rated: Sequence[Rated], evidence: Sequence[Evidence], told: Sequence[str]) -> set[int]:
    """The places (in `rated`) of what is quoted beside the conflicting sentences that are told."""
    passed_over = {place for place, item in enumerate(evidence) if item.preferred is False}
    ranked = sorted(range(len(rated)), key=lambda place: (-rated[place].score, place))
    ranked = [place for place in ranked if not any(_within(rated[place].unit.text, quote) for quote in told)]
    fresh = [place for place in ranked if rated[place].unit.evidence not in passed_over]
    ranked = fresh if told else fresh or ranked
    if asked.kind is QuestionKind.SUMMARY:
        return _one_per_section(rated, ranked)
    if told:
        best = max(item.score for item in rated)
        ranked = [place for place in ranked if rated[place].score >= 0.95 * best][:1]
    said_already = bool(ranked) and rated[ranked[0]].own > _FULL and not asked.listing
    limit = 4 if asked.kind is QuestionKind.COMPARISON else 2 if said_already else 3
    return with_company(rated, _best_few(rated, ranked, limit), asked.listing)


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
    return same_list(one.unit, other.unit) and is_listed(one.unit) and one.covered < other.covered


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
