"""Replay: what differs between two answers to the same evidence."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from assistant.core.audit import canonical
from assistant.core.citations import Citation, CitationStatus, CitedSource, Verdict
from assistant.core.events import CitationsAdded, ConflictsFound, ConflictShown, ConflictSide, UsageReported
from assistant.core.evidence import Authority
from assistant.core.replaying import Changed, compare_answers
from assistant.core.turn import TurnMessage
from assistant.core.worddiff import patched


def cited(evidence: str, start: int, end: int, verdict: Verdict = Verdict.SUPPORTED, n: int = 1) -> Citation:
    source = CitedSource("d", 1, "s", "Title", "d.md", "", start, end, "x" * (end - start))
    return Citation(n, 0, 5, verdict, 0.5, evidence, source)


def answer(text: str, *items: Citation, agreement: int | None = 5, followed: str = "both") -> TurnMessage:
    sides = tuple(
        ConflictSide(each, None, "claim", "Title", date(2030, 1, 1), Authority.LOW, preferred=each == "a")
        for each in ("a", "b")
    )
    return TurnMessage(
        text=text,
        status="completed",
        finish="stop",
        model="m",
        citations=CitationsAdded(CitationStatus.COMPLETE, items, (), agreement),
        conflicts=ConflictsFound((ConflictShown("rent", "number", sides, "newer", "", followed),)),
        usage=UsageReported(1, 100, 20, 0, 0.5, 10, 20, 3),
    )


def test_the_same_answer_again_is_the_same() -> None:
    once = answer("The rent is 20.", cited("a", 0, 10))
    replay = compare_answers(once, once)
    assert replay.same
    assert (replay.kept, replay.added, replay.lost, replay.rejudged, replay.conflicts) == (1, (), (), (), ())
    assert all(changed.same for changed in replay.usage.values())


def test_another_model_says_other_words_at_another_price() -> None:
    old = answer("The rent is 20.", cited("a", 0, 10))
    new = replace(
        answer("The rent is 25.", cited("a", 0, 10)), model="other", usage=UsageReported(2, 50, 9, 0, None, 1, 2, 3)
    )
    replay = compare_answers(old, new)
    assert not replay.same
    shown = replay.as_json()
    assert [part for part in shown["text"] if part["op"] != "equal"] == [{"op": "replace", "old": "20", "new": "25"}]
    assert shown["model"] == {"old": "m", "new": "other"}
    assert shown["usage"]["cost"] == {"old": 0.5, "new": None}
    assert shown["usage"]["tokens_in"] == {"old": 100, "new": 50}


def test_citations_are_told_apart_by_evidence_and_place() -> None:
    old = answer("x", cited("a", 0, 10), cited("a", 20, 30), cited("b", 0, 10))
    new = answer("x", cited("a", 0, 10), cited("a", 25, 40), cited("c", 0, 10))
    replay = compare_answers(old, new)
    assert replay.kept == 2
    assert [place.evidence for place in replay.lost] == ["b"]
    assert [place.evidence for place in replay.added] == ["c"]


def test_a_place_with_the_same_span_is_met_before_one_that_overlaps() -> None:
    old = answer("x", cited("a", 0, 10, Verdict.PARTIAL), cited("a", 0, 20))
    new = answer("x", cited("a", 0, 20), cited("a", 0, 10, Verdict.PARTIAL))
    assert compare_answers(old, new).same


def test_the_weakest_verdict_of_a_place_counts() -> None:
    old = answer("x", cited("a", 0, 10), cited("a", 0, 10, Verdict.CONTRADICTED))
    new = answer("x", cited("a", 0, 10))
    (rejudged,) = compare_answers(old, new).rejudged
    assert rejudged.verdict == Changed(Verdict.CONTRADICTED, Verdict.SUPPORTED)
    shown = compare_answers(old, new).as_json()["citations"]["rejudged"]
    assert shown[0]["verdict"] == {"old": "contradicted", "new": "supported"}


def test_the_side_of_a_conflict_that_is_followed_counts() -> None:
    old, new = answer("x", followed="preferred"), answer("x", followed="other", agreement=3)
    replay = compare_answers(old, new)
    assert [(each.topic, each.followed.old, each.followed.new) for each in replay.conflicts] == [
        ("rent", "preferred", "other")
    ]
    assert (replay.agreement.old, replay.agreement.new) == (5, 3)


def test_an_answer_that_failed_has_no_citations_and_no_usage() -> None:
    replay = compare_answers(answer("x", cited("a", 0, 10)), TurnMessage(status="failed", error="model_unavailable"))
    assert len(replay.lost) == 1
    assert replay.usage["calls"] == Changed(1, None)
    assert replay.status == Changed("completed", "failed")
    assert not replay.same


ITEMS = st.lists(
    st.builds(cited, st.sampled_from("ab"), st.integers(0, 9), st.integers(10, 20), st.sampled_from(Verdict)),
    max_size=5,
)
TEXT = st.text(st.characters(codec="utf-8"), max_size=30)


@given(TEXT, TEXT, ITEMS, ITEMS)
def test_both_directions_say_the_same_and_json_holds_it(
    one: str, other: str, ours: list[Citation], theirs: list[Citation]
) -> None:
    old, new = answer(one, *ours), answer(other, *theirs)
    there, back = compare_answers(old, new), compare_answers(new, old)
    assert (there.kept, len(there.added), len(there.lost)) == (back.kept, len(back.lost), len(back.added))
    assert there.kept + len(there.lost) == len({(item.evidence, item.source.start, item.source.end) for item in ours})
    assert patched(one, other, there.changes) == other
    assert compare_answers(old, old).same
    assert json.loads(canonical(there.as_json())) == json.loads(json.dumps(there.as_json()))
