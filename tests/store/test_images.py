"""Images of documents: kept with each version, found with their chunks, given out under the rights of today."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest
from sqlalchemy import event, func, select

from assistant.core.access import EVERYONE, Caller
from assistant.core.evidence import Evidence, ImageRef, Region
from assistant.core.messages import Image
from assistant.core.text import Span, index_terms
from assistant.errors import BadInput
from assistant.interfaces import DocumentDraft, ImageDraft
from assistant.store import Store
from assistant.store.documents import document_id
from assistant.store.tables import images
from tests.store.filling import ANN, BOB, EVE, draft, found_evidence, plan_of, put

LEAVE = document_id("acme", "handbook", "leave.md")
PNG = b"\x89PNG picture one"
MAP = "[Image: The way to the canteen]"
CHART = "[图片：年假 表]"


def identity(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def illustrated(
    *contents: bytes, lines: tuple[str, ...] = (MAP, CHART), region: Region | None = (0.1, 0.2, 0.5, 0.75)
) -> DocumentDraft:
    """A document with one image for each content, its line and a sentence around it."""
    text = "\n".join(f"{line}\nSentence {n} about leave." for n, line in enumerate(lines))
    found = tuple(
        ImageDraft(content, "image/png", line[1:-1], Span(text.index(line), text.index(line) + len(line)), 3, region)
        for content, line in zip(contents, lines, strict=False)
    )
    return replace(draft(text), images=found)


async def passages_of(store: Store, words: str, caller: Caller = ANN) -> dict[str, tuple[ImageRef, ...]]:
    hits = await store.index.search_words(index_terms(words), caller, None, 10)
    found = await store.index.passages([hit.chunk for hit in hits], caller)
    return {passage.text: passage.images for passage in found.values()}


async def test_images_come_with_the_chunks_that_hold_their_captions(store: Store) -> None:
    await put(store, illustrated(PNG, b"two"))
    found = await passages_of(store, "canteen 年假 sentence leave")
    refs = found[MAP]
    assert refs == (ImageRef(identity(PNG), "image/png", MAP[1:-1], Span(0, len(MAP)), 3, (0.1, 0.2, 0.5, 0.75)),)
    assert [ref.id for ref in found[CHART]] == [identity(b"two")]
    assert found["Sentence 0 about leave."] == ()


async def test_one_query_reads_the_images_of_all_chunks(store: Store) -> None:
    for n in range(4):
        await put(store, replace(illustrated(PNG, b"two"), uri=f"{n}.md"))
    hits = await store.index.search_words(index_terms("canteen sentence leave"), ANN, None, 20)
    asked: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        asked.append(statement)

    engine = store.database.engine.sync_engine
    event.listen(engine, "before_cursor_execute", note)
    try:
        assert len(await store.index.passages([hit.chunk for hit in hits], ANN)) == len(hits) > 4
    finally:
        event.remove(engine, "before_cursor_execute", note)
    assert sum("images" in statement for statement in asked) == 1
    assert not any("content" in statement.split("FROM")[0] for statement in asked)


async def test_images_are_given_to_those_who_may_read_the_document_now(store: Store) -> None:
    await put(store, replace(illustrated(PNG), access=frozenset({"hr"})))
    ids = [identity(PNG), identity(b"unknown"), "a\x00b", "\ud800"]
    mine = await store.documents.images(BOB, LEAVE, 1, ids)
    assert mine == {identity(PNG): Image(identity(PNG), "image/png", PNG)}
    assert await store.documents.images(ANN, LEAVE, 1, ids) == {}
    assert await store.documents.images(EVE, LEAVE, 1, ids) == {}
    await put(store, replace(illustrated(PNG), access=frozenset({EVERYONE})))
    assert set(await store.documents.images(ANN, LEAVE, 1, ids)) == {identity(PNG)}
    await store.documents.delete("acme", "handbook", "leave.md")
    assert await store.documents.images(ANN, LEAVE, 1, ids) == {}


@pytest.mark.parametrize("number", [0, -1, 2, 2**31, 2**70])
async def test_versions_that_are_not_there_have_no_images(store: Store, number: int) -> None:
    await put(store, illustrated(PNG))
    assert await store.documents.images(ANN, LEAVE, number, [identity(PNG)]) == {}
    assert await store.documents.images(ANN, "d\x00", 1, [identity(PNG)]) == {}
    assert await store.documents.images(ANN, LEAVE, 1, []) == {}


async def test_another_picture_under_the_same_words_makes_a_version_and_the_old_one_stays(store: Store) -> None:
    assert await put(store, illustrated(PNG)) == 1
    assert await put(store, illustrated(PNG)) == 1
    assert await put(store, illustrated(b"another")) == 2
    assert await put(store, illustrated()) == 3
    both = [identity(PNG), identity(b"another")]
    assert [set(await store.documents.images(ANN, LEAVE, number, both)) for number in (1, 2, 3)] == [
        {identity(PNG)},
        {identity(b"another")},
        set(),
    ]


async def test_the_same_picture_twice_is_one_image_with_two_places(store: Store) -> None:
    await put(store, illustrated(PNG, PNG))
    found = await passages_of(store, "canteen 年假")
    assert found[MAP][0].id == found[CHART][0].id == identity(PNG)
    assert found[MAP][0].span != found[CHART][0].span
    assert len(await store.documents.images(ANN, LEAVE, 1, [identity(PNG)] * 3)) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"content": b""},
        {"media_type": "image/svg+xml"},
        {"caption": "a\x00b"},
        {"caption": "\ud800"},
        {"span": Span(0, 9_999)},
        {"region": (0.5, 0.1, 0.5, 0.2)},
        {"region": (-0.1, 0.0, 0.5, 0.2)},
        {"region": (0.0, 0.0, float("nan"), 1.0)},
    ],
)
async def test_images_that_cannot_be_kept_are_refused_and_nothing_is_stored(
    store: Store, wrong: dict[str, object]
) -> None:
    document = illustrated(PNG)
    image = replace(document.images[0], **wrong)  # type: ignore[arg-type]
    with pytest.raises(BadInput):
        await put(store, replace(document, images=(image,)))
    assert await store.documents.fingerprints("acme", "handbook") == {}
    async with store.database.read() as connection:
        assert await connection.scalar(select(func.count()).select_from(images)) == 0


async def test_evidence_gives_its_images_back(store: Store) -> None:
    await put(store, illustrated(PNG, b"two"))
    shown = await found_evidence(store, "canteen sentence leave")
    assert any(piece.images for piece in shown)
    assert not all(piece.images for piece in shown)
    turn = await _turn(store, shown)
    await put(store, illustrated())
    assert await store.conversations.evidence_of(turn) == shown


async def _turn(store: Store, shown: list[Evidence]) -> str:
    opened = await store.conversations.open(ANN, None)
    begun = await store.conversations.begin_turn(
        ANN, opened.id, turn="t1", client_id="c1", text="How many days?", mode="auto"
    )
    await store.conversations.save_plan(begun.turn, plan_of(shown), shown, ())
    return begun.turn
