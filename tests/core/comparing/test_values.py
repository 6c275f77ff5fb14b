from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.comparing.bounds import Bound, bound_at
from assistant.core.comparing.claims import Token, read
from assistant.core.comparing.dates import MomentKind, moments
from assistant.core.comparing.numerals import read_han, read_number
from assistant.core.comparing.quantities import Quantity, excludes, frequencies, quantities
from assistant.core.comparing.renaming import one_thing
from assistant.core.comparing.units import Dimension
from assistant.core.comparing.values import same_moment
from assistant.core.text import Span

DAY = 86400.0


def amount(text: str) -> tuple[Dimension, float]:
    (found,) = quantities(text)
    return found.dimension, pytest.approx(found.low)  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("text", "dimension", "value"),
    [
        ("within a week", Dimension.DURATION, 7 * DAY),
        ("within a fortnight", Dimension.DURATION, 14 * DAY),
        ("two fortnights", Dimension.DURATION, 28 * DAY),
        ("a full day", Dimension.DURATION, DAY),
        ("half an hour", Dimension.DURATION, 1800),
        ("one and a half hours", Dimension.DURATION, 5400),
        ("a year and a half", Dimension.DURATION, 1.5 * 365.2425 * DAY),
        ("一个半小时", Dimension.DURATION, 5400),
        ("half of the fee", Dimension.PERCENT, 50),
        ("two thirds of the fee", Dimension.PERCENT, 200 / 3),
        ("一半的费用", Dimension.PERCENT, 50),
        ("八成。", Dimension.PERCENT, 80),
        ("三分之一", Dimension.PERCENT, 100 / 3),
        ("千分之五", Dimension.PERCENT, 0.5),
        ("212°F", Dimension.TEMPERATURE, 100),
    ],
)
def test_fractions_and_articles_are_amounts(text: str, dimension: Dimension, value: float) -> None:
    assert amount(text) == (dimension, value)


@pytest.mark.parametrize("text", ["$45 a day", "a day", "once in a week or so", "half-hearted", "完成", "a quarter"])
def test_an_article_or_part_of_a_word_is_no_amount(text: str) -> None:
    assert [q for q in quantities(text) if q.dimension in (Dimension.DURATION, Dimension.PERCENT)] == []


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("twice a week", 3.5 * DAY),
        ("three times per day", DAY / 3),
        ("every night", DAY),
        ("每晚", DAY),
        ("once a year", 365.2425 * DAY),
    ],
)
def test_how_often(text: str, seconds: float) -> None:
    (found,) = frequencies(text)
    assert found.low == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("text", "bound", "words"),
    [
        ("at least 5", Bound.AT_LEAST, "at least"),
        ("a minimum of 5", Bound.AT_LEAST, "minimum of"),
        ("5 or more", Bound.AT_LEAST, "or more"),
        ("不超过5", Bound.AT_MOST, "不超过"),
        ("最多需要5", Bound.AT_MOST, "最多"),
        ("5以内", Bound.AT_MOST, "以内"),
    ],
)
def test_the_words_of_a_bound_are_known(text: str, bound: Bound, words: str) -> None:
    at = text.index("5")
    found = bound_at(text, at, at + 1)
    assert found is not None
    assert (found[0], text[found[1].start : found[1].end].strip()) == (bound, words)


@given(st.integers(min_value=0, max_value=99_999_999))
def test_chinese_numerals_are_read_back(number: int) -> None:
    assert read_han(in_han(number)) == read_number(str(number)) == number


def in_han(number: int) -> str:
    """The usual way to write a number below a hundred million."""
    if number >= 10_000:
        low = number % 10_000
        return in_han(number // 10_000) + "万" + (("零" if low < 1000 else "") + in_han(low) if low else "")
    written, zero = "", False
    for scale, name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = number // scale % 10
        written += ("零" if zero and written else "") * (digit > 0) + (
            "零一二三四五六七八九"[digit] + name if digit else ""
        )
        zero = digit == 0
    return written or "零"


AMOUNTS = st.builds(
    lambda low, wide, bound: Quantity(Span(0, 1), low, low + wide, Dimension.COUNT, "", bound),
    st.integers(0, 30),
    st.integers(0, 5),
    st.sampled_from(Bound),
)


@given(AMOUNTS, AMOUNTS)
def test_exclusion_is_symmetric_and_nothing_excludes_itself(one: Quantity, other: Quantity) -> None:
    assert excludes(one, other) == excludes(other, one)
    assert not excludes(one, one)


MOMENTS = st.sampled_from(
    [
        *[
            "May 2024",
            "5 May 2024",
            "May 5",
            "in May",
            "2024",
            "Q2 2024",
            "Q2",
            "FY2024",
            "Q3 FY2024",
            "5pm",
            "at 5:00",
        ],
        *[
            "next Friday",
            "上个月",
            "下周五",
            "三季度",
            "2024年上半年",
            "下半年",
            "first half of 2024",
            "noon",
            "friday",
            "周五",
        ],
    ]
)


@given(MOMENTS, MOMENTS, st.dates(min_value=date(2000, 1, 1), max_value=date(2050, 1, 1)))
def test_to_be_the_same_moment_is_symmetric_and_reflexive(one: str, other: str, today: date) -> None:
    left, right = moments(one, today), moments(other, today)
    for a in left:
        assert same_moment(a, a)
        for b in right:
            if (a.kind is MomentKind.CLOCK) == (b.kind is MomentKind.CLOCK):
                assert same_moment(a, b) == same_moment(b, a)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("next Friday", date(2024, 5, 17), date(2024, 5, 24)),
        ("last Monday", date(2024, 5, 6), date(2024, 5, 13)),
        ("this Friday", date(2024, 5, 17), date(2024, 5, 17)),
        ("下周五", date(2024, 5, 24), date(2024, 5, 24)),
        ("上周一", date(2024, 5, 6), date(2024, 5, 6)),
        ("second half of 2024", date(2024, 7, 1), date(2024, 12, 31)),
        ("third quarter of 2024", date(2024, 7, 1), date(2024, 9, 30)),
        ("2024年三季度", date(2024, 7, 1), date(2024, 9, 30)),
    ],
)
def test_weekdays_and_parts_of_a_year(text: str, start: date, end: date) -> None:
    (found,) = moments(text, date(2024, 5, 15))
    assert (found.start, found.end) == (start, end)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("FY2024奖励", "FY2024"),
        ("the third quarter of FY2024", "FY2024Q3"),
        ("2024财年第三季度", "FY2024Q3"),
        ("the first quarter", "Q1"),
        ("下半年", "H2"),
        ("next Friday", "next friday"),
    ],
)
def test_keys_of_periods_without_a_document_date(text: str, key: str) -> None:
    assert [moment.key for moment in moments(text)] == [key]


@given(st.dates(), st.sampled_from(["next Friday", "last Monday", "下周日", "上周一", "this Sunday"]))
def test_a_relative_weekday_stays_inside_the_calendar(today: date, text: str) -> None:
    (found,) = moments(text, today)
    assert found.start is not None
    assert found.end is not None
    assert found.start <= found.end


@pytest.mark.parametrize(
    ("one", "other", "text"),
    [
        ("Atlas", "Orion", "Atlas was renamed Orion in May."),
        ("Atlas", "Orion", "Orion (formerly Atlas) holds the forms."),
        ("Acme", "Bolt", "Acme Ltd, which is now called Bolt Ltd, brings lunch."),
        ("HR", "Human Resources", "Ask Human Resources (HR)."),
        ("北斗", "星辰", "北斗平台已更名为星辰平台。"),
        ("北斗平台", "星辰平台", "星辰平台（原名北斗平台）保存表格。"),
    ],
)
def test_names_that_a_text_says_are_of_one_thing(one: str, other: str, text: str) -> None:
    assert one_thing(one, other, [text])
    assert one_thing(other, one, ["Nothing is said here.", text])
    assert not one_thing(one, "Zephyr", [text])


@given(st.text(max_size=200), st.text(max_size=20), st.text(max_size=20))
def test_any_text_can_be_asked_for_names(text: str, one: str, other: str) -> None:
    assert one_thing(one, other, [text]) == one_thing(other, one, [text])


@pytest.mark.parametrize(
    "text", ["A " * 4000 + "renamed", "A was renamed " * 2000, "北" * 6000 + "更名为", "(AB" * 3000, "a a half " * 3000]
)
def test_hostile_text_is_read_to_its_end(text: str) -> None:
    assert not one_thing("Atlas", "Orion", [text])
    spans = [quantity.span for quantity in (*quantities(text), *frequencies(text))]
    spans += [moment.span for moment in moments(text, date(2024, 5, 15))]
    assert all(0 <= span.start < span.end <= len(text) for span in spans)


def test_words_of_a_bound_are_no_words_of_the_statement() -> None:
    def keys(text: str) -> list[str]:
        return [token.key for token in read(text).tokens if isinstance(token, Token)]

    assert keys("Bring at least four photos.") == keys("Bring 4 or more photos.")


def test_it_in_capitals_is_a_name_and_hours_are_no_hourly_staff() -> None:
    assert "it" in read("Laptops are replaced by IT.").terms
    assert "it" not in read("It is replaced.").terms
    assert read("The ride takes 2 hours.").groups == frozenset()
    assert read("Hourly staff rest 2 hours.").groups
