from __future__ import annotations

from datetime import date
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.comparing.dates import Moment, MomentKind, durations, moments, periods

TODAY = date(2024, 5, 15)


def only(text: str, reference: date | None = TODAY) -> Moment:
    (found,) = moments(text, reference)
    return found


@pytest.mark.parametrize(
    "text",
    [
        "January 5, 2024",
        "5 January 2024",
        "Jan. 5th, 2024",
        "5 Jan 2024",
        "2024-01-05",
        "2024/1/5",
        "1/5/2024",
        "2024年1月5日",
        "二〇二四年一月五日",
    ],
)
def test_one_day_in_every_spelling(text: str) -> None:
    assert only(text).key == "2024-01-05"
    assert only(text).start == only(text).end == date(2024, 1, 5)


@pytest.mark.parametrize(
    ("text", "kind", "key"),
    [
        ("June 28th", MomentKind.DAY_OF_YEAR, "06-28"),
        ("6月28日", MomentKind.DAY_OF_YEAR, "06-28"),
        ("in March", MomentKind.MONTH_OF_YEAR, "month 3"),
        ("March 2024", MomentKind.MONTH, "2024-03"),
        ("in 1987.", MomentKind.YEAR, "1987"),
        ("148 BC", MomentKind.YEAR, "-148"),
        ("FY24", MomentKind.FISCAL, "FY2024"),
        ("fiscal year 2024", MomentKind.FISCAL, "FY2024"),
        ("2024财年", MomentKind.FISCAL, "FY2024"),
        ("Q1 FY25", MomentKind.FISCAL, "FY2025Q1"),
        ("Q3 2024", MomentKind.QUARTER, "2024-Q3"),
        ("2024年第三季度", MomentKind.QUARTER, "2024-Q3"),
        ("2024年上半年", MomentKind.HALF, "2024-H1"),
        ("Q4", MomentKind.QUARTER_OF_YEAR, "Q4"),
        ("every Monday", MomentKind.WEEKDAY, "weekday 1"),
        ("周五", MomentKind.WEEKDAY, "weekday 5"),
        ("1pm", MomentKind.CLOCK, "13:00"),
        ("13:00", MomentKind.CLOCK, "13:00"),
        ("下午三点半", MomentKind.CLOCK, "15:30"),
        ("noon", MomentKind.CLOCK, "12:00"),
    ],
)
def test_kinds_of_moments(text: str, kind: MomentKind, key: str) -> None:
    assert (only(text).kind, only(text).key) == (kind, key)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("yesterday", date(2024, 5, 14), date(2024, 5, 14)),
        ("昨天", date(2024, 5, 14), date(2024, 5, 14)),
        ("last month", date(2024, 4, 1), date(2024, 4, 30)),
        ("上个月", date(2024, 4, 1), date(2024, 4, 30)),
        ("next week", date(2024, 5, 20), date(2024, 5, 26)),
        ("去年", date(2023, 1, 1), date(2023, 12, 31)),
        ("last quarter", date(2024, 1, 1), date(2024, 3, 31)),
        ("three days ago", date(2024, 5, 12), date(2024, 5, 12)),
        ("两周后", date(2024, 5, 29), date(2024, 5, 29)),
    ],
)
def test_relative_dates_are_read_against_the_date_of_the_document(text: str, start: date, end: date) -> None:
    assert (only(text).start, only(text).end) == (start, end)


def test_a_relative_date_without_a_document_date_stays_relative() -> None:
    assert only("last month", None).start is None


def test_a_relative_date_is_no_condition_of_a_statement() -> None:
    assert periods(moments("due next year; in 2023 and FY24", TODAY)) == {"2023", "FY2024"}


@pytest.mark.parametrize(
    "text", ["you may apply", "2,000 people", "2000 people", "version 3.24", "24/7", "F22", "march on"]
)
def test_what_is_no_date(text: str) -> None:
    assert moments(text, TODAY) == []


def test_the_mark_of_the_second_time_belongs_to_both() -> None:
    assert [moment.key for moment in moments("10:30-11:00am")] == ["10:30", "11:00"]
    assert [moment.key for moment in moments("between 2:30 and 4:00 PM")] == ["14:30", "16:00"]


def test_an_impossible_day_is_not_invented() -> None:
    assert all(moment.kind is not MomentKind.DAY for moment in moments("30 February 2020, 2022-13-45, 2023年2月30日"))


def test_durations_are_told_from_dates() -> None:
    assert [quantity.low for quantity in durations("from 5 May 2024 for 3 weeks at 10:30")] == [21 * 86400]


@given(st.dates(min_value=date(1900, 1, 1), max_value=date(2099, 12, 31)))
def test_iso_english_and_chinese_spell_the_same_day(day: date) -> None:
    spellings = (day.isoformat(), f"{day.day} {day:%B} {day.year}", f"{day.year}年{day.month}月{day.day}日")
    assert {only(text).key for text in spellings} == {day.isoformat()}


@given(st.text(max_size=200), st.dates())
def test_spans_are_disjoint_whatever_the_text_and_the_document_date(text: str, reference: date) -> None:
    found = moments(text, reference)
    assert all(0 <= moment.span.start < moment.span.end <= len(text) for moment in found)
    assert all(one.span.end <= other.span.start for one, other in pairwise(found))


@given(st.text(alphabet="0123456789年月日:-/ .pmFYQ第季度上下午点 daysago前后", max_size=40), st.dates())
def test_hostile_mixtures_do_not_raise(text: str, reference: date) -> None:
    assert all(moment.key for moment in moments(text, reference))
