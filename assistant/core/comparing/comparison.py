"""Comparison: the disagreements between documents, what they are about and how much they matter.

Two ways lead to a finding. Nearly equal statements are aligned and their difference judged (`differences`): revisions
of one text. And, when a question is asked, the value that stands for its answer on one side is looked for on the other
(`answers`): two texts of their own that answer differently.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from assistant.core.comparing.answers import Answer, best_answer, holds, same_thing
from assistant.core.comparing.claims import WORDS, Reading, TokenKind, is_event, other_groups, read
from assistant.core.comparing.dates import MomentKind
from assistant.core.comparing.differences import Difference, DifferenceKind, Segment, align, judge, value_kind
from assistant.core.comparing.focus import Expected, Focus, focus
from assistant.core.comparing.pairing import Pair, Side, Statement, anchored_pairs, heading_terms, near_pairs
from assistant.core.comparing.quantities import quantities
from assistant.core.comparing.units import Dimension

_ALIGNED: Final = 0.6
_LINKED: Final = 0.55
_ANCHORED: Final = 0.3
_TIGHT: Final = 0.65
_COVERED: Final = 0.5
_LEAST, _NEARLY = 0.15, 0.5
_TOPIC_BEFORE, _TOPIC_AFTER = 4, 5
_MOST_DIFFERENCES: Final = 3
_SWAP: Final = 2
_AMOUNTS: Final = frozenset(
    (DifferenceKind.NUMBER, DifferenceKind.MONEY, DifferenceKind.PERCENT, DifferenceKind.DURATION)
)
_NAMES: Final = frozenset((DifferenceKind.NAME, DifferenceKind.PHRASE))
# A name or phrase that was exchanged may be no more than a rewording; a value may not.
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")
_COUNTED: Final = 0.5
_SOFT: Final = {DifferenceKind.NAME: 0.2, DifferenceKind.PHRASE: 0.5}
_FITS: Final = {
    Expected.MOMENT: frozenset((DifferenceKind.DATE, DifferenceKind.DURATION)),
    Expected.AMOUNT: _AMOUNTS,
    Expected.NAME: _NAMES | {DifferenceKind.NUMBER},
}


@dataclass(frozen=True, slots=True)
class Finding:
    """Two statements that disagree: what differs, on what topic, whether both are versions of one document.

    `relevance` is the share of the question's terms that the statements hold (1 without a question), `weight` ranks.
    """

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
        return "; ".join(f"{d.one or '–'} / {d.other or '–'}" for d in self.differences[:_MOST_DIFFERENCES])

    def repeats(self, earlier: Finding) -> bool:
        """Whether an earlier finding tells of the same disagreement: the same values, or a statement it quotes."""
        mine, theirs = self.differences[0], earlier.differences[0]
        same = {_figure(mine.one), _figure(mine.other)} == {_figure(theirs.one), _figure(theirs.other)}
        quoted = {earlier.one.bare, earlier.other.bare}
        return same or self.one.bare in quoted or self.other.bare in quoted


def _figure(words: str) -> str:
    """The number of a value without its unit, so that "32" and "32 hours" are one; the words themselves where none is."""
    number = _NUMBER.search(words)
    return number.group() if number else words.lower()


def compare(sides: Sequence[Side], linked: Sequence[Sequence[bool]], question: str) -> list[Finding]:
    """The disagreements between the statements of documents; with a question, only those that bear on it.

    `linked[i][j]` tells whether sides i and j are versions of one document.
    """
    asked = focus(question) if question.strip() else None
    found: dict[tuple[int, int], list[Finding]] = {}
    for one, other, pairs in near_pairs(sides):
        found[one, other] = _revisions(sides[one], sides[other], pairs, asked, linked=linked[one][other])
    if asked is not None:
        best = [best_answer(side, asked) for side in sides]
        for one in range(len(sides)):
            for other in range(one + 1, len(sides)):
                if not found.get((one, other)):
                    finding = _answered(sides[one], sides[other], best[one], best[other], asked)
                    found[one, other] = [finding] if finding else []
    return [finding for findings in found.values() for finding in findings]


def _revisions(one: Side, other: Side, pairs: Sequence[Pair], asked: Focus | None, *, linked: bool) -> list[Finding]:
    """The findings of aligned pairs; with a question, those most relevant to it, or the only one that fits its sort."""
    anchored = anchored_pairs(one, other)
    least = _LINKED if linked else _ALIGNED
    ranked = sorted(((_relevance(pair, asked), pair) for pair in pairs), key=lambda item: -item[0])
    found: list[Finding] = []
    for relevance, pair in ranked:
        if found and relevance < max(_LEAST, _NEARLY * found[0].relevance):
            break
        finding = _aligned(pair, asked, relevance, linked=linked, least=_ANCHORED if pair in anchored else least)
        found += [finding] if finding else []
    if asked is None or not found or found[0].relevance >= _LEAST:
        return found
    whole = frozenset[str]().union(*(statement.terms for statement in one)), " ".join(s.text for s in one)
    alone = len({statement.evidence.id for statement in (*one, *other)}) == 2
    return found if alone and len(found) == 1 and asked.share(*whole) >= _COVERED else []


def _relevance(pair: Pair, asked: Focus | None) -> float:
    """The share of the question's terms that the statements or the headings above them hold; 1 without a question."""
    if asked is None:
        return 1.0
    held = frozenset[str]().union(*(s.terms | heading_terms(s) for s in pair))
    return asked.share(held, " ".join(f"{s.evidence.section} {s.text}" for s in pair))


def _aligned(pair: Pair, asked: Focus | None, relevance: float, *, linked: bool, least: float) -> Finding | None:
    one, other = pair
    left, right = read(one.text, one.evidence.source.date), read(other.text, other.evidence.source.date)
    likeness, segments = align(left, right)
    if likeness < least or not _same_conditions(left, right, segments, asked):
        return None
    tight = likeness >= _TIGHT or least == _ANCHORED
    differences = judge(left, right, segments, tight=tight, asked=asked is not None)
    if asked is not None:
        differences = [difference for difference in differences if fits(difference, asked)]
    if not differences or (not linked and _of_two_things(differences, segments, asked)):
        return None
    if differences[0].kind is DifferenceKind.PHRASE and not _about(pair, asked):
        return None
    weight = likeness + relevance - _SOFT.get(differences[0].kind, 0.0) + _COUNTED * _counts(differences[0], asked)
    return Finding(one, other, tuple(differences), _topic(left, differences[0]), linked, weight, relevance)


def _about(pair: Pair, asked: Focus | None) -> bool:
    """Whether the statements themselves, not only their headings, speak of the question; wordings need that."""
    if asked is None:
        return True
    one, other = pair
    return asked.share(one.terms | other.terms, f"{one.text} {other.text}") >= _COVERED


def _counts(difference: Difference, asked: Focus | None) -> bool:
    """Whether both values are counted in the unit that the question counts in."""
    if asked is None or not asked.unit:
        return False
    values = [quantities(words) for words in (difference.one, difference.other)]
    return all(any(value.unit == asked.unit for value in found) for found in values)


def _of_two_things(differences: Sequence[Difference], segments: Sequence[Segment], asked: Focus | None) -> bool:
    """Whether values differ and, beside them, a name or a word of the question was exchanged: two things, two values.

    London opens at 9, Paris at 10; asked for sick leave, 13 days of sick leave and 26 days of annual leave agree.
    """
    if all(difference.kind in _NAMES for difference in differences):
        return False
    for segment in segments:
        if _is_numbered(segment):
            return True
        left, right = ([t for t in side if t.kind in WORDS] for side in (segment.one, segment.other))
        if not (0 < len(left) <= _SWAP and 0 < len(right) <= _SWAP):
            continue
        if all(t.kind is TokenKind.NAME and t.key.isalpha() for t in (*left, *right)):
            return True
        if asked is not None and any(t.key in asked.terms for t in left) != any(t.key in asked.terms for t in right):
            return True
    return False


def _is_numbered(segment: Segment) -> bool:
    """Whether numbers differ that tell two things of one name apart ("Form 12", "Level 3")."""
    counts = [
        t.quantity for t in (*segment.one, *segment.other) if t.quantity and t.quantity.dimension is Dimension.COUNT
    ]
    return len(counts) > 1 and bool(segment.before) and segment.before[-1].kind is TokenKind.NAME


def fits(difference: Difference, asked: Focus) -> bool:
    """Whether a difference is of the sort that the question asks for."""
    return asked.expected not in _FITS or difference.kind in _FITS[asked.expected]


def _same_conditions(one: Reading, other: Reading, segments: Sequence[Segment], asked: Focus | None) -> bool:
    """Whether two aligned statements hold for the same row, years and groups, so that their values can be compared."""
    if one.row != other.row or other_groups(one, other):
        return False
    if one.periods == other.periods:
        return True
    return (asked is not None and asked.once) or _year_is_value(one, segments)


def _year_is_value(one: Reading, segments: Sequence[Segment]) -> bool:
    """Whether a year tells when something happened once ("founded in 1866") and is no condition ("in 2024, ...")."""
    return is_event(one) and not any(
        token.moment and token.moment.kind is MomentKind.FISCAL for segment in segments for token in segment.one
    )


def _topic(one: Reading, difference: Difference) -> str:
    """The words around the difference, with a gap where it stands."""
    end = difference.start + max(1, len(difference.one))
    before = [token for token in one.tokens if token.end <= difference.start][-_TOPIC_BEFORE:]
    after = [token for token in one.tokens if token.start >= end][:_TOPIC_AFTER]
    head = one.words(before[0].start, before[-1].end) if before else ""
    tail = one.words(after[0].start, after[-1].end) if after else ""
    return f"{head} … {tail}".strip()


def _answered(one: Side, other: Side, first: Answer | None, second: Answer | None, asked: Focus) -> Finding | None:
    """The best answers of two documents, when neither stands on the other side and both speak of the same thing."""
    if first is None or second is None or not same_thing(first, second, asked):
        return None
    if holds(other, second, first, asked) or holds(one, first, second, asked):
        return None
    kind = value_kind(first.tokens[0]) if asked.expected in (Expected.MOMENT, Expected.AMOUNT) else DifferenceKind.NAME
    difference = Difference(kind, first.words, second.words, first.tokens[0].start, second.tokens[0].start)
    return Finding(
        first.statement,
        second.statement,
        (difference,),
        _topic(first.reading, difference),
        linked=False,
        weight=(first.score + second.score) / 2,
        relevance=_relevance((first.statement, second.statement), asked),
    )
