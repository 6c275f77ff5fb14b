from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.modes import REASONS, Mode, QuestionKind, TurnFacts, choose_mode, question_kind


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How many hours must be billable?", QuestionKind.LOOKUP),
        ("How do I report a lost badge?", QuestionKind.PROCEDURE),
        ("怎么申请年假？", QuestionKind.PROCEDURE),
        ("Compare sick leave and annual leave", QuestionKind.COMPARISON),
        ("事假和病假有什么区别？", QuestionKind.COMPARISON),
        ("Summarize the travel policy", QuestionKind.SUMMARY),
        ("总结一下差旅政策", QuestionKind.SUMMARY),
        ("What does each document say about pets?", QuestionKind.PER_SOURCE),
        ("Hello!", QuestionKind.SMALL_TALK),
        ("thank you very much", QuestionKind.SMALL_TALK),
        ("你好", QuestionKind.SMALL_TALK),
        ("Hello, how many hours must be billable?", QuestionKind.LOOKUP),
        ("", QuestionKind.LOOKUP),
    ],
)
def test_questions_are_classified_in_both_languages(question: str, kind: QuestionKind) -> None:
    assert question_kind(question) is kind


@given(
    st.builds(
        TurnFacts,
        kind=st.sampled_from(QuestionKind),
        pieces=st.integers(0, 50),
        conflicts=st.integers(0, 5),
        fits=st.booleans(),
        requested=st.none() | st.sampled_from(Mode),
    )
)
def test_every_turn_gets_a_mode_with_a_reason_that_people_understand(facts: TurnFacts) -> None:
    choice = choose_mode(facts)
    assert choice.reason == REASONS[choice.code]
    assert facts.requested in (None, choice.mode)


def test_more_evidence_than_fits_is_read_in_groups_only_where_all_of_it_matters() -> None:
    def mode(kind: QuestionKind, fits: bool) -> Mode:
        return choose_mode(TurnFacts(kind, 12, 0, fits)).mode

    assert mode(QuestionKind.SUMMARY, False) is Mode.COMPACT
    assert mode(QuestionKind.SUMMARY, True) is Mode.SIMPLE_SUMMARIZE
    assert mode(QuestionKind.LOOKUP, False) is Mode.SIMPLE_SUMMARIZE
