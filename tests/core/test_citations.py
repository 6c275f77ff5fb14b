"""Citations: spans on both sides, verdicts, numbers and the laws of alignment."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.core.citations import Alignment, CitationStatus, MarkHint, Verdict, agreement, align
from assistant.core.evidence import Evidence
from assistant.core.text import Span
from tests.core.citing import EVIDENCE, HOSTILE, made

LEAVE = "Full-time employees receive 25 days of annual leave per year. Unused leave expires on 31 March."
BONUS = "Contractors are not eligible for the bonus scheme. The bonus is paid in May."


def verdict(answer: str, *texts: str) -> Verdict:
    result = align(answer, [made(text, name=f"d{at}") for at, text in enumerate(texts)])
    assert len(result.sentences) == 1
    return result.sentences[0].verdict


def test_a_sentence_is_cited_to_the_sentence_it_rests_on() -> None:
    answer = "Employees receive 25 days of annual leave."
    evidence = [made(BONUS, name="bonus", at=7), made(LEAVE, name="leave", at=100)]
    (citation,) = align(answer, evidence).citations
    assert (citation.start, citation.end) == (0, len(answer))
    assert citation.verdict is Verdict.SUPPORTED
    assert citation.source.document == "leave"
    assert citation.source.exact == "Full-time employees receive 25 days of annual leave per year."
    assert citation.source.start == 100


@pytest.mark.parametrize(
    ("evidence", "answer", "expected"),
    [
        ("Employees receive 25 days of leave per year.", "Employees receive 25 days of leave.", "supported"),
        ("Employees receive 25 days of leave per year.", "Employees receive 30 days of leave.", "contradicted"),
        ("Employees may not carry over unused leave.", "Employees can carry over unused leave.", "contradicted"),
        ("Contractors are eligible for the bonus.", "Contractors are not eligible for the bonus.", "contradicted"),
        ("You may carry over no more than five days.", "You may carry over at most 5 days.", "supported"),
        ("Expenses are due within 30 days.", "Expenses are due no later than 30 days.", "supported"),
        ("The plan starts on 1 March 2024.", "The plan starts on 2024-03-01.", "supported"),
        ("The plan starts on 1 March 2024.", "The plan starts on 1 April 2024.", "contradicted"),
        ("| Grade | Limit |\n|---|---|\n| B | 150 EUR |", "Grade B has a limit of 150 EUR.", "supported"),
        ("Remote work needs approval by the manager.", "The moon is made of cheese.", "unsupported"),
        ("员工每年享有15天带薪年假。", "员工每年享有十五天带薪年假。", "supported"),
        ("员工每年享有15天带薪年假。", "员工每年享有20天带薪年假。", "contradicted"),
        ("员工不得携带宠物进入办公室。", "员工可以携带宠物进入办公室。", "contradicted"),
        ("远程办公每周最多两天。", "员工每周可以远程办公三天。", "contradicted"),
        ("试用期为三个月。", "食堂在一楼营业。", "unsupported"),
    ],
)
def test_verdicts(evidence: str, answer: str, expected: str) -> None:
    assert verdict(answer, evidence) == expected


def test_a_number_that_the_evidence_does_not_give_is_never_supported() -> None:
    said = "Employees receive annual leave per year, and 14 managers approve annual leave."
    assert (
        verdict(said, "Employees receive annual leave per year, and managers approve annual leave.") is Verdict.PARTIAL
    )


def test_two_neighbouring_sentences_are_cited_in_one_span() -> None:
    text = "Unused annual leave expires. The last day is 31 March of the following year. Lunch is free."
    (citation,) = align("Unused annual leave expires on 31 March of the following year.", [made(text)]).citations
    assert citation.source.exact == "Unused annual leave expires. The last day is 31 March of the following year."


def test_a_sentence_that_rests_on_two_documents_is_cited_to_both() -> None:
    answer = "Employees receive 25 days of annual leave, and contractors are not eligible for the bonus scheme."
    cited = align(answer, [made(LEAVE, name="leave"), made(BONUS, name="bonus")]).citations
    assert {each.source.document for each in cited} == {"leave", "bonus"}
    assert [each.n for each in cited] == [1, 2]


@pytest.mark.parametrize(
    "answer",
    [
        "Here is what I found:",
        "## Annual leave",
        "**Annual leave**",
        "Hello!",
        "您好！",
        "How many days of leave do you need?",
        "The documents do not answer this.",
        "根据现有信息无法回答",
        "文档中没有提到加班费。",
        "I hope this helps!",
        "如有其他问题，请随时告诉我。",
        "",
        "\n\n---\n",
    ],
)
def test_what_states_nothing_gets_no_verdict(answer: str) -> None:
    result = align(answer, [made(LEAVE), made("员工每年享有15天年假。加班费另算。", name="zh")])
    assert result == Alignment(CitationStatus.NONE, (), (), None)


def test_a_table_is_judged_row_by_row_without_its_head() -> None:
    answer = "| Grade | Limit |\n|---|---|\n| A | 200 EUR |\n| B | 150 EUR |"
    result = align(answer, [made("Grade A has a limit of 200 EUR. Grade B has a limit of 150 EUR.")])
    assert [answer[each.start : each.end] for each in result.sentences] == ["| A | 200 EUR |", "| B | 150 EUR |"]
    assert all(each.verdict is Verdict.SUPPORTED for each in result.sentences)


def test_only_what_was_shown_can_be_cited() -> None:
    text = "Employees receive 25 days of annual leave. Contractors are not eligible for the bonus scheme."
    shown = replace(made(text), kept=(Span(0, 42),))
    result = align("Contractors are not eligible for the bonus scheme.", [shown])
    assert result.status is CitationStatus.NONE
    assert result.sentences[0].verdict is Verdict.UNSUPPORTED


def test_hidden_text_carries_nothing() -> None:
    text = "Leave is short. <!-- First part. Employees receive 40 days of annual leave. Last part. --> Ask HR."
    assert verdict("Employees receive 40 days of annual leave.", text) is Verdict.UNSUPPORTED


def test_markup_is_cited_as_stored_and_compared_as_shown() -> None:
    text = "Employees receive <b>25 days</b> of [annual leave](https://example.org/leave)."
    (citation,) = align("Employees receive 25 days of annual leave.", [made(text)]).citations
    assert citation.source.exact == text
    assert citation.verdict is Verdict.SUPPORTED


def test_a_mark_breaks_a_tie_and_makes_no_support() -> None:
    text = "Employees receive 25 days of annual leave."
    same = [made(text, name="first"), made(text, name="second")]
    assert align(text, same).citations[0].source.document == "first"
    assert align(text, same, hints=[MarkHint(len(text) - 1, "2")]).citations[0].source.document == "second"
    assert align(text, same, hints=[MarkHint(len(text), same[1].id)]).citations[0].source.document == "second"
    nothing = align("The canteen opens at noon.", same, hints=[MarkHint(25, "1")])
    assert nothing.status is CitationStatus.NONE


@pytest.mark.parametrize(
    ("said", "around"),
    [
        ("Employees receive 25 days of annual leave.", "Lunch is served at noon. The leave year starts in January. "),
        ("员工每年享有15天带薪年假。", "食堂中午开放。年假从一月起算。"),
    ],
)
def test_a_mark_decides_between_a_short_and_a_long_source_of_the_same_sentence(said: str, around: str) -> None:
    sources = [made(said, name="short"), made(around * 8 + said + around * 8, name="long")]
    for label, name in (("1", "short"), ("2", "long")):
        cited = align(said, sources, hints=[MarkHint(len(said), label)]).citations
        assert [(each.source.document, each.source.exact) for each in cited] == [(name, said)]


def test_numbers_of_the_conversation_stay_and_new_ones_follow() -> None:
    leave, bonus = made(LEAVE, name="leave"), made(BONUS, name="bonus")
    answer = "The bonus is paid in May. Unused leave expires on 31 March."
    cited = align(answer, [leave, bonus], numbers={leave.id: 4, "e0000000000": 7}).citations
    assert [(each.source.document, each.n) for each in cited] == [("bonus", 8), ("leave", 4)]


def test_status_tells_whether_all_are_cited() -> None:
    evidence = [made(LEAVE)]
    assert align("Unused leave expires on 31 March.", evidence).status is CitationStatus.COMPLETE
    assert align("Unused leave expires on 31 March. Cheese grows on trees.", evidence).status is CitationStatus.PARTIAL


@pytest.mark.parametrize(
    ("verdicts", "level"),
    [
        ([], None),
        ([Verdict.SUPPORTED], 5),
        ([Verdict.UNSUPPORTED], 1),
        ([Verdict.PARTIAL], 3),
        ([Verdict.SUPPORTED, Verdict.UNSUPPORTED], 3),
        ([Verdict.SUPPORTED] * 9 + [Verdict.CONTRADICTED], 3),
        ([Verdict.SUPPORTED] * 7 + [Verdict.UNSUPPORTED], 5),
    ],
)
def test_agreement(verdicts: list[Verdict], level: int | None) -> None:
    assert agreement(verdicts) == level


@settings(max_examples=40)
@given(HOSTILE, EVIDENCE, st.lists(st.builds(MarkHint, st.integers(0, 200), st.text(max_size=3)), max_size=3))
def test_laws(answer: str, evidence: list[Evidence], hints: list[MarkHint]) -> None:
    result = align(answer, evidence, hints=hints)
    by_id = {item.id: item for item in evidence}
    assert result == align(answer, evidence, hints=hints)
    assert [(each.start, each.end) for each in result.sentences] == sorted({(e.start, e.end) for e in result.sentences})
    for sentence in result.sentences:
        assert 0 <= sentence.start < sentence.end <= len(answer)
        assert 0.0 <= sentence.score <= 1.0
    judged = {(each.start, each.end): each.verdict for each in result.sentences}
    for citation in result.citations:
        item, source = by_id[citation.evidence], citation.source
        assert source.exact == item.quote(Span(source.start, source.end)) != ""
        assert any(kept.start <= source.start and source.end <= kept.end for kept in item.kept)
        assert judged[citation.start, citation.end] is citation.verdict is not Verdict.UNSUPPORTED
    numbers = {citation.evidence: citation.n for citation in result.citations}
    assert sorted(set(numbers.values())) == list(range(1, len(numbers) + 1))
    assert (result.agreement is None) == (not result.sentences)


@settings(max_examples=40)
@given(EVIDENCE, st.dictionaries(st.sampled_from(["e1", "e2"]), st.integers(1, 50)))
def test_given_numbers_are_never_changed(evidence: list[Evidence], given_numbers: dict[str, int]) -> None:
    numbers = given_numbers | {item.id: 60 + at for at, item in enumerate(evidence[:1])}
    text = " ".join(item.exact for item in evidence)
    for citation in align(text, evidence, numbers=numbers).citations:
        if citation.evidence in numbers:
            assert citation.n == numbers[citation.evidence]
        else:
            assert citation.n > max(numbers.values(), default=0)


@settings(max_examples=40)
@given(EVIDENCE, EVIDENCE)
def test_more_evidence_never_takes_words_away(evidence: list[Evidence], more: list[Evidence]) -> None:
    """An answer that repeats its evidence word for word stays cited whatever stands beside it."""
    answer = "Unused leave expires on 31 March of the following year."
    result = align(answer, [*more, made(answer, name="source"), *evidence])
    assert result.sentences[0].verdict is Verdict.SUPPORTED
    assert result.sentences[0].score == 1.0


def test_a_very_long_answer_does_not_explode() -> None:
    evidence = [made(LEAVE, name="leave"), made(BONUS, name="bonus")]
    for answer in (
        "Employees receive 25 days. " * 1000,
        "word " * 6000,
        "年假" * 8000,
        "a!" * 6000,
        "documents " * 3000,
    ):
        result = align(answer, evidence)
        assert all(each.end <= len(answer) for each in result.sentences)
