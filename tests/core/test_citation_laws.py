"""Laws of citations over hostile text: where they point, what they quote, and that no cutting of a stream changes them."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.core.citations import Alignment, Verdict, align
from assistant.core.evidence import Evidence
from assistant.core.marks import MarkScanner
from assistant.core.structured import align_fields
from assistant.core.text import Span
from tests.core.citing import SENTENCES, made

MARKS = [
    "[1]",
    "[^2]",
    "【1】",
    "【证据2】",
    "【12†source】",
    "(evidence 1)",
    "[2024]",
    "`a[1]`",
    "[1](https://x.org)",
    "[1, 2]",
]
HARD = [
    "👩‍👩‍👧‍👦 receive 25 days 🏖️ of annual leave.",
    "Zoe\u0308 e\u0301te\u0301 n\u0303andu\u0301 25 \u20ac.",
    "\u05d4\u05e2\u05d5\u05d1\u05d3\u05d9\u05dd 25 \u05d9\u05de\u05d9\u05dd.",
    "\u202eevael lautnna fo syad 52\u202c \u2066leave\u2069",
    "\u0645\u0648\u0638\u0641 ٢٥ يوم",
    "Employees\u200b receive\u00ad 25\u00a0days\ufeff.",
    "| Grade | Limit |\r\n|---|---|\r\n| A | 200 EUR |\r\n| B | 150 EUR |\r\n",
    "| 级别 | 限额 |\n|---|---|\n| 甲 | 200欧元 |",
    "𝟚𝟝 𝖉𝖆𝖞𝖘 of ｌｅａｖｅ，２５天",
    "\U00020000\U0002a6d6 享有15天年假。\u3000\u3000",
    "a\u2028b\u2029c\x85d\x0be\x0cf\tg",
    "&lt;b&gt; <b>leave</b> <!-- hidden 25 --> {{ 25 }} [25]: /x",
    "~~~\nx = [1]\n~~~\n",
    "Leave\n===\n\n> > - 1. 25 days",
    '!?。！？；……."”’」』)）]',
]
PARTS = [*SENTENCES, *HARD, *MARKS, " ", "\n", "\r\n", "\n\n", "。", ". ", "25", "not ", "|"]
PIECES = st.lists(st.sampled_from(PARTS), max_size=10).map("".join)
TEXT = st.one_of(PIECES, st.text(max_size=60))
DOCUMENTS = st.lists(st.tuples(TEXT, TEXT), max_size=3)
SIZES = st.lists(st.integers(1, 7), max_size=80)


def shown(documents: Sequence[tuple[str, str]]) -> list[Evidence]:
    """Evidence that stands behind something else in its document."""
    return [made(text, name=f"d{at}", at=len(before)) for at, (before, text) in enumerate(documents)]


def check(answer: str, found: Alignment, documents: Sequence[tuple[str, str]]) -> None:
    """The laws of one alignment."""
    stored = {f"d{at}": before + text for at, (before, text) in enumerate(documents)}
    spans = [Span(each.start, each.end) for each in found.sentences]
    assert all(len(span) and span.end <= len(answer) for span in spans)
    assert all(one.end <= other.start for one, other in pairwise(spans))
    assert all(answer[span.start : span.end] == answer[span.start : span.end].strip() for span in spans)
    verdicts = {Span(each.start, each.end): each.verdict for each in found.sentences}
    for item in found.citations:
        source = item.source
        assert source.exact == stored[source.document][source.start : source.end] != ""
        assert source.start >= len(documents[int(source.document[1:])][0])
        assert verdicts[Span(item.start, item.end)] is item.verdict is not Verdict.UNSUPPORTED
    for each in found.sentences:
        if each.nearest is not None:
            assert each.nearest.exact == stored[each.nearest.document][each.nearest.start : each.nearest.end]
    order = [(item.start, item.end) for item in found.citations]
    assert order == sorted(order)
    numbers = list(dict.fromkeys(item.n for item in found.citations))
    assert numbers == list(range(1, len(numbers) + 1))


def streamed(text: str, sizes: Sequence[int]) -> tuple[str, MarkScanner]:
    """A text as it comes out of the scanner of marks, fed in pieces of these sizes."""
    scanner, out, at = MarkScanner(), "", 0
    for size in sizes:
        out += scanner.feed(text[at : at + size])
        at += size
    return out + scanner.feed(text[at:]) + scanner.close(), scanner


@settings(max_examples=50)
@given(TEXT, DOCUMENTS)
def test_spans_lie_inside_and_quotations_are_what_is_stored(answer: str, documents: list[tuple[str, str]]) -> None:
    check(answer, align(answer, shown(documents)), documents)


@settings(max_examples=40)
@given(DOCUMENTS)
def test_an_answer_that_repeats_its_documents_obeys_too(documents: list[tuple[str, str]]) -> None:
    answer = "\n".join(text for _, text in documents)
    check(answer, align(answer, shown(documents)), documents)


@settings(max_examples=40)
@given(TEXT, DOCUMENTS, SIZES)
def test_no_cutting_of_the_stream_changes_text_or_citations(
    written: str, documents: list[tuple[str, str]], sizes: list[int]
) -> None:
    whole, scanner = streamed(written, [])
    text, again = streamed(written, sizes)
    assert (text, again.hints) == (whole, scanner.hints)
    evidence = shown(documents)
    found = align(text, evidence, hints=again.hints)
    assert found == align(whole, evidence, hints=scanner.hints)
    check(text, found, documents)


@settings(max_examples=40)
@given(PIECES)
def test_marks_take_nothing_with_them_but_white_space(written: str) -> None:
    text, _ = streamed(written, [])
    lost = Counter(written) - Counter(text)
    assert not [char for char in lost if not (char.isspace() or char.isdigit() or char in "".join(MARKS))]


@settings(max_examples=40)
@given(st.lists(TEXT, max_size=3), DOCUMENTS, st.booleans())
def test_citations_of_structured_answers_point_into_their_json(
    values: list[str], documents: list[tuple[str, str]], ascii_only: bool
) -> None:
    clean = [value.encode("utf-8", "replace").decode() for value in values]
    answer = json.dumps({f"k{at}": value for at, value in enumerate(clean)}, ensure_ascii=ascii_only)
    found = align_fields(answer, shown(documents))
    check_structured(answer, clean, found)


def check_structured(answer: str, values: Sequence[str], found: Alignment) -> None:
    """Each judged span of the JSON, read as JSON, is a part of one of its values."""
    for each in found.sentences:
        said = json.loads(f'"{answer[each.start : each.end]}"', strict=False)
        assert any(said in value for value in values)
    judged = {(each.start, each.end) for each in found.sentences}
    assert {(item.start, item.end) for item in found.citations} <= judged


LONG = 100_000
LONG_TEXTS = {
    "chinese": "员工每年享有15天带薪年假。",
    "emoji": "👩‍👩‍👧 25 ",
    "combining": "e\u0301\u0302\u0303 ",
    "rtl": "\u202e\u05e9\u05dc\u05d5\u05dd 25\u202c ",
    "crlf": "- leave 25\r\n",
    "rows": "| leave | 25 days |\n",
    "dates": "31 March 2024 ",
    "brackets": "[1",
    "sources": "according to the documents, ",
    "underlines": "a\n---\n",
    "tags": "<b>{{",
}


@pytest.mark.parametrize("name", LONG_TEXTS)
def test_a_hundred_thousand_characters_obey_and_are_quick(name: str) -> None:
    """On both sides at once; the time is the processor's, and many times what is needed."""
    text = (LONG_TEXTS[name] * (LONG // len(LONG_TEXTS[name]) + 1))[:LONG]
    documents = [("before ", text), ("", "Employees receive 25 days of annual leave.")]
    begun = time.process_time()
    plain, _ = streamed(text, [])
    found = align(plain, shown(documents))
    assert time.process_time() - begun < 10
    check(plain, found, documents)
