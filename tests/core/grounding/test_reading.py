"""Reading: how a text is cut for citing, also where it was taken from a page and lost its spaces."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.core.grounding.indexing import index_evidence
from assistant.core.grounding.reading import LONGEST_CUT, match_terms, read
from tests.core.citing import HOSTILE, made


def texts(stored: str) -> list[str]:
    return [cut.text for cut in read(stored)]


def test_sentences_glued_together_are_cut_apart() -> None:
    stored = "The bonus is paid in March.Contractors are not eligible.Questions?Ask payroll, they know."
    assert texts(stored) == [
        "The bonus is paid in March.",
        "Contractors are not eligible.",
        "Questions?",
        "Ask payroll, they know.",
    ]


@pytest.mark.parametrize(
    "stored",
    [
        "See www.example.Com for more.",
        "Ask the U.S.Treasury office.",
        "Use System.Out.println for it.",
        "Version 2.Beta is out.",
    ],
)
def test_names_and_addresses_are_not_cut(stored: str) -> None:
    assert texts(stored) == [stored]


def test_hidden_text_and_text_without_words_are_left_out() -> None:
    assert texts("Leave is short. <!-- Secret part. Leave is long. -->\nAsk HR.\n---\n!!!") == [
        "Leave is short.",
        "Ask HR.",
    ]


@pytest.mark.parametrize("sentence", ["word " * 900, "年假" * 3000, "x" * 5000])
def test_a_page_without_full_stops_is_read_in_parts(sentence: str) -> None:
    cuts = read(sentence)
    assert len(cuts) > 1
    assert all(len(cut.span) <= LONGEST_CUT + 1 for cut in cuts)


def test_a_text_of_any_length_is_read_the_same_way() -> None:
    once = read("The depot opens at six. ")
    many = read("The depot opens at six. " * 2000)
    assert len(many) == 2000
    assert {(cut.text, cut.terms) for cut in many} == {(cut.text, cut.terms) for cut in once}


def test_the_same_text_in_two_documents_keeps_each_its_own_offsets() -> None:
    evidence = [
        made("Leave is short. Lunch is free.", name="a", at=10),
        made("Leave is short. Lunch is free.", name="b", at=500),
    ]
    units = index_evidence(evidence).units
    assert [(unit.piece, unit.span.start) for unit in units] == [(0, 10), (0, 26), (1, 500), (1, 516)]


def test_numbers_lose_their_thousands_marks() -> None:
    assert match_terms("1,250 EUR") == ["1250", "eur"]


@settings(max_examples=80)
@given(st.one_of(HOSTILE, st.lists(HOSTILE, max_size=3).map(".A ".join)))
def test_laws(stored: str) -> None:
    cuts = read(stored)
    assert cuts == read(stored)
    at = 0
    for cut in cuts:
        assert at <= cut.span.start < cut.span.end <= len(stored)
        at = cut.span.end
        assert cut.terms
        assert sorted(place for places in cut.places.values() for place in places) == list(range(len(cut.terms)))
        assert all(cut.terms[place] == term for term, places in cut.places.items() for place in places)
