"""Quotation: what is said to carry a sentence counts as far as it stands in what was shown."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assistant.core.grounding.indexing import index_evidence
from assistant.core.grounding.quotation import carries, quoted
from assistant.core.text import Span
from tests.core.citing import made

TEXT = (
    "Dogs are  <b>welcome</b>  in the office. Cats are not. Birds may stay for 2 days. <!-- Snakes rule the house. -->"
)
INDEX = index_evidence([made("Nothing else is said here."), made(TEXT, name="pets")])


@pytest.mark.parametrize(
    ("quote", "units"),
    [
        ("Dogs are welcome in the office.", (1, 1)),
        ("are welcome in\n the office", (1, 1)),
        ("Dogs are welcome in the office. Cats are not.", (1, 2)),
        ("Dogs are welcome in the office. Cats are not. Birds may stay for 2 days.", (1, 3)),
        ("Dogs are welcome everywhere.", None),
        ("Nothing else is said here.", None),
        ("Snakes rule the house.", None),
        ("are", None),
        ("", None),
        ("Dogs", None),
    ],
)
def test_a_quotation_is_found_in_the_sentences_it_stands_in(quote: str, units: tuple[int, int] | None) -> None:
    found = quoted(quote, 1, INDEX)
    assert (None if found is None else (found.first, found.last)) == units


def test_what_was_not_shown_cannot_be_quoted() -> None:
    shown = replace(made(TEXT), kept=(Span(0, TEXT.index("Cats")),))
    assert quoted("Birds may stay for 2 days.", 0, index_evidence([shown])) is None


@pytest.mark.parametrize(
    ("claim", "right"),
    [
        ("Birds can be kept here for 2 days.", True),
        ("Birds can be kept here for 3 days.", False),
        ("Birds may not stay for long.", False),
        ("鸟类可以停留2天。", True),
        ("鸟类可以停留5天。", False),
        ("鸟类不得停留。", False),
    ],
)
def test_figures_and_denial_are_compared_in_either_language(claim: str, right: bool) -> None:
    place = quoted("Birds may stay for 2 days.", 1, INDEX)
    assert place is not None
    assert carries(place, claim, INDEX) is right
