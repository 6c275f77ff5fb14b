"""Chunks by their place in a document, and hits beyond the best ones, in both indexes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.access import Caller
from assistant.core.evidence import Place
from assistant.core.text import Span
from assistant.store import Store
from assistant.store.chunk_cache import best
from assistant.store.documents import document_id
from tests.store.filling import ANN, BOB, EVE, draft, put

TEXT = "Leave is 25 days. Sick leave needs a note. Parents get 30 days of leave."
DOCUMENT = document_id("acme", "handbook", "leave.md")


def at(start: int, end: int, *, version: int = 1, document: str = DOCUMENT) -> Place:
    return Place(document, version, Span(start, end))


async def texts(store: Store, *places: Place, caller: Caller = ANN, within: frozenset[str] | None = None) -> list[str]:
    found = await store.index.chunks_at(places, caller, within, 9)
    passages = await store.index.passages(found, caller)
    return [passages[chunk].text for chunk in found]


async def test_the_chunks_that_a_place_overlaps_are_found_in_the_order_of_the_places(store: Store) -> None:
    await put(store, draft(TEXT))
    await put(store, draft("Something else entirely.", "other.md"))
    assert await texts(store, at(50, 55), at(3, 20)) == [
        "Parents get 30 days of leave.",
        "Leave is 25 days.",
        "Sick leave needs a note.",
    ]
    assert await texts(store, at(0, 17)) == ["Leave is 25 days."]
    assert await texts(store) == []
    assert len(await store.index.chunks_at([at(0, 10**6)], ANN, None, 2)) == 2
    assert await store.index.chunks_at([at(0, 10**6)], ANN, None, 0) == []


async def test_a_place_is_found_only_by_who_may_read_it_now(store: Store) -> None:
    await put(store, draft(TEXT, access=["hr"]))
    assert await texts(store, at(0, 5)) == []
    assert await texts(store, at(0, 5), caller=EVE) == []
    assert await texts(store, at(0, 5), caller=BOB) == ["Leave is 25 days."]
    assert await texts(store, at(0, 5), caller=BOB, within=frozenset({"handbook"})) == ["Leave is 25 days."]
    assert await texts(store, at(0, 5), caller=BOB, within=frozenset({"other"})) == []
    assert await texts(store, at(0, 5), caller=BOB, within=frozenset()) == []


async def test_only_the_current_version_of_a_live_document_has_places(store: Store) -> None:
    await put(store, draft(TEXT))
    await put(store, draft("Leave is 28 days."))
    assert await texts(store, at(0, 5)) == []
    assert await texts(store, at(0, 5, version=2)) == ["Leave is 28 days."]
    await store.documents.delete("acme", "handbook", "leave.md")
    assert await texts(store, at(0, 5, version=2)) == []


@pytest.mark.parametrize(
    "place",
    [
        at(0, 9, document="d" + "0" * 20),
        at(0, 9, document=""),
        at(0, 9, document="\0"),
        at(0, 9, document="\ud800"),
        at(0, 9, document="' OR 1=1 --"),
        at(0, 9, version=0),
        at(0, 9, version=-1),
        at(0, 9, version=2**70),
        at(10**6, 10**7),
        at(2**70, 2**71),
        at(5, 5, document="x" * 10**5),
    ],
)
async def test_places_that_never_were_are_harmless(store: Store, place: Place) -> None:
    await put(store, draft(TEXT))
    assert await texts(store, place) == []
    assert await texts(store, place, at(0, 2**70), place) == [
        "Leave is 25 days.",
        "Sick leave needs a note.",
        "Parents get 30 days of leave.",
    ]


async def test_very_many_places_are_one_query_over_the_first(store: Store) -> None:
    await put(store, draft(TEXT))
    assert await texts(store, at(0, 5), *(at(n, n + 1, document=f"d{n}") for n in range(5000))) == ["Leave is 25 days."]


async def test_scores_of_chunks_beyond_the_best_are_the_same_as_in_a_longer_search(store: Store) -> None:
    for number in range(8):
        await put(store, draft("Leave " + "and more words " * number + "here.", f"{number}.md"))
    longer = await store.index.search_words(["leav"], ANN, None, 50)
    assert await store.index.search_words(["leav"], ANN, None, 2, [longer[0].chunk, longer[6].chunk, 10**9]) == [
        longer[0],
        longer[1],
        longer[6],
    ]
    assert await store.index.search_words(["nothing"], ANN, None, 2, [longer[0].chunk]) == []


async def test_cosines_of_chunks_beyond_the_best_obey_rights_too(store: Store) -> None:
    await put(store, draft("One. Two. Three."))
    await put(store, draft("Secret.", "s.md", access=["hr"]))
    ids = [chunk.id for chunk in await store.documents.chunks_without_vectors("e", 9)]
    await store.documents.put_vectors("e", ids, np.array([[1, 0], [0.8, 0.6], [0, 1], [0, 1]], np.float32))
    query = np.array([1, 0], np.float32)

    async def found(caller: Caller) -> list[tuple[int, float]]:
        hits = await store.index.search_vectors("e", query, caller, None, 1, [ids[2], ids[3]])
        return [(hit.chunk, round(hit.score, 5)) for hit in hits]

    assert await found(ANN) == [(ids[0], 1), (ids[2], 0)]
    assert await found(BOB) == [(ids[0], 1), (ids[2], 0), (ids[3], 0)]
    assert await found(replace(ANN, tenant="nobody")) == []


@given(
    st.lists(st.sampled_from([0.5, 1.0, 1.5, 2.0]), max_size=30),
    st.integers(-1, 12),
    st.lists(st.integers(-3, 40), max_size=6),
)
def test_what_is_asked_for_comes_behind_the_best(scores: list[float], limit: int, also: list[int]) -> None:
    hits = [hit.chunk for hit in best(np.arange(len(scores)), np.array(scores), limit, also)]
    order = sorted(range(len(scores)), key=lambda row: (-scores[row], row))
    first = order[: max(limit, 0)]
    rest = [row for row in order[len(first) :] if row in also] if limit > 0 else []
    assert hits == first + rest
