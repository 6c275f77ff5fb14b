"""Packing: nothing lost, nothing doubled but the overlap, nothing cut inside a sentence."""

from __future__ import annotations

import itertools
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.core.evidence import Evidence, admit
from assistant.core.prompt import render_evidence
from assistant.core.text import sentences
from assistant.synthesis.packing import one_each, pack, units
from assistant.synthesis.tree import pack_texts
from tests.making import evidence, passage
from tests.synthesis.making import COUNTER, passages


def size(group: tuple[Evidence, ...]) -> int:
    return sum(COUNTER.count(render_evidence(item)) for item in group)


@settings(max_examples=40)
@given(st.lists(st.integers(1, 12), min_size=1, max_size=8), st.integers(120, 900))
def test_pieces_keep_their_order_and_groups_their_limit(lengths: list[int], limit: int) -> None:
    found = [admit(passages(8, length)[place]) for place, length in enumerate(lengths)]
    groups = pack(found, COUNTER, limit)
    seen = list(dict.fromkeys(item.id for group in groups for item in group))
    assert seen == [item.id for item in found]
    for group in groups:
        assert size(group) <= limit or len(sentences(group[0].text)) == 1


@settings(max_examples=30)
@given(st.integers(2, 60), st.integers(150, 600))
def test_a_piece_that_does_not_fit_is_cut_at_sentence_ends_with_overlap(length: int, limit: int) -> None:
    (whole,) = [admit(item) for item in passages(1, length)]
    parts = [group[0] for group in one_each([whole], COUNTER, limit)]
    cuts = [whole.exact[span.start : span.end] for span in sentences(whole.exact)]
    read = [
        [part.quote(kept)[span.start : span.end] for kept in part.kept for span in sentences(part.quote(kept))]
        for part in parts
    ]
    assert all(sentence in cuts for part in read for sentence in part)
    assert list(dict.fromkeys(sentence for part in read for sentence in part)) == cuts
    for before, after in itertools.pairwise(read):
        assert after[0] == before[-1] or len(before) == 1


def test_a_sentence_longer_than_a_prompt_is_not_lost() -> None:
    text = "A " + "very " * 400 + "long sentence. A short one."
    parts = one_each([evidence(text)], COUNTER, 100)
    assert len(parts) == 2
    assert "short one" in parts[-1][0].text


def test_units_of_conflict_are_never_parted() -> None:
    one, other = evidence("Five days.", "a"), evidence("Six days.", "b")
    linked = [admit(passage("x", "c")), one, other]
    marked = [linked[0], replace(one, conflicts=(other.id,)), replace(other, conflicts=(one.id,))]
    assert [len(unit) for unit in units(marked)] == [1, 2]
    assert any(len(group) == 2 for group in pack(marked, COUNTER, 30))


@given(st.lists(st.integers(1, 300), min_size=2, max_size=20), st.integers(20, 400))
def test_every_level_of_a_tree_is_smaller_than_the_one_before(lengths: list[int], limit: int) -> None:
    texts = ["word " * length + "end." for length in lengths]
    groups = pack_texts(texts, COUNTER, limit)
    assert sum(len(group) for group in groups) == len(texts)
    assert len(groups) <= (len(texts) + 1) // 2
