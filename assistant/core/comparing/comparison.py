"""Comparison: the disagreements between documents, what they are about and how much they matter.

Two ways lead to a finding. Nearly equal statements are aligned and their difference judged (`differences`): revisions
of one text. And, when a question is asked, the value that stands for its answer on one side is looked for on the other
(`answers`): two texts of their own that answer differently.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from assistant.core.comparing.answers import Answer, best_answer, holds, same_thing
from assistant.core.comparing.claims import Reading, read
from assistant.core.comparing.conditions import NAMES, headings_apart, of_two_things, other_period, same_conditions
from assistant.core.comparing.differences import Difference, DifferenceKind, align, judge, value_kind
from assistant.core.comparing.focus import Expected, Focus, focus
from assistant.core.comparing.pairing import Pair, Side, Statement, heading_terms, near_pairs
from assistant.core.comparing.quantities import quantities
from assistant.core.comparing.renaming import one_thing

_ALIGNED: Final = 0.6
_LINKED: Final = 0.55
_ANCHORED: Final = 0.3
_TIGHT: Final = 0.65
_COVERED: Final = 0.5
_LEAST, _NEARLY = 0.15, 0.5
_TOPIC_BEFORE, _TOPIC_AFTER = 4, 5
_MOST_DIFFERENCES: Final = 3
_AMOUNTS: Final = frozenset(
    (DifferenceKind.NUMBER, DifferenceKind.MONEY, DifferenceKind.PERCENT, DifferenceKind.DURATION)
)
# A name or phrase that was exchanged may be no more than a rewording; a value may not.
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")
_COUNTED: Final = 0.5
_SOFT: Final = {DifferenceKind.NAME: 0.2, DifferenceKind.PHRASE: 0.5}
_FITS: Final = {
    Expected.MOMENT: frozenset((DifferenceKind.DATE, DifferenceKind.DURATION)),
    Expected.AMOUNT: _AMOUNTS,
    Expected.NAME: NAMES | {DifferenceKind.NUMBER},
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


class Pairs(NamedTuple):
    """The pairs of two documents worth comparing; `linked` tells that these are versions of one."""

    near: Sequence[Pair]
    anchored: Sequence[Pair]
    linked: bool


def compare(sides: Sequence[Side], linked: Sequence[Sequence[bool]], question: str) -> list[Finding]:
    """The disagreements between the statements of documents; with a question, only those that bear on it.

    `linked[i][j]` tells whether sides i and j are versions of one document.
    """
    asked = focus(question) if question.strip() else None
    found: dict[tuple[int, int], list[Finding]] = {}
    for one, other, near, anchored in near_pairs(sides):
        pairs = Pairs(near, anchored, linked=linked[one][other])
        found[one, other] = _revisions(sides[one], sides[other], pairs, asked)
    if asked is not None:
        best = [best_answer(side, asked) for side in sides]
        for one in range(len(sides)):
            for other in range(one + 1, len(sides)):
                if not found.get((one, other)):
                    pair = (sides[one], sides[other])
                    finding = _answered(pair, (best[one], best[other]), asked, linked=linked[one][other])
                    found[one, other] = [finding] if finding else []
    return [finding for findings in found.values() for finding in findings]


def _revisions(one: Side, other: Side, pairs: Pairs, asked: Focus | None) -> list[Finding]:
    """The findings of aligned pairs; with a question, those most relevant to it.

    Of two single passages that only together bear on the question, the only finding that fits its sort counts.
    """
    alone = len({statement.evidence.id for statement in (*one, *other)}) == 2
    ranked = sorted(((_relevance(pair, asked), pair) for pair in pairs.near), key=lambda item: -item[0])
    found: list[Finding] = []
    for relevance, pair in ranked:
        if relevance < (max(_LEAST, _NEARLY * found[0].relevance) if found else 0.0 if alone else _LEAST):
            break
        finding = _aligned(pair, pairs, asked, relevance)
        if finding is not None and not _renamed(finding, one, other):
            found.append(finding)
    if asked is None or not found or found[0].relevance >= _LEAST:
        return found
    whole = frozenset[str]().union(*(statement.terms for statement in one)), " ".join(s.text for s in one)
    return found if len(found) == 1 and asked.share(*whole) >= _COVERED else []


def _renamed(finding: Finding, one: Side, other: Side) -> bool:
    """Whether no more than a name differs, and a document says that both are names of one thing."""
    return all(
        difference.kind in NAMES and one_thing(difference.one, difference.other, (s.text for s in (*one, *other)))
        for difference in finding.differences
    )


def _relevance(pair: Pair, asked: Focus | None) -> float:
    """The share of the question's terms that the statements or the headings above them hold; 1 without a question."""
    if asked is None:
        return 1.0
    held = frozenset[str]().union(*(s.terms | heading_terms(s) for s in pair))
    return asked.share(held, " ".join(f"{s.evidence.section} {s.text}" for s in pair))


def _aligned(pair: Pair, pairs: Pairs, asked: Focus | None, relevance: float) -> Finding | None:
    one, other = pair
    left, right = read(one.text, one.evidence.source.date), read(other.text, other.evidence.source.date)
    likeness, segments = align(left, right)
    anchored = pair in pairs.anchored
    if likeness < (_ANCHORED if anchored else _LINKED if pairs.linked else _ALIGNED):
        return None
    if not same_conditions(left, right, segments, asked):
        return None
    tight = likeness >= _TIGHT or anchored
    differences = judge(left, right, segments, tight=tight, asked=asked is not None, revised=pairs.linked)
    if asked is not None:
        differences = [difference for difference in differences if fits(difference, asked)]
    if not differences or other_period(differences, segments) or _speak_apart(pair, differences, asked):
        return None
    if headings_apart(one.evidence, other.evidence, linked=pairs.linked):
        return None
    if not pairs.linked and of_two_things(differences, segments, left, right, asked):
        return None
    weight = likeness + relevance - _SOFT.get(differences[0].kind, 0.0) + _COUNTED * _counts(differences[0], asked)
    return Finding(one, other, tuple(differences), _topic(left, differences[0]), pairs.linked, weight, relevance)


def _speak_apart(pair: Pair, differences: Sequence[Difference], asked: Focus | None) -> bool:
    """Whether a phrase differs in statements that, without their headings, do not speak of the question."""
    return differences[0].kind is DifferenceKind.PHRASE and not _about(pair, asked)


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


def fits(difference: Difference, asked: Focus) -> bool:
    """Whether a difference is of the sort that the question asks for."""
    if asked.person:
        return difference.kind in NAMES
    return asked.expected not in _FITS or difference.kind in _FITS[asked.expected]


def _topic(one: Reading, difference: Difference) -> str:
    """The words around the difference, with a gap where it stands."""
    end = difference.start + max(1, len(difference.one))
    before = [token for token in one.tokens if token.end <= difference.start][-_TOPIC_BEFORE:]
    after = [token for token in one.tokens if token.start >= end][:_TOPIC_AFTER]
    head = one.words(before[0].start, before[-1].end) if before else ""
    tail = one.words(after[0].start, after[-1].end) if after else ""
    return f"{head} … {tail}".strip()


def _answered(
    sides: tuple[Side, Side], answers: tuple[Answer | None, Answer | None], asked: Focus, *, linked: bool
) -> Finding | None:
    """The best answers of two documents, when neither stands on the other side and both speak of the same thing."""
    (one, other), (first, second) = sides, answers
    if first is None or second is None or not same_thing(first, second, asked):
        return None
    if headings_apart(first.statement.evidence, second.statement.evidence, linked=linked):
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
