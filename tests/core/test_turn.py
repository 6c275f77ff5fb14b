from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import reduce

from hypothesis import given
from hypothesis import strategies as st

from assistant.core.budget import BudgetPlan
from assistant.core.citations import CitationStatus
from assistant.core.events import (
    AnswerDelta,
    AnswerFinished,
    AnswerStarted,
    CitationsAdded,
    ConflictsFound,
    SourceChanged,
    TurnAccepted,
    TurnEvent,
    TurnFinished,
    TurnPlanned,
    TurnProgress,
    UsageReported,
)
from assistant.core.turn import TurnMessage, apply, fold

PIECES = st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=12), max_size=12)


def events_of(pieces: list[str]) -> list[TurnEvent]:
    """The events of a completed turn whose answer came in these pieces."""
    deltas, at = [], 0
    for piece in pieces:
        deltas.append(AnswerDelta(at, piece))
        at += len(piece)
    text = "".join(pieces)
    return [
        TurnAccepted("t", "c", "Why?", "ann"),
        TurnProgress("search"),
        TurnPlanned("Why?", "compact", "Because.", "fits", BudgetPlan(1000, 1, 1, 1, 1, 1, 1)),
        AnswerStarted("m", "p"),
        *deltas,
        AnswerFinished(len(text), hashlib.sha256(text.encode()).hexdigest(), "stop"),
        CitationsAdded(CitationStatus.NONE),
        ConflictsFound(),
        UsageReported(1, 2, 3, 0, None, 4, 5, 6),
        TurnFinished("completed"),
    ]


@given(PIECES, st.data())
def test_a_fold_may_be_cut_anywhere(pieces: list[str], data: st.DataObject) -> None:
    events = events_of(pieces)
    cut = data.draw(st.integers(0, len(events)))
    assert fold(events[cut:], fold(events[:cut])) == fold(events)


@given(PIECES, st.data())
def test_a_replay_of_what_was_seen_changes_nothing(pieces: list[str], data: st.DataObject) -> None:
    events = events_of(pieces)
    cut = data.draw(st.integers(0, len(events)))
    back = data.draw(st.integers(0, cut))
    assert fold([*events[:cut], *events[back:]]).text == "".join(pieces)


@given(PIECES, st.lists(st.builds(AnswerDelta, st.integers(0, 30), st.text("ab", min_size=1, max_size=4)), max_size=8))
def test_a_fold_is_each_event_applied_in_order(pieces: list[str], stray: list[AnswerDelta]) -> None:
    events = [*events_of(pieces)[:6], *stray, *events_of(pieces)[6:]]
    assert fold(events) == reduce(apply, events, TurnMessage())


@given(PIECES)
def test_any_chunking_of_an_answer_gives_the_same_message(pieces: list[str]) -> None:
    assert fold(events_of(pieces)) == fold(events_of(["".join(pieces)] if pieces else []))


def test_the_end_of_a_turn_is_its_state() -> None:
    message = fold(events_of(["Because ", "it is."]))
    assert (message.question, message.text, message.status, message.stage) == (
        "Why?",
        "Because it is.",
        "completed",
        "done",
    )
    assert message.sha256 == hashlib.sha256(message.text.encode()).hexdigest()
    assert message.plan is not None
    assert message.plan.mode == "compact"


def test_the_last_change_of_each_source_is_kept() -> None:
    changes = [
        SourceChanged("t", 1, "updated"),
        SourceChanged("t", 2, "deleted"),
        SourceChanged("t", 1, "access_revoked"),
    ]
    message = fold([*events_of(["x"]), *changes])
    assert message.changes == (changes[1], changes[2])
    assert replace(message, changes=()) == fold(events_of(["x"]))
    assert fold([*changes, *changes], fold(events_of(["x"]))) == message
