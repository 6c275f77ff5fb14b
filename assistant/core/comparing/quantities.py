"""Quantities: numbers in digits or words with their unit, bound and range, in English and Chinese.

"four days", "4 days", "四天" and "96 hours" become values that can be compared; "at least", "up to" and "以内" become
bounds. Dates, clock times and identifiers are not quantities (see `dates`, `claims`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from assistant.core.comparing.units import CURRENCIES, MAGNITUDES, NUMBER_WORDS, ORDINAL_WORDS, TENS, UNITS, Dimension
from assistant.core.text import CJK, Span, stem


class Bound(StrEnum):
    """How the number limits what is meant."""

    EXACT = "exact"
    ABOUT = "about"
    AT_LEAST = "at_least"
    AT_MOST = "at_most"
    MORE_THAN = "more_than"
    LESS_THAN = "less_than"


@dataclass(frozen=True, slots=True)
class Quantity:
    """One quantity of a text: `low` and `high` are in the base unit of the dimension and differ only in a range.

    Base units are in `units` (seconds for durations; the currency itself for money; 1 for counts, where `unit` is the
    stem of the noun that is counted, or empty).
    """

    span: Span
    low: float
    high: float
    dimension: Dimension
    unit: str = ""
    bound: Bound = Bound.EXACT

    @property
    def key(self) -> str:
        """The same string for the same quantity, however it is written; the bound and a counted noun are left out."""
        unit = self.unit if self.dimension is Dimension.MONEY else ""
        return f"{self.dimension.value}:{unit}:{self.low:.6g}" + (f"-{self.high:.6g}" if self.high != self.low else "")


_DIGIT: Final = re.compile(r"\d")
_LATIN: Final = re.compile("[a-z]+")
_HAN_NUMERAL: Final = re.compile("[零〇一二两三四五六七八九十百千万亿半]")
_NUMBER_WORDS: Final = frozenset(
    [*NUMBER_WORDS, *TENS, *ORDINAL_WORDS, "hundred", "thousand", "million", "billion", "half"]
)
_WORD: Final = "|".join(sorted([*NUMBER_WORDS, *TENS, "hundred", "thousand", "million", "billion"], key=len)[::-1])
_DIGITS: Final = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_ENGLISH: Final = (
    rf"(?:an?\s+(?=(?:hundred|thousand|million|dozen)\b))?(?:{_WORD})"
    rf"(?:[\s-]+(?:{_WORD})|(?:(?<=hundred)|(?<=thousand))\s+and\s+(?:{_WORD}))*\b"
)
_HAN: Final = "零〇一二两三四五六七八九十百千万亿"
_SYMBOL: Final = r"US\$|[$€£¥￥]"
_CODE: Final = r"USD|EUR|GBP|CNY|RMB|JPY|CHF|CAD|AUD|HKD"
_MAGNITUDE: Final = r"(?:\s?(?:thousand|million|billion|trillion|bn)\b|(?:[KMB]|k|mm?)(?![A-Za-z])|\s?[百千万亿]+)"
_NUMBER: Final = rf"(?:{_DIGITS})|\b(?:{_ENGLISH})|[{_HAN}]+"
_RANGE_MARK: Final = r"\s?[-–—~～至到]\s?|\s+(?:to|and|or)\s+"
_UNIT_WORDS: Final = "|".join(re.escape(unit) for unit in sorted(UNITS, key=len, reverse=True))
_QUANTITY: Final = re.compile(
    rf"""
    (?P<cnpercent>百分之(?P<cnvalue>[{_HAN}点半]+|{_DIGITS}))
    | (?P<ordinal>\b\d+(?:st|nd|rd|th)\b | \b(?:{"|".join(ORDINAL_WORDS)})\b | 第(?:\d+|[{_HAN}]+))
    | (?P<half>半个?(?=[年月天日周小]) | \bhalf(?:\s+an?)?\s+(?=hour|day|month|year))(?P<halfunit>{_UNIT_WORDS})
    | (?<![A-Za-z0-9_.#/])
      (?:(?P<prefix>{_SYMBOL})\s?|(?P<code>{_CODE})\s?)?
      (?P<low>{_NUMBER})(?P<lowmag>{_MAGNITUDE})?
      (?:(?P<mark>{_RANGE_MARK})(?:{_SYMBOL})?(?P<high>{_NUMBER})(?P<highmag>{_MAGNITUDE})?)?
      (?P<plus>\s?\+)?
      (?:[\s-]?(?P<midhalf>个半)?(?P<unit>{_UNIT_WORDS})(?![A-Za-z])|\s?(?P<suffix>{_CODE})\b)?
      (?P<halfmore>半)?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_BEFORE: Final = re.compile(
    r"""(?P<at_least>at\s+least|no(?:t)?\s+(?:less|fewer)\s+than|min(?:imum|\.)?(?:\s+of)?|>=|≥
            |至少|不少于|不低于|最少|最低|起码|不小于)
      | (?P<at_most>at\s+most|up\s+to|no(?:t)?\s+(?:more|greater|later|longer)\s+than|not\s+(?:to\s+)?exceed
            |within|max(?:imum|\.)?(?:\s+of)?|<=|≤|最多|至多|不(?:得|能|可)?超过|不多于|不高于|不大于|最高|最长|上限)
      | (?P<more_than>(?:more|greater|longer|larger|higher)\s+than|over|above|exceed(?:s|ed|ing)?|>
            |超过|多于|大于|高于|超出|逾)
      | (?P<less_than>(?:less|fewer|shorter|lower|smaller)\s+than|under|below|<|少于|低于|小于|不足|不到|未满)
      | (?P<about>about|approximately|approx\.?|around|roughly|nearly|almost|circa|ca?\.|~|大约|大概|约|近)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_BEFORE_END: Final = re.compile(
    rf"(?:(?<![A-Za-z])|(?<=[{CJK}]))(?:{_BEFORE.pattern})\s*(?:an?\s+|the\s+|为|是)?$", re.VERBOSE | re.IGNORECASE
)
_AFTER: Final = re.compile(
    r"""\s*(?:(?P<at_least>or\s+(?:more|longer|above|greater|over)\b|and\s+(?:above|over|up)\b|(?:及|或)?以上|起步?(?!来))
      | (?P<at_most>or\s+(?:less|fewer|below|under)\b|(?:及|或)?以[下内]|之内|封顶)
      | (?P<about>or\s+so\b|左右|上下))""",
    re.VERBOSE | re.IGNORECASE,
)
_NEXT_NOUN: Final = re.compile(rf"[\s-]{{0,2}}(?:([A-Za-z]+(?:['’][a-z]+)?)|([{CJK}]{{1,2}}))")
_HAN_VALUE: Final = {char: value for value, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_HAN_SCALE: Final = {"十": 10, "百": 100, "千": 1000}
_DAY: Final = 86400.0
_ADVERBS: Final = {
    "hourly": 3600.0,
    "daily": _DAY,
    "weekly": 7 * _DAY,
    "biweekly": 14 * _DAY,
    "bi-weekly": 14 * _DAY,
    "fortnightly": 14 * _DAY,
    "monthly": UNITS["month"][2],
    "quarterly": UNITS["quarter"][2],
    "semi-annually": 6 * UNITS["month"][2],
    "annually": UNITS["year"][2],
    "yearly": UNITS["year"][2],
}
_PERIODS: Final = "|".join(
    re.escape(name)
    for name in sorted(UNITS, key=len, reverse=True)
    if UNITS[name][0] is Dimension.DURATION and (len(name) > 1 or name > "z")
)
_FREQUENCY: Final = re.compile(
    rf"\b(?P<adverb>{'|'.join(_ADVERBS)})\b"
    rf"|(?:\b(?:every|each|per)\s+|每隔?)(?:(?P<half>半)个?|(?P<count>{_NUMBER})\s?)?(?P<unit>{_PERIODS})(?![A-Za-z])",
    re.IGNORECASE,
)
_MEASURE: Final = frozenset("个名人次项条份级层楼倍岁位家台件张本天周月年日号步阶档类种点")
_MIN_HAN: Final = 2


def quantities(text: str, taken: Sequence[Span] = ()) -> list[Quantity]:
    """The quantities of a text in order; none overlaps a span of `taken` (dates, identifiers)."""
    if not may_hold_quantity(text):
        return []
    blocked = bytearray(len(text) + 1)
    for span in taken:
        blocked[span.start : span.end] = b"\1" * len(span)
    found: list[Quantity] = []
    at = 0
    while match := _QUANTITY.search(text, at):
        at = max(match.end(), match.start() + 1)
        if any(blocked[match.start() : match.end()]):
            at = match.start() + 1
            continue
        quantity = _quantity(match, text)
        if quantity is not None:
            found.append(quantity)
            at = quantity.span.end
    return found


def frequencies(text: str, taken: Sequence[Span] = ()) -> list[Quantity]:
    """How often something happens ("weekly", "every 90 days", "每半年"), as the seconds of one round.

    They are apart from `quantities`, which finds the 90 days in "every 90 days".
    """
    found: list[Quantity] = []
    for match in _FREQUENCY.finditer(text):
        span = Span(match.start(), match.end())
        if any(span.overlaps(other) for other in taken):
            continue
        if match["adverb"]:
            seconds = _ADVERBS[match["adverb"].lower()]
        else:
            count = 0.5 if match["half"] else read_number(match["count"]) if match["count"] else 1.0
            seconds = count * UNITS[match["unit"].lower()][2]
        found.append(Quantity(span, seconds, seconds, Dimension.FREQUENCY, "every"))
    return found


def may_hold_quantity(text: str) -> bool:
    """Whether a text has a digit, a number word or a Chinese numeral at all; cheap, and most sentences have none."""
    if _DIGIT.search(text) is not None or (not text.isascii() and _HAN_NUMERAL.search(text) is not None):
        return True
    return not _NUMBER_WORDS.isdisjoint(_LATIN.findall(text.lower()))


def same_amount(one: Quantity, other: Quantity) -> bool:
    """Whether two quantities of one dimension say the same amount, whatever unit it is written in.

    "about" allows five percent; a change of unit (30 days, a month) allows two.
    """
    tolerance = 0.05 if Bound.ABOUT in (one.bound, other.bound) else 0.02 if one.unit != other.unit else 1e-9
    return _near(one.low, other.low, tolerance) and _near(one.high, other.high, tolerance)


def comparable(one: Quantity, other: Quantity) -> bool:
    """Whether two quantities measure the same sort of thing (money only within one currency)."""
    if one.dimension is not other.dimension:
        return False
    return one.dimension is not Dimension.MONEY or one.unit == other.unit


def compatible(one: Quantity, other: Quantity) -> bool:
    """Whether one value can satisfy both, bounds included: "at least 3 days" and "5 days" can both hold."""
    if same_amount(one, other):
        return {one.bound, other.bound} != {Bound.MORE_THAN, Bound.LESS_THAN}
    (low, high), (other_low, other_high) = _interval(one), _interval(other)
    return max(low, other_low) <= min(high, other_high)


def _interval(quantity: Quantity) -> tuple[float, float]:
    if quantity.bound in (Bound.AT_LEAST, Bound.MORE_THAN):
        return quantity.low, float("inf")
    if quantity.bound in (Bound.AT_MOST, Bound.LESS_THAN):
        return float("-inf"), quantity.high
    slack = 0.05 if quantity.bound is Bound.ABOUT else 0.0
    return quantity.low * (1 - slack), quantity.high * (1 + slack)


def _near(one: float, other: float, tolerance: float) -> bool:
    return abs(one - other) <= tolerance * max(abs(one), abs(other))


def _quantity(match: re.Match[str], text: str) -> Quantity | None:
    span = Span(match.start(), match.end())
    if match["cnpercent"]:
        return _bounded(Quantity(span, *_twice(read_number(match["cnvalue"])), Dimension.PERCENT, "%"), text)
    if match["ordinal"]:
        return Quantity(span, *_twice(_ordinal(match["ordinal"])), Dimension.ORDINAL)
    if match["half"]:
        dimension, unit, factor = UNITS[match["halfunit"].lower()]
        return _bounded(Quantity(span, *_twice(0.5 * factor), dimension, unit), text)
    return _plain(match, text)


def _plain(match: re.Match[str], text: str) -> Quantity | None:
    low, end = read_number(match["low"]) * _magnitude(match["lowmag"]), match.end()
    unit = _unit(match)
    if not _is_number(match["low"], match, text, unit):
        return None
    high = low
    if match["high"]:
        high = read_number(match["high"]) * _magnitude(match["highmag"])
        if match["highmag"] and not match["lowmag"] and low < high:
            low = low * _magnitude(match["highmag"])
        if high <= low or (match["mark"].strip() in ("and", "or") and not _joined(match, text)):
            end, high, unit = match.start("mark"), low, unit if _shared(match) else None
    dimension, name, factor = unit or (Dimension.COUNT, _noun(text, end), 1.0)
    extra = 0.5 * factor if (match["halfmore"] or match["midhalf"]) and unit and high == low else 0.0
    bound = Bound.AT_LEAST if match["plus"] and end == match.end() else Bound.EXACT
    span = Span(match.start(), end)
    return _bounded(Quantity(span, low * factor + extra, high * factor + extra, dimension, name, bound), text)


def _shared(match: re.Match[str]) -> bool:
    """Whether the unit after the second number also belongs to the first ("2 or 3 days")."""
    return bool(match["unit"])


def _joined(match: re.Match[str], text: str) -> bool:
    """Whether "and" joins the ends of one range; "or" always does when the numbers follow each other."""
    if match["mark"].strip().lower() == "or":
        return True
    return text[max(0, match.start() - 9) : match.start()].lower().rstrip().endswith("between")


def _unit(match: re.Match[str]) -> tuple[Dimension, str, float] | None:
    currency = match["prefix"] or match["code"] or match["suffix"]
    if match["unit"] in ("H", "D", "M", "MI"):  # "1H" is a half-year, "5M" five million
        return None
    if match["unit"] and not (currency and UNITS[match["unit"].lower()][0] is not Dimension.MONEY):
        return UNITS[match["unit"].lower()]
    return (Dimension.MONEY, CURRENCIES[currency.upper()], 1.0) if currency else None


def _is_number(written: str, match: re.Match[str], text: str, unit: tuple[Dimension, str, float] | None) -> bool:
    """A digit glued to letters is an identifier, a lone Chinese numeral without a measure word is part of a word."""
    after = text[match.end() : match.end() + 1]
    if written[0].isdigit():
        return not (after.isascii() and (after.isalnum() or after == "_")) or bool(unit)
    if written[0] in _HAN:
        return bool(unit) or after in _MEASURE or (len(written) >= _MIN_HAN and written not in ("千万", "万一", "万万"))
    return True


def _bounded(quantity: Quantity, text: str) -> Quantity:
    if quantity.bound is not Bound.EXACT:
        return quantity
    start, end = quantity.span.start, quantity.span.end
    before = _BEFORE_END.search(text, max(0, start - 24), start)
    found = before or _AFTER.match(text, end)
    if found is None or found.lastgroup is None:
        return quantity
    return replace(quantity, bound=Bound(found.lastgroup))


def _noun(text: str, end: int) -> str:
    found = _NEXT_NOUN.match(text, end)
    if found is None:
        return ""
    return stem(found.group(1).lower()) if found.group(1) else found.group(2)


def _twice(value: float) -> tuple[float, float]:
    return value, value


def _magnitude(written: str | None) -> float:
    if not written:
        return 1.0
    name = written.strip().lower()
    return MAGNITUDES[name] if name in MAGNITUDES else _han(name)


def _ordinal(written: str) -> float:
    lowered = written.lower()
    if lowered in ORDINAL_WORDS:
        return float(ORDINAL_WORDS[lowered])
    if lowered[0] == "第":
        return read_number(lowered[1:])
    return float(lowered[:-2])


def read_number(written: str) -> float:
    """The value of a number in digits, English words or Chinese numerals."""
    if written[0].isdigit():
        return float(written.replace(",", ""))
    if written[0] in _HAN or written[0] in "点半":
        return _han(written)
    return _english(written)


def _english(written: str) -> float:
    total = current = 0.0
    for word in re.findall(r"[a-z]+", written.lower()):
        if word in NUMBER_WORDS or word in TENS:
            current += NUMBER_WORDS.get(word, 0) + TENS.get(word, 0)
        elif word == "hundred":
            current = (current or 1) * 100
        elif word in MAGNITUDES:
            total += (current or 1) * MAGNITUDES[word]
            current = 0.0
    return total + current


def _han(written: str) -> float:
    whole, _, decimals = written.partition("点")
    total = section = digit = 0.0
    seen_scale = False
    for char in whole:
        if char in _HAN_VALUE:
            digit = digit * 10 + _HAN_VALUE[char] if not seen_scale and digit else float(_HAN_VALUE[char])
        elif char in _HAN_SCALE:
            section += (digit or 1) * _HAN_SCALE[char]
            digit, seen_scale = 0.0, True
        elif char in "万亿":
            total = (total + section + digit or 1) * (1e4 if char == "万" else 1e8)
            section = digit = 0.0
            seen_scale = True
    value = total + section + digit
    for place, char in enumerate(decimals, start=1):
        value += _HAN_VALUE.get(char, 0) / 10**place
    return value
