from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.evidence import Evidence, admit
from assistant.core.preparation import (
    PREPARATIONS,
    by_date,
    by_entity,
    by_topic,
    newest_first,
    one_per_source,
    prepare,
    sliding_windows,
    without_low_quality,
)
from tests.making import evidence, passage, source

OLD = evidence("The Atlas team met in May. Everyone from Atlas came.", "old", on=date(2020, 1, 1), score=0.9)
NEW = evidence("In June the Borealis team met. It was cold at Borealis.", "new", on=date(2024, 1, 1), score=0.5)
UNDATED = evidence("Later on the Atlas group was closed and Atlas moved away.", "undated", score=0.4)


def names(found: object) -> list[str]:
    return [item.source.document for item in found]  # type: ignore[attr-defined]


def test_orders_by_date() -> None:
    assert names(by_date("", [NEW, OLD, UNDATED])) == ["undated", "old", "new"]
    assert names(newest_first("", [UNDATED, OLD, NEW])) == ["new", "old", "undated"]


def test_one_per_source_keeps_the_best() -> None:
    worse = replace(OLD, id="worse", score=0.1)
    assert one_per_source("", [worse, NEW, OLD]) == (OLD, NEW)


def test_what_speaks_of_one_name_stands_together() -> None:
    assert names(by_entity("", [OLD, NEW, UNDATED])) == ["old", "undated", "new"]


def test_what_is_alike_stands_together() -> None:
    saw, plum = (
        evidence("Saws cut wood well in workshops.", "saw"),
        evidence("Plums are sweet fruit of summer.", "plum"),
    )
    more = evidence("Wood is cut with saws in most workshops.", "more")
    assert names(by_topic("", [saw, plum, more])) == ["saw", "more", "plum"]


def test_pieces_that_say_nothing_go_but_never_all() -> None:
    empty, numbers = evidence("Contents", "toc"), evidence("1 2 3 | 4 5 6 | 7 8 9 | --- | 10 11 12", "table")
    assert names(without_low_quality("", [empty, OLD, numbers])) == ["old"]
    assert len(without_low_quality("", [empty, numbers])) == 1
    assert names(without_low_quality("", [evidence("正式员工每年有十五天年假。", "zh")])) == ["zh"]


def test_neighbours_are_joined_to_overlapping_windows_with_their_exact_text() -> None:
    text = "One one one. Two two two. Three three. Four four. "
    version = source("doc", text=text)
    cuts = [(0, 13), (13, 26), (26, 39), (39, 50)]
    parts = [admit(passage(text[a:b], "doc", at=a, version=version, score=b / 100)) for a, b in cuts]
    windows = sliding_windows("", [parts[2], parts[0], parts[3], parts[1]])
    assert [window.exact for window in windows] == [text[13:50], text[0:39]]
    assert all(window.exact == text[window.span.start : window.span.end] for window in windows)
    assert sliding_windows("", [parts[0], parts[3]]) == (parts[3], parts[0])


@pytest.mark.parametrize("name", PREPARATIONS)
@given(data=st.lists(st.sampled_from([OLD, NEW, UNDATED]), max_size=5))
def test_every_step_gives_back_evidence_and_takes_any(name: str, data: list[Evidence]) -> None:
    made = prepare("question", data, [PREPARATIONS[name]])
    assert len({item.id for item in made}) == len(made)
    assert {item.source.document for item in made} <= {item.source.document for item in data}
    assert bool(made) == bool(data)


def test_steps_compose_in_order() -> None:
    worse = replace(OLD, id="worse", score=0.1)
    assert names(prepare("", [NEW, worse, OLD], [one_per_source, by_date])) == ["old", "new"]
