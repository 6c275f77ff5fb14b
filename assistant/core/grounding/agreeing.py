"""Agreeing: what an English and a Chinese sentence must have in common to say the same, compared strictly.

Figures, dates, weekdays, limits, names and negation: these are written alike in both languages, or can be read from both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from assistant.core.comparing.bounds import LOWER, UPPER
from assistant.core.comparing.dates import Moment, MomentKind, moments
from assistant.core.comparing.quantities import Quantity, comparable, same_amount
from assistant.core.comparing.units import Dimension
from assistant.core.grounding.denial import negations
from assistant.core.grounding.figures import Figure, Figures, figures, missing
from assistant.core.text import Span, prompt_language

_COUNTS: Final = frozenset({Dimension.COUNT, Dimension.ORDINAL})
_ONE: Final = re.compile(r"\bone(?=\s(?:year|quarter|month|week|day|hour|minute)\b)", re.IGNORECASE)
_TWICE: Final = re.compile(r"\btwice\b", re.IGNORECASE)
_WHICH_YEAR: Final = re.compile(r"[次翌来明今当去本同]年(?=\d{1,2}月)")
_UNUSED: Final = re.compile(r"未[^，。；的]{1,4}的")
_CEILING: Final = re.compile(
    r"\b(?:at most|up to|no more than|maximum)\b|最多|至多|最高|不超过|不得超过|上限", re.IGNORECASE
)
_FLOOR: Final = re.compile(r"\b(?:at least|no less than|minimum)\b|最少|至少|最低|不少于|不低于|下限", re.IGNORECASE)
_LATIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[.@_+&/-][A-Za-z0-9]+)*")
_INSIDE_NAME: Final = re.compile(r"(?<![.!?\n] )(?<=[\w,;:(’'\"-] )[A-Z]\w*(?:[.@_+&/-]\w+)*")
_ALWAYS_NAME: Final = re.compile(r"\b(?:\w*[A-Z]\w*[A-Z]\w*|[A-Za-z]+\d+\w*|[\w.+-]+@[\w.-]+\w|\w+\.\w{2,})\b")


@dataclass(frozen=True, slots=True)
class Agreement:
    """That two sentences agree. `tied`: a figure or a name of the one stands in the other, and no name is left over."""

    tied: bool


def agreement(claim: str, shown: str, around: str = "") -> Agreement | None:
    """How a claim in one language agrees with a text in the other, under its title and section; None when it does not.

    Every figure of the claim has to be given, and negation has to stand on both sides or on none.
    """
    if _denied(claim) != _denied(shown) or not _figures_agree(claim, shown, around):
        return None
    names = _names(claim, shown, around)
    if names is None:
        return None
    return Agreement((bool(_read(claim).stated()) or names.shared) and not names.strange)


def without_figures(text: str) -> str:
    """The text with its amounts and dates blanked: what remains is what they are about."""
    found: list[Figure] = [*figures(text).quantities, *moments(text)]
    return _blanked(text, [each.span for each in found])


def _blanked(text: str, spans: Iterable[Span]) -> str:
    kept = list(text)
    for span in spans:
        kept[span.start : span.end] = " " * len(span)
    return "".join(kept)


def _denied(text: str) -> bool:
    """Whether the text negates something; "未休的" is "unused", which English does not count as a negation either."""
    return bool(negations(_UNUSED.sub(" ", text)))


def _read(text: str) -> Figures:
    """The figures of a text, "one year", "twice" and "次年3月31日" included."""
    return figures(_WHICH_YEAR.sub(" ", _TWICE.sub("2 times", _ONE.sub("1", text))))


def _figures_agree(claim: str, shown: str, around: str) -> bool:
    """Whether every figure of the claim stands in the text, counts to the unit, limits in the same direction.

    Weekdays count too; a count in words ("two kinds") has to be there as a number of any form.
    """
    said, given, context = _read(claim), _read(shown), _read(around)
    if missing(said, [given, context]) or not _weekdays(claim) <= _weekdays(shown):
        return False
    if said and (_turned(claim, shown) or _turned(shown, claim)):
        return False
    return all(_is_given(each, given, context) for each in said.quantities)


def _turned(one: str, other: str) -> bool:
    """Whether the one speaks of a highest amount only and the other of a lowest only."""
    highest, lowest = _CEILING.search(one), _FLOOR.search(other)
    return bool(highest and lowest and not _FLOOR.search(one) and not _CEILING.search(other))


def _is_given(one: Quantity, given: Figures, context: Figures) -> bool:
    if one.dimension in _COUNTS:
        return one.low == 1 or f"{one.low:.15g}" in _numbers(given) | _numbers(context)
    same = [other for other in given.quantities if comparable(one, other) and same_amount(one, other)]
    return not same or any(not _opposed(one, other) for other in same)


def _numbers(shown: Figures) -> frozenset[str]:
    """The numbers of a text that count something or stand alone: not those of amounts (25 days) and dates."""
    found: list[Figure] = [*shown.quantities, *shown.moments]
    spans = [each.span for each in found if _measures(each)]
    counted = (f"{each.low:.15g}" for each in shown.quantities if each.dimension in _COUNTS)
    return figures(_blanked(shown.text, spans)).bare.union(counted)


def _measures(each: Figure) -> bool:
    return isinstance(each, Moment) or each.dimension not in _COUNTS


def _opposed(one: Quantity, other: Quantity) -> bool:
    """Whether one is a lower limit and the other an upper one."""
    return (one.bound in LOWER and other.bound in UPPER) or (one.bound in UPPER and other.bound in LOWER)


def _weekdays(text: str) -> frozenset[str]:
    return frozenset(each.key for each in moments(text) if each.kind is MomentKind.WEEKDAY)


@dataclass(frozen=True, slots=True)
class _Names:
    """Whether both sides write a name alike, and whether the English one has names that the Chinese one lacks."""

    shared: bool
    strange: bool


def _names(claim: str, shown: str, around: str) -> _Names | None:
    """How the names of two sentences compare; None when a name of the claim does not stand in the evidence.

    Only names in Latin letters can be compared. Where Chinese evidence may have translated one, nobody can tell: an
    English claim with that name is not taken. A name that only English evidence has is no objection, but leaves doubt.
    """
    chinese = prompt_language(claim) == "zh"
    latin = {word.lower() for word in _LATIN.findall(without_figures(claim if chinese else shown))}
    english = _english_names(shown if chinese else claim)
    lower = f"{shown}\n{around}".lower()
    if any(not _stands_in(name, lower) for name in (latin if chinese else english)):
        return None
    return _Names(bool(english & latin), bool(english - latin))


def _english_names(text: str) -> frozenset[str]:
    """The names of an English text, lower case: words with a capital inside a sentence, acronyms, addresses, codes."""
    plain = without_figures(text)
    return frozenset(word.lower() for form in (_INSIDE_NAME, _ALWAYS_NAME) for word in form.findall(plain)) - {"i"}


def _stands_in(word: str, text: str) -> bool:
    return re.search(rf"(?<![a-z0-9]){re.escape(word)}(?![a-z0-9])", text) is not None
