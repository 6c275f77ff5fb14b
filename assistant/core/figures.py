"""Figures: the numbers and dates of a sentence, compared strictly with those of the evidence."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from assistant.core.dates import Moment, MomentKind, moments
from assistant.core.quantities import Quantity, comparable, quantities, same_amount
from assistant.core.units import Dimension

_DIGIT: Final = re.compile(r"\d")
_BARE: Final = re.compile(r"\d+(?:[.,]\d+)*")
_MAYBE: Final = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty|half|hundred|thousand|[mb]illion|dozen"
    r"|noon|midnight|\w+day|jan|feb|mar|apr|(?-i:May)|june?|july?|aug|sept?|oct|nov|dec|january|february|march|april|august"
    r"|september|october|november|december)\b|[〇零一二两三四五六七八九十百千万亿]",
    re.IGNORECASE,
)
_OPEN_KINDS: Final = frozenset({MomentKind.RELATIVE, MomentKind.WEEKDAY})


@dataclass(frozen=True, slots=True)
class Figures:
    """The quantities, dates and bare digit strings of a text; `bare` have no thousands separators."""

    quantities: tuple[Quantity, ...] = ()
    moments: tuple[Moment, ...] = ()
    bare: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.quantities or self.moments or self.bare)


NO_FIGURES: Final = Figures()


@lru_cache(maxsize=8192)
def figures(text: str) -> Figures:
    """The figures of a text; counts written as words ("two kinds") are left out, they often only count a list."""
    if not _MAYBE.search(text):
        return NO_FIGURES
    dates = moments(text)
    found = quantities(text, [moment.span for moment in dates])
    kept = (each for each in found if each.dimension not in _WORD_SIZED or _DIGIT.search(text, *_edges(each)))
    bare = frozenset(_plain(match.group()) for match in _BARE.finditer(text))
    return Figures(tuple(kept), tuple(each for each in dates if each.kind not in _OPEN_KINDS), bare)


_WORD_SIZED: Final = frozenset({Dimension.COUNT, Dimension.ORDINAL})


def _edges(quantity: Quantity) -> tuple[int, int]:
    return quantity.span.start, quantity.span.end


def _plain(digits: str) -> str:
    return re.sub(r",(?=\d{3}(?!\d))", "", digits)


def missing(claim: Figures, evidence: Iterable[Figures]) -> tuple[Quantity | Moment, ...]:
    """The figures of a claim that no evidence gives, in order of the text."""
    shown = tuple(evidence)
    absent: list[Quantity | Moment] = [each for each in claim.quantities if not _has_quantity(each, shown)]
    absent.extend(each for each in claim.moments if not _has_moment(each, shown))
    return tuple(sorted(absent, key=lambda each: each.span))


def _has_quantity(one: Quantity, shown: tuple[Figures, ...]) -> bool:
    """Equal amounts of one dimension match; a bare number also matches the same digits whatever stands beside it."""
    if any(comparable(one, other) and same_amount(one, other) for each in shown for other in each.quantities):
        return True
    if one.dimension not in _WORD_SIZED:
        digits = f"{one.low:g}"
        return any(
            other.dimension is Dimension.COUNT and not other.unit and f"{other.low:g}" == digits
            for each in shown
            for other in each.quantities
        )
    return any(f"{one.low:.15g}" in each.bare for each in shown)


def _has_moment(one: Moment, shown: tuple[Figures, ...]) -> bool:
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


def rivals(absent: Iterable[Quantity | Moment], claim: Figures, evidence: Figures) -> bool:
    """Whether the evidence gives another figure of the same sort where the claim gives one that is absent from it."""
    return any(_has_rival(each, claim, evidence) for each in absent)


def _has_rival(one: Quantity | Moment, claim: Figures, evidence: Figures) -> bool:
    if isinstance(one, Moment):
        return any(other.kind is one.kind and not _has_moment(other, (claim,)) for other in evidence.moments)
    return any(
        comparable(one, other)
        and (one.dimension not in _WORD_SIZED or (one.unit == other.unit and one.unit != ""))
        and not _has_quantity(other, (claim,))
        for other in evidence.quantities
    )
