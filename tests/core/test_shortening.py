"""Shortening: whole sentences and rows, with what they need to be understood."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.evidence import Evidence
from assistant.core.shortening import LONGEST_WHOLE, shorten
from assistant.core.text import Span, sentences
from tests.making import evidence

PAGE = """## Leave

Everyone has paid leave. It is asked for in writing.

The following are covered:

- Illness of the employee. A note is needed.
- Care of others, which means:
  - children
  - parents
- Moving house

| Years | Days |
| 0-1 | 20 |
| 2-5 | 25 |

Questions go to the desk. It opens at nine.
"""
PAGE_ZH = """## 休假

全体员工均享有带薪休假。申请须以书面形式提出。

下列情形适用：
1. 本人患病；须附证明。
2. 搬家
（三）照顾家人

| 工龄 | 天数 |
| 一年以下 | 20 |

有疑问请联系人事部。
"""


def shown(text: str, *wanted: str, at: int = 40) -> str:
    item = evidence(text, at=at)
    spans = [Span(text.index(part), text.index(part) + len(part)).shift(at) for part in wanted]
    return shorten(item, spans).text


def test_sentences_that_touch_are_joined_and_gaps_marked() -> None:
    item = evidence("One. Two. Three. Four.")
    short = shorten(item, [Span(5, 9), Span(0, 4), Span(17, 22)])
    assert short.kept == (Span(0, 9), Span(17, 22))
    assert short.text == "One. Two. […] Four."


@pytest.mark.parametrize(
    ("text", "wanted", "left"),
    [
        (PAGE, "asked for", "It is asked for in writing."),
        (PAGE, "paid leave. It", "Everyone has paid leave. It is asked for in writing."),
        (PAGE, "25", "| Years | Days | […] | 2-5 | 25 |"),
        (PAGE, "0-1", "| Years | Days |\n| 0-1 | 20 |"),
        (PAGE, "Years", "| Years | Days |\n| 0-1 | 20 |"),
        (PAGE, "## Leave", "## Leave\n\nEveryone has paid leave."),
        (PAGE, "The following", "The following are covered:\n\n- Illness of the employee."),
        (PAGE, "Care of", "The following are covered: […] - Care of others, which means:\n  - children"),
        (PAGE, "Moving", "The following are covered: […] - Moving house"),
        (PAGE, "A note", "The following are covered: […] A note is needed."),
        (PAGE, "parents", "The following are covered: […] - Care of others, which means: […] - parents"),
        (PAGE, "opens", "It opens at nine."),
        (PAGE_ZH, "## 休假", "## 休假\n\n全体员工均享有带薪休假。"),
        (PAGE_ZH, "书面", "申请须以书面形式提出。"),
        (PAGE_ZH, "搬家", "下列情形适用： […] 2. 搬家"),
        (PAGE_ZH, "照顾", "下列情形适用： […] （三）照顾家人"),
        (PAGE_ZH, "一年以下", "| 工龄 | 天数 |\n| 一年以下 | 20 |"),
        (PAGE_ZH, "联系", "有疑问请联系人事部。"),
    ],
)
def test_a_part_is_shown_as_a_whole_with_what_it_needs(text: str, wanted: str, left: str) -> None:
    assert shown(text, wanted) == left


def test_of_a_paragraph_that_introduces_a_list_only_the_last_sentence_comes_along() -> None:
    text = "Leave is granted by managers. It covers the following:\n- illness\n- moving"
    assert shown(text, "moving") == "It covers the following: […] - moving"


def test_a_question_brings_the_answer_and_headings_the_text_below_them() -> None:
    text = "# Pay\n\n## Questions\n\nWho is paid?\n\nEveryone who works here. On Fridays.\n\n# End"
    assert shown(text, "Who") == "Who is paid?\n\nEveryone who works here."
    assert shown(text, "Pay") == "# Pay\n\n## Questions\n\nWho is paid?\n\nEveryone who works here."
    assert shown(text, "End") == "# End"


def test_a_list_without_an_introduction_and_a_second_table_stand_alone() -> None:
    text = "We rest.\n\n- one\n- two\n\n| A |\n| 1 |\n\nText.\n\n| B |\n| 2 |"
    assert shown(text, "two") == "- two"
    assert shown(text, "| 2") == "| B |\n| 2 |"


def test_what_is_not_shown_now_does_not_come_back() -> None:
    item = evidence(PAGE)
    rows = Span(PAGE.index("| 0-1"), PAGE.index("Questions"))
    part = replace(item, kept=(rows,))
    at = PAGE.index("25")
    assert shorten(part, [Span(at, at + 2)]).text == "| 2-5 | 25 |"


def test_nothing_to_keep_leaves_the_evidence_as_it_is() -> None:
    item = evidence(PAGE)
    assert shorten(item, []) == item


def test_a_very_long_line_is_cut_between_words_and_a_very_long_row_not_at_all() -> None:
    dump = " ".join(f"word{n}" for n in range(400))
    assert len(dump) > LONGEST_WHOLE
    at = dump.index("ord200")
    short = shorten(evidence(dump), [Span(at, at + 9)])
    assert short.text == "word200 word201"
    row = f"| {dump} |"
    assert shorten(evidence(row), [Span(at, at + 9)]).text == row


TEXTS = st.lists(
    st.sampled_from([*PAGE.split("\n"), *PAGE_ZH.split("\n"), "| a. b | c! |", "1) x:", "  - y", "A: b. C:", "\t"]),
    max_size=12,
).map("\n".join)


@st.composite
def parts(draw: st.DrawFn) -> tuple[Evidence, list[Span], list[Span]]:
    text, at = draw(TEXTS), draw(st.integers(0, 9))
    edges = st.integers(0, len(text))
    spans = draw(st.lists(st.tuples(edges, edges).map(lambda e: Span(min(e), max(e)).shift(at)), max_size=5))
    return evidence(text, at=at), spans, draw(st.lists(st.sampled_from(spans), max_size=3)) if spans else []


@given(parts())
def test_the_laws_of_shortening(case: tuple[Evidence, list[Span], list[Span]]) -> None:
    item, more, fewer = case
    large, small = shorten(item, more), shorten(item, fewer) if fewer else None
    text, at = item.exact, item.span.start
    for before, after in zip(large.kept, large.kept[1:], strict=False):
        assert before.end < after.start
    inner = {place for span in sentences(text) for place in range(span.start + 1, span.end)}
    for span in large.kept if more else ():
        assert span.start - at not in inner
        assert span.end - at not in inner
    for wanted in more:
        assert any(span.start <= wanted.start and wanted.end <= span.end for span in large.kept)
    for span in small.kept if small else ():
        assert any(other.start <= span.start and span.end <= other.end for other in large.kept)
    kept = [part for span in large.kept for part in large.quote(span).split("\n") if part.strip()]
    if more and any(line.lstrip().startswith("|") for line in kept):
        for line in (line for line in kept if line.lstrip().startswith("|")):
            assert line in text.split("\n")
