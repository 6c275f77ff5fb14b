"""Documents: versions, metadata, deletion, vectors that wait."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from assistant.core.text import Span
from assistant.errors import BadInput, NotFound
from assistant.interfaces import ChunkDraft, Lane
from assistant.store import Store
from assistant.store.documents import document_id
from tests.store.filling import draft, find, put

LEAVE = document_id("acme", "handbook", "leave.md")


async def test_a_new_text_makes_a_version_and_the_old_one_stays(store: Store) -> None:
    assert await put(store, draft("Employees get 20 days.")) == 1
    assert await put(store, draft("Employees get 25 days.")) == 2
    assert await store.documents.version_text(LEAVE, 1) == "Employees get 20 days."
    assert await store.documents.version_text(LEAVE, 2) == "Employees get 25 days."
    assert await find(store, "employees days") == ["Employees get 25 days."]


async def test_the_same_text_with_other_metadata_keeps_its_number(store: Store) -> None:
    first = draft("Employees get 20 days.")
    await put(store, first)
    assert await put(store, replace(first, date=date(2024, 5, 1), access=frozenset({"hr"}))) == 1
    assert await find(store, "employees") == []


async def test_fingerprints_name_the_live_documents_of_one_collection(store: Store) -> None:
    await put(store, draft("One.", "a.md"))
    await put(store, draft("Two.", "b.md"))
    await put(store, draft("Three.", "c.md"), collection="other")
    await put(store, draft("Four.", "d.md"), tenant="rival")
    await store.documents.delete("acme", "handbook", "b.md")
    assert await store.documents.fingerprints("acme", "handbook") == {"a.md": draft("One.").sha256}


async def test_a_deleted_document_is_not_found_and_keeps_its_text(store: Store) -> None:
    await put(store, draft("Employees get 20 days."))
    assert await store.documents.delete("acme", "handbook", "leave.md")
    assert not await store.documents.delete("acme", "handbook", "leave.md")
    assert await find(store, "employees") == []
    assert await store.documents.version_text(LEAVE, 1) == "Employees get 20 days."


async def test_a_deleted_document_can_come_back(store: Store) -> None:
    await put(store, draft("Employees get 20 days."))
    await store.documents.delete("acme", "handbook", "leave.md")
    assert await put(store, draft("Employees get 20 days.")) == 1
    assert await find(store, "employees") == ["Employees get 20 days."]


async def test_an_unknown_version_is_not_found(store: Store) -> None:
    with pytest.raises(NotFound):
        await store.documents.version_text(LEAVE, 1)


async def test_chunks_wait_for_vectors_oldest_first(store: Store) -> None:
    await put(store, draft("One is <b>bold</b>. Two is plain. Three."))
    waiting = await store.documents.chunks_without_vectors("e", 2)
    assert [chunk.text for chunk in waiting] == ["Leave\nSection\nOne is bold.", "Leave\nSection\nTwo is plain."]
    await store.documents.put_vectors("e", [chunk.id for chunk in waiting], np.eye(2, 4, dtype=np.float32))
    rest = await store.documents.chunks_without_vectors("e", 10)
    assert [chunk.text for chunk in rest] == ["Leave\nSection\nThree."]
    assert len(await store.documents.chunks_without_vectors("other", 10)) == 3


async def test_lanes_share_the_chunks_out(store: Store) -> None:
    await put(store, draft("One. Two. Three. Four. Five."))
    lanes = [await store.documents.chunks_without_vectors("e", 10, Lane(number, 3)) for number in range(3)]
    everything = await store.documents.missing_vectors("e", 10)
    assert [[chunk.id % 3 for chunk in lane] for lane in lanes] == [[n] * len(lanes[n]) for n in range(3)]
    assert sorted(chunk.id for lane in lanes for chunk in lane) == everything
    assert len(everything) == 5
    number = everything[0] % 3
    first, *rest = lanes[number]
    await store.documents.put_vectors("e", [first.id], np.eye(1, 4, dtype=np.float32))
    assert await store.documents.chunks_without_vectors("e", 10, Lane(number, 3)) == rest
    assert await store.documents.missing_vectors("e", 10) == [id_ for id_ in everything if id_ != first.id]
    assert await store.documents.chunks_without_vectors("e", 10, Lane(number, 3, rest[0].id)) == rest[1:]
    assert await store.documents.missing_vectors("e", 10, everything[-2]) == [everything[-1]]
    assert await store.documents.missing_vectors("e", 2) == [id_ for id_ in everything if id_ != first.id][:2]
    assert await store.documents.newest_chunk() == everything[-1]


async def test_of_no_chunks_none_is_the_newest(store: Store) -> None:
    assert await store.documents.newest_chunk() == 0


async def test_unchanged_chunks_keep_their_vectors_in_the_next_version(store: Store) -> None:
    await put(store, draft("One stays. Two goes. Three stays."))
    waiting = await store.documents.chunks_without_vectors("e", 10)
    await store.documents.put_vectors("e", [chunk.id for chunk in waiting], np.eye(3, dtype=np.float32))
    await put(store, draft("A new one. One stays. Three stays."))
    assert [chunk.text for chunk in await store.documents.chunks_without_vectors("e", 10)] == [
        "Leave\nSection\nA new one."
    ]
    assert await find(store, "stays") == ["One stays.", "Three stays."]


async def test_vectors_of_chunks_that_are_gone_are_ignored(store: Store) -> None:
    await put(store, draft("One."))
    waiting = await store.documents.chunks_without_vectors("e", 10)
    await put(store, draft("Other."))
    await store.documents.put_vectors("e", [waiting[0].id, 999_999], np.eye(2, dtype=np.float32))
    assert [chunk.text for chunk in await store.documents.chunks_without_vectors("e", 10)] == ["Leave\nSection\nOther."]


@pytest.mark.parametrize("wrong", [np.ones((2, 3)), np.full((1, 3), np.nan), np.ones(3)])
async def test_vectors_of_a_wrong_form_are_refused(store: Store, wrong: np.ndarray) -> None:
    with pytest.raises(BadInput):
        await store.documents.put_vectors("e", [1], wrong.astype(np.float32))


@pytest.mark.parametrize("text", ["a\x00b", "lone \ud800 surrogate"])
async def test_text_that_no_database_holds_is_refused(store: Store, text: str) -> None:
    with pytest.raises(BadInput):
        await put(store, draft(text))
    assert await store.documents.fingerprints("acme", "handbook") == {}


async def test_a_span_outside_the_text_and_no_access_are_refused(store: Store) -> None:
    short = draft("Short.")
    with pytest.raises(BadInput):
        await put(store, replace(short, chunks=(ChunkDraft(Span(0, 99), terms=("x",)),)))
    with pytest.raises(BadInput):
        await put(store, replace(short, access=frozenset()))


async def test_a_megabyte_of_emoji_and_chinese_keeps_its_offsets(store: Store) -> None:
    text = "😀年假二十天。\n" * 60_000
    last = Span(len(text) - 8, len(text) - 1)
    large = replace(draft("x"), text=text, chunks=(ChunkDraft(last, terms=("年假", "二十", "😀")),))
    await put(store, large)
    assert await find(store, "年假") == ["😀年假二十天。"]
    assert await store.documents.version_text(LEAVE, 1) == text


async def test_the_state_counts_what_can_be_found(store: Store) -> None:
    await put(store, draft("One. Two.", "a.md"))
    await put(store, draft("Three.", "b.md"))
    await store.documents.delete("acme", "handbook", "b.md")
    state = await store.state()
    assert (state["documents"], state["chunks"]) == (1, 2)


async def test_the_same_uri_read_in_twice_at_once_makes_two_versions(store: Store) -> None:
    numbers = await asyncio.gather(put(store, draft("One.")), put(store, draft("Two.")))
    assert sorted(numbers) == [1, 2]
    assert len(await find(store, "one two")) == 1
