"""Files of sessions: where turns search, and how passages of attached files stand beside the rest."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.access import EVERYONE, PRIVATE, Caller
from assistant.core.attachments import SHARED, covers, files_of, preferring, search_scope
from assistant.core.evidence import Passage, SourceVersion
from assistant.core.text import Span

ANN, BOB = Caller("acme", "ann"), Caller("acme", "bob")


def passage(document: str, score: float, start: int = 0) -> Passage:
    source = SourceVersion(document, 1, "0" * 64, document, document, "c")
    return Passage(f"{document}-{start}", "text", source, Span(start, start + 4), score=score)


def test_a_private_group_has_one_member_and_does_not_tell_who_it_is() -> None:
    assert ANN.private_group.startswith(PRIVATE)
    assert "ann" not in ANN.private_group
    assert ANN.may_read(frozenset({ANN.private_group}))
    assert not BOB.may_read(frozenset({ANN.private_group}))
    assert not Caller("rival", "ann").may_read(frozenset({ANN.private_group}))
    assert Caller("a", "b\0c").private_group != Caller("a\0b", "x").private_group


def test_a_token_cannot_give_the_private_group_of_another() -> None:
    thief = Caller("acme", "eve", frozenset({EVERYONE, ANN.private_group, "hr"}))
    assert not thief.may_read(frozenset({ANN.private_group}))
    assert thief.holds == {EVERYONE, "hr", thief.private_group}


@pytest.mark.parametrize(
    ("scope", "finds", "leaves"),
    [
        (None, {"handbook", files_of("s1")}, {files_of("s2")}),
        ({"handbook"}, {"handbook", files_of("s1")}, {"other", files_of("s2")}),
        ({files_of("s2")}, {files_of("s1")}, {files_of("s2"), "handbook"}),
        ({SHARED, files_of("s2")}, {"handbook", files_of("s1")}, {files_of("s2")}),
    ],
)
def test_a_turn_searches_the_files_of_its_own_session_only(
    scope: set[str] | None, finds: set[str], leaves: set[str]
) -> None:
    searched = search_scope("s1", None if scope is None else frozenset(scope))
    assert all(covers(searched, one) for one in finds)
    assert not any(covers(searched, one) for one in leaves)


def test_without_a_scope_no_session_is_searched() -> None:
    assert covers(None, "handbook")
    assert not covers(None, files_of("s1"))
    assert not covers(frozenset(), "handbook")


def test_the_best_of_an_attached_file_stands_first_and_the_others_stay() -> None:
    found = [passage("a", 0.8), passage("b", 0.6), passage("file", 0.1)]
    fused = preferring(found, [passage("file", 0.02), passage("file", 0.01, 9)], frozenset({"file"}), 10)
    assert [one.source.document for one in fused] == ["file", "a", "file", "b"]
    assert [round(one.score, 2) for one in fused] == [0.88, 0.8, 0.66, 0.6]


def test_a_file_that_meets_nothing_is_read_from_its_beginning() -> None:
    own = [passage("file", 0.0, start) for start in (0, 10, 20)]
    fused = preferring([], own, frozenset({"file"}), 2)
    assert [one.span.start for one in fused] == [0, 10]
    assert fused[0].score > fused[1].score > 0


def test_what_was_not_attached_gets_no_preference() -> None:
    assert preferring([passage("a", 0.5)], [passage("other", 0.9)], frozenset({"file"}), 5) == [passage("a", 0.5)]


SCORES = st.lists(st.floats(0, 1), max_size=12)


@given(SCORES, SCORES, st.integers(1, 12))
def test_fusing_keeps_bounds_order_and_both_sides(others: list[float], own: list[float], limit: int) -> None:
    ranked = [passage(f"d{n}", score) for n, score in enumerate(sorted(others, reverse=True))]
    mine = [passage("file", score, n * 10) for n, score in enumerate(sorted(own, reverse=True))]
    fused = preferring(ranked, mine, frozenset({"file"}), limit)
    assert len(fused) == min(limit, len(ranked) + len(mine))
    assert all(0 <= one.score <= 1 for one in fused)
    assert [one.score for one in fused] == sorted((one.score for one in fused), reverse=True)
    kept = sum(one.source.document == "file" for one in fused)
    assert kept >= min(len(mine), limit - limit // 2)
    assert len(fused) - kept >= min(len(ranked), limit // 2)
