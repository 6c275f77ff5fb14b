from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.knowledge.dates import parse_date


@pytest.mark.parametrize(
    "text",
    [
        "2024-10-01",
        "2024-10-01T12:00:00Z",
        "2024-10-01 12:00",
        "2024/10/1",
        "2024.10.01",
        "20241001",
        "D:20241001104951+01'00'",
        "2024年10月1日",
        "2024年10月1日起施行",
        "1 October 2024",
        "1st Oct. 2024",
        "October 1, 2024",
        "Tuesday, October 1st, 2024",
        "Tue, 01 Oct 2024 12:34:56 -0500",
        "2024-10",
        "October 2024",
        "2024年10月",
    ],
)
def test_ways_to_write_one_day(text: str) -> None:
    assert parse_date(text) == date(2024, 10, 1)


@pytest.mark.parametrize("text", ["03/04/2021", "3.4.2021", "2024", "soon", "", "31/02/2021", "2024-13-01", "20241332"])
def test_doubtful_dates_are_none(text: str) -> None:
    assert parse_date(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [("13/04/2021", date(2021, 4, 13)), ("04/13/2021", date(2021, 4, 13)), ("04/04/2021", date(2021, 4, 4))],
)
def test_numeric_dates_with_one_reading(text: str, expected: date) -> None:
    assert parse_date(text) == expected


@given(st.dates(date(1900, 1, 1), date(2099, 12, 31)))
def test_iso_dates_survive(day: date) -> None:
    assert parse_date(day.isoformat()) == day
    assert parse_date(f"{day.year}年{day.month}月{day.day}日") == day


@given(st.text())
def test_any_text_is_read_or_not(text: str) -> None:
    found = parse_date(text)
    assert found is None or str(found.year) in text
