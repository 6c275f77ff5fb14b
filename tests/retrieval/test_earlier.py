"""Evidence of earlier turns: what still stands is scored again and may come back, but never before what is found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.access import Caller
from assistant.core.evidence import Passage, Place
from assistant.core.text import Span
from assistant.retrieval.embedders import HashingEmbedder
from assistant.retrieval.hybrid import FusionPolicy, HybridRetriever, favour, fuse
from assistant.retrieval.memory import MemoryIndex
from tests.making import passage, source

BOB = Caller("acme", "bob")
EMBEDDER = HashingEmbedder()
SCORES = st.dictionaries(st.integers(1, 30), st.floats(0, 1, allow_nan=False), min_size=1, max_size=30)
QUESTION = "blue parking permits of visitors"
CITED = "The nursery room opens at seven and takes children from two years on."


def place(document: str, start: int = 0, end: int = 10, version: int = 1) -> Place:
    return Place(document, version, Span(start, end))


async def office(*more: Passage, vectors: bool = True) -> MemoryIndex:
    """Three documents about parking, forty that only touch the question, more than a search of ten hits sees, a nursery."""
    index = MemoryIndex()
    passages = [passage(f"Parking permits of hall {n} are blue.", f"hall{n}") for n in range(3)]
    passages += [
        passage(f"Visitors of day {n} sign the book at the entrance and wear a badge.", f"p{n}") for n in range(40)
    ]
    passages += [passage(CITED, "cited"), *more]
    ids = [index.add("acme", each) for each in passages]
    if vectors:
        index.put_vectors(EMBEDDER.name, ids, await EMBEDDER.embed_passages([each.text for each in passages]))
    return index


async def documents(
    index: MemoryIndex, question: str, earlier: Sequence[Place], *, caller: Caller = BOB, within: Sequence[str] = ()
) -> list[str]:
    policy = FusionPolicy(pool=10)
    retriever = HybridRetriever(index, EMBEDDER, policy)
    collections = frozenset(within) or None
    found = await retriever.search([question], caller, collections=collections, limit=10, earlier=earlier)
    return [each.source.document for each in found]


@pytest.mark.parametrize("vectors", [True, False])
async def test_a_cited_passage_comes_back_when_no_search_brings_it(vectors: bool) -> None:
    index = await office(vectors=vectors)
    assert "cited" not in await documents(index, QUESTION, [])
    assert "cited" in await documents(index, QUESTION, [place("cited")])


async def test_chinese_passages_come_back_too() -> None:
    index = await office(passage("托儿所七点开门，接收两岁以上的孩子。", "幼儿"))
    assert "幼儿" in await documents(index, QUESTION, [place("幼儿")])


async def test_what_the_question_finds_itself_stays_before_it() -> None:
    index = await office(passage("The front desk stamps bicycle passes.", "desk"))
    found = await documents(index, "who stamps bicycle passes of visitors", [place("cited")])
    assert found[0] == "desk"
    assert found.index("desk") < found.index("cited")


async def test_a_cited_passage_that_the_question_meets_keeps_its_place() -> None:
    index = await office()
    question = "when does the nursery room open"
    assert (await documents(index, question, []))[0] == "cited"
    assert (await documents(index, question, [place("cited")]))[0] == "cited"


@pytest.mark.parametrize(
    "gone",
    [
        place("cited", version=2),
        place("cited", 5000, 6000),
        place("never was"),
        place(""),
        place("\ud800"),
        place("cited", version=-(2**70)),
        place("cited", 2**70, 2**71),
    ],
)
async def test_places_where_nothing_stands_change_nothing(gone: Place) -> None:
    index = await office()
    assert await documents(index, QUESTION, [gone] * 3) == await documents(index, QUESTION, [])


async def test_a_place_gives_no_right_to_read_it() -> None:
    board = replace(source("board"), access=frozenset({"board"}))
    index = await office(passage("The board meets in room nine.", "board", version=board))
    asked = (QUESTION, [place("board")])
    assert "board" not in await documents(index, *asked)
    member = replace(BOB, groups=frozenset({"everyone", "board"}))
    assert "board" in await documents(index, *asked, caller=member)
    assert await documents(index, *asked, caller=replace(BOB, tenant="rival")) == []


async def test_a_place_outside_the_asked_collections_stays_away() -> None:
    index = await office(passage("Trams stop here.", "tram", version=replace(source("tram"), collection="town")))
    assert "tram" not in await documents(index, QUESTION, [place("tram")], within=["handbook"])
    assert "tram" in await documents(index, QUESTION, [place("tram")], within=["handbook", "town"])


async def test_only_the_latest_places_count() -> None:
    index = await office()
    older = [*(place(f"gone{n}") for n in range(24)), place("cited")]
    assert "cited" not in await documents(index, QUESTION, older)
    assert "cited" in await documents(index, QUESTION, older[::-1])


async def test_a_question_without_a_word_of_its_own_brings_earlier_evidence_alone() -> None:
    index = await office(vectors=False)
    assert await documents(index, "and the", [place("cited")]) == ["cited"]
    assert await documents(index, "", [place("cited")]) == []


async def test_scores_stay_within_bounds_and_ordered() -> None:
    retriever = HybridRetriever(await office(), EMBEDDER, FusionPolicy(pool=10, earlier=5.0, behind=1.0))
    earlier = [place("cited"), *(place(f"p{n}") for n in range(40))]
    scores = [each.score for each in await retriever.search(["parking"], BOB, limit=50, earlier=earlier)]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


@given(SCORES, st.lists(st.integers(1, 30)), st.floats(0, 1), st.floats(0, 1))
def test_favour_raises_only_the_chosen_never_lowers_and_never_makes_a_new_first(
    ranked: dict[int, float], chosen: list[int], by: float, behind: float
) -> None:
    known = [chunk for chunk in chosen if chunk in ranked]
    raised = favour(ranked, known, by=by, behind=behind)
    assert raised.keys() == ranked.keys()
    assert max(raised.values()) == max(ranked.values())
    for chunk, score in ranked.items():
        assert score <= raised[chunk] <= score + (by if chunk in known else 0) + 1e-9
        assert raised[chunk] <= max(score, behind * max(ranked.values()))


@given(SCORES, SCORES, st.sets(st.integers(1, 60), max_size=9))
def test_chunks_ranked_anyway_do_not_move_the_others(
    words: dict[int, float], cosines: dict[int, float], also: set[int]
) -> None:
    plain = fuse(words, cosines, FusionPolicy(vectors=0.45))
    more = fuse(words, cosines, FusionPolicy(vectors=0.45), also=also)
    assert {chunk: more[chunk] for chunk in plain} == plain
    assert more.keys() == plain.keys() | also
    assert all(more[chunk] <= max(plain.values()) for chunk in also)


@given(SCORES, SCORES)
def test_cosines_below_the_last_hit_do_not_move_the_others(words: dict[int, float], cosines: dict[int, float]) -> None:
    last = min(cosines.values())
    plain = fuse(words, cosines, FusionPolicy(vectors=0.45))
    below = fuse(words, cosines | {99: last - 0.5}, FusionPolicy(vectors=0.45), last=last)
    assert {chunk: below[chunk] for chunk in plain} == plain
