"""Differences: two nearly equal statements aligned word by word, and what of the difference matters.

The alignment is the longest common subsequence of the token keys (Indel distance). Since a quantity, date or modal
expression is one token whose key does not depend on how it is written, a change of number format or spelling
leaves no difference, and a change of value, name or polarity leaves exactly one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, NamedTuple

from rapidfuzz.distance import Indel

from assistant.core.comparing.bounds import LOWER, UPPER
from assistant.core.comparing.claims import Reading, Token, TokenKind, content
from assistant.core.comparing.dates import Moment, MomentKind
from assistant.core.comparing.modality import Modality, exclusive, opposite
from assistant.core.comparing.quantities import comparable, excludes, same_amount
from assistant.core.comparing.units import Dimension
from assistant.core.comparing.wording import is_thing, same_phrase
from assistant.core.text import stem


class DifferenceKind(StrEnum):
    """What two aligned statements differ in."""

    NUMBER = "number"
    MONEY = "money"
    PERCENT = "percent"
    DATE = "date"
    DURATION = "duration"
    POLARITY = "polarity"
    NAME = "name"
    PHRASE = "phrase"


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where two statements differ, with the words of each side; offsets are in the statements."""

    kind: DifferenceKind
    one: str
    other: str
    start: int
    other_start: int


class Segment(NamedTuple):
    """A place of an alignment where the sides differ: the tokens of each side and the few before them."""

    one: tuple[Token, ...]
    other: tuple[Token, ...]
    before: tuple[Token, ...] = ()
    other_before: tuple[Token, ...] = ()


_DIMENSIONS: Final = {
    Dimension.MONEY: DifferenceKind.MONEY,
    Dimension.PERCENT: DifferenceKind.PERCENT,
    Dimension.DURATION: DifferenceKind.DURATION,
    Dimension.FREQUENCY: DifferenceKind.DURATION,
}
_VALUES: Final = frozenset((TokenKind.QUANTITY, TokenKind.MOMENT))
_LONG_NAME: Final = 5
_LONG_PHRASE: Final = 2
_REWRITTEN: Final = 3
_SHORT_DENIAL: Final = 2
_CONTEXT: Final = 3
_LABEL_WORDS: Final = "step section chapter part figure table appendix page question item order 步骤 章节 附录 图 表"
# A number after one of these names a place in a text, not an amount.
LABELS: Final = frozenset(stem(word) for word in _LABEL_WORDS.split())


def align(one: Reading, other: Reading) -> tuple[float, list[Segment]]:
    """Align two statements: how much of their content agrees (0 to 1; values left out) and where they differ.

    A number with opposite bounds ("at least 5", "at most 5") counts as a place where they differ.
    """
    keys, other_keys = [token.key for token in one.tokens], [token.key for token in other.tokens]
    segments: list[Segment] = []
    agreed = 0
    pending: tuple[int, int, int, int] | None = None
    for op in Indel.opcodes(keys, other_keys):
        if op.tag != "equal":
            start = pending or (op.src_start, op.src_start, op.dest_start, op.dest_start)
            pending = (start[0], op.src_end, start[2], op.dest_end)
            continue
        if pending:
            segments.append(_segment(one, other, pending))
            pending = None
        same = one.tokens[op.src_start : op.src_end]
        agreed += sum(map(_weighs, same))
        segments += _opposed(same, other.tokens[op.dest_start : op.dest_end])
    if pending:
        segments.append(_segment(one, other, pending))
    whole = sum(map(_weighs, one.tokens)) + sum(map(_weighs, other.tokens))
    return (2 * agreed / whole if whole else 0.0), segments


def _opposed(same: Sequence[Token], other: Sequence[Token]) -> list[Segment]:
    """Places where both sides have the same words and mean another value: opposite limits, other days of a "last month"."""
    return [Segment((a,), (b,)) for a, b in zip(same, other, strict=True) if _limits(a, b) or _other_days(a, b)]


def _limits(one: Token, other: Token) -> bool:
    """Whether one amount is a lower limit on one side and an upper limit on the other, with no room between them."""
    if one.quantity is None or other.quantity is None or one.quantity.bound == other.quantity.bound:
        return False
    bounds = LOWER | UPPER
    limits = one.quantity.bound in bounds and other.quantity.bound in bounds
    return limits and same_sort(one, other) and excludes(one.quantity, other.quantity)


def _other_days(one: Token, other: Token) -> bool:
    """Whether the same words ("last month") mean days apart in the two documents."""
    if one.moment is None or other.moment is None or not one.moment.written:
        return False
    return one.moment.start is not None and other.moment.start is not None and not same_value(one, other)


def _weighs(token: Token) -> bool:
    return token.kind in (TokenKind.WORD, TokenKind.NAME)


def _segment(one: Reading, other: Reading, at: tuple[int, int, int, int]) -> Segment:
    return Segment(
        one.tokens[at[0] : at[1]],
        other.tokens[at[2] : at[3]],
        one.tokens[max(0, at[0] - _CONTEXT) : at[0]],
        other.tokens[max(0, at[2] - _CONTEXT) : at[2]],
    )


def judge(
    one: Reading, other: Reading, segments: Sequence[Segment], *, tight: bool = True, asked: bool = False
) -> list[Difference]:
    """The differences that matter, in the order of the text; spelling, wording and number format do not.

    Where the statements are not `tight` (much else differs), counts are compared only of the same noun, and names not
    at all. Where they answer a question (`asked`), what follows "is" can be exchanged as well as what follows an
    article.
    """
    found: list[Difference] = []
    rewritten = (
        not asked and sum(bool(content(segment.one) or content(segment.other)) for segment in segments) > _REWRITTEN
    )
    for segment in segments:
        values = _values(one, other, segment, tight=tight) or _modal(one, other, segment)
        if not values and tight and not rewritten:
            values = _named(one, other, segment, asked=asked)
        found.extend(values)
    return found


def _values(one: Reading, other: Reading, segment: Segment, *, tight: bool) -> list[Difference]:
    """Values of the same sort on both sides, paired in order, that are not the same."""
    found = []
    labelled = bool(segment.before) and segment.before[-1].key in LABELS
    rest = [] if labelled else [token for token in segment.other if token.kind in _VALUES]
    for token in segment.one:
        partner = next((p for p in rest if same_sort(token, p) and (tight or _same_noun(token, p))), None)
        if partner is None:
            continue
        rest.remove(partner)
        if differ(token, partner):
            found.append(_value_difference(one, other, token, partner))
    return found


def differ(one: Token, other: Token) -> bool:
    """Whether two values of one sort cannot both be stated of one thing."""
    if one.quantity and other.quantity:
        return excludes(one.quantity, other.quantity)
    return not same_value(one, other)


def _value_difference(one: Reading, other: Reading, token: Token, partner: Token) -> Difference:
    found = _difference(value_kind(token), one, other, [token], [partner])
    if token.quantity is None or partner.quantity is None or not _limits(token, partner):
        return found
    left, right = (q.bound.replace("_", " ") for q in (token.quantity, partner.quantity))
    return replace(found, one=f"{left} {found.one}", other=f"{right} {found.other}")


def _same_noun(one: Token, other: Token) -> bool:
    if one.quantity is None or other.quantity is None or one.quantity.dimension is not Dimension.COUNT:
        return True
    return one.quantity.unit == other.quantity.unit


def same_sort(one: Token, other: Token) -> bool:
    """Whether two values can be compared: one dimension, or both dates, both weekdays, both clock times."""
    if one.quantity and other.quantity:
        return comparable(one.quantity, other.quantity)
    return bool(one.moment and other.moment and _scale(one.moment) == _scale(other.moment))


def _scale(moment: Moment) -> str:
    """Weekdays are compared with weekdays, clock times with clock times, all dates with dates."""
    return moment.kind if moment.kind in (MomentKind.WEEKDAY, MomentKind.CLOCK) else "date"


def same_value(one: Token, other: Token) -> bool:
    """Whether two comparable values are the same amount or moment."""
    if one.quantity and other.quantity:
        return same_amount(one.quantity, other.quantity)
    return bool(one.moment and other.moment and same_moment(one.moment, other.moment))


def same_moment(one: Moment, other: Moment) -> bool:
    """Whether two moments can be the same: equal, or one only names the other less exactly (1866; 5 May 1866)."""
    first, second = one.key.rstrip("?"), other.key.rstrip("?")
    if first == second:
        return True
    if one.start and other.start and one.end and other.end:
        return (one.start <= other.start and other.end <= one.end) or (
            other.start <= one.start and one.end <= other.end
        )
    open_clock = one.kind is MomentKind.CLOCK and "?" in one.key + other.key
    return (open_clock and first[3:] == second[3:] and (int(first[:2]) - int(second[:2])) % 12 == 0) or (
        MomentKind.DAY_OF_YEAR in (one.kind, other.kind) and (first.endswith(second) or second.endswith(first))
    )


def value_kind(token: Token) -> DifferenceKind:
    """The kind of difference that another value in place of this token is."""
    if token.quantity is None:
        return DifferenceKind.DATE
    return _DIMENSIONS.get(token.quantity.dimension, DifferenceKind.NUMBER)


def _modal(one: Reading, other: Reading, segment: Segment) -> list[Difference]:
    """A modal expression exchanged for one that excludes it, a negation more or less, a word for its opposite.

    A negation inside a clause that was added says nothing about the rest.
    """
    left, right = _force(segment.one), _force(segment.other)
    words, other_words = content(segment.one), content(segment.other)
    opposed = any(opposite(token.key, partner.key) for token in words for partner in other_words)
    if left and right:
        opposed = opposed or (exclusive(left, right) and max(len(words), len(other_words)) <= _SHORT_DENIAL)
    elif Modality.NOT in (left, right):
        opposed = opposed or not (words or other_words)
    return [_difference(DifferenceKind.POLARITY, one, other, segment.one, segment.other)] if opposed else []


def _force(tokens: Sequence[Token]) -> Modality | None:
    """The modality of a run of tokens; two negations cancel."""
    forces = [token.modality for token in tokens if token.modality]
    if forces.count(Modality.NOT) == 2 and len(forces) == 2:
        return None
    if Modality.NOT in forces and Modality.MAY in forces:
        return Modality.MUST_NOT
    return forces[0] if forces else None


def _named(one: Reading, other: Reading, segment: Segment, *, asked: bool) -> list[Difference]:
    """A name exchanged for a name, or a thing for another thing."""
    left, right = content(segment.one), content(segment.other)
    if not left or not right or max(len(left), len(right)) > _LONG_NAME:
        return []
    if _coded(left, right):
        return [_difference(DifferenceKind.NUMBER, one, other, left, right)]
    left, right = [t for t in left if t.kind not in _VALUES], [t for t in right if t.kind not in _VALUES]
    if not left or not right or same_phrase(left, right, one.text, other.text):
        return []
    names = [any(token.kind is TokenKind.NAME for token in side) for side in (left, right)]
    things = is_thing(segment.one, segment.before, one.text, named=any(names), predicate=asked) and is_thing(
        segment.other, segment.other_before, other.text, named=any(names), predicate=asked
    )
    if all(names) or (things and any(names)):
        return [_difference(DifferenceKind.NAME, one, other, left, right)]
    if things and (asked or max(len(left), len(right)) <= _LONG_PHRASE):
        return [_difference(DifferenceKind.PHRASE, one, other, left, right)]
    return []


def _coded(left: Sequence[Token], right: Sequence[Token]) -> bool:
    """A code (room G151) on one side and a number on the other."""
    return any(token.kind is TokenKind.QUANTITY for token in left) != any(
        token.kind is TokenKind.QUANTITY for token in right
    ) and any(any(char.isdigit() for char in token.key) and token.kind is TokenKind.NAME for token in (*left, *right))


def _difference(
    kind: DifferenceKind, one: Reading, other: Reading, left: Sequence[Token], right: Sequence[Token]
) -> Difference:
    return Difference(
        kind,
        _words(one, left),
        _words(other, right),
        left[0].start if left else len(one.text),
        right[0].start if right else len(other.text),
    )


def _words(reading: Reading, tokens: Sequence[Token]) -> str:
    """The words as they are written, on one line."""
    return reading.words(tokens[0].start, tokens[-1].end) if tokens else ""
