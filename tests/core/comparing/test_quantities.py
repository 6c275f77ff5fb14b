from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.comparing.bounds import Bound
from assistant.core.comparing.quantities import (
    Quantity,
    comparable,
    compatible,
    frequencies,
    quantities,
    same_amount,
)
from assistant.core.comparing.units import Dimension
from assistant.core.text import Span

DAY = 86400.0


def only(text: str) -> Quantity:
    (found,) = quantities(text)
    return found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("4 days", "four days"),
        ("4 days", "四天"),
        ("90 %", "ninety percent"),
        ("5%", "百分之五"),
        ("12.5%", "百分之十二点五"),
        ("3万元", "30,000 yuan"),
        ("$3,500", "3500 dollars"),
        ("$2M", "USD 2 million"),
        ("一百二十人", "120 people"),
        ("a hundred and twenty people", "120 people"),
        ("twenty-five teams", "25 teams"),
        ("24 hours", "1 day"),
        ("half an hour", "30 minutes"),
        ("半年", "6 months"),
        ("一年半", "18 months"),
        ("两个半小时", "150 minutes"),
        ("30 days", "1 month"),
        ("2-3 days", "between 2 and 3 days"),
        ("3至5天", "3 to 5 days"),
    ],
)
def test_one_amount_in_two_spellings_is_the_same_amount(one: str, other: str) -> None:
    left, right = only(one), only(other)
    assert comparable(left, right)
    assert same_amount(left, right)


@pytest.mark.parametrize(
    ("one", "other"), [("4 days", "5 days"), ("1 month", "4 weeks"), ("$3,500", "$3,000"), ("2-3 days", "2 days")]
)
def test_other_amounts_are_not_the_same(one: str, other: str) -> None:
    assert not same_amount(only(one), only(other))


def test_money_of_two_currencies_is_not_comparable() -> None:
    assert not comparable(only("$400"), only("€400"))


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("at least 3 days", Bound.AT_LEAST),
        ("3 days or more", Bound.AT_LEAST),
        ("250+ engineers", Bound.AT_LEAST),
        ("no more than 3 days", Bound.AT_MOST),
        ("within 3 days", Bound.AT_MOST),
        ("over 100 people", Bound.MORE_THAN),
        ("fewer than 15 people", Bound.LESS_THAN),
        ("about 100 people", Bound.ABOUT),
        ("至少3天", Bound.AT_LEAST),
        ("不超过30天", Bound.AT_MOST),
        ("五天以内", Bound.AT_MOST),
        ("3个月以上", Bound.AT_LEAST),
        ("30天左右", Bound.ABOUT),
        ("3 days", Bound.EXACT),
    ],
)
def test_bounds_in_two_languages(text: str, bound: Bound) -> None:
    assert only(text).bound is bound


def test_bounds_decide_whether_two_amounts_can_both_hold() -> None:
    assert compatible(only("at least 3 days"), only("5 days"))
    assert not compatible(only("at most 3 days"), only("5 days"))
    assert compatible(only("about 100 people"), only("98 people"))


@pytest.mark.parametrize(
    "text", ["room G151", "统一", "十分重要", "一起", "千万不要", "n1x", "H2O", "v2", "no numbers here"]
)
def test_identifiers_and_words_are_no_quantities(text: str) -> None:
    assert quantities(text) == []


def test_numbers_joined_by_and_stay_two_numbers() -> None:
    assert [(q.low, q.dimension) for q in quantities("5 days and 6 hours")] == [
        (5 * DAY, Dimension.DURATION),
        (6 * 3600, Dimension.DURATION),
    ]
    assert [q.low for q in quantities("five and six people")] == [5, 6]


def test_a_counted_noun_is_the_unit_of_a_count() -> None:
    assert only("500 participants").unit == "particip"


def test_ordinals_in_two_languages() -> None:
    assert [q.low for q in quantities("the 6th week, the third time")] == [6, 3]
    assert only("第三次").dimension is Dimension.ORDINAL


def test_taken_places_are_left_out() -> None:
    text = "on 5 May for 3 days"
    assert [text[q.span.start : q.span.end] for q in quantities(text, [Span(3, 8)])] == ["3 days"]


@pytest.mark.parametrize(
    ("text", "days"),
    [("weekly", 7), ("every 90 days", 90), ("every week", 7), ("每周", 7), ("每90天", 90), ("daily", 1)],
)
def test_frequencies(text: str, days: float) -> None:
    (found,) = frequencies(text)
    assert found.low == pytest.approx(days * DAY)
    assert found.dimension is Dimension.FREQUENCY


@given(st.integers(min_value=0, max_value=10**9))
def test_thousands_separators_do_not_change_a_number(number: int) -> None:
    assert only(f"{number:,} people").low == number == only(f"{number} people").low


@given(st.text(max_size=200))
def test_spans_lie_in_the_text_ascend_and_are_disjoint(text: str) -> None:
    found = quantities(text)
    assert all(0 <= q.span.start < q.span.end <= len(text) for q in found)
    assert all(one.span.end <= other.span.start for one, other in pairwise(found))


@given(st.text(alphabet="0123456789一二百万亿.,-%$ daysto半个月至", max_size=60))
def test_hostile_mixtures_of_numerals_do_not_raise(text: str) -> None:
    for quantity in quantities(text):
        assert quantity.low <= quantity.high


def test_a_very_long_run_of_digits_is_read_in_one_piece() -> None:
    assert len(quantities("9" * 5000)) <= 1
