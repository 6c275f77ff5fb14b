from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.comparing.claims import TokenKind, is_event, other_groups, read, statement_spans
from assistant.core.comparing.differences import DifferenceKind, align, judge
from assistant.core.comparing.focus import Expected, focus
from assistant.core.comparing.modality import Modality, exclusive, opposite
from assistant.core.comparing.units import Dimension


def cut(text: str) -> list[str]:
    return [text[span.start : span.end] for span in statement_spans(text)]


def differences(one: str, other: str) -> list[tuple[DifferenceKind, str, str]]:
    left, right = read(one), read(other)
    return [(found.kind, found.one, found.other) for found in judge(left, right, align(left, right)[1])]


def test_a_sentence_that_is_wrapped_over_lines_is_one_statement() -> None:
    text = "You are expected to spend at least eighty percent of your time on\nbillable work. The rest is free."
    assert cut(text) == [text.partition(" The")[0], "The rest is free."]


def test_list_items_rows_and_headings_are_statements_without_their_marks() -> None:
    text = (
        "# Leave\n\n- Ask first,\n  then book.\n- Tell the team.\n\n"
        "| Days | Hours |\n| --- | --- |\n| 5 | 36 |\n1. Wait."
    )
    assert cut(text) == [
        "Leave",
        "Ask first,\n  then book.",
        "Tell the team.",
        "| Days | Hours |",
        "| 5 | 36 |",
        "Wait.",
    ]


@given(st.text(alphabet="ab .!|-#*\n1年。", max_size=120))
def test_statements_ascend_and_lie_in_the_text(text: str) -> None:
    spans = statement_spans(text)
    assert all(0 <= span.start < span.end <= len(text) for span in spans)
    assert all(one.end <= other.start for one, other in pairwise(spans))


def test_values_names_and_modal_words_are_single_tokens() -> None:
    tokens = read("You must not post in #benefits before May 5, 2024 or for over 5 days.").tokens
    kinds = {token.kind: token for token in tokens}
    assert kinds[TokenKind.MODAL].modality is Modality.MUST_NOT
    assert kinds[TokenKind.NAME].key == "#benefits"
    assert kinds[TokenKind.MOMENT].key == "@2024-05-05"
    assert kinds[TokenKind.QUANTITY].key == "=duration::432000"


@pytest.mark.parametrize(
    ("text", "modality"),
    [
        ("You must sign.", Modality.MUST),
        ("You have to sign.", Modality.MUST),
        ("You may sign.", Modality.MAY),
        ("You can't sign.", Modality.MUST_NOT),
        ("You may not sign.", Modality.MUST_NOT),
        ("It is not allowed.", Modality.MUST_NOT),
        ("You don't need to sign.", Modality.NEED_NOT),
        ("You need not sign.", Modality.NEED_NOT),
        ("It isn't so.", Modality.NOT),
        ("员工必须签字", Modality.MUST),
        ("员工可以签字", Modality.MAY),
        ("员工不得签字", Modality.MUST_NOT),
        ("员工无需签字", Modality.NEED_NOT),
        ("没有年假", Modality.NOT),
    ],
)
def test_modality_in_two_languages(text: str, modality: Modality) -> None:
    assert [token.modality for token in read(text).tokens if token.modality] == [modality]


@pytest.mark.parametrize(
    "text", ["这些功能可能不同", "无论金额多少", "不超过三天", "应用程序", "in May 2024", "a can-do spirit of sorts"]
)
def test_words_that_only_look_like_negations(text: str) -> None:
    forces = {token.modality for token in read(text).tokens}
    assert forces <= {None, Modality.MAY}
    assert Modality.NOT not in forces


def test_exclusive_forces_and_opposites() -> None:
    assert exclusive(Modality.MUST, Modality.NEED_NOT)
    assert not exclusive(Modality.SHOULD, Modality.MUST)
    assert opposite("elig", "inelig")
    assert opposite("includ", "exclud")
    assert not opposite("leav", "sick")


def test_conditions_of_a_statement() -> None:
    reading = read("In FY24 part-time staff and interns get 5 days.")
    assert reading.periods == {"FY2024"}
    assert reading.groups == {"part-tim", "intern"}
    assert read("2024年实习生年假").groups == {"实习生"}
    assert other_groups(read("interns get 5 days"), read("managers get 9 days"))


def test_the_first_cell_names_the_row() -> None:
    assert (
        read("| 5 days | 36 hours |").row == read("| five days | 32 hours |").row != read("| 4 days | 36 hours |").row
    )


def test_link_targets_and_character_references_are_not_words() -> None:
    left, right = read("We&#39;ve a [form](https://x.example/a9)."), read("We've a [form](https://y.example/b1).")
    assert [token.key for token in left.tokens] == [token.key for token in right.tokens]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("It takes four days.", "It takes 4 days."),
        ("Ask the Legal Department's team.", "Ask the Legal Department&rsquo;s team."),
        ("Read the instructions in this document.", "Read the instructions here."),
        ("Roles and responsibilites are listed.", "Roles and responsibilities are listed."),
        ("Travel with other team members.", "Travel with other teammates."),
        ("Pick one of the time zones.", "Pick one of the timezones."),
        ("We start on Monday.", "We begin on Monday."),
    ],
)
def test_wording_spelling_and_number_format_make_no_difference(one: str, other: str) -> None:
    assert differences(one, other) == []


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        ("Spend at most $3,500.", "Spend at most $3,000.", DifferenceKind.MONEY),
        ("It takes 4 days.", "It takes 5 days.", DifferenceKind.DURATION),
        ("Bill 90% of the time.", "Bill 80% of the time.", DifferenceKind.PERCENT),
        ("Bring up to 15 guests.", "Bring up to 20 guests.", DifferenceKind.NUMBER),
        ("We meet on Monday at 10am.", "We meet on Friday at 10am.", DifferenceKind.DATE),
        ("Questions? Ask in #benefits.", "Questions? Ask in #people.", DifferenceKind.NAME),
        ("Go to room G151 to get it.", "Go to room B338 to get it.", DifferenceKind.NAME),
        (
            "Your leave is approved by the Head of Finance.",
            "Your leave is approved by the HR Desk.",
            DifferenceKind.NAME,
        ),
        ("We talk in the planning document.", "We talk in the minutes document.", DifferenceKind.PHRASE),
        ("Guests are allowed.", "Guests are not allowed.", DifferenceKind.POLARITY),
        ("Wait at least 5 days.", "Wait at most 5 days.", DifferenceKind.DURATION),
        ("Interns are eligible for it.", "Interns are ineligible for it.", DifferenceKind.POLARITY),
    ],
)
def test_a_value_a_name_or_the_polarity_makes_a_difference(one: str, other: str, kind: DifferenceKind) -> None:
    assert [found[0] for found in differences(one, other)] == [kind]


def test_a_negation_in_an_added_clause_does_not_deny_the_rest() -> None:
    assert differences("You get your badge.", "You get your badge, which opens doors without any further checks.") == []


def test_a_number_that_names_a_step_is_no_amount() -> None:
    assert differences("See step 3 of the guide.", "See step 4 of the guide.") == []


def test_events_have_their_year_as_a_value() -> None:
    assert is_event(read("The office was opened in 1999."))
    assert not is_event(read("In 1999 the limit was 5 days."))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("When is the form due?", Expected.MOMENT),
        ("How many days do I get?", Expected.AMOUNT),
        ("Who approves leave?", Expected.NAME),
        ("Can I work abroad?", Expected.RULE),
        ("Tell me about leave", Expected.ANY),
        ("什么时候发工资？", Expected.MOMENT),
        ("年假有几天？", Expected.AMOUNT),
        ("谁审批？", Expected.NAME),
    ],
)
def test_the_sort_of_answer_a_question_asks_for(question: str, expected: Expected) -> None:
    assert focus(question).expected is expected


def test_a_question_is_split_into_thing_and_relation() -> None:
    asked = focus("When was Egham House built?")
    assert asked.entity == {"egham", "hous"}
    assert "construct" in asked.relation
    assert asked.once
    assert focus("How many hours must be billable?").dimensions == {Dimension.DURATION}
