"""Statements: what states something, and which of its words do."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from assistant.core.grounding.statements import claim, is_refusal, statements, states_something
from assistant.core.text import sentences
from tests.core.citing import HOSTILE


@pytest.mark.parametrize(
    "sentence",
    [
        "However, the reason is not fully explained in the given passages.",
        "None of the passages provide information about parking.",
        "Unable to answer based on the given passages.",
        "Sorry, I cannot find an answer to that question in the document.",
        "I don't have information about that.",
        "It does not explain how the fee is set.",
        "The policy lists the fees, but it does not indicate who pays them.",
        "根据提供的文档，无法确定加班费的标准。",
        "资料中未说明具体金额。",
        "没有找到相关信息。",
        "很抱歉，我无法回答这个问题。",
    ],
)
def test_refusals(sentence: str) -> None:
    assert is_refusal(sentence)
    assert not states_something(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Sure!",
        "Yes",
        "(Passage 1)",
        "The following documents apply:",
        "1.",
        "```python",
        "---",
        "感谢您的提问！",
        "好的。",
    ],
)
def test_what_states_nothing(sentence: str) -> None:
    assert not states_something(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Yes, employees get 20 days.",
        "No employee may work more than 40 hours.",
        "No data is passed on to third parties.",
        "Documents do not have to be signed.",
        "No documents are required.",
        "We do not have a dress code.",
        "Unfortunately, contractors do not get leave.",
        "Employees unable to show a receipt must fill in a form.",
        "If you cannot find your badge, call security.",
        "It does not provide cover for contractors.",
        "While pay plays a part, it does not entirely explain why people leave.",
        "The new rota, which does not address night shifts, starts in May.",
        "- **Annual leave**: 20 days",
        "| Annual leave | 20 |",
        "**Employees get 20 days.**",
        "The allowance is 30 days for these groups:",
        "无法确定的情况请联系人事部。",
        "不得迟到。",
        "员工每年有15天年假，适用条件如下：",
    ],
)
def test_what_states_something(sentence: str) -> None:
    assert states_something(sentence)


@pytest.mark.parametrize(
    ("sentence", "left"),
    [
        ("According to passage 2, leave is short.", ", leave is short."),
        ("3. **Leave**: passage 1 states that it is short.", "Leave :  it is short."),
        ("根据文档1，年假为20天。", "年假为20天。"),
        ("As passage ID 3 mentions, leave is short.", "As , leave is short."),
        ("According to document [2], leave is short.", ", leave is short."),
        ("According to source (4), leave is short.", ", leave is short."),
        ("From the information (5 GB in all), 2 GB are logs.", "(5 GB in all), 2 GB are logs."),
        ("Therefore, based on the given passages, leave is short.", ", leave is short."),
    ],
)
def test_talk_about_the_sources_is_blanked(sentence: str, left: str) -> None:
    assert claim(sentence).split() == left.split()
    assert len(claim(sentence)) == len(sentence)


@settings(max_examples=40)
@given(HOSTILE)
def test_claims_keep_their_offsets(text: str) -> None:
    for each in statements(text, sentences(text)):
        said = text[each.span.start : each.span.end]
        assert len(each.claim) == len(said)
        assert all(mine in (" ", theirs) for mine, theirs in zip(each.claim, said, strict=True))


def test_a_bold_line_of_titles_is_a_heading_however_long() -> None:
    title = "v. 2. The complete and unabridged guide to hammers, saws, drills and other tools"
    text = f"**{title} · Leave**\n\nHammers are kept in May."
    assert [each.claim.strip() for each in statements(text, sentences(text), titles=[title, "Leave"])] == [
        "Hammers are kept in May."
    ]
    assert len(statements(text, sentences(text), titles=["Leave"])) > 1
