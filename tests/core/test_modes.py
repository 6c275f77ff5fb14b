from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.modes import POLICY, REASONS, Mode, Tier, TurnFacts, choose_mode, policy_table
from assistant.core.questions import QuestionKind, question_kind


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
        preferred=st.none() | st.sampled_from(Mode),
        sources=st.integers(1, 9),
        groups=st.integers(0, 9),
        afforded=st.integers(1, 40),
        images=st.booleans(),
    )
)
def test_every_turn_gets_a_mode_with_a_reason_that_people_understand(facts: TurnFacts) -> None:
    choice = choose_mode(facts)
    assert choice.reason == REASONS[choice.code]
    assert facts.requested in (None, choice.mode)
    assert facts.images or facts.requested or facts.preferred or choice.mode is not Mode.MULTI_MODAL


@pytest.mark.parametrize(
    ("facts", "mode", "code"),
    [
        (TurnFacts(QuestionKind.SUMMARY, 12, 0, fits=False, groups=3), Mode.TREE_SUMMARIZE, "summary_of_all"),
        (TurnFacts(QuestionKind.SUMMARY, 12, 0, fits=False, groups=9, afforded=4), Mode.SIMPLE_SUMMARIZE, "ceiling"),
        (TurnFacts(QuestionKind.SUMMARY, 12, 0, fits=True), Mode.SIMPLE_SUMMARIZE, "fits"),
        (TurnFacts(QuestionKind.COMPARISON, 12, 1, fits=False, groups=2), Mode.COMPACT, "needs_all"),
        (TurnFacts(QuestionKind.PROCEDURE, 12, 0, fits=False, groups=2), Mode.COMPACT, "needs_all"),
        (TurnFacts(QuestionKind.LOOKUP, 12, 0, fits=False, groups=2), Mode.SIMPLE_SUMMARIZE, "lookup_trimmed"),
        (TurnFacts(QuestionKind.LOOKUP, 3, 0, fits=True), Mode.SIMPLE_SUMMARIZE, "simple_fits"),
        (TurnFacts(QuestionKind.LOOKUP, 3, 1, fits=True), Mode.SIMPLE_SUMMARIZE, "fits"),
        (TurnFacts(QuestionKind.LOOKUP, 3, 0, fits=True, images=True), Mode.MULTI_MODAL, "images"),
        (TurnFacts(QuestionKind.PER_SOURCE, 6, 0, fits=True, sources=4), Mode.ACCUMULATE, "each_source"),
        (TurnFacts(QuestionKind.PER_SOURCE, 6, 0, fits=True, sources=1), Mode.SIMPLE_SUMMARIZE, "fits"),
        (
            TurnFacts(QuestionKind.PER_SOURCE, 60, 0, fits=False, sources=9, groups=5, afforded=8),
            Mode.COMPACT_ACCUMULATE,
            "each_source_grouped",
        ),
        (TurnFacts(QuestionKind.LOOKUP, 0, 0, fits=True), Mode.SIMPLE_SUMMARIZE, "nothing_found"),
        (TurnFacts(QuestionKind.SMALL_TALK, 0, 0, fits=True), Mode.GENERATION, "small_talk"),
        (TurnFacts(QuestionKind.LOOKUP, 3, 0, fits=True, preferred=Mode.VERIFIED), Mode.VERIFIED, "collection"),
        (TurnFacts(QuestionKind.SMALL_TALK, 0, 0, fits=True, preferred=Mode.VERIFIED), Mode.GENERATION, "small_talk"),
        (TurnFacts(QuestionKind.LOOKUP, 3, 0, fits=True, requested="report"), "report", "requested"),
    ],
)
def test_each_row_of_the_table(facts: TurnFacts, mode: Mode | str, code: str) -> None:
    choice = choose_mode(facts)
    assert (choice.mode, choice.code) == (mode, code)


def test_only_simple_turns_go_to_the_cheaper_model() -> None:
    simple = {rule.code for rule in POLICY if rule.tier is Tier.SIMPLE}
    assert simple == {"small_talk", "nothing_found", "simple_fits"}


def test_the_table_in_the_documentation_is_the_policy() -> None:
    assert policy_table() in Path("docs/modes.md").read_text("utf-8")
