"""Support: whether evidence answers a question, and which of its sentences do."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from assistant.core.evidence import Evidence
from assistant.core.grounding.support import answerability, rank_sentences
from tests.core.citing import EVIDENCE, HOSTILE, made

HANDBOOK = (
    "Annual leave has to be requested in the portal. Full-time employees receive 25 days of annual leave per year. "
    "The leave year starts in January. The canteen is on the ground floor. Maria Keller leads the payroll team."
)
HANDBOOK_ZH = "年假须在系统中申请。正式员工每年享有15天年假。食堂在一楼。工资由财务部的王经理负责。"


def best(question: str, *texts: str) -> str:
    evidence = [made(text, name=f"d{at}") for at, text in enumerate(texts)]
    first = rank_sentences(question, evidence)[0]
    return evidence[first.piece].quote(first.span)


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("How many days of annual leave do employees get?", HANDBOOK, "25 days"),
        ("Where is the canteen?", HANDBOOK, "ground floor"),
        ("Who leads the payroll team?", HANDBOOK, "Maria Keller"),
        ("When does the leave year start?", HANDBOOK, "January"),
        ("How do I request annual leave?", HANDBOOK, "portal"),
        ("年假有多少天？", HANDBOOK_ZH, "15天"),
        ("食堂在哪里？", HANDBOOK_ZH, "一楼"),
        ("谁负责工资？", HANDBOOK_ZH, "王经理"),
        ("年假怎么申请？", HANDBOOK_ZH, "系统"),
    ],
)
def test_the_sentence_that_answers_comes_first(question: str, text: str, expected: str) -> None:
    assert expected in best(question, text)


def test_the_title_helps_the_sentences_under_it() -> None:
    evidence = [
        made("You can claim up to 200 EUR a night.", name="other", title="Parking"),
        made("You can claim up to 150 EUR a night.", name="hotel", title="Hotel policy"),
    ]
    assert rank_sentences("How much can I claim for a hotel?", evidence)[0].evidence == evidence[1].id


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        ("How many days of annual leave do employees receive?", HANDBOOK, "The printer is on the second floor."),
        ("What is the annual leave policy?", HANDBOOK, "Expenses are paid at the end of the month."),
        ("年假有多少天？", HANDBOOK_ZH, "报销须在三十天内提交。打印机在二楼。"),
        ("食堂在哪里？", HANDBOOK_ZH, "报销须在三十天内提交。"),
    ],
)
def test_the_right_evidence_answers_better_than_the_wrong_one(question: str, right: str, wrong: str) -> None:
    good, bad = answerability(question, [made(right)]), answerability(question, [made(wrong)])
    assert good >= bad + 0.3


def test_a_name_the_evidence_never_mentions_lowers_the_score() -> None:
    known = answerability("What is the annual leave policy for employees?", [made(HANDBOOK)])
    unknown = answerability("What is the annual leave policy in Brazil for employees?", [made(HANDBOOK)])
    assert unknown < known


def test_repeating_a_piece_of_evidence_changes_nothing() -> None:
    question = "How many days of annual leave do employees receive?"
    assert answerability(question, [made(HANDBOOK, name="a")]) == pytest.approx(
        answerability(question, [made(HANDBOOK, name="a"), made(HANDBOOK, name="b"), made(HANDBOOK, name="c")])
    )


def test_no_evidence_answers_nothing() -> None:
    assert answerability("How many days?", []) == 0.0
    assert rank_sentences("How many days?", []) == []


@settings(max_examples=40)
@given(HOSTILE, EVIDENCE)
def test_laws(question: str, evidence: list[Evidence]) -> None:
    assert 0.0 <= answerability(question, evidence) <= 1.0
    ranked = rank_sentences(question, evidence)
    assert ranked == rank_sentences(question, evidence)
    assert [each.score for each in ranked] == sorted((each.score for each in ranked), reverse=True)
    assert len({(each.piece, each.span) for each in ranked}) == len(ranked)
    for each in ranked:
        item = evidence[each.piece]
        assert item.id == each.evidence
        assert 0.0 <= each.score <= 1.0
        assert item.quote(each.span).strip() == item.quote(each.span) != ""


@settings(max_examples=40)
@given(EVIDENCE)
def test_the_order_of_the_evidence_does_not_matter(evidence: list[Evidence]) -> None:
    question = "How many days of annual leave do employees receive per year?"
    turned = evidence[::-1]
    assert answerability(question, turned) == pytest.approx(answerability(question, evidence))
    scores = {(each.evidence, each.span): each.score for each in rank_sentences(question, evidence)}
    assert scores == {(each.evidence, each.span): each.score for each in rank_sentences(question, turned)}
