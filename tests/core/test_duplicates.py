"""Duplicates: nothing is missed, nothing that differs in substance is taken for the same."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.core import duplicates
from assistant.core.duplicates import CONTAINED, contains, fingerprint, jaccard, near_duplicates, without_duplicates
from assistant.core.evidence import Authority, Passage
from assistant.core.text import clean_for_display, words
from tests.making import passage, source

RULE = (
    "Employees who travel for work book their trains and hotels through the travel desk and hand in the receipts when they "
    "return, so that the office of finance can pay them back together with the next salary. "
)
RULE_ZH = "员工因公出差时，应当通过差旅平台预订火车票和酒店，返回后提交发票，财务部门随下个月的工资一并报销，逾期提交的由部门经理说明原因。"
OTHER = "Visitors are met at the door of the building and sign the book that lies on the desk before they go in."
REPLACED = [
    ("travel desk", "payroll team"),
    ("return", "leave"),
    ("receipts", "invoices"),
    ("who travel", "who never travel"),
    ("can pay", "cannot pay"),
    ("hand in", "must hand in"),
]
REPLACED_ZH = [("差旅平台", "部门助理"), ("应当通过", "不得通过"), ("发票", "申请表"), ("工资", "奖金")]
SAME = [
    (RULE, RULE.upper()),
    (RULE, RULE.replace(", so", " so").replace(".", "!")),
    (RULE, RULE.replace("hotels", "hotel")),
    (RULE, RULE.replace("together ", "")),
    (RULE, f"<p>{RULE}</p>"),
    (RULE_ZH, RULE_ZH.replace("，", ",")),
    (RULE_ZH, RULE_ZH.replace("一并", "")),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_wording_and_marks_make_no_difference(one: str, other: str) -> None:
    assert near_duplicates(fingerprint(one), fingerprint(other), 0.75)
    assert near_duplicates(fingerprint(other), fingerprint(one), 0.75)


@pytest.mark.parametrize(
    ("one", "other"),
    [(RULE * 2, (RULE + RULE.replace(*change))) for change in REPLACED]
    + [(RULE_ZH * 2, RULE_ZH + RULE_ZH.replace(*change)) for change in REPLACED_ZH]
    + [(RULE, RULE.replace("the next", "the 3rd")), (f"{RULE} Fee: 1,000.", f"{RULE} Fee: 1.000.")],
)
def test_a_replaced_word_a_denial_or_a_number_is_a_difference(one: str, other: str) -> None:
    assert jaccard(fingerprint(one), fingerprint(other)) > 0.7
    assert not near_duplicates(fingerprint(one), fingerprint(other), 0.7)
    assert not near_duplicates(fingerprint(other), fingerprint(one), 0.7)


def documents(passages: list[Passage]) -> list[str]:
    return [each.source.document for each in passages]


@pytest.mark.parametrize(
    ("short", "more"), [(RULE, OTHER), (RULE_ZH, "访客在前台登记后由接待人员陪同进入办公区。" * 2)]
)
def test_a_passage_inside_a_longer_one_is_not_shown_twice(short: str, more: str) -> None:
    part, whole = passage(short, "part", score=0.9), passage(more + short + more, "whole", score=0.4)
    (left,) = without_duplicates([part, whole], 0.85)
    assert (left.source.document, left.score) == ("whole", 0.9)


def test_the_part_stays_when_it_is_newer_or_weighs_more_or_says_something_else() -> None:
    whole = passage(OTHER + RULE + OTHER, "whole", score=0.4, on=date(2020, 1, 1))
    newer = passage(RULE, "part", score=0.9, on=date(2024, 1, 1))
    weighty = replace(newer, source=replace(source("part"), authority=Authority.HIGH))
    for part in (newer, weighty, passage(RULE.replace("receipts", "invoices"), "part", score=0.9)):
        assert documents(without_duplicates([part, whole], 0.85)) == ["part", "whole"]


@pytest.mark.parametrize("change", [("can pay", "can not pay"), ("salary", "bonus"), ("next", "2nd")])
def test_a_long_text_that_denies_or_replaces_does_not_contain(change: tuple[str, str]) -> None:
    short, long = RULE + OTHER + RULE + OTHER, OTHER + RULE + OTHER + RULE.replace(*change) + OTHER + RULE.upper()
    assert not contains(fingerprint(OTHER * 2 + RULE.replace(*change)), fingerprint(RULE))
    assert contains(fingerprint(long + short), fingerprint(OTHER + RULE))


def test_a_few_words_are_not_contained() -> None:
    assert not contains(fingerprint(RULE), fingerprint("Employees who travel for work"))
    assert documents(without_duplicates([passage("Employees who travel", "a"), passage(RULE, "b")], 0.85)) == ["a", "b"]


def test_what_is_distrusted_takes_nobodys_place() -> None:
    clean = passage(RULE, "clean", score=0.3, on=date(2020, 1, 1))
    copy = passage(RULE, "copy", score=0.9, on=date(2024, 1, 1))
    longer = passage(OTHER + RULE + OTHER, "longer", score=0.8, on=date(2024, 1, 1))
    assert documents(without_duplicates([copy, longer, clean], 0.85)) == ["longer"]
    assert documents(without_duplicates([copy, clean], 0.85, {copy.id})) == ["clean"]
    assert documents(without_duplicates([copy, longer, clean], 0.85, {copy.id, longer.id})) == ["longer", "clean"]


@pytest.mark.parametrize("text", ["", " \n ", "!!!", "a", "a b", "年", "1", "\u200b", "<p></p>", "\U00020000" * 50])
def test_texts_with_few_or_no_words_are_compared_too(text: str) -> None:
    assert near_duplicates(fingerprint(text), fingerprint(text), 0.85)
    assert len(without_duplicates([passage(text, "a"), passage(text, "b")], 0.85)) == 1


def test_very_long_texts_are_compared_and_not_remembered() -> None:
    long = " ".join(f"word{chr(97 + n % 26)}{chr(97 + n // 26 % 26)}{chr(97 + n // 676)}" for n in range(6000))
    assert documents(without_duplicates([passage(long, "a"), passage(long + " end", "b")], 0.85)) == ["a"]


def test_a_thousand_copies_and_a_thousand_strangers() -> None:
    copies = [passage(RULE, f"d{n}", score=1 - n / 1000) for n in range(1000)]
    assert documents(without_duplicates(copies, 0.85)) == ["d0"]
    frame = "This page is kept by the people team and may be read by all who work here. "
    letters = [f"{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(600)]
    strangers = [passage(frame + f"x{a} y{a} z{a} " * 4, f"d{a}") for a in letters]
    assert len(without_duplicates(strangers, 0.85)) == 600


# Texts that are near one another: pieces of a few bases with words left out, put in, replaced.
BASES = (
    (RULE + OTHER).split(),
    "we meet on the second floor at nine and nobody may leave before the work is done or the boss says so".split(),
    [*RULE_ZH],
)
CHANGES = st.lists(
    st.tuples(st.sampled_from("-+~"), st.integers(0, 60), st.sampled_from(["not", "the", "7", "红", "office", "不"])),
    max_size=3,
)


@st.composite
def texts(draw: st.DrawFn) -> str:
    base = draw(st.sampled_from(BASES))
    start = draw(st.sampled_from([0, 0, 0, 1, 5, 20]))
    parts = list(base[start : draw(st.sampled_from([len(base), len(base), len(base) - 2, len(base) // 2]))])
    for kind, at, word in draw(CHANGES):
        at %= max(1, len(parts))
        parts[at : at + (kind != "+")] = [] if kind == "-" and len(parts) > 1 else [word]
    return ("" if base is BASES[2] else " ").join(parts)


def trigrams(text: str) -> frozenset[object]:
    tokens = words(clean_for_display(text))
    return frozenset(zip(tokens, tokens[1:], tokens[2:], strict=False)) if len(tokens) > 2 else frozenset(tokens)


def plainly_near(one: str, other: str, near: float) -> bool:
    """The definition without any filter: numbers, Jaccard over the trigrams themselves, substance."""
    left, right = trigrams(one), trigrams(other)
    share = len(left & right) / len(left | right) if left | right else 1.0
    a, b = fingerprint(one), fingerprint(other)
    return a.numbers == b.numbers and share >= near and not duplicates._differs_in_substance(a.tokens, b.tokens)


def plainly_contains(longer: str, shorter: str) -> bool:
    large, small = trigrams(longer), trigrams(shorter)
    a, b = fingerprint(longer), fingerprint(shorter)
    if not 6 <= len(small) <= 0.9 * len(large) or len(large & small) < CONTAINED * len(small):
        return False
    return b.numbers <= a.numbers and not duplicates._loses_substance(b.tokens, a.tokens)


def plainly(ranked: list[Passage], near: float) -> list[Passage]:
    """Every passage compared with every other."""
    kept: list[Passage] = []
    for one in ranked:
        twin = next((at for at, other in enumerate(kept) if plainly_near(other.text, one.text, near)), None)
        if twin is None:
            kept.append(one)
        elif duplicates._newer(one, kept[twin]):
            kept[twin] = replace(one, score=kept[twin].score)
    scores, gone = {one.id: one.score for one in kept}, set[str]()
    for whole in sorted(kept, key=lambda each: -len(trigrams(each.text))):
        for part in kept if whole.id not in gone else ():
            if part.id not in gone and plainly_contains(whole.text, part.text) and not duplicates._newer(part, whole):
                gone.add(part.id)
                scores[whole.id] = max(scores[whole.id], scores[part.id])
    left = [replace(one, score=scores[one.id]) for one in kept if one.id not in gone]
    return sorted(left, key=lambda each: (-each.score, each.id))


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.tuples(texts(), st.sampled_from([None, date(2020, 1, 1), date(2024, 1, 1)])), max_size=14),
    st.sampled_from([0.3, 0.6, 0.85, 1.0]),
)
def test_the_join_finds_exactly_what_comparing_all_pairs_finds(
    found: list[tuple[str, date | None]], near: float
) -> None:
    ranked = [passage(text, f"d{n:02}", score=1 - n / 100, on=day) for n, (text, day) in enumerate(found)]
    assert without_duplicates(ranked, near) == plainly(ranked, near)


@given(st.lists(texts(), max_size=8))
def test_what_is_left_is_told_apart_and_covers_what_went(found: list[str]) -> None:
    ranked = [passage(text, f"d{n}", score=1 - n / 100) for n, text in enumerate(found)]
    left = without_duplicates(ranked, 0.85)
    prints = [fingerprint(each.text) for each in left]
    for place, one in enumerate(prints):
        assert not any(near_duplicates(one, other, 0.85) for other in prints[:place])
    assert {each.id for each in left} <= {each.id for each in ranked}
    assert max((each.score for each in left), default=0) == max((each.score for each in ranked), default=0)
    assert without_duplicates(left, 0.85) == left
