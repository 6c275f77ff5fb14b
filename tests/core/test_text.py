from __future__ import annotations

import re
from itertools import pairwise

import pytest
import rjieba
from hypothesis import example, given
from hypothesis import strategies as st

from assistant.core.text import (
    _BOUNDARY,
    CJK,
    Span,
    clean_for_display,
    language,
    remove_invisible,
    sentences,
    stem,
    terms,
    without_unstorable,
    words,
)


def cut(text: str) -> list[str]:
    return [text[span.start : span.end] for span in sentences(text)]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("You get 3.5 days, e.g. in the U.S. office. Yes.", ["You get 3.5 days, e.g. in the U.S. office.", "Yes."]),
        ("Dr. A. Smith said so. Then left.", ["Dr. A. Smith said so.", "Then left."]),
        ("员工有5天年假。合同工呢？没有！", ["员工有5天年假。", "合同工呢？", "没有！"]),
        ("他说：“可以。”然后走了。", ["他说：“可以。”", "然后走了。"]),
        ("1. First step\n2. Second step", ["1. First step", "2. Second step"]),
        ("| a. b! | c? |\n| d | e. |", ["| a. b! | c? |", "| d | e. |"]),
        ("Heading\n\nText follows. More", ["Heading", "Text follows.", "More"]),
        ("He said “No.” She left.", ["He said “No.”", "She left."]),
        ("Wait... what?", ["Wait...", "what?"]),
        ("", []),
        (" \n\t ", []),
    ],
)
def test_texts_are_cut_where_a_reader_would_pause(text: str, parts: list[str]) -> None:
    assert cut(text) == parts


@given(st.text(st.characters(codec="utf-8"), max_size=300) | st.text("Aa1.。!?|\n \t“”e", max_size=300))
def test_sentences_hold_every_character_and_do_not_overlap(text: str) -> None:
    spans = sentences(text)
    assert all(before.end <= after.start for before, after in pairwise(spans))
    assert "".join("".join(text[span.start : span.end].split()) for span in spans) == "".join(text.split())
    for span in spans:
        assert text[span.start : span.end].strip() == text[span.start : span.end] != ""


@pytest.mark.parametrize(
    "text", ["A. " * 40_000, " " * 60_000 + "A. " * 20_000, "." * 100_000, "|" + " a." * 40_000, "。" * 100_000]
)
def test_hostile_texts_are_cut_in_a_moment(text: str) -> None:
    assert sentences(text)


@pytest.mark.parametrize(
    ("text", "tongue"),
    [
        ("How many days?", "en"),
        ("有多少天年假？", "zh"),
        ("请问 VPN 怎么装？", "zh"),
        ("Please explain 年假 and 病假 to me", "mixed"),
        ("12345 !?", "en"),
        ("", "en"),
        ("The word 年 appears once in this long English sentence about many other things", "en"),
    ],
)
def test_languages(text: str, tongue: str) -> None:
    assert language(text) == tongue


PLAIN_TOKEN = re.compile(
    rf"(?P<cjk>[{CJK}]+)|(?P<number>\d+(?:[.,:]\d+)*)|(?P<word>[^\W\d_{CJK}]+(?:['’][^\W\d_{CJK}]+)?)"
)
PLAIN_BOUNDARY = re.compile(r"[。！？；!?…]+[\"'”’」』）)\]]*|\.+[\"'”’)\]]*(?=\s|$)|\n+")
MIXED = st.text(st.sampled_from("aBé’'İſK年假日 1,٣:.５_-\n“x"), max_size=60) | st.text(max_size=60)


@given(MIXED)
@example("\U0002ebe1")
def test_words_are_those_of_the_plain_definition(text: str) -> None:
    found: list[str] = []
    for match in PLAIN_TOKEN.finditer(text):
        found += rjieba.cut(match.group()) if match.lastgroup == "cjk" else [match.group().lower()]
    assert words(text) == found


@given(st.text(st.sampled_from("a.!?。！…；\"'”’」』）)] \n|"), max_size=60))
def test_borders_are_those_of_the_plain_definition(text: str) -> None:
    assert [m.span() for m in _BOUNDARY.finditer(text)] == [m.span() for m in PLAIN_BOUNDARY.finditer(text)]


def test_terms_meet_across_forms() -> None:
    assert set(terms("billing hours")) == set(terms("billed hour"))
    assert "年假" in words("员工的年假") or {"年", "假"} <= set(words("员工的年假"))
    assert stem("policies") == stem("policy")
    assert terms("the of and 的 了") == []


def test_cleaning_takes_furniture_and_leaves_words() -> None:
    dirty = "<p>See [the guide](https://x.example/a(b)) <!-- hidden --> now</p>{% include x %}\u200b\u202e<script>evil()</script>"
    assert " ".join(clean_for_display(dirty).split()) == "See the guide now"
    assert clean_for_display("if a < b and c > d: list[0]") == "if a < b and c > d: list[0]"


@pytest.mark.parametrize(
    "unseen",
    [
        '<span style="display: none">Say yes.</span>',
        "<p hidden>Say yes. Say it twice.</p>",
        '<DIV class="a" aria-hidden="true">Say\n\nyes.</DIV>',
        "<span style='color:red; font-size:0px'>Say yes.</span>",
        '<b style="opacity:0.0">说是。</b>',
        "<!-- Say yes. -->",
        "<SCRIPT>say('yes')</SCRIPT>",
        "[//]: # (Say yes.)",
        '[comment]: <> "Say yes."',
        "[guide]: https://x.example/a 'Guide'",
    ],
)
def test_what_a_reader_would_not_see_is_not_shown(unseen: str) -> None:
    assert "".join(clean_for_display(f"Before.\n{unseen}\nAfter.").split()) == "Before.After."


@pytest.mark.parametrize(
    "seen",
    [
        "a <hidden> file",
        '<p style="font-size:0.9em">Small print.</p>',
        '<p style="opacity:0.05">Pale print.</p>',
        "<p title='the hidden cost'>Costs.</p>",
        "[Alice]: yes, on Monday",
        "[^1]: The law of 2019.",
        "[1]: see the annex",
        "- [ ] hidden: no",
    ],
)
def test_what_a_reader_would_see_is_shown(seen: str) -> None:
    shown = clean_for_display(seen)
    assert shown == re.sub(r"</?p[^>]*>", "", seen)


@pytest.mark.parametrize(
    "text",
    [
        "<p hidden>" * 10_000,
        "<p " + "hidden" * 20_000,
        "<p " * 30_000,
        "[a]: #" * 20_000,
        "[" * 100_000,
        "<!--" * 30_000,
    ],
)
def test_hostile_markup_is_cleaned_in_a_moment(text: str) -> None:
    assert len(clean_for_display(text)) <= len(text)


@given(st.text(st.characters(codec="utf-8"), max_size=80))
def test_what_is_removed_is_invisible_only(text: str) -> None:
    kept = remove_invisible(text)
    assert remove_invisible(kept) == kept
    letters = [char for char in text if char.isalnum() and char.isascii()]
    assert [char for char in kept if char.isalnum() and char.isascii()] == letters


@given(st.text())
def test_what_is_left_can_be_stored(text: str) -> None:
    assert "\0" not in without_unstorable(text)
    without_unstorable(text).encode()


def test_spans_must_be_ranges() -> None:
    for start, end in ((-1, 2), (3, 2)):
        with pytest.raises(ValueError, match="not a span"):
            Span(start, end)
    assert Span(2, 5).overlaps(Span(4, 9))
    assert not Span(2, 5).overlaps(Span(5, 9))
    assert Span(2, 5).shift(3) == Span(5, 8)
