"""Comparison: the disagreements between two passages, what they are about and how much they matter.

Two ways lead to a finding. Nearly equal statements are aligned and their difference judged (`differences`): revisions of one
text. And, when a question is asked, the value that stands for its answer on one side is looked for on the other
(`answers`): two texts of their own that answer differently.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from assistant.core.answers import GENERIC, Answer, Expected, Focus, answers, described, focus, holds
from assistant.core.claims import Reading, Token, TokenKind, is_event, read
from assistant.core.dates import MomentKind
from assistant.core.differences import Difference, DifferenceKind, Segment, align, judge, value_kind
from assistant.core.evidence import Evidence
from assistant.core.pairing import Statement, anchored_pairs, near_pairs

_ALIGNED: Final = 0.6
_LINKED: Final = 0.5
_ANCHORED: Final = 0.3
_COVERED: Final = 0.5
_ANSWERED: Final = 0.5
_CLOSE: Final = 0.1
_MOST: Final = 3
_TOPIC_BEFORE, _TOPIC_AFTER = 4, 5
_FITS: Final = {
    Expected.MOMENT: {DifferenceKind.DATE, DifferenceKind.DURATION},
    Expected.AMOUNT: {
        DifferenceKind.NUMBER,
        DifferenceKind.MONEY,
        DifferenceKind.PERCENT,
        DifferenceKind.DURATION,
    },
    Expected.NAME: {DifferenceKind.NAME, DifferenceKind.PHRASE, DifferenceKind.NUMBER},
}


@dataclass(frozen=True, slots=True)
class Finding:
    """Two statements that disagree: what differs, on what topic, whether both are versions of one document."""

    one: Statement
    other: Statement
    differences: tuple[Difference, ...]
    topic: str
    linked: bool
    weight: float
    relevance: float = 1.0

    @property
    def why(self) -> str:
        """What differs in plain words: "36 hours / 32 hours"."""
        return "; ".join(f"{d.one or '–'} / {d.other or '–'}" for d in self.differences[:3])

    def repeats(self, earlier: Finding) -> bool:
        """Whether an earlier finding tells of the same disagreement or of the same statement."""
        mine, theirs = self.differences[0], earlier.differences[0]
        return {mine.one.lower(), mine.other.lower()} == {theirs.one.lower(), theirs.other.lower()} or (
            self.topic == earlier.topic
        )


def compare(one: Sequence[Statement], other: Sequence[Statement], question: str, *, linked: bool) -> list[Finding]:
    """The disagreements between two passages, those about the question with the greatest weight."""
    asked = focus(question) if question.strip() else None
    anchored = anchored_pairs(one, other)
    found = []
    for left, right in near_pairs(one, other):
        least = _ANCHORED if (left, right) in anchored else _LINKED if linked else _ALIGNED
        finding = _aligned(left, right, asked, linked=linked, least=least)
        if finding is not None:
            found.append(finding)
    if asked is not None:
        relevant = [finding for finding in found if finding.relevance > 0]
        whole = _relevance(frozenset().union(*(s.terms for s in one)), asked) if one else 0.0
        found = relevant or (found if len(found) == 1 and whole >= _COVERED else [])
    if asked is not None and not found:
        answered = _answered(one, other, asked, linked=linked)
        found += [answered] if answered else []
    return found


def _aligned(one: Statement, other: Statement, asked: Focus | None, *, linked: bool, least: float) -> Finding | None:
    left, right = read(one.text, one.evidence.source.date), read(other.text, other.evidence.source.date)
    likeness, segments = align(left, right)
    dated = asked is not None and asked.expected is Expected.MOMENT
    if likeness < least or not _same_conditions(left, right, segments, dated=dated):
        return None
    differences = judge(left, right, segments, asked=asked is not None)
    relevance = 1.0
    if asked is not None:
        differences = [d for d in differences if d.kind in _FITS.get(asked.expected, DifferenceKind)]
        relevance = _relevance(one.terms | other.terms, asked)
    if not differences:
        return None
    return Finding(one, other, tuple(differences), _topic(left, differences[0]), linked, likeness + relevance, relevance)


def _relevance(held: frozenset[str], asked: Focus) -> float:
    """The share of the question's terms that are held."""
    return len(asked.terms & held) / len(asked.terms) if asked.terms else 1.0


def _same_conditions(one: Reading, other: Reading, segments: Sequence[Segment], *, dated: bool) -> bool:
    """Whether two aligned statements hold for the same years and groups, so that their values can be compared."""
    if one.row != other.row:
        return False
    if not dated and one.periods - other.periods and other.periods - one.periods and not _year_is_value(one, segments):
        return False
    return not (one.groups - other.groups and other.groups - one.groups)


def _year_is_value(one: Reading, segments: Sequence[Segment]) -> bool:
    """Whether a year tells when something happened once ("founded in 1866") and is no condition ("in 2024, ...")."""
    return is_event(one) and not any(
        token.moment and token.moment.kind is MomentKind.FISCAL for segment in segments for token in segment.one
    )


def _topic(one: Reading, difference: Difference) -> str:
    """The words around the difference, with a gap where it stands."""
    before = [token for token in one.tokens if token.end <= difference.start][-_TOPIC_BEFORE:]
    end = difference.start + max(1, len(difference.one))
    after = [token for token in one.tokens if token.start >= end][:_TOPIC_AFTER]
    head = " ".join(one.text[before[0].start : before[-1].end].split()) if before else ""
    tail = " ".join(one.text[after[0].start : after[-1].end].split()) if after else ""
    return f"{head} … {tail}".strip()


def _answered(one: Sequence[Statement], other: Sequence[Statement], asked: Focus, *, linked: bool) -> Finding | None:
    """The best answers of two passages, when neither stands on the other side and both speak of the same thing."""
    if asked.expected is Expected.RULE or not one or not other:
        return None
    left, right = _whole(one), _whole(other)
    mine = [answer for answer in _likely(left, asked) if not _stands(right, answer, asked)]
    theirs = [answer for answer in _likely(right, asked) if not _stands(left, answer, asked)]
    if not mine or not theirs or mine[0] != _likely(left, asked)[0] or theirs[0] != _likely(right, asked)[0]:
        return None
    if not mine or not theirs or not _same_thing(left, right, mine[0], theirs[0], asked):
        return None
    return _answer_finding(one, other, left, right, mine[0], theirs[0], asked, linked=linked)


def _answer_finding(one, other, left, right, first, second, asked, *, linked):
    kind = value_kind(first.tokens[0]) if asked.expected in (Expected.MOMENT, Expected.AMOUNT) else DifferenceKind.NAME
    difference = Difference(kind, _written(left, first), _written(right, second), first.tokens[0].start, 0)
    statement, partner = _owner(one, first), _owner(other, second)
    if statement is None or partner is None:
        return None
    return Finding(statement, partner, (difference,), _topic(left, difference), linked, first.score + second.score)


def _whole(passage: Sequence[Statement]) -> Reading:
    evidence = passage[0].evidence
    return read(evidence.exact, evidence.source.date)


def _likely(reading: Reading, asked: Focus) -> list[Answer]:
    """The answers of a passage that are nearly as good as its best one."""
    found = answers(reading, asked)
    return [answer for answer in found if answer.score >= max(_ANSWERED, found[0].score - _CLOSE)][:_MOST]


_stands = holds


def _same_thing(one: Reading, other: Reading, first: Answer, second: Answer, asked: Focus) -> bool:
    here, there = described(one, asked), described(other, asked)
    if here and there and not here & there:
        return False
    shared = _names(one) & _names(other) - asked.terms - asked.entity - asked.relation - GENERIC
    shared -= {token.key for token in (*first.tokens, *second.tokens)}
    return True


def _names(reading: Reading) -> frozenset[str]:
    return frozenset(token.key for token in reading.tokens if token.kind is TokenKind.NAME)


def _written(reading: Reading, answer: Answer) -> str:
    return " ".join(reading.text[answer.tokens[0].start : answer.tokens[-1].end].split())


def _owner(passage: Sequence[Statement], answer: Answer) -> Statement | None:
    at = passage[0].evidence.span.start + answer.tokens[0].start
    return next((statement for statement in passage if statement.span.start <= at < statement.span.end), None)
