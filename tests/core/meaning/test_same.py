"""Which questions ask the same, and that what only nearly does is never taken for the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.meaning.same import LEAST_SIMILARITY, meaning, normalised, same_meaning
from tests.core.meaning.pairs import DIFFERENT_CHINESE, DIFFERENT_ENGLISH, SAME_CHINESE, SAME_ENGLISH

ALIKE = 1.0
SWAPS = (
    ("employees", "managers"), ("employees", "contractors"), ("annual", "sick"), ("Chicago", "Boston"), ("travel", "training"),
    ("can", "must"), ("can", "can't"), ("can", "should"), ("is", "was"), ("do", "did"), ("days", "hours"), ("200", "300"),
    ("two", "three"), ("who", "when"), ("How", "Why"), ("before", "after"), ("if", "unless"), ("approves", "rejects"),
    ("员工", "经理"), ("年假", "病假"), ("出差", "培训"), ("可以", "必须"), ("谁", "何时"), ("怎么", "为什么"), ("有", "没有"), ("三", "五"),
)  # fmt: skip
"""Words that change what is asked when one is put for the other."""


@pytest.mark.parametrize(("one", "other"), [*DIFFERENT_ENGLISH, *DIFFERENT_CHINESE])
def test_what_only_nearly_asks_the_same_is_different_however_similar(one: str, other: str) -> None:
    assert not same_meaning(one, other, ALIKE)
    assert not same_meaning(other, one, ALIKE)


@pytest.mark.parametrize(("pairs", "least"), [(SAME_ENGLISH, 0.8), (SAME_CHINESE, 0.9)], ids=["en", "zh"])
def test_most_paraphrases_are_found(pairs: list[tuple[str, str]], least: float) -> None:
    found = [same_meaning(one, other, ALIKE) for one, other in pairs]
    assert sum(found) / len(found) >= least
    assert found == [same_meaning(other, one, ALIKE) for one, other in pairs]


def test_there_are_enough_pairs_and_none_twice() -> None:
    pairs = [*SAME_ENGLISH, *SAME_CHINESE, *DIFFERENT_ENGLISH, *DIFFERENT_CHINESE]
    assert len(pairs) >= 240
    assert len({frozenset(pair) for pair in pairs}) == len(pairs)


@pytest.mark.parametrize("swap", SWAPS, ids="/".join)
def test_one_word_put_for_another_is_never_overlooked(swap: tuple[str, str]) -> None:
    old, new = swap
    pairs = [*SAME_ENGLISH, *SAME_CHINESE, *DIFFERENT_ENGLISH, *DIFFERENT_CHINESE]
    changed = [(text, " ".join(_put(text, old, new))) for pair in pairs for text in pair]
    touched = [(one, other) for one, other in changed if one.split() != other.split()]
    assert touched
    assert [(one, other) for one, other in touched if same_meaning(one, other, ALIKE)] == []


def _put(text: str, old: str, new: str) -> list[str]:
    if not old.isascii():
        return text.replace(old, new).split()
    return [new if word == old else word for word in text.split()]


@pytest.mark.parametrize("similarity", [None, LEAST_SIMILARITY - 0.01, float("nan"), -1.0])
def test_without_similar_vectors_only_equal_questions_are_the_same(similarity: float | None) -> None:
    assert not same_meaning("How do I request leave?", "How can I request leave?", similarity)
    assert same_meaning("How do I request leave?", "how do I  request leave", similarity)
    assert same_meaning("年假有几天？", "年假有几天", similarity)


@pytest.mark.parametrize(
    ("one", "other"),
    [("IT pays", "it pays"), ("US leave", "us leave"), ("C#", "C"), ("5 %", "5"), ("not paid", "paid"), ("", "a"), ("the", "please"),
     ("1.5 days", "15 days"), ("café", "cafe"), ("x" * 700, "the " + "x" * 700)],
)  # fmt: skip
def test_small_signs_count(one: str, other: str) -> None:
    assert not same_meaning(one, other, ALIKE)


def test_the_order_of_similar_words_counts() -> None:
    names = ["Ann", "Bob", "Chen"]
    forms = {meaning(normalised(f"Does {one} report to {two}?")) for one in names for two in names}
    assert len(forms) == 9


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_can_be_compared_and_no_side_is_preferred(one: str, other: str) -> None:
    assert same_meaning(one, one, None)
    assert same_meaning(one, other, ALIKE) == same_meaning(other, one, ALIKE)
    assert normalised(normalised(one)) == normalised(one)


@given(
    st.lists(
        st.sampled_from(
            "is are can not have to must entitled allowed given do does what how many the of 2 who".split()
        ),
        max_size=8,
    )
)
def test_words_of_grammar_alone_can_be_compared(words: list[str]) -> None:
    assert same_meaning(" ".join(words), " ".join(words), ALIKE)
    meaning(normalised(" ".join(words)))
