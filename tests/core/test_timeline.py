"""Timelines stand in the order of time."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.evidence import Evidence
from assistant.core.timeline import in_time_order, is_timeline, opening_date
from tests.making import evidence

ENTRIES = [
    ("## March 3, 2023\n\nThe office in Ghent opened.", date(2023, 3, 3)),
    ("2021-11-05: the first version went to customers.", date(2021, 11, 5)),
    ("- 7 June 2022 - the team moved.", date(2022, 6, 7)),
    ("2020年5月1日，公司成立。", date(2020, 5, 1)),
    ("【2024年2月】 新制度施行。", date(2024, 2, 1)),
    ("**2019** was the year of the merger.", date(2019, 1, 1)),
]
UNDATED = ["The office opened on March 3, 2023.", "Step 2 follows.", "May is warm.", "", "公司于2020年成立。"]


@pytest.mark.parametrize(("text", "day"), [*ENTRIES, *((text, None) for text in UNDATED)])
def test_a_piece_is_dated_by_what_it_opens_with(text: str, day: date | None) -> None:
    assert opening_date(evidence(text)) == day


def test_a_piece_is_dated_by_its_innermost_heading() -> None:
    assert opening_date(evidence("The team moved.", section="Log > 2022 > 7 June 2022")) == date(2022, 6, 7)
    assert opening_date(evidence("The team moved.", section="2022 > Moves")) is None


@pytest.mark.parametrize(
    "question",
    [
        "Give me a timeline of the merger.",
        "What is the history of the Ghent office?",
        "How has the travel policy changed over time?",
        "What happened after the outage?",
        "公司的发展历程是怎样的？",
        "请按时间顺序说明事故的经过",
    ],
)
def test_a_question_for_the_course_of_events_wants_the_order_of_time(question: str) -> None:
    dated = [evidence("It moved.", "a", on=date(2022, 1, 1)), evidence("It opened.", "b", on=date(2020, 1, 1))]
    assert is_timeline(question, dated)
    assert [item.source.document for item in in_time_order(dated)] == ["b", "a"]
    assert not is_timeline(question, [evidence("It moved.", "a"), evidence("It opened.", "b")])


@pytest.mark.parametrize("question", ["How many days of leave do I get?", "员工有几天年假？", "What time is lunch?"])
def test_a_lookup_in_policies_with_dates_is_no_timeline(question: str) -> None:
    dated = [evidence(f"Rule {n}.", f"d{n}", on=date(2020 + n, 1, 1)) for n in range(4)]
    assert not is_timeline(question, dated)


def test_entries_of_a_log_are_a_timeline_whatever_is_asked() -> None:
    entries = [evidence(text, f"d{n}") for n, (text, _) in enumerate(ENTRIES)]
    assert is_timeline("Where is the office?", entries)
    assert not is_timeline("Where is the office?", entries[:2])
    assert not is_timeline("Where is the office?", [*entries[:3], *(evidence(text) for text in UNDATED[:2])])


@given(st.text(max_size=80), st.text("0123456789-/.年月日 JanMay,\n#", max_size=40))
def test_any_text_is_dated_or_not(section: str, text: str) -> None:
    day = opening_date(evidence(text, section=section))
    assert day is None or 1 <= day.year <= 9999


PIECES = st.lists(
    st.builds(
        lambda entry, at, day: evidence(entry, f"d{at % 3}", at=at * 100, on=day),
        st.sampled_from([text for text, _ in ENTRIES] + UNDATED),
        st.integers(0, 20),
        st.sampled_from([None, date(2018, 1, 1), date(2022, 1, 1)]),
    ),
    max_size=8,
)


@given(PIECES)
def test_the_order_of_time_keeps_every_piece_and_never_goes_back(pieces: list[Evidence]) -> None:
    ordered = in_time_order(pieces)
    assert sorted(item.id for item in ordered) == sorted(item.id for item in pieces)
    days = [opening_date(item) or item.source.date or date.max for item in ordered]
    assert days == sorted(days)
