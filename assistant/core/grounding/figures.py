"""Figures: the numbers and dates of a sentence, compared strictly with those of the evidence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Final

from assistant.core.comparing.dates import Moment, MomentKind, moments
from assistant.core.comparing.quantities import Quantity, comparable, compatible, quantities, same_amount
from assistant.core.comparing.units import Dimension
from assistant.core.grounding.reading import match_terms

Figure = Quantity | Moment

_DIGIT: Final = re.compile(r"\d")
_BARE: Final = re.compile(r"\d+(?:[.,]\d+)*")
_THOUSANDS: Final = re.compile(r",(?=\d{3}(?!\d))")
_MAYBE: Final = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty|half|hundred|thousand|[mb]illion"
    r"|dozen|noon|midnight|\w+day|jan|feb|mar|apr|(?-i:May)|june?|july?|aug|sept?|oct|nov|dec|january|february|march"
    r"|april|august|september|october|november|december)\b|[〇零一二两三四五六七八九十百千万亿]",
    re.IGNORECASE,
)
_OPEN_KINDS: Final = frozenset({MomentKind.RELATIVE, MomentKind.WEEKDAY})
_COUNTS: Final = frozenset({Dimension.COUNT, Dimension.ORDINAL})
_AROUND: Final = 48
_SAME_SETTING: Final = 0.5
_MOST_ABSENT: Final = 20


@dataclass(frozen=True, slots=True)
class Figures:
    """The quantities, dates and bare digit strings of a text; `bare` have no thousands separators."""

    text: str = ""
    quantities: tuple[Quantity, ...] = ()
    moments: tuple[Moment, ...] = ()
    bare: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.quantities or self.moments)

    def stated(self) -> list[Figure]:
        """The figures that have to be right; counts in words ("two kinds") may only count a list and are left out."""
        counted = (each for each in self.quantities if each.dimension not in _COUNTS or self._in_digits(each))
        return [*counted, *self.moments]

    def _in_digits(self, each: Quantity) -> bool:
        return _DIGIT.search(self.text, each.span.start, each.span.end) is not None


NO_FIGURES: Final = Figures()


@lru_cache(maxsize=2048)
def figures(text: str) -> Figures:
    """The figures of a text."""
    if not _MAYBE.search(text):
        return NO_FIGURES
    dates = moments(text)
    found = quantities(text, [moment.span for moment in dates])
    bare = frozenset(_THOUSANDS.sub("", match.group()) for match in _BARE.finditer(text))
    return Figures(text, tuple(found), tuple(each for each in dates if each.kind not in _OPEN_KINDS), bare)


def missing(claim: Figures, evidence: Sequence[Figures]) -> list[Figure]:
    """The figures of a claim that no evidence gives; one that is repeated is looked for once."""
    known: dict[object, bool] = {}
    absent: list[Figure] = []
    for each in claim.stated():
        key = _value(each)
        if key not in known:
            known[key] = _given(each, evidence)
        if not known[key]:
            absent.append(each)
    return absent


def _value(one: Figure) -> tuple[object, ...]:
    """What a figure says, wherever it stands."""
    if isinstance(one, Moment):
        return one.kind, one.key
    return one.dimension, one.low, one.high, one.unit, one.bound


def _given(one: Figure, shown: Sequence[Figures]) -> bool:
    return _has_moment(one, shown) if isinstance(one, Moment) else _has_quantity(one, shown)


def _has_quantity(one: Quantity, shown: Sequence[Figures]) -> bool:
    """Equal amounts of one dimension match, and bare digits whatever stands beside them; a range also by its ends."""
    theirs = [other for each in shown for other in each.quantities]
    if any(comparable(one, other) and same_amount(one, other) for other in theirs):
        return True
    if one.low != one.high:
        ends = {end for other in theirs if comparable(one, other) for end in (other.low, other.high)}
        return one.low in ends and one.high in ends
    if one.dimension in _COUNTS:
        return any(f"{one.low:.15g}" in each.bare for each in shown)
    return any(other.dimension is Dimension.COUNT and not other.unit and other.low == one.low for other in theirs)


def _has_moment(one: Moment, shown: Sequence[Figures]) -> bool:
    """A date matches itself and every finer date inside it ("March 2024" in "5 March 2024")."""
    key = one.key.rstrip("?")
    for each in shown:
        if any(_inside(key, other.key.rstrip("?")) for other in each.moments):
            return True
        if one.kind is MomentKind.YEAR and key in each.bare:
            return True
    return False


def _inside(coarse: str, fine: str) -> bool:
    return fine == coarse or fine.startswith(coarse + "-") or fine.endswith("-" + coarse)


def rivals(absent: Iterable[Figure], claim: Figures, evidence: Figures) -> bool:
    """Whether the evidence gives another figure of the same sort in the setting where the claim gives an absent one."""
    others: list[Figure] = [*evidence.quantities, *evidence.moments]
    return any(
        _competes(one, other) and not _given(other, (claim,)) and _same_setting(one, claim.text, other, evidence.text)
        for one in islice(absent, _MOST_ABSENT)
        for other in others
    )


def _competes(one: Figure, other: Figure) -> bool:
    """Whether two figures are of one sort and cannot both hold; counts have to count the same noun."""
    if isinstance(one, Moment) or isinstance(other, Moment):
        return isinstance(one, Moment) and isinstance(other, Moment) and one.kind is other.kind
    if one.dimension in _COUNTS and not (one.unit == other.unit != ""):
        return False
    return comparable(one, other) and not compatible(one, other)


def _same_setting(one: Figure, text: str, other: Figure, shown: str) -> bool:
    """Whether most of the words around the two figures are the same."""
    mine, theirs = _setting(one, text), _setting(other, shown)
    fewer = min(len(mine), len(theirs))
    return fewer > 0 and len(mine & theirs) / fewer >= _SAME_SETTING and len(mine & theirs) >= min(2, len(mine))


def _setting(one: Figure, text: str) -> frozenset[str]:
    before = text[max(0, one.span.start - _AROUND) : one.span.start]
    after = text[one.span.end : one.span.end + _AROUND]
    words = match_terms(before)[-4:] + match_terms(after)[:4]
    return frozenset(word for word in words if not word[0].isdigit())
