"""What stands in an answer beside prose: tables, lists, code, headings, several sources in one sentence."""

from __future__ import annotations

import pytest

from assistant.core.citations import Alignment, Verdict, align
from tests.core.citing import made

TABLE = made(
    "# Expenses\n\n| Grade | Limit per night | Meals |\n|---|---|---|\n| A | 200 EUR | 40 EUR |\n"
    "| B | 150 EUR | 35 EUR |\n| C | 100 EUR | 30 EUR |\n",
    name="table",
    title="Travel",
)
CODE = made(
    "To reset the token run:\n\n```bash\nacme token reset --user NAME\nacme login\n```\n\nIt is valid for 12 hours.",
    name="code",
)
LIST = made(
    "Steps:\n\n1. Open the portal and choose Absence.\n2. Enter the dates of your leave.\n"
    "3. Your manager approves the request within 5 days.\n\n- Contractors use the paper form.\n",
    name="list",
)
EVIDENCE = [TABLE, CODE, LIST]


def cited(answer: str, found: Alignment) -> list[tuple[str, str, list[str]]]:
    """Each judged line of the answer with its verdict and what it is cited to."""
    return [
        (
            answer[each.start : each.end],
            each.verdict.value,
            [item.source.exact for item in found.citations if item.start == each.start],
        )
        for each in found.sentences
    ]


def test_a_row_is_cited_to_the_row_that_gives_its_figures() -> None:
    answer = "| Grade | Limit | Meals |\n|:--|--:|---|\n| B | 150 EUR | 35 EUR |\n| C | 100 EUR | 30 EUR |"
    assert cited(answer, align(answer, EVIDENCE)) == [
        ("| B | 150 EUR | 35 EUR |", "supported", ["| B | 150 EUR | 35 EUR |"]),
        ("| C | 100 EUR | 30 EUR |", "supported", ["| C | 100 EUR | 30 EUR |"]),
    ]


@pytest.mark.parametrize(
    "answer",
    [
        "| Grade | Limit | Meals |\n|---|---|---|\n| B | 150 EUR | 30 EUR |",
        "| Grade | Limit |\n|---|---|\n| C | 150 EUR |",
        "Grade B gets 150 EUR per night and 30 EUR for meals.",
    ],
)
def test_figures_of_two_rows_are_never_mixed(answer: str) -> None:
    (only,) = align(answer, EVIDENCE).sentences
    assert only.verdict in (Verdict.CONTRADICTED, Verdict.PARTIAL)


@pytest.mark.parametrize(
    "answer",
    [
        "Grade C gets 100 EUR per night, grade B 150 EUR.",
        "| | B | C |\n|---|---|---|\n| Limit per night | 150 EUR | 100 EUR |",
    ],
)
def test_rows_that_the_answer_names_may_stand_together(answer: str) -> None:
    found = align(answer, EVIDENCE)
    assert [each.verdict for each in found.sentences] == [Verdict.SUPPORTED]
    quoted = "\n".join(item.source.exact for item in found.citations)
    assert "150 EUR" in quoted
    assert "100 EUR" in quoted


def test_chinese_rows() -> None:
    evidence = [made("| 级别 | 每晚限额 |\n|---|---|\n| 甲 | 200欧元 |\n| 乙 | 150欧元 |\n")]
    answer = "| 级别 | 限额 |\n|---|---|\n| 甲 | 200欧元 |\n| 乙 | 200欧元 |"
    assert [each.verdict.value for each in align(answer, evidence).sentences] == ["supported", "contradicted"]


def test_list_items_are_judged_one_by_one_whatever_their_marks() -> None:
    answer = "1) Open the portal and choose Absence.\n   - Enter the dates of your leave.\n* [x] Use the paper form."
    assert [(verdict, quotes) for _, verdict, quotes in cited(answer, align(answer, EVIDENCE))] == [
        ("supported", ["1. Open the portal and choose Absence."]),
        ("supported", ["2. Enter the dates of your leave."]),
        ("supported", ["- Contractors use the paper form."]),
    ]


def test_lines_of_code_are_cited_where_they_were_copied_from_and_else_not() -> None:
    answer = "```bash\nacme login\nrm --all\n```"
    assert cited(answer, align(answer, EVIDENCE)) == [
        ("acme login", "supported", ["acme login"]),
        ("rm --all", "unsupported", []),
    ]


def test_the_numbers_of_list_items_support_nothing() -> None:
    answer = "```python\nx = [1, 2]\n```\nIt takes 3 of them."
    assert [each.verdict for each in align(answer, EVIDENCE).sentences] == [Verdict.UNSUPPORTED] * 2


@pytest.mark.parametrize("heading", ["Your leave\n===", "Your leave\r\n---", "## Your leave", "**Your leave**"])
def test_headings_of_any_form_are_no_statements(heading: str) -> None:
    answer = f"{heading}\n\nEnter the dates of your leave."
    found = align(answer, EVIDENCE)
    assert [answer[each.start : each.end] for each in found.sentences] == ["Enter the dates of your leave."]


def test_a_sentence_above_a_rule_is_a_statement() -> None:
    for answer in ("Enter the dates of your leave.\n---", "Enter your leave\n\n---\n"):
        assert [each.verdict for each in align(answer, EVIDENCE).sentences] == [Verdict.SUPPORTED]


def test_a_cell_that_joins_two_sources_is_cited_to_both() -> None:
    answer = "| Topic | Rule |\n|---|---|\n| Leave | Contractors use the paper form; the token is valid for 12 hours |"
    found = align(answer, EVIDENCE)
    assert {item.source.document for item in found.citations} == {"list", "code"}
    assert len({(item.start, item.end) for item in found.citations}) == 1


def test_figures_alone_tie_nothing() -> None:
    evidence = [made("The help desk can be reached from 8:00 to 18:00.")]
    assert align("午餐时间为8:00至18:00。", evidence).citations == ()
    assert align("Lunch: 8:00 - 18:00.", evidence).citations == ()


def test_an_article_is_not_the_name_of_a_row() -> None:
    (only,) = align("A traveller of the second grade gets 150 EUR per night.", EVIDENCE).sentences
    assert only.verdict is not Verdict.CONTRADICTED
