"""Hybrid search: fusion, rights, degraded modes and the score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.access import Caller
from assistant.errors import ModelUnavailable
from assistant.interfaces import Hit, Vectors
from assistant.retrieval.embedders import HashingEmbedder, choose_embedder
from assistant.retrieval.hybrid import FusionPolicy, HybridRetriever, fuse, mean_vector, policy_for, strength
from assistant.retrieval.memory import MemoryIndex
from tests.making import passage, source

BOB = Caller("acme", "bob")
TEXTS = [
    "Employees get 25 days of annual leave each year.",
    "Contractors have no paid leave.",
    "Expenses are reimbursed within 30 days of the trip.",
    "正式员工每年享有十五天年假。",
    "合同工没有带薪年假。",
    "The VPN client is in the software centre.",
]
SCORES = st.dictionaries(st.integers(1, 30), st.floats(0, 40, allow_nan=False), max_size=30)
COSINES = st.dictionaries(st.integers(1, 30), st.floats(-1, 1, allow_nan=False), max_size=30)


class Broken(HashingEmbedder):
    """An embedder whose endpoint is down."""

    async def embed_query(self, text: str) -> Vectors:
        raise ModelUnavailable("down")


class NoWords(MemoryIndex):
    """An index whose word side finds nothing."""

    async def search_words(
        self,
        terms: Sequence[str],
        caller: Caller,
        collections: frozenset[str] | None,
        limit: int,
        also: Sequence[int] = (),
    ) -> list[Hit]:
        return []


class Resized(HashingEmbedder):
    """An embedder whose vectors have another length than those that are stored under its name."""

    async def embed_query(self, text: str) -> Vectors:
        return np.ones(7, dtype=np.float32)


async def filled(embedder: HashingEmbedder | None, index: MemoryIndex | None = None) -> MemoryIndex:
    index = index or MemoryIndex()
    ids = [index.add("acme", passage(text, f"d{number}")) for number, text in enumerate(TEXTS)]
    if embedder:
        index.put_vectors(embedder.name, ids, await embedder.embed_passages(TEXTS))
    return index


async def documents(retriever: HybridRetriever, *queries: str) -> list[str]:
    return [item.source.document for item in await retriever.search(queries, BOB)]


@pytest.mark.parametrize("embedder", [None, HashingEmbedder(), Broken(), Resized()])
@pytest.mark.parametrize(
    ("question", "document"), [("how much annual leave", "d0"), ("合同工有年假吗？", "d4"), ("VPN怎么连接", "d5")]
)
async def test_the_right_passage_is_first_with_vectors_without_and_when_they_fail(
    embedder: HashingEmbedder | None, question: str, document: str
) -> None:
    index = await filled(embedder)
    assert (await documents(HybridRetriever(index, embedder), question))[0] == document


async def test_words_alone_serve_until_vectors_are_there() -> None:
    index = await filled(None)
    assert (await documents(HybridRetriever(index, HashingEmbedder()), "annual leave"))[0] == "d0"


async def test_vectors_alone_serve_when_no_word_is_shared() -> None:
    embedder = HashingEmbedder()
    index = await filled(embedder, NoWords())
    found = await HybridRetriever(index, embedder).search(["annual leave of employees"], BOB)
    assert found[0].source.document == "d0"
    assert 0 < found[0].score <= 1


async def test_a_later_wording_helps_and_does_not_take_over() -> None:
    retriever = HybridRetriever(await filled(None))
    assert (await documents(retriever, "is it paid", "leave of contractors"))[0] == "d1"
    assert (await documents(retriever, "annual leave", "VPN client software centre"))[0] == "d0"


async def test_a_wording_given_twice_counts_once() -> None:
    retriever = HybridRetriever(await filled(None))
    once = await retriever.search(["annual leave"], BOB)
    assert await retriever.search(["annual leave", " annual leave ", "", "annual leave"], BOB) == once


async def test_what_may_not_be_read_is_not_found() -> None:
    embedder = HashingEmbedder()
    index = await filled(embedder)
    hidden = passage("Annual leave of directors is 40 days.", version=replace(source("x"), access=frozenset({"board"})))
    chunk = index.add("acme", hidden)
    index.put_vectors(embedder.name, [chunk], await embedder.embed_passages([hidden.text]))
    retriever = HybridRetriever(index, embedder)
    assert "x" not in await documents(retriever, "annual leave of directors")
    board = replace(BOB, groups=frozenset({"everyone", "board"}))
    assert (await retriever.search(["annual leave of directors"], board))[0].source.document == "x"
    assert await retriever.search(["annual leave"], replace(BOB, tenant="other")) == []


@pytest.mark.parametrize("queries", [(), ("",), ("  ", "\n"), ("？？", "the of")])
async def test_a_search_for_nothing_finds_nothing_by_words(queries: tuple[str, ...]) -> None:
    assert await HybridRetriever(await filled(None)).search(queries, BOB) == []


async def test_a_huge_question_is_searched_like_any_other() -> None:
    embedder = HashingEmbedder()
    retriever = HybridRetriever(await filled(embedder), embedder)
    found = await retriever.search(["annual leave employees " * 5000, "年假" * 5000], BOB, limit=3)
    assert len(found) == 3


async def test_scores_fall_stay_within_bounds_and_limit_holds() -> None:
    embedder = HashingEmbedder()
    retriever = HybridRetriever(await filled(embedder), embedder)
    found = await retriever.search(["days of annual leave"], BOB, limit=4)
    scores = [item.score for item in found]
    assert len(found) == 4
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert await retriever.search(["days of annual leave"], BOB, limit=0) == []


async def test_a_question_that_the_documents_meet_scores_higher_than_one_they_do_not() -> None:
    retriever = HybridRetriever(await filled(None))
    met = await retriever.search(["how many days of annual leave do employees get"], BOB)
    unmet = await retriever.search(["how many moons orbit the planet each year"], BOB)
    assert met[0].score > unmet[0].score * 1.3


async def test_the_share_of_the_vectors_can_be_set() -> None:
    embedder = HashingEmbedder()
    index = await filled(embedder)
    words = await HybridRetriever(index, embedder, FusionPolicy(vectors=0.0)).search(["annual leave"], BOB)
    alone = await HybridRetriever(index).search(["annual leave"], BOB)
    assert [item.id for item in words[:2]] == [item.id for item in alone[:2]]


@given(SCORES, COSINES, st.floats(0, 1))
def test_fusion_covers_both_sides_within_bounds(
    words: dict[int, float], vectors: dict[int, float], share: float
) -> None:
    fused = fuse(words, vectors, FusionPolicy(vectors=share))
    assert fused.keys() == words.keys() | vectors.keys()
    assert all(0 <= score <= 1 + 1e-9 for score in fused.values())


@given(SCORES, COSINES)
def test_fusion_keeps_an_order_on_which_both_sides_agree(words: dict[int, float], vectors: dict[int, float]) -> None:
    fused = fuse(words, vectors, FusionPolicy(vectors=0.45))
    both = sorted(words.keys() & vectors.keys())
    for left in both:
        for right in both:
            if words[left] >= words[right] and vectors[left] >= vectors[right]:
                assert fused[left] >= fused[right] - 1e-9


@given(SCORES, st.integers(1, 20))
def test_one_side_alone_keeps_its_order(words: dict[int, float], times: int) -> None:
    fused = fuse({chunk: score * times for chunk, score in words.items()}, {}, FusionPolicy(vectors=0.45))
    ranked = sorted(words, key=lambda chunk: words[chunk])
    assert [fused[chunk] for chunk in ranked] == sorted(fused.values())


@given(SCORES, COSINES, st.integers(0, 50))
def test_strength_lies_between_zero_and_one(words: dict[int, float], vectors: dict[int, float], terms: int) -> None:
    assert 0 <= strength(words, vectors, terms=terms) <= 1


def test_the_scale_of_the_vectors_begins_at_their_level() -> None:
    words, cosines = {1: 10.0, 2: 9.0}, {1: 0.80, 2: 0.90, 3: 0.78}
    flat = fuse(words, cosines, FusionPolicy(vectors=0.5, level=0.0))
    steep = fuse(words, cosines, FusionPolicy(vectors=0.5, level=0.77))
    assert flat[2] - flat[1] < 0.01
    assert steep[2] - steep[1] > 0.3
    assert fuse(words, cosines, FusionPolicy(vectors=0.5))[3] == 0


def test_built_in_embedders_bring_their_measured_policy() -> None:
    use, other = choose_embedder("use"), HashingEmbedder()
    assert policy_for(use).level == 0
    assert policy_for(other) == policy_for(None) == FusionPolicy()


def test_strength_does_not_depend_on_the_level_of_the_cosines() -> None:
    low = dict.fromkeys(range(30), 0.1) | {99: 0.55}
    high = dict.fromkeys(range(30), 0.8) | {99: 0.9}
    assert strength({}, low, terms=3) == pytest.approx(strength({}, high, terms=3))
    assert strength({}, {}, terms=3) == 0


def test_the_mean_of_vectors_is_a_unit_vector() -> None:
    rows = [np.array([1, 0], dtype=np.float32), np.array([0, 1], dtype=np.float32)]
    assert np.allclose(mean_vector(rows, [1, 0.5]), [0.8944, 0.4472], atol=1e-3)
    assert np.allclose(mean_vector([rows[0], -rows[0]], [1, 1]), [0, 0])


def test_a_bent_word_scale_lets_the_vectors_decide_among_what_shares_words() -> None:
    words, cosines = {1: 10.0, 2: 5.0, 3: 0.5}, {1: 0.80, 2: 0.88, 3: 0.70}
    straight = fuse(words, cosines, FusionPolicy(vectors=0.5, level=0.7))
    bent = fuse(words, cosines, FusionPolicy(vectors=0.5, level=0.7, bend=0.5))
    assert straight[1] > straight[2]
    assert bent[2] > bent[1] > bent[3]
    assert bent[1] == straight[1]


async def test_wrong_vectors_do_not_end_a_search_of_words() -> None:
    """Vectors of another length than the stored ones: another model under the same name."""
    index = await filled(HashingEmbedder())
    words = await HybridRetriever(await filled(None)).search(["annual leave"], BOB)
    assert await HybridRetriever(index, Resized()).search(["annual leave"], BOB) == words
