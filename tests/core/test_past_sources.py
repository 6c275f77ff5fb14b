"""What became of a source, and who is told."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.access import EVERYONE
from assistant.core.past_sources import PastSource, Quoted, SourceState, change_to_tell, compared

GROUPS = st.frozensets(st.sampled_from([EVERYONE, "hr", "law"]), min_size=1)
PAST = PastSource(
    title="Bicycles",
    uri="bicycles.md",
    version=1,
    date=date(2030, 1, 2),
    media_type="application/pdf",
    section="Loans",
    page=3,
    region=(0.1, 0.2, 0.3, 0.4),
    image=None,
    start=10,
    quoted=Quoted("Ask first. ", "Three bicycles may be lent for a week.", " Helmets are free."),
    state=SourceState.UNCHANGED,
)


def test_a_newer_version_that_says_the_same_is_the_same_text() -> None:
    now = compared(PAST, 2, date(2031, 1, 2), "Foreword. " + PAST.quoted.text + " Closed on Sundays.")
    assert now.state is SourceState.SAME_TEXT
    assert now.current is not None
    assert (now.current.version, now.current.quoted) == (2, PAST.quoted)
    assert [part["op"] for part in now.as_json()["diff"]] == ["equal"]


def test_a_changed_passage_shows_what_changed() -> None:
    now = compared(PAST, 2, None, PAST.quoted.text.replace("Three", "Two").replace("free", "lent too"))
    shown = now.as_json()
    assert (shown["state"], shown["exact"]) == ("changed", "Three bicycles may be lent for a week.")
    assert shown["current"] == {
        "version": 2,
        "date": None,
        "before": "Ask first. ",
        "exact": "Two bicycles may be lent for a week.",
        "after": " Helmets are lent too.",
    }
    changed = [(part["old"], part["new"]) for part in shown["diff"] if part["op"] != "equal"]
    assert changed == [("Three", "Two"), ("free", "lent too")]
    assert "".join(part["new"] for part in shown["diff"]) == now.current.quoted.text  # type: ignore[union-attr]


def test_a_change_beside_the_cited_text_leaves_it_the_same() -> None:
    now = compared(PAST, 2, None, PAST.quoted.text.replace("Helmets are free.", "Helmets cost a coin."))
    assert now.state is SourceState.SAME_TEXT
    assert any(part["op"] == "replace" for part in now.as_json()["diff"])


def test_a_passage_that_was_cut_has_no_place_and_no_diff() -> None:
    shown = compared(PAST, 4, None, "The canteen opens at eight.").as_json()
    assert shown["state"] == "changed"
    assert shown["current"] == {"version": 4, "date": None, "before": None, "exact": None, "after": None}
    assert shown["diff"] is None


def test_without_a_newer_version_there_is_nothing_beside_it() -> None:
    shown = replace(PAST, state=SourceState.DELETED).as_json()
    assert (shown["state"], shown["current"], shown["diff"], shown["region"]) == (
        "deleted",
        None,
        None,
        [0.1, 0.2, 0.3, 0.4],
    )
    assert (shown["date"], shown["media_type"], shown["page"]) == ("2030-01-02", "application/pdf", 3)


@pytest.mark.parametrize(
    ("shown_to", "access", "current", "deleted", "told"),
    [
        ({"hr"}, {"hr"}, 1, False, None),
        ({"hr"}, {"hr"}, 2, False, "updated"),
        ({"hr"}, {"hr", "law"}, 2, True, "deleted"),
        ({"hr"}, {EVERYONE}, 2, False, "updated"),
        ({"hr"}, {"law"}, 1, False, "access_revoked"),
        ({EVERYONE}, {"law"}, 2, True, "access_revoked"),
        ({"hr", "law"}, {"law"}, 2, True, None),
    ],
)
def test_who_is_told_what(shown_to: set[str], access: set[str], current: int, deleted: bool, told: str | None) -> None:
    assert change_to_tell(shown_to, access, cited=1, current=current, deleted=deleted) == told


@given(GROUPS, GROUPS, st.integers(1, 3), st.booleans(), st.sampled_from([EVERYONE, "hr", "law"]))
def test_nobody_hears_of_the_fate_of_a_document_they_may_not_read(
    shown_to: frozenset[str], access: frozenset[str], current: int, deleted: bool, mine: str
) -> None:
    told = change_to_tell(shown_to, access, cited=1, current=current, deleted=deleted)
    could, can = mine in shown_to, bool({mine, EVERYONE} & access)
    if could and told in ("updated", "deleted"):
        assert can
    if told == "access_revoked" and could:
        assert not can
