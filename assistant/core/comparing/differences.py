"""Differences: two nearly equal statements aligned word by word, and what of the difference matters.

The alignment is the longest common subsequence of the token keys (Indel distance). Since a quantity, date or modal
expression is one token whose key does not depend on how it is written, a change of number format or spelling
leaves no difference, and a change of value, name or polarity leaves exactly one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, NamedTuple

from rapidfuzz.distance import Indel

from assistant.core.comparing.bounds import LOWER, UPPER
from assistant.core.comparing.claims import Reading, Token, TokenKind, content
from assistant.core.comparing.modality import Modality, exclusive, opposite
from assistant.core.comparing.units import Dimension
from assistant.core.comparing.values import differ, opposite_limits, same_sort, same_value
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
_RESPONSIBLE: Final = frozenset((stem("responsible"), "负责", "牵头", "主管"))
_HYPHEN: Final = re.compile(r"[a-z\d]-[a-z]{2,}$", re.IGNORECASE)
_VALUES: Final = frozenset((TokenKind.QUANTITY, TokenKind.MOMENT))
_LONG_NAME: Final = 5
_LONG_PHRASE: Final = 2
_REWRITTEN: Final = 3
_SHORT_DENIAL: Final = 2
_CONTEXT: Final = 3
_LIMIT_WORDS: Final = tuple(bound.replace("_", " ") for bound in (*LOWER, *UPPER))
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
    return _likeness(one, other, segments, agreed), segments


def _likeness(one: Reading, other: Reading, segments: Sequence[Segment], agreed: int) -> float:
    """The share of the words that agree (Dice); opposites do, and the only words exchanged weigh as one."""
    whole = sum(map(_weighs, one.tokens)) + sum(map(_weighs, other.tokens))
    same = 2 * agreed + sum(len(content(s.one)) + len(content(s.other)) for s in segments if inverted(s))
    exchanged = [sizes for s in segments if any(sizes := (sum(map(_weighs, s.one)), sum(map(_weighs, s.other))))]
    if len(exchanged) == 1 and min(exchanged[0]) and max(exchanged[0]) <= _LONG_PHRASE:
        whole = same + 2
    return same / whole if whole else 0.0


def inverted(segment: Segment) -> bool:
    """Whether a word was exchanged for its opposite, and nothing else."""
    left, right = content(segment.one), content(segment.other)
    return bool(left and right) and opposite("".join(t.key for t in left), "".join(t.key for t in right))


def _opposed(same: Sequence[Token], other: Sequence[Token]) -> list[Segment]:
    return [Segment((a,), (b,)) for a, b in zip(same, other, strict=True) if opposite_limits(a, b)]


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
    one: Reading,
    other: Reading,
    segments: Sequence[Segment],
    *,
    tight: bool = True,
    asked: bool = False,
    revised: bool = False,
) -> list[Difference]:
    """The differences that matter, in the order of the text; spelling, wording and number format do not.

    Where the statements are not `tight` (much else differs), counts are compared only of the same noun, and names not
    at all. Where they answer a question (`asked`), what follows "is" can be exchanged as well as what follows an
    article. In a `revised` text any other amount counts; elsewhere "at least 5" and "6" can both be stated.
    """
    found: list[Difference] = []
    rewritten = (
        not asked and sum(bool(content(segment.one) or content(segment.other)) for segment in segments) > _REWRITTEN
    )
    for segment in segments:
        values = _values(one, other, segment, tight=tight, revised=revised) or _modal(one, other, segment)
        if not values and tight and not rewritten:
            values = _named(one, other, segment, asked=asked)
        found.extend(values)
    return _uncancelled(found, segments)


def _uncancelled(found: list[Difference], segments: Sequence[Segment]) -> list[Difference]:
    """The differences less denials that cancel: "below 5 it is not paid" and "above 5 it is paid" say the same."""
    denials = sum(map(_denies, segments))
    turned = sum(_turns(segment) for segment in segments)
    if denials + turned < 2 or (denials + turned) % 2 or not denials:
        return found
    return [
        difference
        for difference in found
        if difference.kind is not DifferenceKind.POLARITY and not difference.one.startswith(_LIMIT_WORDS)
    ]


def _denies(segment: Segment) -> bool:
    """Whether one side of a segment denies what the other states."""
    left, right = _force(segment.one), _force(segment.other)
    if left and right:
        return exclusive(left, right) and Modality.MUST_NOT in (left, right)
    return Modality.NOT in (left, right)


def _turns(segment: Segment) -> bool:
    """Whether a word was exchanged for its opposite, or a lower limit for an upper one."""
    return any(
        opposite(one.key, other.key) or (same_sort(one, other) and opposite_limits(one, other))
        for one in segment.one
        for other in segment.other
    )


def _values(one: Reading, other: Reading, segment: Segment, *, tight: bool, revised: bool) -> list[Difference]:
    """Values of the same sort on both sides, paired in order, that are not the same."""
    found = []
    labelled = bool(segment.before) and segment.before[-1].key in LABELS
    rest = [] if labelled else [token for token in segment.other if token.kind in _VALUES]
    for token in segment.one:
        partner = next((p for p in rest if same_sort(token, p) and (tight or _same_noun(token, p))), None)
        if partner is not None and _is_adjective(token, one) != _is_adjective(partner, other):
            partner = None
        if partner is None:
            continue
        rest.remove(partner)
        if differ(token, partner) or (revised and not same_value(token, partner)):
            found.append(_value_difference(one, other, token, partner))
    return found


def _value_difference(one: Reading, other: Reading, token: Token, partner: Token) -> Difference:
    found = _difference(value_kind(token), one, other, [token], [partner])
    if token.quantity is None or partner.quantity is None or not opposite_limits(token, partner):
        return found
    left, right = (q.bound.replace("_", " ") for q in (token.quantity, partner.quantity))
    return replace(found, one=f"{left} {found.one}", other=f"{right} {found.other}")


def _is_adjective(token: Token, reading: Reading) -> bool:
    """Whether an amount describes a thing ("10-hour days") and is not what is counted."""
    amount = token.quantity
    if amount is None or amount.dimension is Dimension.COUNT or amount.low < amount.high:
        return False
    return _HYPHEN.search(reading.text, token.start, token.end) is not None


def _same_noun(one: Token, other: Token) -> bool:
    if one.quantity is None or other.quantity is None or one.quantity.dimension is not Dimension.COUNT:
        return True
    return one.quantity.unit == other.quantity.unit


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
    opposed = inverted(segment) or any(
        opposite(token.key, partner.key) for token in segment.one for partner in segment.other
    )
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
    predicate = asked or (_defines(segment.before, right, other) and _defines(segment.before, left, one))
    things = is_thing(segment.one, segment.before, one.text, named=any(names), predicate=predicate) and is_thing(
        segment.other, segment.other_before, other.text, named=any(names), predicate=predicate
    )
    things = things or (_is_responsible(left, one) and _is_responsible(right, other))
    if (things and any(names)) or all(token.kind is TokenKind.NAME for token in (*left, *right)):
        return [_difference(DifferenceKind.NAME, one, other, left, right)]
    if things and (asked or max(len(left), len(right)) <= _LONG_PHRASE):
        return [_difference(DifferenceKind.PHRASE, one, other, left, right)]
    return []


def _is_responsible(words: Sequence[Token], reading: Reading) -> bool:
    """Whether words name who is responsible, which is one party: "Finance is responsible for ...", "财务部负责"."""
    place = reading.tokens.index(words[-1]) + 1
    return any(token.key in _RESPONSIBLE for token in reading.tokens[place : place + 2])


def _defines(before: Sequence[Token], words: Sequence[Token], reading: Reading) -> bool:
    """Whether words that end a statement follow 为, which names what a thing is (an adjective would follow 很 or 是)."""
    return bool(before) and before[-1].key == "为" and reading.tokens[-1] == words[-1]


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
