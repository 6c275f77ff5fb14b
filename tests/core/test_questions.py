"""What a question asks for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.questions import QuestionKind, asks_for_a_picture, question_kind


@pytest.mark.parametrize(
    "text",
    ["thanks", "Thank you so much!", "ok, got it", "great, thanks a lot!", "Thanks, that helps", "that's all", "Hello there",
     "I see", "bye", "who are you?", "你好", "谢谢", "好的，谢谢", "好的谢谢", "明白了，谢谢！", "没有问题了", "收到"],
)  # fmt: skip
def test_politeness_asks_nothing(text: str) -> None:
    assert question_kind(text) is QuestionKind.SMALL_TALK


@pytest.mark.parametrize(
    "text",
    ["", " ", "thanks. who approves leave?", "ok and sick leave?", "perfect attendance bonus?", "cool down period", "why?",
     "What is a perfect tender?", "谢谢！那病假呢", "你好，年假几天", "好处有哪些", "了解一下年假"],
)  # fmt: skip
def test_politeness_before_a_question_does_not_hide_it(text: str) -> None:
    assert question_kind(text) is not QuestionKind.SMALL_TALK


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("How do I apply for leave?", QuestionKind.PROCEDURE),
        ("怎么申请年假？", QuestionKind.PROCEDURE),
        ("Compare the two policies", QuestionKind.COMPARISON),
        ("两个政策有什么区别？", QuestionKind.COMPARISON),
        ("Summarise the handbook", QuestionKind.SUMMARY),
        ("总结一下手册", QuestionKind.SUMMARY),
        ("What does each document say about leave?", QuestionKind.PER_SOURCE),
        ("每个文档分别说了什么？", QuestionKind.PER_SOURCE),
        ("Who approves leave?", QuestionKind.LOOKUP),
    ],
)
def test_kinds(text: str, kind: QuestionKind) -> None:
    assert question_kind(text) is kind


def test_pictures() -> None:
    assert asks_for_a_picture("Show me the floor plan")
    assert asks_for_a_picture("组织架构图在哪里？")
    assert not asks_for_a_picture("Who approves leave?")


@given(st.text(max_size=300))
def test_any_text_has_one_kind(text: str) -> None:
    assert question_kind(text) in QuestionKind


@pytest.mark.parametrize("piece", ["ok ", "thanks, ", "好的", "谢谢", "! ", "no problem ok"])
def test_endless_politeness_is_read_in_bounds(piece: str) -> None:
    assert question_kind(piece * 20_000 + "x") is QuestionKind.LOOKUP
