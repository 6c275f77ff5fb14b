"""Differences: two nearly equal statements aligned word by word, and what of the difference matters.

The alignment is the longest common subsequence of the token keys (Indel distance). Since a quantity, date or modal
expression is one token whose key does not depend on how it is written, a change of number format or spelling
leaves no difference, and a change of value, name or polarity leaves exactly one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from rapidfuzz import fuzz
from rapidfuzz.distance import Indel

from assistant.core.claims import Reading, Token, TokenKind, content
from assistant.core.dates import Moment, MomentKind
from assistant.core.modality import Modality, exclusive, opposite
from assistant.core.quantities import Bound, Quantity, comparable, same_amount
from assistant.core.synonyms import same_meaning
from assistant.core.units import Dimension


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
    """A place of an alignment where the sides differ: the tokens of each side and the token before, if any."""

    one: tuple[Token, ...]
    other: tuple[Token, ...]
    before: tuple[Token, ...]


_DIMENSIONS: Final = {
    Dimension.MONEY: DifferenceKind.MONEY,
    Dimension.PERCENT: DifferenceKind.PERCENT,
    Dimension.DURATION: DifferenceKind.DURATION,
}
_VALUES: Final = frozenset((TokenKind.QUANTITY, TokenKind.MOMENT))
_LONG_PHRASE: Final = 5
_SAME_SPELLING: Final = 80.0
_SAME_NAME: Final = 86.0
# Words before a noun: what follows them is a thing, not an action.
_NOUN_MARKERS: Final = frozenset(
    "a an the this that these those all each every any some both our your their its his her my of in at on by with for "
    "from via through into as per the no 的 在 由 向 从 用 以 通过 每 该 本".split()
)

_PREDICATES: Final = frozenset("is are was were be been as become became 是 为".split())


def align(one: Reading, other: Reading) -> tuple[float, list[Segment]]:
    """Align two statements: how much of their content agrees (0 to 1; values left out) and where they differ."""
    keys, other_keys = [token.key for token in one.tokens], [token.key for token in other.tokens]
    segments: list[Segment] = []
    agreed = 0
    pending: tuple[int, int, int, int] | None = None
    for op in Indel.opcodes(keys, other_keys):
        if op.tag == "equal":
            if pending:
                segments.append(_segment(one, other, pending))
                pending = None
            agreed += sum(_weighs(token) for token in one.tokens[op.src_start : op.src_end])
            continue
        start = pending or (op.src_start, op.src_start, op.dest_start, op.dest_start)
        pending = (start[0], op.src_end, start[2], op.dest_end)
    if pending:
        segments.append(_segment(one, other, pending))
    whole = sum(map(_weighs, one.tokens)) + sum(map(_weighs, other.tokens))
    return (2 * agreed / whole if whole else 0.0), segments


def _weighs(token: Token) -> bool:
    return token.kind in (TokenKind.WORD, TokenKind.NAME)


def _segment(one: Reading, other: Reading, at: tuple[int, int, int, int]) -> Segment:
    return Segment(one.tokens[at[0] : at[1]], other.tokens[at[2] : at[3]], one.tokens[max(0, at[0] - 3) : at[0]])


def judge(one: Reading, other: Reading, segments: Sequence[Segment], *, asked: bool = False) -> list[Difference]:
    """The differences that matter, in the order of the text; spelling, wording and number format do not.

    Where the statement answers a question (`asked`), what follows "is" counts as well as what follows an article.
    """
    found: list[Difference] = []
    for segment in segments:
        found.extend(_values(one, other, segment) or _modal(one, other, segment) or _named(one, other, segment, asked))
    return found


def _values(one: Reading, other: Reading, segment: Segment) -> list[Difference]:
    """Values of the same sort on both sides, paired in order, that are not the same."""
    found = []
    rest = [token for token in segment.other if token.kind in _VALUES]
    for token in segment.one:
        partner = next((candidate for candidate in rest if same_sort(token, candidate)), None)
        if partner is None:
            continue
        rest.remove(partner)
        if not same_value(token, partner):
            found.append(_difference(value_kind(token), one, other, [token], [partner]))
    return found


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


def opposite_bounds(one: Quantity, other: Quantity) -> bool:
    """Whether one number is a lower limit on one side and an upper limit on the other."""
    lower, upper = {Bound.AT_LEAST, Bound.MORE_THAN}, {Bound.AT_MOST, Bound.LESS_THAN}
    return (one.bound in lower and other.bound in upper) or (one.bound in upper and other.bound in lower)


def _modal(one: Reading, other: Reading, segment: Segment) -> list[Difference]:
    """A modal expression exchanged for one that excludes it, a negation more or less, a word for its opposite."""
    left, right = _force(segment.one), _force(segment.other)
    if left != right and (exclusive(left, right) if left and right else Modality.NOT in (left, right)):
        return [_difference(DifferenceKind.POLARITY, one, other, segment.one, segment.other)]
    words, other_words = content(segment.one), content(segment.other)
    if any(opposite(token.key, partner.key) for token in words for partner in other_words):
        return [_difference(DifferenceKind.POLARITY, one, other, segment.one, segment.other)]
    return []


def _force(tokens: Sequence[Token]) -> Modality | None:
    """The modality of a run of tokens; two negations cancel."""
    forces = [token.modality for token in tokens if token.modality]
    if forces.count(Modality.NOT) == 2 and len(forces) == 2:  # noqa: PLR2004
        return None
    if Modality.NOT in forces and Modality.MAY in forces:
        return Modality.MUST_NOT
    return forces[0] if forces else None


def _named(one: Reading, other: Reading, segment: Segment, asked: bool) -> list[Difference]:
    """A name or a noun phrase exchanged for another one."""
    left, right = content(segment.one), content(segment.other)
    if not left or not right or max(len(left), len(right)) > _LONG_PHRASE:
        return []
    if _coded(left, right):
        return [_difference(DifferenceKind.NUMBER, one, other, left, right)]
    left, right = [t for t in left if t.kind not in _VALUES], [t for t in right if t.kind not in _VALUES]
    if not left or not right:
        return []
    names = any(token.kind is TokenKind.NAME for token in (*left, *right))
    if _same_phrase(left, right, names):
        return []
    if names:
        return [_difference(DifferenceKind.NAME, one, other, left, right)]
    if _is_noun_place(one, segment, _NOUN_MARKERS | _PREDICATES if asked else _NOUN_MARKERS):
        return [_difference(DifferenceKind.PHRASE, one, other, left, right)]
    return []


def _coded(left: Sequence[Token], right: Sequence[Token]) -> bool:
    """A code (room G151) on one side and a number on the other."""
    return any(token.kind is TokenKind.QUANTITY for token in left) != any(
        token.kind is TokenKind.QUANTITY for token in right
    ) and any(any(char.isdigit() for char in token.key) and token.kind is TokenKind.NAME for token in (*left, *right))


def _same_phrase(left: Sequence[Token], right: Sequence[Token], names: bool) -> bool:
    """Whether both sides say the same: one contains the other, or they are spellings or synonyms of one phrase."""
    keys, other_keys = {token.key for token in left}, {token.key for token in right}
    if keys <= other_keys or other_keys <= keys:
        return True
    compact, other_compact = "".join(t.key for t in left), "".join(t.key for t in right)
    threshold = _SAME_NAME if names else _SAME_SPELLING
    coded = (
        any(char.isdigit() for char in compact + other_compact)
        or compact.startswith("#")
        and other_compact.startswith("#")
    )
    if not coded and fuzz.ratio(compact, other_compact) >= threshold:
        return True
    return same_meaning([token.key for token in left], [token.key for token in right])


def _is_noun_place(one: Reading, segment: Segment, markers: frozenset[str]) -> bool:
    """Whether the exchanged words stand for a thing: after an article, preposition or the like, or after a slash."""
    run = segment.one
    if any(token.key in markers for token in run[:1]):
        return True
    if one.text[: run[0].start].rstrip().endswith("/"):
        return True
    return any(token.key in markers for token in segment.before)


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
    return " ".join(reading.text[tokens[0].start : tokens[-1].end].split()) if tokens else ""
