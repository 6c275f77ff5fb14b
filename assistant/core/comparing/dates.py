"""Dates, clock times and periods in English and Chinese text, absolute or relative to the document's date.

"January 5, 2024", "5 Jan 2024", "2024-01-05" and "2024年1月5日" are one date; "yesterday" and "上个月" become dates
once the date of the document is known; "FY24" is a fiscal period. Durations ("three weeks") are quantities.
"""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass, replace
from datetime import date, timedelta
from enum import StrEnum
from typing import Final

from assistant.core.comparing.date_patterns import HAN_WEEKDAYS, MONTHS, WEEKDAYS, possible_patterns
from assistant.core.comparing.numerals import read_number
from assistant.core.comparing.quantities import Quantity, quantities
from assistant.core.comparing.units import ORDINAL_WORDS, Dimension
from assistant.core.text import Span


class MomentKind(StrEnum):
    """How exactly a moment is named."""

    DAY = "day"
    MONTH = "month"
    YEAR = "year"
    QUARTER = "quarter"
    HALF = "half"
    FISCAL = "fiscal"
    DAY_OF_YEAR = "day_of_year"
    MONTH_OF_YEAR = "month_of_year"
    QUARTER_OF_YEAR = "quarter_of_year"
    WEEKDAY = "weekday"
    CLOCK = "clock"
    RELATIVE = "relative"


@dataclass(frozen=True, slots=True)
class Moment:
    """A date, period, weekday or clock time.

    `key` is the same for every way of writing the same moment; `written` holds the words of a
    relative one ("last month"). `start` and `end` (both inclusive) are known when the year is known; for
    fiscal periods they stay None, since the start of a fiscal year differs between organisations.
    """

    span: Span
    kind: MomentKind
    key: str
    year: int | None = None
    start: date | None = None
    end: date | None = None
    written: str = ""


_AGO: Final = re.compile(
    r"\s?(?:(?P<ago>ago|earlier)\b|(?P<later>from\s+now|later)\b|(?P<hago>之?前)|(?P<hlater>之?后))"
)
_HAN_DAYS: Final = {char: f"周{char}" for char in HAN_WEEKDAYS}
_TIE: Final = re.compile(r"\s?(?:-|–|—|to|and|至|到)\s?")
_CENTURY_TURN: Final = 70


def moments(text: str, reference: date | None = None) -> list[Moment]:
    """The dates, periods, weekdays and clock times of a text, in order and disjoint.

    `reference` is the date of the document; without it "last month" and the like keep a relative key.
    """
    blocked = bytearray(len(text) + 1)
    found: list[Moment] = []
    for pattern in possible_patterns(text):
        for match in pattern.finditer(text):
            start, end = _extent(match)
            if any(blocked[start:end]):
                continue
            moment = _moment(match, Span(start, end), reference)
            if moment is not None:
                blocked[start:end] = b"\1" * (end - start)
                found.append(moment)
    found.extend(_counted(text, found, reference))
    found.sort(key=lambda moment: moment.span)
    return _share_meridian(text, found)


def durations(text: str) -> list[Quantity]:
    """The durations of a text ("three weeks", "90 天"), in seconds; dates and clock times are not durations."""
    taken = [moment.span for moment in moments(text)]
    return [quantity for quantity in quantities(text, taken) if quantity.dimension is Dimension.DURATION]


def periods(found: list[Moment]) -> frozenset[str]:
    """The years and fiscal years that a text names: the conditions under which its other values hold."""
    return frozenset(
        f"FY{moment.year}" if moment.kind is MomentKind.FISCAL else str(moment.year)
        for moment in found
        if moment.year is not None and not moment.written
    )


def _extent(match: re.Match[str]) -> tuple[int, int]:
    """A month after a preposition is matched with it, the moment is the month alone."""
    groups = match.groupdict()
    start = match.start("mon") if groups.get("mon") and "d" not in groups and "y" not in groups else match.start()
    end = match.end()
    while end > start and match.string[end - 1].isspace():
        end -= 1
    return start, end


def _moment(match: re.Match[str], span: Span, reference: date | None) -> Moment | None:
    group = match.groupdict()
    for names, build in _BUILDERS:
        if any(group.get(name) for name in names):
            return build(group, span, reference)
    return None


def _fiscal(group: dict[str, str | None], span: Span, _: date | None) -> Moment | None:
    written = group.get("hfy") or (group.get("y") if group.get("fy") == "财年" else group.get("fy"))
    if written is None or not any(char.isdigit() for char in written):
        written = group.get("y") or ""
    year = _full_year(int(_digits(written)))
    return Moment(span, MomentKind.FISCAL, f"FY{year}{_part_of_year(group)}", year)


def _part_of_year(group: dict[str, str | None]) -> str:
    """Q1 to Q4, H1 or H2; empty where a whole year is meant."""
    if group.get("hh"):
        return "H1" if group["hh"] == "上" else "H2"
    if group.get("hq"):
        return f"Q{int(read_number(group['hq'] or '1'))}"
    if group.get("nth"):
        part = group.get("part") or group.get("part2") or "quarter"
        return f"{'Q' if part == 'quarter' else 'H'}{ORDINAL_WORDS[(group['nth'] or 'first').lower()]}"
    return group.get("q") or group.get("q2") or ""


def _quarter(group: dict[str, str | None], span: Span, _: date | None) -> Moment | None:
    name = _part_of_year(group)
    if name in ("H3", "H4"):
        return None
    written = group.get("y") or group.get("y2")
    kind = MomentKind.QUARTER if name[0] == "Q" else MomentKind.HALF
    if not written:
        return Moment(span, MomentKind.QUARTER_OF_YEAR, name)
    year = _full_year(int(written))
    if group.get("fy"):
        return Moment(span, MomentKind.FISCAL, f"FY{year}{name}", year)
    length = 3 if name[0] == "Q" else 6
    last = int(name[1]) * length
    start, end = date(year, last - length + 1, 1), _month_end(year, last)
    return Moment(span, kind, f"{year}-{name}", year, start, end)


def _calendar(group: dict[str, str | None], span: Span, _: date | None) -> Moment | None:
    written = group.get("y")
    year = int(_digits(written)) if written else None
    month = _month(group)
    day = int(read_number(group["d"] or "1")) if group.get("d") else None
    if month is None:
        return _whole_year(group, span, year)
    if not 1 <= month <= 12:
        return None
    if day is None:
        return _whole_month(span, year, month)
    if not 1 <= day <= calendar.monthrange(year or 2000, month)[1]:
        return None
    if year is None:
        return Moment(span, MomentKind.DAY_OF_YEAR, f"{month:02}-{day:02}")
    named = date(year, month, day)
    return Moment(span, MomentKind.DAY, named.isoformat(), year, named, named)


def _whole_year(group: dict[str, str | None], span: Span, year: int | None) -> Moment | None:
    if year is None or year == 0:
        return None
    if group.get("bc"):
        return Moment(span, MomentKind.YEAR, f"-{year}", -year)
    return Moment(span, MomentKind.YEAR, str(year), year, date(year, 1, 1), date(year, 12, 31))


def _whole_month(span: Span, year: int | None, month: int) -> Moment:
    if year is None:
        return Moment(span, MomentKind.MONTH_OF_YEAR, f"month {month}")
    return Moment(span, MomentKind.MONTH, f"{year}-{month:02}", year, date(year, month, 1), _month_end(year, month))


def _clock(group: dict[str, str | None], span: Span, _: date | None) -> Moment | None:
    if group.get("noon") or group.get("hnoon"):
        return _at(span, 0 if group.get("noon") == "midnight" else 12 * 60, known=True)
    hour = int(read_number(group["h"] or "0"))
    minute = int(read_number(group.get("min") or group.get("cmin") or "0")) + (30 if group.get("half") else 0)
    half = (group.get("ap") or "").lower()[:1] or {"下午": "p", "晚上": "p", "中午": "n"}.get(
        group.get("hap") or "", ""
    )
    known = bool(half or group.get("hap")) or hour > 12 or (group["h"] or "").startswith("0")
    if (half == "p" and hour < 12) or (half == "n" and hour < 11):
        hour += 12
    elif half == "a" and hour == 12:
        hour = 0
    return _at(span, hour * 60 + minute, known=known)


def _at(span: Span, minutes: int, *, known: bool) -> Moment:
    """A clock time; where neither am nor pm is written, the hour is taken as it stands and marked as open."""
    return Moment(span, MomentKind.CLOCK, f"{minutes // 60:02}:{minutes % 60:02}" + ("" if known else "?"))


def _share_meridian(text: str, found: list[Moment]) -> list[Moment]:
    """In "10:30-11:00am" and "2:30 to 4:00 PM" the mark of the second time also belongs to the first."""
    for place in range(len(found) - 1, 0, -1):
        before, after = found[place - 1], found[place]
        if not (before.key.endswith("?") and after.kind is MomentKind.CLOCK and not after.key.endswith("?")):
            continue
        if _TIE.fullmatch(text, before.span.end, after.span.start):
            hour = int(before.key[:2])
            late = int(after.key[:2]) >= 12 and hour < 12 and hour + 12 <= int(after.key[:2])
            found[place - 1] = _at(before.span, (hour + 12 * late) * 60 + int(before.key[3:5]), known=True)
    return found


def _weekday(group: dict[str, str | None], span: Span, _: date | None) -> Moment | None:
    name = group.get("wd")
    number = WEEKDAYS[name.lower()] if name else HAN_WEEKDAYS[group["hwd"] or "一"]
    return Moment(span, MomentKind.WEEKDAY, f"weekday {number + 1}")


def _relative(group: dict[str, str | None], span: Span, reference: date | None) -> Moment | None:
    words = {"今天": "today", "昨天": "yesterday", "明天": "tomorrow", "今年": "this year", "去年": "last year"} | {
        "明年": "next year"
    }
    chinese = group.get("hrel") or ""
    name = words.get(chinese) or (group.get("rel") or "").lower()
    if group.get("hdir"):
        direction = {"上": "last", "下": "next"}.get(group["hdir"] or "本", "this")
        unit = {"周": "week", "月": "month", "季度": "quarter"}.get(group.get("hunit") or "")
        name = f"{direction} {unit or _HAN_DAYS[group['hday'] or '一']}"
    name = " ".join(name.split())
    return replace(_resolved(name, span, reference), written=name)


def _resolved(name: str, span: Span, reference: date | None) -> Moment:
    if reference is None:
        return Moment(span, MomentKind.RELATIVE, name)
    days = {"today": 0, "yesterday": -1, "tomorrow": 1}
    if name in days:
        return _day(span, reference, days[name])
    direction, _, unit = name.partition(" ")
    step = {"last": -1, "this": 0, "next": 1}[direction]
    if unit in WEEKDAYS or unit in _HAN_DAYS.values():
        return _day_of_week(span, reference, unit, step)
    if unit == "year":
        year = reference.year + step
        return Moment(span, MomentKind.YEAR, str(year), year, date(year, 1, 1), date(year, 12, 31))
    if unit == "week":
        monday = reference - timedelta(days=reference.weekday() - 7 * step)
        end = monday + timedelta(days=6)
        return Moment(span, MomentKind.RELATIVE, f"week of {monday.isoformat()}", None, monday, end)
    size = 1 if unit == "month" else 3
    year, month = _shift_month(reference.year, (reference.month - 1) // size * size + 1, step * size)
    if unit == "month":
        return _whole_month(span, year, month)
    return _quarter({"q": f"Q{(month + 2) // 3}", "y": str(year)}, span, None) or Moment(
        span, MomentKind.RELATIVE, name
    )


def _day_of_week(span: Span, reference: date, name: str, step: int) -> Moment:
    """ "下周五" is a day of the week after; "next Friday" may also be the one that comes first, and is either."""
    chinese = name in _HAN_DAYS.values()
    number = HAN_WEEKDAYS[name[-1]] if chinese else WEEKDAYS[name]
    exact = _moved(reference, number - reference.weekday() + 7 * step)
    if chinese or step == 0:
        return _day(span, exact, 0)
    nearest = _moved(reference, (number - reference.weekday() - step) % (7 * step) + step)
    start, end = sorted((exact, nearest))
    return Moment(span, MomentKind.RELATIVE, f"{start.isoformat()}/{end.isoformat()}", None, start, end)


def _day(span: Span, reference: date, days: int) -> Moment:
    named = _moved(reference, days)
    return Moment(span, MomentKind.DAY, named.isoformat(), named.year, named, named)


def _moved(start: date, days: int) -> date:
    """The day `days` later, held inside the calendar."""
    return date.fromordinal(min(max(start.toordinal() + days, 1), date.max.toordinal()))


def _counted(text: str, found: list[Moment], reference: date | None) -> list[Moment]:
    """ "Three days ago", "两周后": dates when the reference is known."""
    if reference is None or not re.search(r"ago|earlier|from now|later|前|后", text):
        return []
    counted: list[Moment] = []
    for quantity in quantities(text, [moment.span for moment in found]):
        tail = _AGO.match(text, quantity.span.end)
        if quantity.dimension is not Dimension.DURATION or tail is None or quantity.low < 86400:
            continue
        days = round(quantity.low / 86400)
        sign = -1 if tail["ago"] or tail["hago"] else 1
        day = _day(Span(quantity.span.start, tail.end()), reference, sign * days)
        counted.append(replace(day, written=f"{sign * days} days"))
    return counted


def _month(group: dict[str, str | None]) -> int | None:
    if group.get("mon"):
        return MONTHS[(group["mon"] or "").lower()]
    return int(read_number(group["m"] or "1")) if group.get("m") else None


def _shift_month(year: int, month: int, by: int) -> tuple[int, int]:
    index = year * 12 + month - 1 + by
    return index // 12, index % 12 + 1


def _month_end(year: int, month: int) -> date:
    return date(year, month, calendar.monthrange(year, month)[1])


def _full_year(year: int) -> int:
    if year >= 100:
        return year
    return 2000 + year if year < _CENTURY_TURN else 1900 + year


def _digits(written: str) -> str:
    """A year in Chinese numerals as digits; digits stay."""
    return "".join(
        str("零一二三四五六七八九".index(c)) if c in "零一二三四五六七八九" else c for c in written.replace("〇", "零")
    )


_BUILDERS: Final = (
    (("fy", "hfy"), _fiscal),
    (("q", "q2", "hq", "hh", "nth"), _quarter),
    (("h", "noon", "hnoon"), _clock),
    (("rel", "hrel"), _relative),
    (("wd", "hwd"), _weekday),
    (("y", "mon", "m"), _calendar),
)
