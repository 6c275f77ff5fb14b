"""Dates as people and programs write them, read without surprises: ISO or otherwise unambiguous, or not at all."""

from __future__ import annotations

import re
from datetime import date
from typing import Final

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH: Final = (
    r"(?P<m>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_TAIL: Final = r"(?:$|[T\s,;].*)"
_WRITTEN: Final = tuple(
    re.compile(pattern, re.IGNORECASE | re.DOTALL)
    for pattern in (
        rf"(?P<y>\d{{4}})-(?P<m>\d{{1,2}})-(?P<d>\d{{1,2}}){_TAIL}",
        rf"(?P<y>\d{{4}})/(?P<m>\d{{1,2}})/(?P<d>\d{{1,2}}){_TAIL}",
        rf"(?P<y>\d{{4}})\.(?P<m>\d{{1,2}})\.(?P<d>\d{{1,2}}){_TAIL}",
        r"(?:D:)?(?P<y>(?:19|20)\d\d)(?P<m>\d\d)(?P<d>\d\d)(?:\d{2,6}.*|T.*|$)",
        r"(?P<y>\d{4})\s*年\s*(?P<m>\d{1,2})\s*月(?:\s*(?P<d>\d{1,2})\s*[日号])?.*",
        r"(?P<y>\d{4})-(?P<m>\d{1,2})$",
        rf"(?:[a-z]{{3,9}},?\s+)?(?P<d>\d{{1,2}})(?:st|nd|rd|th)?[\s-]+(?:of\s+)?{_MONTH}[\s,-]+(?P<y>\d{{4}}){_TAIL}",
        rf"(?:[a-z]{{3,9}},?\s+)?{_MONTH}\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y>\d{{4}}){_TAIL}",
        rf"{_MONTH},?\s+(?P<y>\d{{4}})$",
    )
)
_NUMERIC: Final = re.compile(rf"(\d{{1,2}})[/.-](\d{{1,2}})[/.-](\d{{4}}){_TAIL}", re.DOTALL)


def parse_date(text: str) -> date | None:
    """The date a text states at its start, or None when there is none or it can be read in two ways.

    Read are ISO 8601 (also year and month, as the first of the month), 2024/3/1, 2024年3月1日, 1 March 2024,
    March 1, 2024 and the stamps of PDF. 13/04/2021 has one reading; 03/04/2021 has two and gives None, as does a
    year alone.
    """
    text = text.strip()[:80]
    for pattern in _WRITTEN:
        if found := pattern.match(text):
            return _date(found["y"], found["m"], found.groupdict().get("d") or "1")
    if found := _NUMERIC.match(text):
        return _numeric(*found.groups())
    return None


def _date(year: str, month: str, day: str) -> date | None:
    number = int(month) if month.isdigit() else _MONTHS.index(month[:3].lower()) + 1
    try:
        return date(int(year), number, int(day))
    except ValueError:
        return None


def _numeric(first: str, second: str, year: str) -> date | None:
    """A date without a year in front: day and month must tell themselves apart."""
    readings = {_date(year, first, second), _date(year, second, first)} - {None}
    return readings.pop() if len(readings) == 1 else None
