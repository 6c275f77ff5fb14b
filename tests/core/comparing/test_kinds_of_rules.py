"""Pairs of rules in both languages: frequencies, thresholds, denials that cancel, numbered things, headings."""

from __future__ import annotations

from datetime import date

import pytest

from assistant.core.conflicts import Conflict, Resolution, disagreement
from assistant.core.evidence import Evidence, admit
from tests.core.comparing.test_kinds import compared, listed
from tests.making import passage, source

CONTRADICT = {
    "frequency": [
        ("A mentor meets each newcomer twice a week.", "A mentor meets each newcomer once a week."),
        ("Backups run every night.", "Backups run every hour."),
        ("Reports are sent weekly.", "Reports are sent monthly."),
        ("员工每周须到岗三天。", "员工每周须到岗两天。"),
        ("笔记本电脑每三年更换一次。", "笔记本电脑每四年更换一次。"),
    ],
    "limits": [
        ("Notice must be given at least 30 days before.", "Notice must be given at least two weeks before."),
        ("You may keep gifts worth less than $50.", "You may keep gifts worth less than $100."),
        ("会议室最多容纳20人。", "会议室最多容纳30人。"),
    ],
    "polarity": [
        ("Alcohol is never allowed on the premises.", "Alcohol is allowed on the premises."),
        ("Passwords expire after 90 days.", "Passwords never expire."),
        ("Submit the form before the trip.", "Submit the form after the trip."),
        ("加班须经部门经理批准。", "加班无需部门经理批准。"),
        ("食堂免费。", "食堂收费。"),
        ("预算上调5%。", "预算下调5%。"),
    ],
    "exclusive": [
        ("The travel desk only books economy class.", "The travel desk only books business class."),
        ("财务部负责发放工资。", "人事部负责发放工资。"),
        ("请联系星河公司领取钥匙。", "请联系长风公司领取钥匙。"),
    ],
    "clock": [
        ("Lunch is from 12:00 to 13:00.", "Lunch is from 12:30 to 13:30."),
        ("午休时间为12点到13点。", "午休时间为12点30分到13点30分。"),
    ],
}
AGREE = {
    "frequency": [
        ("The review takes place twice a year.", "The review takes place every six months."),
        ("系统每晚十点维护。", "系统每晚22:00维护。"),
    ],
    "denials that cancel": [
        ("Trips under 100 km are not reimbursed.", "Trips over 100 km are reimbursed."),
        ("If you leave before June, the bonus is not paid.", "If you leave after June, the bonus is paid."),
        ("The manager must approve the request.", "The manager must not reject the request."),
        ("未经批准不得外出。", "经批准可以外出。"),
    ],
    "numbered things": [
        ("Step 3: wait 10 minutes.", "Step 4: wait 20 minutes."),
        ("Room 4 seats 10 people.", "Room 5 seats 12 people."),
        ("Version 2.1 needs 4 GB of memory.", "Version 3.0 needs 8 GB of memory."),
        ("一级故障须在1小时内响应。", "二级故障须在4小时内响应。"),
        ("项目一期投资三千万元。", "项目二期投资5000万元。"),
    ],
    "thresholds": [
        ("金额超过5000元须总监审批。", "金额超过1万元须总经理审批。"),
        ("周末加班按两倍工资支付。", "节假日加班按三倍工资支付。"),
    ],
    "a general rule and its exception": [
        ("Staff get 25 days of leave.", "Part-time staff get 12 days of leave."),
        ("员工每年有10天年假。", "实习生每年有5天年假。"),
    ],
    "short sentences of unrelated pages": [
        ("Do not open any links in the letter.", "Open the Parcels link."),
        ("These may include:", "Note this does not include:"),
        ("See the pension page.", "See the printer page."),
        ("参见考勤页面。", "参见报销页面。"),
        ("BD - Board of Directors.", "A guide to the Zed board of directors."),
        ("You work 8 hours on all 10 days.", "You work eight 10-hour days or nine 9-hour days."),
    ],
    "loose and exact": [
        ("Roughly 40 people work in the warehouse.", "41 people work in the warehouse."),
        ("The server room is kept at 20 degrees Celsius.", "The server room is kept at 68°F."),
        ("The bonus is paid in March.", "The bonus is paid in March 2024."),
        ("The plan starts in FY2024.", "The plan starts in Q3 FY2024."),
        ("The cap is 1,000 euros.", "The cap is $1000."),
        ("Fewer than 3 years: 4 hours per pay period.", "You may work fewer than 10 days per pay period."),
    ],
}


@pytest.mark.parametrize(("one", "other"), listed(CONTRADICT))
def test_what_cannot_both_hold_is_found(one: str, other: str) -> None:
    assert compared(one, other) is not None


@pytest.mark.parametrize(("one", "other"), listed(AGREE))
def test_what_can_both_hold_is_left_alone(one: str, other: str) -> None:
    found = compared(one, other)
    assert found is None, found.why


def titled(text: str, title: str, section: str = "", family: str | None = None, on: date | None = None) -> Evidence:
    version = source(f"{title}/{section}", title=title, family=family, on=on, text=text)
    return admit(passage(text, version.document, section=section, version=version))


def under(one: tuple[str, str], other: tuple[str, str], family: str | None = None) -> Conflict | None:
    left = titled("Everybody gets 25 days of leave.", *one, family, date(2023, 1, 1))
    return disagreement(left, titled("Everybody gets 30 days of leave.", *other, family, date(2024, 1, 1)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("Leave Germany", ""), ("Leave France", "")),
        (("Leave for interns", ""), ("Leave for managers", "")),
        (("Leave", "Leave > Part-time staff"), ("Leave", "Leave > Full-time staff")),
        (("Handbook", "Office Berlin"), ("Handbook", "Office Oslo")),
        (("北京休假制度", ""), ("上海休假制度", "")),
        (("Chicago", ""), ("Working in Boston", "")),
    ],
)
def test_passages_under_headings_of_different_things_agree(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert under(one, other) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("Leave policy", ""), ("Leave guideline", "")),
        (("Leave policy old", ""), ("Leave policy new", "")),
        (("Leave policy 2023", ""), ("Leave policy 2024", "")),
        (("Leave", "Leave > Annual leave"), ("Leave", "Annual leave")),
        (("", ""), ("Benefits", "")),
    ],
)
def test_headings_that_tell_a_version_or_nothing_do_not_hide_a_conflict(
    one: tuple[str, str], other: tuple[str, str]
) -> None:
    assert under(one, other) is not None


def test_in_editions_of_one_document_another_number_counts_even_within_a_limit() -> None:
    texts = ("Give notice at least 2 weeks ahead.", "Give notice 4 weeks ahead.")
    old, new = (
        titled(t, "Notice", family="n", on=on)
        for t, on in zip(texts, (date(2023, 1, 1), date(2024, 1, 1)), strict=True)
    )
    found = disagreement(old, new)
    assert found is not None
    assert (found.resolution, found.preferred) == (Resolution.NEWER, new.id)
    assert disagreement(titled(texts[0], "A"), titled(texts[1], "B")) is None


ASKED = [
    (
        "Booking class is decided by Mira Olsen.",
        "Booking class is decided by Jon Berg.",
        "Who decides booking class?",
        True,
    ),
    (
        "The Zed room can be booked by Sales.",
        "The Zed room can be booked by Support.",
        "Who can book the Zed room?",
        True,
    ),
    (
        "Zed is set up in Settings.\n\n- Select a room in Zed",
        "Zed costs money.\n\n- Advanced users like Zed",
        "Who can use Zed?",
        False,
    ),
    ("The Zed desk is in room 310.", "The Zed desk is in room 640.", "Who runs the Zed desk?", False),
    (
        "Employees get sixteen weeks of parental leave.",
        "Parental leave for employees is 12 weeks.",
        "How long is parental leave for employees?",
        True,
    ),
    (
        "Part-time staff get 10 days of leave.",
        "Full-time staff get 25 days of leave.",
        "How many days of leave do I get?",
        False,
    ),
    ("The desk in Berlin opens at 8am.", "The desk in Oslo opens at 9am.", "When does the desk open?", False),
    ("病假每年12天。", "事假每年5天。", "病假每年有几天？", False),
    ("哺乳假每天一小时。", "哺乳假每天为两小时。", "哺乳假每天多长时间？", True),
    ("报销申请需在30天内提交。", "差旅结束后60天内均可提交报销申请。", "报销申请需在多少天内提交？", True),
]


@pytest.mark.parametrize(("one", "other", "question", "contradict"), ASKED)
def test_what_bears_on_a_question(one: str, other: str, question: str, contradict: bool) -> None:
    found = disagreement(titled(one, "A"), titled(other, "B"), question)
    assert (found is not None) is contradict
