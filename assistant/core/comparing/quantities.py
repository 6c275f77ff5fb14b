"""Quantities: numbers in digits or words with their unit, bound and range, in English and Chinese.

"four days", "4 days", "四天" and "96 hours" become values that can be compared; "at least", "up to" and "以内" become
bounds. Dates, clock times and identifiers are not quantities (see `dates`, `claims`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from assistant.core.comparing.bounds import LOWER, UPPER, Bound, bound_at
from assistant.core.comparing.numerals import HAN_DIGITS, read_han, read_number
from assistant.core.comparing.units import CURRENCIES, MAGNITUDES, NUMBER_WORDS, ORDINAL_WORDS, TENS, UNITS, Dimension
from assistant.core.text import CJK, Span, stem


@dataclass(frozen=True, slots=True)
class Quantity:
    """One quantity of a text: `low` and `high` are in the base unit of the dimension and differ only in a range.

    Base units are in `units` (seconds for durations; the currency itself for money; 1 for counts, where `unit` is the
    stem of the noun that is counted, or empty). `cue` is where the words of the bound stand.
    """

    span: Span
    low: float
    high: float
    dimension: Dimension
    unit: str = ""
    bound: Bound = Bound.EXACT
    cue: Span | None = None

    @property
    def key(self) -> str:
        """The same string for the same quantity, however it is written; the bound and a counted noun are left out."""
        unit = self.unit if self.dimension is Dimension.MONEY else ""
        return f"{self.dimension.value}:{unit}:{self.low:.6g}" + (f"-{self.high:.6g}" if self.high != self.low else "")


_DIGIT: Final = re.compile(r"\d")
_LATIN: Final = re.compile("[a-z]+")
_HAN_NUMERAL: Final = re.compile("[零〇一二两三四五六七八九十百千万亿半]")
_TIME: Final = "second|minute|hour|day|week|fortnight|month|quarter|year"
_NUMBER_WORDS: Final = frozenset(
    [*NUMBER_WORDS, *TENS, *ORDINAL_WORDS, "hundred", "thousand", "million", "billion", "half", *_TIME.split("|")]
)
_WORD: Final = "|".join(sorted([*NUMBER_WORDS, *TENS, "hundred", "thousand", "million", "billion"], key=len)[::-1])
_DIGITS: Final = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_ENGLISH: Final = (
    rf"(?:an?\s+(?=(?:hundred|thousand|million|dozen)\b))?(?:{_WORD})"
    rf"(?:[\s-]+(?:{_WORD})|(?:(?<=hundred)|(?<=thousand))\s+and\s+(?:{_WORD}))*\b"
)
_SYMBOL: Final = r"US\$|[$€£¥￥]"
_CODE: Final = r"USD|EUR|GBP|CNY|RMB|JPY|CHF|CAD|AUD|HKD"
_MAGNITUDE: Final = r"(?:\s?(?:thousand|million|billion|trillion|bn)\b|(?:[KMB]|k|mm?)(?![A-Za-z])|\s?[百千万亿]+)"
_NUMBER: Final = rf"(?:{_DIGITS})|\b(?:{_ENGLISH})|[{HAN_DIGITS}]+"
_RANGE_MARK: Final = r"\s?[-–—~～至到]\s?|\s+(?:to|and|or)\s+"
_UNIT_WORDS: Final = "|".join(re.escape(unit) for unit in sorted(UNITS, key=len, reverse=True))
# "A week" is one week after these words; elsewhere it may tell a rate ("$45 a day") or a frequency.
_BEFORE_ARTICLE: Final = "|".join(
    rf"(?<=\b{word}\s)" for word in "within for after than least most about last lasts take takes under over".split()
)
_ARTICLE: Final = (
    rf"(?:{_BEFORE_ARTICLE})an?\s+(?:full\s+|whole\s+)?"
    rf"|\ban?\s+(?:full|whole)\s+|\ban?\s+(?=(?:{_TIME})\s+and\s+a\s+half\b)"
)
_HALF_MORE: Final = r"\s+and\s+a\s+half\b"
_FRACTION: Final = (
    rf"\bhalf(?=\s+(?:of|the|your|our|their|all|its)\b)|一半|[一二两三四五六七八九]成(?=[的以左，。；、）)]|$)"
    rf"|\b(?:an?|one|two|three|four)[\s-](?:third|quarter|fifth)s?(?=\s+of\b)"
    rf"|[{HAN_DIGITS}]+分之[{HAN_DIGITS}]+"
)
_PARTS: Final = {"third": 3, "quarter": 4, "fifth": 5}
_QUANTITY: Final = re.compile(
    rf"""
    (?P<cnpercent>百分之(?P<cnvalue>[{HAN_DIGITS}点半]+|{_DIGITS}))
    | (?P<fraction>{_FRACTION})
    | (?P<article>{_ARTICLE})(?P<articleunit>{_TIME})\b(?P<articlehalf>{_HALF_MORE})?
    | (?P<ordinal>\b\d+(?:st|nd|rd|th)\b | \b(?:{"|".join(ORDINAL_WORDS)})\b | 第(?:\d+|[{HAN_DIGITS}]+))
    | (?P<half>半个?(?=[年月天日周小]) | \bhalf(?:\s+an?)?\s+(?=hour|day|week|month|year))(?P<halfunit>{_UNIT_WORDS})
    | (?<![A-Za-z0-9_.#/])
      (?:(?P<prefix>{_SYMBOL})\s?|(?P<code>{_CODE})\s?)?
      (?P<low>{_NUMBER})(?P<lowmag>{_MAGNITUDE})?(?P<lowhalf>{_HALF_MORE}(?=\s+(?:{_TIME})s?\b))?
      (?:(?P<mark>{_RANGE_MARK})(?:{_SYMBOL})?(?P<high>{_NUMBER})(?P<highmag>{_MAGNITUDE})?)?
      (?P<plus>\s?\+)?
      (?:[\s-]?(?P<midhalf>个半)?(?P<unit>{_UNIT_WORDS})(?![A-Za-z])|\s?(?P<suffix>{_CODE})\b)?
      (?P<halfmore>半|{_HALF_MORE})?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_FIRST_WORDS: Final = _NUMBER_WORDS | frozenset(["a", "an", "dozen", "us", *_CODE.lower().split("|")])
_START: Final = re.compile(rf"[\d$€£¥￥第百半{HAN_DIGITS}]|([A-Za-z]+)")
_NEXT_NOUN: Final = re.compile(rf"[\s-]{{0,2}}(?:([A-Za-z]+(?:['’][a-z]+)?)|([{CJK}]{{1,2}}))")
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
_TIMES: Final = {"once": 1.0, "twice": 2.0, "thrice": 3.0}
_PERIODS: Final = "|".join(
    re.escape(name)
    for name in sorted(UNITS, key=len, reverse=True)
    if UNITS[name][0] is Dimension.DURATION and (len(name) > 1 or name > "z")
)
_PARTS_OF_DAY: Final = "night|morning|evening|afternoon|晚上?|早上?"
_FREQUENCY: Final = re.compile(
    rf"\b(?P<adverb>{'|'.join(_ADVERBS)})\b"
    rf"|\b(?P<times>once|twice|thrice|(?:{_NUMBER})\s+times)\s+(?:an?|per|each|every)\s+(?P<round>{_TIME})\b"
    rf"|(?:\b(?:every|each|per)\s+|每隔?)(?:(?P<half>半)个?|(?P<count>{_NUMBER})\s?)?(?P<unit>{_PERIODS}|{_PARTS_OF_DAY})(?![A-Za-z])",
    re.IGNORECASE,
)
_FREQUENCY_WORDS: Final = frozenset(
    ["every", "each", "per", "once", "twice", "thrice", "times", "bi", "semi", *_ADVERBS]
)
_MEASURE: Final = frozenset("个名人次项条份级层楼倍岁位家台件张本天周月年日号步阶档类种点")
_FAHRENHEIT_ZERO: Final = -160 / 9
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
    for place in _starts(text):
        match = _QUANTITY.match(text, place) if place >= at else None
        if match is None or not match.group() or any(blocked[match.start() : match.end()]):
            continue
        quantity = _quantity(match, text)
        if quantity is not None:
            found.append(quantity)
            at = quantity.span.end
    return found


def _starts(text: str) -> list[int]:
    """The places where a quantity can begin; to try the pattern at every character costs more."""
    return [
        found.start()
        for found in _START.finditer(text)
        if found.lastindex is None or found.group().lower() in _FIRST_WORDS
    ]


def frequencies(text: str, taken: Sequence[Span] = ()) -> list[Quantity]:
    """How often something happens ("weekly", "every 90 days", "每半年"), as the seconds of one round.

    They are apart from `quantities`, which finds the 90 days in "every 90 days".
    """
    if "每" not in text and _FREQUENCY_WORDS.isdisjoint(_LATIN.findall(text.lower())):
        return []
    found: list[Quantity] = []
    for match in _FREQUENCY.finditer(text):
        span = Span(match.start(), match.end())
        if any(span.overlaps(other) for other in taken):
            continue
        seconds = _seconds(match)
        found.append(Quantity(span, seconds, seconds, Dimension.FREQUENCY, "every"))
    return found


def _seconds(match: re.Match[str]) -> float:
    """The length of one round."""
    if match["adverb"]:
        return _ADVERBS[match["adverb"].lower()]
    if match["times"]:
        times = _TIMES.get(match["times"].lower()) or read_number(match["times"].split()[0])
        return UNITS[match["round"].lower()][2] / max(times, 1.0)
    count = 0.5 if match["half"] else read_number(match["count"]) if match["count"] else 1.0
    unit = match["unit"].lower()
    return count * (UNITS[unit][2] if unit in UNITS else _DAY)


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


def excludes(one: Quantity, other: Quantity) -> bool:
    """Whether two amounts of one dimension cannot both be stated of one thing.

    Limits of one direction have to be the same; a lower and an upper limit have to leave room between them; any other
    amount has to lie within a limit or range. "More than 5" and "5" are loose ways to say the same.
    """
    if {one.bound, other.bound} <= LOWER or {one.bound, other.bound} <= UPPER:
        return not same_amount(one, other)
    if one.bound in LOWER | UPPER and other.bound in LOWER | UPPER:
        lower, upper = (one, other) if one.bound in LOWER else (other, one)
        return lower.low >= upper.high
    if one.low < one.high and other.low < other.high:
        return not same_amount(one, other)
    return not compatible(one, other)


def compatible(one: Quantity, other: Quantity) -> bool:
    """Whether one value can satisfy both, bounds included: "at least 3 days" and "5 days" can both hold."""
    if same_amount(one, other):
        return {one.bound, other.bound} != {Bound.MORE_THAN, Bound.LESS_THAN}
    (low, high), (other_low, other_high) = _interval(one), _interval(other)
    return max(low, other_low) <= min(high, other_high)


def _interval(quantity: Quantity) -> tuple[float, float]:
    if quantity.bound in LOWER:
        return quantity.low, float("inf")
    if quantity.bound in UPPER:
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
    if match["fraction"]:
        return _bounded(Quantity(span, *_twice(_fraction(match["fraction"])), Dimension.PERCENT, "part"), text)
    if match["half"] or match["article"]:
        dimension, unit, factor = UNITS[(match["halfunit"] or match["articleunit"]).lower()]
        count = 0.5 if match["half"] else 1.5 if match["articlehalf"] else 1.0
        return _bounded(Quantity(span, *_twice(count * factor), dimension, unit), text)
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
    half = match["halfmore"] or match["midhalf"] or match["lowhalf"]
    extra = 0.5 * factor if half and unit and high == low else 0.0
    bound = Bound.AT_LEAST if match["plus"] and end == match.end() else Bound.EXACT
    zero = _FAHRENHEIT_ZERO if name == "F" and dimension is Dimension.TEMPERATURE else 0.0
    values = (low * factor + extra + zero, high * factor + extra + zero)
    return _bounded(Quantity(Span(match.start(), end), *values, dimension, name, bound), text)


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
    if written[0] in HAN_DIGITS:
        return bool(unit) or after in _MEASURE or (len(written) >= _MIN_HAN and written not in ("千万", "万一", "万万"))
    return True


def _bounded(quantity: Quantity, text: str) -> Quantity:
    if quantity.bound is not Bound.EXACT:
        return quantity
    found = bound_at(text, quantity.span.start, quantity.span.end)
    return quantity if found is None else replace(quantity, bound=found[0], cue=found[1])


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
    return MAGNITUDES[name] if name in MAGNITUDES else read_han(name)


def _fraction(written: str) -> float:
    """A part of a whole in percent: "half", "two thirds", "八成", "三分之一"."""
    lowered = written.lower()
    if lowered in ("half", "一半"):
        return 50.0
    if lowered[-1] == "成":
        return 10 * read_han(lowered[:-1])
    if "分之" in lowered:
        whole, part = (read_han(number) for number in lowered.split("分之"))
        return 100 * part / whole if whole else 0.0
    count, name = re.split(r"[\s-]", lowered, maxsplit=1)
    return 100 * NUMBER_WORDS.get(count, 1) / _PARTS[name.removesuffix("s")]


def _ordinal(written: str) -> float:
    lowered = written.lower()
    if lowered in ORDINAL_WORDS:
        return float(ORDINAL_WORDS[lowered])
    if lowered[0] == "第":
        return read_number(lowered[1:])
    return float(lowered[:-2])
