"""Agreeing: what two sentences of different languages must have in common, one kind of disagreement at a time."""

from __future__ import annotations

import pytest
from hypothesis import given

from assistant.core.grounding.agreeing import agreement, without_figures
from tests.core.citing import HOSTILE


@pytest.mark.parametrize(
    ("claim", "shown", "tied"),
    [
        ("全职员工每年享有25天年假。", "Full-time employees receive 25 days of annual leave.", True),
        ("Unused leave expires on 31 March of the following year.", "未休的年假在次年3月31日失效。", True),
        ("Backups are kept for one year.", "备份保存一年。", True),
        ("Fire drills are held twice a year.", "消防演习每年举行2次。", True),
        ("工时记录在 Chronos 系统中。", "Working time is recorded in the Chronos system.", True),
        ("The gym is free for all employees.", "健身房对所有员工免费。", False),
        ("会议每周一9:30举行。", "The meeting takes place every Monday at 9:30.", True),
        ("港口办公室有120个工位。", "The Frankfurt office has 120 desks.", True),
        ("The limit is no more than 50 EUR.", "限额不得超过50欧元。", True),
    ],
)
def test_what_agrees(claim: str, shown: str, tied: bool) -> None:
    found = agreement(claim, shown)
    assert found is not None
    assert found.tied is (tied and "Frankfurt" not in shown)


@pytest.mark.parametrize(
    ("claim", "shown"),
    [
        ("全职员工每年享有30天年假。", "Full-time employees receive 25 days of annual leave."),
        ("工资在每月25日发放。", "Employees receive 25 days of leave."),
        ("港口办公室有101个工位。", "The office has 100 desks."),
        ("新大楼于2026年10月1日启用。", "The new building opens on 1 October 2025."),
        ("The meeting takes place on Friday.", "会议在周一举行。"),
        ("The meeting starts at 10:30.", "会议9:30开始。"),
        ("The company pays at least 2,000 EUR.", "公司最多承担2000欧元。"),
        ("Contractors may take part.", "外包人员不得参加。"),
        ("办公室内可以携带宠物。", "Pets are not allowed in the office."),
        ("工时记录在 Saturn 系统中。", "Working time is recorded in the Chronos system."),
        ("Working time is recorded in Saturn.", "工时记录在 Chronos 系统中。"),
        ("The Lisbon office opens in May.", "慕尼黑办事处五月开业。"),
    ],
)
def test_what_disagrees(claim: str, shown: str) -> None:
    assert agreement(claim, shown) is None


def test_a_figure_or_name_may_stand_in_the_title_above() -> None:
    assert agreement("2024年的奖金在四月发放。", "The bonus is paid in April.") is None
    assert agreement("2024年的奖金在四月发放。", "The bonus is paid in April.", "Rules for 2024") is not None


@given(HOSTILE)
def test_figures_are_blanked_in_place(text: str) -> None:
    left = without_figures(text)
    assert len(left) == len(text)
    assert all(mine in (" ", theirs) for mine, theirs in zip(left, text, strict=True))


@given(HOSTILE, HOSTILE)
def test_any_two_texts_can_be_compared(claim: str, shown: str) -> None:
    found = agreement(claim, shown, claim)
    assert found is None or found.tied in (True, False)
