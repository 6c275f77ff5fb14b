"""Search in a large PostgreSQL library: candidates instead of all postings, an index over vectors, the same rights."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import pytest_asyncio
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text

from assistant.core.attachments import SHARED, files_of
from assistant.core.text import Span
from assistant.interfaces import ChunkDraft, DocumentDraft, Vectors
from assistant.store import Store
from assistant.store.reading_figures import KEPT_S, Figures, ReadingFigures, in_common
from assistant.store.rights import rights
from assistant.store.search_postgresql import Bounds, PostgresqlPassageIndex
from assistant.store.types import token
from assistant.store.vector_indexes import VectorIndexes, index_name, literal
from assistant.store.vector_search import search_exactly, search_near
from assistant.store.word_search import choose, search_all
from tests.store.filling import ANN, BOB, EVE, draft, put

WHOLE = Bounds(words=10**9, vectors=10**9)
BOUNDED = Bounds(words=0, vectors=0, candidates=10_000)


@pytest_asyncio.fixture
async def store(postgresql_url: str) -> AsyncIterator[Store]:
    """A store in PostgreSQL, where no index over vectors is left."""
    async with Store(postgresql_url) as opened:
        yield opened
        async with opened.database.write() as connection:
            query = "SELECT relname FROM pg_class WHERE relname LIKE 'ix_vectors_near_%'"
            for name in (await connection.scalars(text(query))).all():
                await connection.execute(text(f"DROP INDEX {name}"))


async def _put_terms(store: Store, documents: Sequence[Sequence[str]], access: str = "everyone") -> None:
    for number, terms in enumerate(documents):
        chunk, uri = ChunkDraft(Span(0, 1), terms=tuple(terms)), f"{access}{number:03}"
        rows = (chunk,)
        await put(store, DocumentDraft(uri, "t", "x", uri, "text/plain", "en", rows, access=frozenset({access})))


def _documents(count: int) -> list[list[str]]:
    rng = np.random.default_rng(5)
    return [["all", *(f"w{word}" for word in rng.zipf(1.3, 30) % 40)][: 4 + n % 28] for n in range(count)]


async def test_bounded_search_by_words_ranks_as_the_exact_one_where_all_are_candidates(store: Store) -> None:
    await _put_terms(store, _documents(60))
    await _put_terms(store, [["w7", "w11", "all"]] * 20, access="hr")
    whole, bounded = (PostgresqlPassageIndex(store.database, bounds) for bounds in (WHOLE, BOUNDED))
    for query in (["w7", "w11", "w23"], ["all"], ["all", "w3", "missing"], ["missing"]):
        expected = await whole.search_words(query, ANN, None, 20)
        found = await bounded.search_words(query, ANN, None, 20)
        assert [hit.chunk for hit in found] == [hit.chunk for hit in expected], query
        assert [hit.score for hit in found] == pytest.approx([hit.score for hit in expected]), query


async def test_few_candidates_still_bring_what_holds_the_rarest_term(store: Store) -> None:
    await _put_terms(store, [["all", "many", "rare"], *([["all", "many"]] * 30), *([["all"]] * 30)])
    bounded = PostgresqlPassageIndex(store.database, Bounds(words=0, candidates=4))
    hits = await bounded.search_words(["all", "many", "rare"], ANN, None, 5)
    passages = await bounded.passages([hit.chunk for hit in hits], ANN)
    assert passages[hits[0].chunk].source.uri == "everyone000"
    assert len(hits) == 5
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


async def test_bounded_search_by_words_keeps_rights_and_what_is_asked_for_by_id(store: Store) -> None:
    await _put_terms(store, [["leav"] * n for n in range(1, 9)])
    await _put_terms(store, [["leav", "leav"]] * 5, access="hr")
    bounded = PostgresqlPassageIndex(store.database, BOUNDED)
    every = [hit.chunk for hit in await bounded.search_words(["leav"], BOB, None, 50)]
    own = [hit.chunk for hit in await bounded.search_words(["leav"], ANN, None, 50)]
    assert (len(every), len(own)) == (13, 8)
    assert await bounded.search_words(["leav"], EVE, None, 50) == []
    assert await bounded.search_words(["leav"], ANN, frozenset({"elsewhere"}), 50) == []
    also = await bounded.search_words(["leav"], ANN, None, 1, every)
    assert sorted(hit.chunk for hit in also) == sorted(own)


async def test_who_may_read_little_is_searched_for_by_document_with_the_same_result(store: Store) -> None:
    await _put_terms(store, _documents(40))
    await _put_terms(store, _documents(10), access="hr")
    caller = rights("postgresql", ANN, None)
    async with store.database.read() as connection:
        size = await ReadingFigures(10**9).of(connection, caller)
        ways = [Figures(size.chunks, size.mean, total) for total in (0.0, 1e9)]
        words, documents = [await search_all(connection, ["w1", "w7"], way, caller, 30, []) for way in ways]
    assert words == documents
    assert words


COUNTS = st.dictionaries(st.sampled_from(["a", "b", "c", "d", "e", "f"]), st.floats(0, 1), min_size=1)


@given(COUNTS, st.integers(1, 1000), st.integers(1, 100))
def test_rare_terms_have_few_chunks_together_and_something_is_always_looked_for(
    shares: dict[str, float], most: int, limit: int
) -> None:
    figures = Figures(10_000, 50, shares=shares)
    choice = choose(list(shares), figures, limit, most)
    rare = [part.strip("'") for part in choice.rare.split(" | ") if part]
    assert choice.rare or choice.common
    assert sum(10_000 * shares[term] for term in rare) <= most
    assert [number is None for number in choice.frequent] == [term in rare for term in shares]


def test_rare_terms_come_alone_and_common_ones_in_pairs() -> None:
    figures = Figures(100_000, 50, shares={"often": 0.5, "common": 0.2, "usual": 0.1, "rare": 0.001})
    choice = choose(["often", "rare", "common", "usual", "unseen"], figures, 24, 3_000)
    assert (choice.rare, choice.common) == ("'unseen' | 'rare'", "('usual' & 'common')")
    assert choice.frequent == [50_000, None, 20_000, 10_000, None]


def test_one_common_term_alone_is_still_looked_for() -> None:
    choice = choose(["often"], Figures(100_000, 50, shares={"often": 0.5}), 24, 3_000)
    assert (choice.rare, choice.common, choice.frequent) == ("", "'often'", [50_000])


async def test_figures_are_of_what_may_be_read_and_kept_for_a_while(store: Store) -> None:
    await _put_terms(store, [["open", "both"]] * 4)
    await _put_terms(store, [["secret", "both"]] * 4, access="hr")
    now, caller = [0.0], rights("postgresql", ANN, None)
    figures = ReadingFigures(2, clock=lambda: now[0])
    async with store.database.read() as connection:
        first = await figures.of(connection, caller)
    assert (first.chunks, first.mean, first.shares) == (4, 2, {"open": 1.0, "both": 1.0})
    await put(store, draft("Another."))
    async with store.database.read() as connection:
        assert await figures.of(connection, caller) is first
        now[0] = KEPT_S
        assert (await figures.of(connection, caller)).chunks == 5


async def test_a_small_library_is_counted_anew_for_every_search(store: Store) -> None:
    await _put_terms(store, [["open"]] * 4)
    figures, caller = ReadingFigures(100, clock=lambda: 0.0), rights("postgresql", ANN, None)
    async with store.database.read() as connection:
        assert (await figures.of(connection, caller)).chunks == 4
    await put(store, draft("Another."))
    async with store.database.read() as connection:
        assert (await figures.of(connection, caller)).chunks == 5


def test_persons_and_sessions_with_the_same_library_have_the_same_figures() -> None:
    other = replace(ANN, user="somebody")
    shared = [rights("postgresql", who, frozenset({SHARED, files_of(f"c{n}")})) for n, who in enumerate((ANN, other))]
    assert in_common(shared[0]) == in_common(shared[1])
    assert in_common(shared[0]) != in_common(rights("postgresql", BOB, None))
    only = rights("postgresql", ANN, frozenset({files_of("c1")}))
    assert in_common(only)["collections"] == [files_of("c1")]


async def _put_vectors(store: Store, embedder: str, vectors: Vectors) -> None:
    waiting = await store.documents.chunks_without_vectors(embedder, len(vectors))
    await store.documents.put_vectors(embedder, [chunk.id for chunk in waiting], vectors[: len(waiting)])


def _unit(count: int, length: int) -> Vectors:
    rows = np.random.default_rng(1).standard_normal((count, length)).astype(np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


@pytest.mark.parametrize("embedder", ["model-1", "it's \\ :a; \u00e9"])
async def test_the_index_over_vectors_finds_what_the_exact_search_finds(store: Store, embedder: str) -> None:
    await _put_terms(store, [["x"]] * 80)
    await _put_terms(store, [["x"]] * 20, access="hr")
    rows = _unit(100, 16)
    await _put_vectors(store, embedder, rows)
    assert await VectorIndexes(store.database, 1).make(embedder, 16)
    for caller in (ANN, BOB):
        values = rights("postgresql", caller, None)
        nothing: list[int] = []
        asked = (embedder, rows[3] + rows[40], values, 10, nothing)
        async with store.database.read() as connection:
            near, exact = await search_near(connection, *asked), await search_exactly(connection, *asked)
            plan = await _plan(store, embedder, 16)
        assert near == exact
        assert index_name(embedder) in plan


async def _plan(store: Store, embedder: str, length: int) -> str:
    half = f"vector::halfvec({length})"
    query = f"EXPLAIN SELECT chunk FROM vectors WHERE embedder = {literal(embedder)} ORDER BY {half} <#> '{[0] * length}' LIMIT 3"
    async with store.database.read() as connection:
        await connection.exec_driver_sql("SET LOCAL enable_seqscan = off")
        await connection.exec_driver_sql("SET LOCAL enable_sort = off")
        return "\n".join((await connection.scalars(text(query.replace(":", "\\:")))).all())


async def test_an_index_that_finds_too_little_gives_way_to_the_exact_search(store: Store) -> None:
    await _put_terms(store, [["x"]] * 30)
    await _put_vectors(store, "model-2", _unit(30, 4))
    index = PostgresqlPassageIndex(store.database, BOUNDED)
    assert await VectorIndexes(store.database, 1).make("model-2", 4)
    nothing: list[int] = []
    asked = ("model-2", _unit(1, 4)[0], rights("postgresql", ANN, None), 31, nothing)
    async with store.database.read() as connection:
        assert await search_near(connection, *asked) is None
    assert len(await index.search_vectors("model-2", _unit(1, 4)[0], ANN, None, 31)) == 30


async def test_a_search_has_the_missing_index_made_and_then_goes_through_it(store: Store) -> None:
    await _put_terms(store, [["x"]] * 30)
    await _put_vectors(store, "model-3", _unit(30, 4))
    index = PostgresqlPassageIndex(store.database, Bounds(vectors=10))
    before = await index.search_vectors("model-3", _unit(1, 4)[0], ANN, None, 5)
    await asyncio.gather(*index._indexes._making.values())
    async with store.database.read() as connection:
        assert (await index._indexes.of(connection, "model-3")).ready
    assert await index.search_vectors("model-3", _unit(1, 4)[0], ANN, None, 5) == before
    assert await index.prepare("model-3")
    await index.close()


async def test_embedders_of_different_length_have_an_index_each_and_too_long_ones_none(store: Store) -> None:
    await _put_terms(store, [["x"]] * 12)
    for embedder, length in (("short", 3), ("long", 9), ("endless", 4001)):
        await _put_vectors(store, embedder, _unit(12, length))
    index = PostgresqlPassageIndex(store.database, Bounds(vectors=10))
    assert [await index.prepare(embedder) for embedder in ("short", "long", "endless", "none")] == [
        True,
        True,
        False,
        False,
    ]
    for embedder, length in (("short", 3), ("long", 9), ("endless", 4001)):
        assert len(await index.search_vectors(embedder, _unit(1, length)[0], ANN, None, 5)) == 5


async def test_an_index_that_was_left_unfinished_is_made_anew(store: Store) -> None:
    await _put_terms(store, [["x"]] * 12)
    await _put_vectors(store, "model-4", _unit(12, 3))
    indexes = VectorIndexes(store.database, 1)
    assert await indexes.make("model-4", 3)
    name = index_name("model-4")
    async with store.database.write() as connection:
        broken = "UPDATE pg_index SET indisvalid = false WHERE indexrelid = to_regclass(:name)"
        await connection.execute(text(broken), {"name": name})
        assert not (await indexes.of(connection, "model-4")).ready
    assert await indexes.make("model-4", 3)
    async with store.database.read() as connection:
        assert (await indexes.of(connection, "model-4")).ready


async def test_only_one_process_makes_an_index(store: Store) -> None:
    await _put_terms(store, [["x"]] * 12)
    await _put_vectors(store, "model-5", _unit(12, 3))
    async with store.database.read() as other:
        lock = text("SELECT pg_advisory_xact_lock(hashtext('vector index'), hashtext('model-5'))")
        await other.execute(lock)
        assert not await VectorIndexes(store.database, 1).make("model-5", 3)
    assert await VectorIndexes(store.database, 1).make("model-5", 3)


@given(st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=30))
def test_no_name_of_an_embedder_leaves_its_literal(name: str) -> None:
    inner = literal(name)[3:-1]
    assert all(char.isascii() and (char.isalnum() or char in "\\+") for char in inner)
    assert not any(one == "\\" and other != "+" for one, other in pairwise(inner))


@given(st.text(max_size=20))
def test_terms_need_no_quoting(term: str) -> None:
    assert not {"'", "\\"} & set(token(term))
