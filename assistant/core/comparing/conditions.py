"""Conditions: whether two aligned statements speak of the same thing at the same time, for the same people.

London opens at 9, Paris at 10; sales grew by 4 % in one quarter and 6 % in another; sick leave is 10 days and annual
leave 25. Values that differ beside such a difference do not contradict each other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Final

from assistant.core.comparing.bounds import Bound
from assistant.core.comparing.claims import (
    TERMS_OF_WORK,
    WORDS,
    Reading,
    Token,
    TokenKind,
    is_event,
    other_groups,
    read,
)
from assistant.core.comparing.dates import MomentKind
from assistant.core.comparing.differences import LABELS, Difference, DifferenceKind, Segment, inverted
from assistant.core.comparing.focus import Focus
from assistant.core.comparing.modality import Modality
from assistant.core.comparing.places import PLACES
from assistant.core.comparing.synonyms import same_meaning
from assistant.core.comparing.units import Dimension
from assistant.core.comparing.values import differ, same_sort
from assistant.core.comparing.wording import same_phrase
from assistant.core.evidence import Evidence
from assistant.core.text import stem, words

NAMES: Final = frozenset((DifferenceKind.NAME, DifferenceKind.PHRASE))
_SWAP: Final = 2
_SHARED: Final = 2
_POINTERS: Final = frozenset(
    stem(word) for word in "see refer read check click visit 参见 详见 见 参考 参阅 查看".split()
)
_PERIODS: Final = frozenset(
    (
        MomentKind.MONTH,
        MomentKind.QUARTER,
        MomentKind.HALF,
        MomentKind.FISCAL,
        MomentKind.MONTH_OF_YEAR,
        MomentKind.QUARTER_OF_YEAR,
    )
)
_PREPOSITION_WORDS: Final = "in on at for to from during with under within of 在 对 于 向 从"
_PREPOSITIONS: Final = frozenset(_PREPOSITION_WORDS.split())
_THRESHOLD: Final = re.compile(r"(?:\b(?:after|beyond|if|when)\s+|满|达到?|[后以]\s*)$", re.IGNORECASE)
_NUMBERED: Final = frozenset(
    stem(word) for word in "room version tier level phase grade class form group floor".split()
)
_GRADES: Final = frozenset("级期类等档层号版")
_VERSION_WORDS: Final = """
new old current former previous draft final updated revised archived version edition v1 v2 v3 copy 新 旧 新版 旧版 现行 草案 草稿
正式版 修订版 修订 试行 最新 历史
"""
_VERSIONS: Final = frozenset(stem(word) for word in _VERSION_WORDS.split())
_STRICT: Final = frozenset((Bound.MORE_THAN, Bound.LESS_THAN))


def same_conditions(one: Reading, other: Reading, segments: Sequence[Segment], asked: Focus | None) -> bool:
    """Whether two aligned statements hold for the same row, years and groups, so that their values can be compared."""
    if one.row != other.row or other_groups(one, other):
        return False
    if one.periods ^ other.periods <= _resolved_years(segments):
        return True
    return (asked is not None and asked.once) or _year_is_value(one, segments)


def _resolved_years(segments: Sequence[Segment]) -> frozenset[str]:
    """The years that stand where the other side has a date relative to its document ("last month"; "April 2024")."""
    found: set[str] = set()
    for segment in segments:
        for side, partners in ((segment.one, segment.other), (segment.other, segment.one)):
            if any(t.moment and t.moment.written and t.moment.start for t in partners):
                found.update(str(t.moment.year) for t in side if t.moment)
    return frozenset(found)


def _year_is_value(one: Reading, segments: Sequence[Segment]) -> bool:
    """Whether a year tells when something happened once ("founded in 1866") and is no condition ("in 2024, ...")."""
    return is_event(one) and not any(
        token.moment and token.moment.kind is MomentKind.FISCAL for segment in segments for token in segment.one
    )


def headings_apart(one: Evidence, other: Evidence, *, linked: bool) -> bool:
    """Whether the titles or sections tell that two passages hold for other groups or other things ("Leave – Germany")."""
    sections = _apart(_last(one.section), _last(other.section))
    return sections or (not linked and _apart(one.source.title, other.source.title))


def _last(section: str) -> str:
    return section.rpartition(">")[2].strip()


@lru_cache(maxsize=4096)
def _apart(one: str, other: str) -> bool:
    """Whether two headings name other groups of people or other places, or differ in one word that tells no version."""
    if not one or not other or one == other:
        return False
    left, right = read(one), read(other)
    if other_groups(left, right) or _other_places(one, other):
        return True
    shared, mine, theirs = left.terms & right.terms, left.terms - right.terms, right.terms - left.terms
    swapped = len(mine) == len(theirs) == 1 and not (mine | theirs) & _VERSIONS
    return bool(shared) and swapped and not same_meaning([*mine], [*theirs])


def _other_places(one: str, other: str) -> bool:
    left, right = frozenset(words(one)) & PLACES, frozenset(words(other)) & PLACES
    return bool(left - right and right - left)


def other_period(differences: Sequence[Difference], segments: Sequence[Segment]) -> bool:
    """Whether a month, quarter or fiscal year was exchanged beside another value: each period has its own value."""
    if all(difference.kind is DifferenceKind.DATE or difference.kind in NAMES for difference in differences):
        return False
    return any(_exchanged_period(segment) for segment in segments)


def _exchanged_period(segment: Segment) -> bool:
    left, right = ([t for t in side if t.moment and t.moment.kind in _PERIODS] for side in (segment.one, segment.other))
    return any(same_sort(one, other) and differ(one, other) for one in left for other in right)


def of_two_things(
    differences: Sequence[Difference], segments: Sequence[Segment], one: Reading, other: Reading, asked: Focus | None
) -> bool:
    """Whether a value or rule differs and, beside it, what it is about: a name, a modifier, a subject, a threshold."""
    if all(difference.kind in NAMES for difference in differences):
        return _points(one) and _points(other)
    if (one.groups ^ other.groups) & TERMS_OF_WORK - (asked.terms if asked else frozenset()):
        return True
    if any(map(_is_labelled, segments)) and sum(map(_exchanged_values, segments)) > 1:
        return True
    ruled = any(difference.kind is DifferenceKind.POLARITY for difference in differences)
    if ruled and _of_other_words(segments, one, other):
        return True
    for segment in segments:
        if _is_numbered(segment) or _swapped_name(segment, asked, codes=ruled) or _other_thing(segment, one, other):
            return True
    return _other_threshold(segments, one)


def _points(reading: Reading) -> bool:
    """Whether a statement sends the reader to another page; two pages may well send to two."""
    opening = [token.key for token in reading.tokens if token.kind is not TokenKind.STOP][:2]
    return not _POINTERS.isdisjoint(opening)


def _of_other_words(segments: Sequence[Segment], one: Reading, other: Reading) -> bool:
    """Whether each of two rules has words that the other has not, or a denied one shares no two: two things."""
    changed = [segment for segment in segments if not inverted(segment)]
    mine, theirs = ([t for s in changed for t in side(s) if t.kind in WORDS] for side in (_one, _other))
    turned = 2 * (len(segments) - len(changed))
    denied = any(token.modality is Modality.NOT for s in segments for token in (*s.one, *s.other))
    if denied and len(one.terms & other.terms) + turned < _SHARED:
        return True
    return bool(mine and theirs) and not same_phrase(mine, theirs, one.text, other.text)


_one, _other = attrgetter("one"), attrgetter("other")


def _is_numbered(segment: Segment) -> bool:
    """Whether numbers differ that tell two things of one name apart ("Form 12", "Level 3")."""
    counts = [
        t.quantity for t in (*segment.one, *segment.other) if t.quantity and t.quantity.dimension is Dimension.COUNT
    ]
    return len(counts) > 1 and bool(segment.before) and segment.before[-1].kind is TokenKind.NAME


def _is_labelled(segment: Segment) -> bool:
    """Whether numbers differ that tell parts, versions or grades apart ("room 4", "version 2.1", "一级")."""
    left, right = ([t for t in side if t.quantity] for side in (segment.one, segment.other))
    if not left or not right or not (left[0].quantity and right[0].quantity):
        return False
    graded = left[0].quantity.unit[:1] in _GRADES and left[0].quantity.unit == right[0].quantity.unit
    return graded or (bool(segment.before) and segment.before[-1].key in LABELS | _NUMBERED)


def _exchanged_values(segment: Segment) -> int:
    return sum(
        any(same_sort(one, other) and differ(one, other) for other in segment.other)
        for one in segment.one
        if one.quantity or one.moment
    )


def _short(segment: Segment) -> tuple[list[Token], list[Token]]:
    left, right = ([t for t in side if t.kind in WORDS] for side in (segment.one, segment.other))
    return (left, right) if 0 < len(left) <= _SWAP and 0 < len(right) <= _SWAP else ([], [])


def _swapped_name(segment: Segment, asked: Focus | None, *, codes: bool) -> bool:
    """Whether a name (with `codes` also a code as "B2") was exchanged for one, or a word of the question for another."""
    left, right = _short(segment)
    if not left:
        return False
    if all(t.kind is TokenKind.NAME and (codes or t.key.isalpha()) for t in (*left, *right)):
        return True
    return asked is not None and any(t.key in asked.terms for t in left) != any(t.key in asked.terms for t in right)


def _other_thing(segment: Segment, one: Reading, other: Reading) -> bool:
    """Whether the subject, a modifier of a shared noun or what follows a preposition was exchanged."""
    left, right = _short(segment)
    if not left or inverted(segment) or same_phrase(left, right, one.text, other.text):
        return False
    return all(
        _opens(reading, words[0]) or _after_preposition(reading, words[0]) or _modifies(reading, words[-1])
        for reading, words in ((one, left), (other, right))
    )


def _opens(reading: Reading, token: Token) -> bool:
    """Whether a token is the first word of its statement."""
    return token == next((t for t in reading.tokens if t.kind is not TokenKind.STOP), None)


def _after_preposition(reading: Reading, token: Token) -> bool:
    place = reading.tokens.index(token)
    return any(before.key in _PREPOSITIONS for before in reading.tokens[max(0, place - 1) : place])


def _modifies(reading: Reading, token: Token) -> bool:
    """Whether a token stands directly before another word, as in "sick leave"."""
    following = reading.tokens[reading.tokens.index(token) + 1 :][:1]
    return bool(following) and following[0].kind is TokenKind.WORD and following[0].start - token.end <= 1


def _other_threshold(segments: Sequence[Segment], one: Reading) -> bool:
    """Whether a value was exchanged that a rule begins at, and the value that it sets ("above $500 ... two approvals")."""
    exchanged = [
        token.quantity.bound in _STRICT
        or _THRESHOLD.search(one.text, max(0, token.start - 12), token.start) is not None
        for segment in segments
        for token in segment.one
        if token.quantity and any(same_sort(token, t) and differ(token, t) for t in segment.other)
        if token.quantity.bound is not Bound.AT_LEAST
    ]
    return len(set(exchanged)) > 1
