"""The terms under which texts are indexed and searched."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.stopwords import FUNCTION_CHARACTERS, STOPWORDS
from assistant.core.text import index_terms


def test_english_is_stemmed_and_stop_words_are_left_out() -> None:
    assert index_terms("How many days are the employees allowed?") == ["mani", "day", "employe", "allow"]


@pytest.mark.parametrize(
    ("question", "passage"),
    [
        ("年假有几天", "员工每年享有十五天带薪年假。"),
        ("怎么请假", "请假须提前三天提交申请。"),
        ("怎么请假", "请填写请假条。"),
        ("会计部电话", "会计部的电话是 8080。"),
        ("试用期多长", "试用期为六个月。"),
        ("ＶＰＮ怎么连接", "VPN 连接步骤如下。"),
        ("reimbursing travel", "Travel is reimbursed within 30 days."),
        ("the company’s policies", "One policy of the company's."),
    ],
)
def test_a_question_shares_terms_with_the_passage_that_answers_it(question: str, passage: str) -> None:
    assert not set(index_terms(question)).isdisjoint(index_terms(passage))


def test_a_pair_across_a_function_character_is_no_term() -> None:
    assert "的年" not in index_terms("员工的年假")
    assert "年假" in index_terms("员工的年假")


def test_a_word_that_holds_a_function_character_is_kept() -> None:
    assert "让步" in index_terms("双方让步")


def test_long_words_stand_beside_their_pairs() -> None:
    assert {"合同工", "合同", "同工"} <= set(index_terms("合同工"))


def test_words_that_mean_nothing_give_no_terms() -> None:
    assert index_terms("what is it? 是什么呢？ …!") == []


def test_numbers_and_names_of_both_scripts_are_terms() -> None:
    assert index_terms("2024年Q3") == ["2024", "年", "q", "3"]


@given(st.text(max_size=300))
def test_terms_are_repeatable_and_hold_neither_spaces_nor_stop_words(text: str) -> None:
    found = index_terms(text)
    assert found == index_terms(text)
    assert all(term and not any(character.isspace() for character in term) for term in found)
    assert STOPWORDS.isdisjoint(term for term in found if not term.isascii() and len(term) > 2)


@given(st.text(alphabet="年假员工报销合同请会计的了吗是abc 12", max_size=60))
def test_no_pair_of_function_characters_alone_is_a_term(text: str) -> None:
    assert not [term for term in index_terms(text) if len(term) == 2 and set(term) <= FUNCTION_CHARACTERS]


@given(st.text(alphabet="年假员工报销合同加班申请会议", min_size=2, max_size=12), st.integers(0, 10))
def test_every_pair_of_content_characters_can_be_found(text: str, at: int) -> None:
    at = min(at, len(text) - 2)
    assert text[at : at + 2] in index_terms(text)
