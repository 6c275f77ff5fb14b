"""Crossing: what is compared by meaning, and what is taken of what is near."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assistant.core.grounding.crossing import MOST_CLAIMS, MOST_UNITS, Comparison, Scale, comparison, cross, meaning
from assistant.core.grounding.indexing import index_evidence
from tests.core.citing import made

SCALE = Scale(likely=0.5, sure=0.7)
INDEX = index_evidence(
    [
        made("The notice period is three months. The probation period is six months.", name="terms"),
        made("员工每年享有15天带薪年假。", name="leave"),
    ]
)


def test_only_what_speaks_another_language_is_compared() -> None:
    claims = ["离职通知期为三个月。", "The notice period is three months."]
    assert comparison(claims, INDEX) == Comparison((0, 1), (0, 1, 2))
    assert comparison(claims[:1], INDEX) == Comparison((0,), (0, 1))
    assert comparison(claims[1:], index_evidence([made("All is in English here.")])) == Comparison()
    assert comparison([], INDEX) == Comparison()


def test_what_is_compared_is_bounded_and_of_the_best_evidence() -> None:
    weak = replace(made("The depot opens at six. " * 200, name="weak"), score=0.1)
    strong = replace(made("The gate closes at ten. " * 100, name="strong"), score=0.9)
    index = index_evidence([weak, strong])
    found = comparison(["仓库六点开门。"] * 60, index)
    assert len(found.claims) == MOST_CLAIMS
    assert len(found.units) == MOST_UNITS
    assert sum(index.units[at].piece == 1 for at in found.units) == 100


@pytest.mark.parametrize(
    ("near", "unit", "sure"),
    [
        ({0: 0.8, 1: 0.9}, 0, True),
        ({0: 0.6, 1: 0.9}, 0, False),
        ({0: 0.4, 1: 0.9}, None, False),
        ({1: 0.9}, None, False),
        ({}, None, False),
    ],
)
def test_the_nearest_that_agrees_is_taken_and_never_one_that_does_not(
    near: dict[int, float], unit: int | None, sure: bool
) -> None:
    found = cross("离职通知期为三个月。", near, INDEX, SCALE)
    assert (None if found is None else found.place.anchor) == unit
    assert found is None or (found.sure, found.place.fit) == (sure, near[found.place.anchor])


def test_a_unit_of_the_same_language_is_left_to_the_words() -> None:
    assert cross("员工每年享有15天带薪年假。", {2: 0.99}, INDEX, SCALE) is None


def test_a_neighbour_may_give_the_figure_that_is_missing() -> None:
    index = index_evidence([made("Leave is granted to all employees. It amounts to 25 days. Lunch is free.")])
    found = cross("员工享有25天假期。", {0: 0.8, 1: 0.2, 2: 0.1}, index, SCALE)
    assert found is not None
    assert (found.place.first, found.place.last, found.place.anchor) == (0, 1, 0)


def test_amounts_and_dates_are_no_part_of_the_meaning() -> None:
    assert meaning("The notice period is three months, from 1 May 2024.") == "The notice period is , from ."
