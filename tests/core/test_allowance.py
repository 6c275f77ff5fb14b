"""Allowances of a day: which limit is reached, and when the next day begins."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from assistant.core.allowance import DayLimits, Used, day_of, ms_of_day_left, reached

ALL = DayLimits(
    user_turns=3, user_tokens=100, user_cost=0.5, tenant_turns=30, tenant_tokens=1000, tenant_cost=5.0
)  # fmt: skip


@pytest.mark.parametrize(
    ("own", "whole", "reason"),
    [
        (Used(), Used(), None),
        (Used(2, 99, 0.49), Used(29, 999, 4.99), None),
        (Used(turns=3), Used(turns=3), "user_turns"),
        (Used(turns=4), Used(turns=4), "user_turns"),
        (Used(tokens=100), Used(), "user_tokens"),
        (Used(cost=0.5), Used(), "user_cost"),
        (Used(), Used(turns=30), "tenant_turns"),
        (Used(), Used(tokens=1000), "tenant_tokens"),
        (Used(), Used(cost=5.0), "tenant_cost"),
        (Used(turns=3), Used(turns=30), "user_turns"),  # one's own is told first
    ],
)
def test_the_first_limit_that_is_used_up_is_named(own: Used, whole: Used, reason: str | None) -> None:
    assert reached(ALL, own, whole) == reason


def test_zero_is_no_limit() -> None:
    much = Used(10**9, 10**12, 1e9)
    assert reached(DayLimits(), much, much) is None
    assert (DayLimits().for_users, DayLimits().for_tenants) == (False, False)
    assert reached(DayLimits(tenant_cost=1.0), much, much) == "tenant_cost"
    assert (DayLimits(tenant_cost=1.0).for_users, DayLimits(tenant_cost=1.0).for_tenants) == (False, True)
    assert DayLimits(user_turns=1).for_users


def test_days_are_of_utc() -> None:
    late = datetime(2026, 3, 1, 23, 30, tzinfo=timezone(timedelta(hours=-5)))
    assert day_of(late) == date(2026, 3, 2)
    assert ms_of_day_left(late) == (19 * 60 + 30) * 60_000


@pytest.mark.parametrize(
    ("at", "left"),
    [
        (datetime(2026, 3, 1, tzinfo=UTC), 86_400_000),
        (datetime(2026, 3, 1, 0, 0, 0, 1, tzinfo=UTC), 86_400_000),
        (datetime(2026, 3, 1, 23, 59, 59, 999_999, tzinfo=UTC), 1),
        (datetime(2026, 12, 31, 23, 59, 59, tzinfo=UTC), 1000),
    ],
)
def test_the_wait_reaches_to_midnight(at: datetime, left: int) -> None:
    assert ms_of_day_left(at) == left
    assert day_of(at + timedelta(milliseconds=left)) > day_of(at)
