"""Marks: taken out in any form and any chunking; ordinary brackets stay."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.citations import MarkHint
from assistant.core.marks import LONGEST_HELD, MarkScanner, strip_marks

ID = "e3fa1234567"


def scan(text: str, sizes: list[int] | None = None) -> tuple[str, tuple[MarkHint, ...]]:
    scanner, out, at = MarkScanner(), "", 0
    for size in sizes or []:
        out += scanner.feed(text[at : at + size])
        at += size
    out += scanner.feed(text[at:])
    return out + scanner.close(), scanner.hints


@pytest.mark.parametrize(
    ("text", "left", "labels"),
    [
        ("Leave is 20 days [1].", "Leave is 20 days.", ["1"]),
        ("Leave is 20 days[1].", "Leave is 20 days.", ["1"]),
        ("Both hold [1, 2] here", "Both hold here", ["1", "2"]),
        ("Both hold [1][2].", "Both hold.", ["1", "2"]),
        ("Vitamin C [3] helps [10].", "Vitamin C helps.", ["3", "10"]),
        ("A range [1-3].", "A range.", ["1", "2", "3"]),
        ("A note[^1] here", "A note here", ["1"]),
        ("年假为20天【1】。", "年假为20天。", ["1"]),
        ("年假为20天【证据1】。", "年假为20天。", ["1"]),
        ("年假（证据1、证据2）很长", "年假很长", ["1", "2"]),
        (f"年假（来源：{ID}）。", "年假。", [ID]),
        (f"Leave [{ID}].", "Leave.", [ID]),
        (f"Leave ({ID}).", "Leave.", [ID]),
        ("Leave (evidence 2).", "Leave.", ["2"]),
        ("Leave (see source 2).", "Leave.", ["2"]),
        ("Leave [Evidence 1, Evidence 2].", "Leave.", ["1", "2"]),
        ("Leave【12†source】 ends", "Leave ends", ["12"]),
        ("Leave【4:0†hand book.md】.", "Leave.", ["4"]),
        ("[1] Handbook\n[2] Policy", "Handbook\nPolicy", ["1", "2"]),
        ("Leave ［1］.", "Leave.", ["1"]),
    ],
)
def test_marks_are_taken_out(text: str, left: str, labels: list[str]) -> None:
    out, hints = scan(text)
    assert out == left
    assert [hint.label for hint in hints] == labels


@pytest.mark.parametrize(
    "text",
    [
        "as written [sic] here",
        "array[0] = 1",
        "the call `a[1]` is code",
        "```\na[1] = b[2]\n```\n",
        "~ (1) a list\n(2) goes on",
        "see [text](https://example.org/a)",
        "see [1](https://example.org/a)",
        "see [text][1]",
        "[1]: https://example.org/a",
        "in [2024] and [404]",
        "values[idx_1] and row_x[1]",
        "[ ] open\n[x] done",
        "【注意】请看",
        "（1）第一条",
        "(see page 2) (e.g. 1)",
        "[citation needed] [",
        "tail [1",
        "spaces  stay \t here \n",
    ],
)
def test_ordinary_brackets_stay(text: str) -> None:
    assert scan(text) == (text, ())


def test_hints_stand_where_the_mark_stood_in_the_text_given_back() -> None:
    out, hints = scan("One [1]. Two [2].")
    assert out == "One. Two."
    assert [(hint.at, hint.label) for hint in hints] == [(3, "1"), (8, "2")]


def test_strip_marks_takes_them_out_of_a_finished_text() -> None:
    assert strip_marks("年假20天【1】，可结转 [2]。") == "年假20天，可结转。"


def test_a_half_mark_is_held_back_until_it_is_decided() -> None:
    scanner = MarkScanner()
    assert scanner.feed("Leave is 20 days [") == "Leave is 20 days"
    assert scanner.feed("1") == ""
    assert scanner.feed("]. It") == ". It"
    assert scanner.close() == ""


MARKS = ["[1]", "[^1]", "【证据1】", "【12†source】", "(evidence 2)", "[2024]", ID]
PARTS = [
    "[",
    "]",
    "(",
    ")",
    "【",
    "】",
    "1",
    "2",
    ",",
    " ",
    "  ",
    "x",
    "a_b",
    "=",
    ":",
    "†",
    "see",
    "source",
    "证据",
    "年假",
]
OTHER = ["`", "```", "\n", "\r\n", "🙂", "e\u0301", "\u05d0"]
PIECES = st.sampled_from([*MARKS, *PARTS, *OTHER])
TEXTS = st.one_of(st.lists(PIECES, max_size=16).map("".join), st.text(max_size=60))


@given(TEXTS, st.lists(st.integers(1, 5), max_size=60))
def test_any_chunking_gives_the_same_text_and_hints(text: str, sizes: list[int]) -> None:
    assert scan(text, sizes) == scan(text)


@given(TEXTS)
def test_only_characters_of_the_text_come_back_in_order(text: str) -> None:
    out, hints = scan(text)
    rest = iter(text)
    assert all(char in rest for char in out)
    assert all(0 <= hint.at <= len(out) for hint in hints)
    if not hints:
        assert out == text


@given(TEXTS)
def test_little_is_ever_held_back(text: str) -> None:
    scanner, given_back = MarkScanner(), 0
    for at, char in enumerate(text, start=1):
        given_back += len(scanner.feed(char))
        taken = sum(map(len, (hint.label for hint in scanner.hints)))
        if not taken:
            assert at - given_back <= LONGEST_HELD + 2


def test_a_long_text_takes_linear_time() -> None:
    text = "[1 " * 10_000 + "`" * 1000 + " " * 10_000
    assert len(strip_marks(text)) == len(text)
