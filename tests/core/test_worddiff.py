"""Word differences: laws over any two texts, and what a person should see of kinds of edits."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core import worddiff
from assistant.core.worddiff import Change, Operation, patched, rendered, word_diff
from tests.core.citing import HOSTILE

TEXTS = st.one_of(
    HOSTILE,
    st.text(alphabet="ab .,\n\r年假十五天0123456789-\u0301\u200d😀", max_size=60),
    st.text(st.characters(), max_size=40),
)


def shown(old: str, new: str) -> list[tuple[str, str, str]]:
    """The changes without what is equal."""
    parts = rendered(old, new, word_diff(old, new))
    return [(part["op"], part["old"], part["new"]) for part in parts if part["op"] != "equal"]


def words_shown(old: str, new: str) -> list[tuple[str, str, str]]:
    """The same without the blanks beside words that came or went."""
    return [
        (op, one if op == "replace" else one.strip(), other if op == "replace" else other.strip())
        for op, one, other in shown(old, new)
    ]


def check_form(old: str, new: str, changes: tuple[Change, ...]) -> None:
    assert patched(old, new, changes) == new
    assert "".join(part["old"] for part in rendered(old, new, changes)) == old
    for change in changes:
        same = old[change.old.start : change.old.end] == new[change.new.start : change.new.end]
        assert same == (change.op is Operation.EQUAL)
        assert (not change.old) == (change.op is Operation.INSERT)
        assert (not change.new) == (change.op is Operation.DELETE)
    for one, other in pairwise(changes):
        assert (one.old.end, one.new.end) == (other.old.start, other.new.start)
        assert (one.op is Operation.EQUAL) != (other.op is Operation.EQUAL)


@given(TEXTS, TEXTS)
def test_a_diff_applied_to_the_old_text_gives_the_new_one(old: str, new: str) -> None:
    changes = word_diff(old, new)
    check_form(old, new, changes)
    assert changes == word_diff(old, new)


@given(TEXTS)
def test_equal_texts_have_one_equal_change_and_empty_ones_none(text: str) -> None:
    assert [change.op for change in word_diff(text, text)] == ([Operation.EQUAL] if text else [])


@given(TEXTS, TEXTS, st.integers(0, 60))
def test_texts_too_long_for_words_obey_the_same_laws(old: str, new: str, cells: int) -> None:
    before = (worddiff._MOST_CELLS, worddiff._MOST_CELLS_LONG, worddiff._MOST_SENTENCES)
    for affordable in ((cells, 3 * cells, 100), (cells, cells, 2), (0, 0, 0)):
        try:
            worddiff._MOST_CELLS, worddiff._MOST_CELLS_LONG, worddiff._MOST_SENTENCES = affordable  # type: ignore[misc]
            changes = word_diff(old, new)
        finally:
            worddiff._MOST_CELLS, worddiff._MOST_CELLS_LONG, worddiff._MOST_SENTENCES = before  # type: ignore[misc]
        assert patched(old, new, changes) == new
        assert "".join(part["old"] for part in rendered(old, new, changes)) == old


@pytest.mark.parametrize(
    ("old", "new", "seen"),
    [
        ("Guests may stay 20 days in a flat.", "Guests may stay 25 days in a flat.", [("replace", "20", "25")]),
        ("The fee is 1,250.50 a year.", "The fee is 1,300.00 a year.", [("replace", "1,250.50", "1,300.00")]),
        ("Due on 2031-10-01 at noon.", "Due on 2032-01-01 at noon.", [("replace", "2031-10-01", "2032-01-01")]),
        ("Dogs are allowed here.", "Dogs are not allowed here.", [("insert", "", "not")]),
        ("访客每次可停留十天。", "访客每次可停留十五天。", [("replace", "十", "十五")]),
        ("访客可以停车。", "访客不得停车。", [("replace", "可以", "不得")]),
        ("每天两次。", "每天两次，周末除外。", [("insert", "", "，周末除外")]),
        ("full-time staff only", "part-time staff only", [("replace", "full", "part")]),
        ("one\ntwo three", "one two three", [("replace", "\n", " ")]),
        ("cafe\u0301 is open", "cafe is open", [("replace", "cafe\u0301", "cafe")]),
        ("ok 👩‍👩‍👧 here", "ok 👩‍👩‍👦 here", [("replace", "👩‍👩‍👧", "👩‍👩‍👦")]),
        ("A cat sat on a mat and slept.", "The dog lay under the sofa and barked.", None),
    ],
)
def test_kinds_of_edits_are_seen_as_a_person_would(old: str, new: str, seen: list[tuple[str, str, str]] | None) -> None:
    found = words_shown(old, new)
    if seen is None:  # a sentence that was written anew is one change, not a mosaic
        assert len(found) == 1
    else:
        assert found == seen


def test_long_texts_with_few_edits_keep_their_words() -> None:
    sentence = "Item {0} of the list is kept for {0} weeks. 第{0}条保留{0}周。\n"
    old = "".join(sentence.format(at) for at in range(2_000))
    new = old.replace("Item 700 of", "Item 700 in").replace("第900条保留900周", "第900条保留901周")
    assert len(old) > 100_000
    check_form(old, new, word_diff(old, new))
    assert shown(old, new) == [("replace", "of", "in"), ("replace", "900", "901")]


@pytest.mark.parametrize(("old", "new"), [("x " * 50_000, "y " * 50_000), ("一" * 100_000, "。" * 100_000), ("a.", "")])
def test_texts_with_nothing_in_common_are_one_change(old: str, new: str) -> None:
    changes = word_diff(old, new)
    assert patched(old, new, changes) == new
    assert len(changes) <= 2
