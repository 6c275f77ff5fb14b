"""Figures and denial: what a claim must get right to be supported."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from assistant.core.grounding.denial import denies
from assistant.core.grounding.figures import figures, missing, rivals
from tests.core.citing import HOSTILE


@pytest.mark.parametrize(
    ("claim", "evidence", "absent"),
    [
        ("25 days of leave", "twenty-five days of leave", 0),
        ("a fee of $1,200", "the fee is USD 1200", 0),
        ("one hundred members", "100 members", 0),
        ("100 members", "one hundred members", 0),
        ("in March 2024", "on 5 March 2024", 0),
        ("on 5 March 2024", "in March 2024", 1),
        ("十五天", "15天", 0),
        ("2024年3月5日", "5 March 2024", 0),
        ("between $100 and $500", "from $100 up to $500", 0),
        ("two kinds of leave", "annual and sick leave", 0),
        ("25 days", "no number", 1),
        ("12 % in 2023", "15 % in 2022", 2),
    ],
)
def test_missing_figures(claim: str, evidence: str, absent: int) -> None:
    assert len(missing(figures(claim), [figures(evidence)])) == absent


@pytest.mark.parametrize(
    ("claim", "evidence", "expected"),
    [
        ("Employees receive 30 days of annual leave", "Employees receive 25 days of annual leave", True),
        ("Employees receive 30 days of annual leave", "The notice period is 25 days for landlords", False),
        ("The rate is 120 beats per minute", "More than 100 beats per minute is a good rate", False),
        ("The plan starts on 1 April 2024", "The plan starts on 1 March 2024", True),
        ("加班费为2倍工资", "加班费为1.5倍工资", True),
    ],
)
def test_rivals(claim: str, evidence: str, expected: bool) -> None:
    stated, shown = figures(claim), figures(evidence)
    assert rivals(missing(stated, [shown]), stated, shown) is expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Smoking is allowed in all offices", "Smoking is not allowed in all offices", True),
        ("Leave can be carried over", "Leave cannot be carried over", True),
        ("You may work no more than 40 hours", "You may work 40 hours", False),
        ("Employees must not share passwords", "Employees must never share passwords", False),
        ("Contractors get no bonus", "Employees of the sales team get a yearly bonus in May", False),
        ("员工不得携带宠物", "员工可以携带宠物", True),
        ("报销不得超过三十天", "报销须在三十天内", False),
    ],
)
def test_denial(one: str, other: str, expected: bool) -> None:
    assert denies(one, other) is expected


@settings(max_examples=40)
@given(HOSTILE, HOSTILE)
def test_laws(one: str, other: str) -> None:
    assert denies(one, other) == denies(other, one)
    assert not denies(one, one)
    assert missing(figures(one), [figures(one)]) == []
