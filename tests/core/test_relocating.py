"""Where an old passage stands in a newer text: moved, edited, cut, or gone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assistant.core.relocating import LEAST_ALIKE, relocate
from assistant.core.text import Span
from tests.core.citing import HOSTILE

OTHERS = [
    "The canteen opens at eight.",
    "Parking costs four coins an hour.",
    "图书馆周一闭馆。",
    "Bring your own mug to meetings.",
    "电梯每年检修两次。",
]
CITED = "Visitors may borrow three bicycles for a week."
PASSAGE = f"Bicycles stand behind the hall. {CITED} Helmets are free of charge."


def place_of(text: str) -> tuple[str, str] | None:
    """The passage and the cited part as they stand in the new text."""
    cited = Span(PASSAGE.index(CITED), PASSAGE.index(CITED) + len(CITED))
    found = relocate(PASSAGE, cited, text, 0)
    if found is None:
        return None
    return text[found.passage.start : found.passage.end], text[found.exact.start : found.exact.end]


def test_the_same_text_is_found_wherever_it_moved() -> None:
    assert place_of(" ".join([*OTHERS, PASSAGE, *OTHERS])) == (PASSAGE, CITED)


def test_an_edited_sentence_is_found_in_its_passage() -> None:
    edited = PASSAGE.replace("three bicycles for a week", "two bicycles for a day")
    assert place_of(" ".join([*OTHERS, edited])) == (edited, "Visitors may borrow two bicycles for a day.")


def test_a_sentence_put_between_belongs_to_the_passage() -> None:
    wider = PASSAGE.replace(CITED, f"{CITED} A deposit is taken.")
    assert place_of(" ".join([*OTHERS, wider])) == (wider, CITED)


def test_the_cited_sentence_is_found_alone_when_its_passage_is_gone() -> None:
    assert place_of(" ".join([*OTHERS, CITED])) == (CITED, CITED)


def test_a_cited_sentence_that_was_cut_leaves_its_passage_and_no_text() -> None:
    cut = PASSAGE.replace(f"{CITED} ", "")
    assert place_of(" ".join([*OTHERS, cut])) == (cut, "")


def test_blanks_around_a_passage_go_with_it() -> None:
    old, new = "\n  Bring two towels.\n\n", "Foreword.\n  Bring three towels.\n\nAfterword."
    found = relocate(old, Span(3, 20), new, 0)
    assert found is not None
    assert new[found.passage.start : found.passage.end] == "\n  Bring three towels.\n\n"
    assert new[found.exact.start : found.exact.end] == "Bring three towels."


def test_nothing_alike_is_nowhere() -> None:
    assert place_of(" ".join(OTHERS)) is None
    assert place_of("") is None


def test_chinese_is_found_after_an_edit() -> None:
    old = "会议室需提前两天预订。超时每小时收费五十元。"
    new = "走廊禁止堆放杂物。会议室需提前三天预订。超时每小时收费八十元。请随手关灯。"
    found = relocate(old, Span(11, len(old)), new, 0)
    assert found is not None
    assert new[found.passage.start : found.passage.end] == "会议室需提前三天预订。超时每小时收费八十元。"
    assert new[found.exact.start : found.exact.end] == "超时每小时收费八十元。"


def test_of_equal_places_the_nearest_is_taken() -> None:
    text = "Ask at the desk. " * 5
    found = relocate("Ask at the desk.", Span(0, 16), text, 40)
    assert found is not None
    assert found.passage == Span(34, 50)


def test_a_short_text_elsewhere_does_not_stand_for_one_that_was_cut() -> None:
    passage = "Is the pool open on Sundays to all guests? Yes. Children swim with their parents at all times."
    text = "Is the pool open on Sundays to all guests? Children swim with their parents at all times. Is it warm? Yes."
    found = relocate(passage, Span(43, 47), text, 0)
    assert found is not None
    assert not found.exact
    assert found.passage.end <= text.index(" Is it warm?")


@given(HOSTILE, HOSTILE, st.data())
def test_a_place_lies_in_the_text_and_holds_what_was_cited(passage: str, text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(passage)))
    cited = Span(start, data.draw(st.integers(start, len(passage))))
    near = data.draw(st.integers(0, 200))
    found = relocate(passage, cited, text, near)
    assert found == relocate(passage, cited, text, near)
    if found is not None:
        assert LEAST_ALIKE <= found.similarity <= 1.0
        assert found.passage.start <= found.exact.start <= found.exact.end <= found.passage.end <= len(text)


@given(HOSTILE, HOSTILE, HOSTILE)
def test_text_that_is_still_there_is_found_word_for_word(before: str, passage: str, after: str) -> None:
    found = relocate(passage, Span(0, len(passage)), before + passage + after, len(before))
    if passage.strip():
        assert found is not None
        assert found.passage == found.exact == Span(len(before), len(before) + len(passage))
