"""Search: rights, tenants, collections, versions and hostile terms, in both indexes."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assistant.core.access import Caller
from assistant.core.text import Span
from assistant.errors import BadInput
from assistant.interfaces import ChunkDraft, DocumentDraft, Vectors
from assistant.store import Store
from assistant.store.chunk_cache import best, read_postings
from assistant.store.passages import MOST_TERMS, search_terms
from assistant.store.types import token
from assistant.store.vector_cache import Snapshot
from tests.store.filling import ANN, BOB, EVE, draft, find, put

OPERATORS = [
    '"',
    "AND",
    "OR",
    "NOT",
    "NEAR(a b)",
    "terms:x",
    "a*",
    "^a",
    "(",
    "'",
    "\\",
    "'a' & 'b'",
    "a:*",
    "!a",
    "--",
]


async def test_a_reader_finds_only_what_their_groups_may_read(store: Store) -> None:
    await put(store, draft("Salaries of all employees.", "secret.md", access=["hr"]))
    await put(store, draft("Salaries are paid monthly.", "open.md"))
    assert await find(store, "salaries", ANN) == ["Salaries are paid monthly."]
    assert set(await find(store, "salaries", BOB)) == {"Salaries of all employees.", "Salaries are paid monthly."}


async def test_hidden_documents_do_not_take_the_places_of_readable_ones(store: Store) -> None:
    for number in range(30):
        await put(store, draft("Salaries salaries salaries.", f"s{number}.md", access=["hr"]))
    await put(store, draft("A long sentence in which salaries are named once only.", "open.md"))
    hits = await store.index.search_words(["salari"], ANN, None, 3)
    assert len(hits) == 1


async def test_tenants_never_meet(store: Store) -> None:
    await put(store, draft("Acme leave."))
    await put(store, draft("Rival leave."), tenant="rival")
    assert await find(store, "leave", BOB) == ["Acme leave."]
    assert await find(store, "leave", EVE) == ["Rival leave."]


async def test_collections_narrow_a_search(store: Store) -> None:
    await put(store, draft("Leave here."), collection="a")
    await put(store, draft("Leave there."), collection="b")
    assert await find(store, "leave", collections=["b"]) == ["Leave there."]
    assert await find(store, "leave", collections=[]) == []
    assert len(await find(store, "leave")) == 2


async def test_passages_check_the_rights_again(store: Store) -> None:
    await put(store, draft("Salaries.", access=["hr"]))
    hits = await store.index.search_words(["salari"], BOB, None, 5)
    assert await store.index.passages([hits[0].chunk], ANN) == {}
    assert await store.index.passages([hits[0].chunk], EVE) == {}
    passage = (await store.index.passages([hits[0].chunk, 10**9], BOB))[hits[0].chunk]
    assert passage.source.access == {"hr"}
    assert (passage.text, passage.span, passage.section) == ("Salaries.", Span(0, 9), "Section")


async def test_chinese_words_of_two_characters_are_found(store: Store) -> None:
    await put(store, draft("员工每年享有二十天年假。合同工没有年假。", title="休假"))
    assert len(await find(store, "年假")) == 2
    assert (await find(store, "合同工的年假"))[0] == "合同工没有年假。"


async def test_numbers_and_words_with_marks_are_single_terms(store: Store) -> None:
    await put(store, draft("The rate is 3.5 percent. The time is 5 past 3."))
    assert await find(store, "3.5") == ["The rate is 3.5 percent."]


async def test_no_term_is_read_as_an_operator(store: Store) -> None:
    await put(store, draft("Plain words."))
    for hostile in [*OPERATORS, "\x00", "\ud800", "x" * 100_000, "😀", "%_", ""]:
        assert await store.index.search_words([hostile], ANN, None, 5) == [], hostile
        assert len(await store.index.search_words([hostile, "plain"], ANN, None, 5)) == 1, hostile


async def test_hostile_terms_in_a_document_are_found_as_they_are(store: Store) -> None:
    for number, term in enumerate(OPERATORS):
        chunk = ChunkDraft(Span(0, 1), terms=(term, f"n{number}"))
        await put(store, DocumentDraft(f"{number}", "t", "x", "s", "text/plain", "en", (chunk,)))
    for term in OPERATORS:
        assert len(await store.index.search_words([term], ANN, None, 5)) == 1, term


@given(st.text(max_size=80))
def test_a_token_holds_nothing_that_means_something_to_a_query(term: str) -> None:
    assert all(char.isalnum() or char == "_" or ord(char) > 0x7F for char in token(term))
    assert not any(char.isspace() for char in token(term))


@given(st.lists(st.text(max_size=3), max_size=200))
def test_search_terms_are_few_and_distinct(terms: list[str]) -> None:
    found = search_terms(terms)
    assert len(found) == len(set(found)) <= MOST_TERMS


def _bm25(documents: list[list[str]], query: list[str]) -> list[float]:
    """BM25 as in the paper with Lucene's idf."""
    mean = sum(map(len, documents)) / len(documents)
    counts = [Counter(document) for document in documents]
    scores = [0.0] * len(documents)
    for term in set(query):
        having = sum(term in count for count in counts)
        weight = math.log(1 + (len(documents) - having + 0.5) / (having + 0.5))
        for number, count in enumerate(counts):
            long = 1.2 * (0.25 + 0.75 * len(documents[number]) / mean)
            scores[number] += weight * count[term] * 2.2 / (count[term] + long)
    return scores


async def _put_terms(store: Store, documents: list[list[str]]) -> None:
    for number, terms in enumerate(documents):
        chunk = ChunkDraft(Span(0, 1), terms=tuple(terms))
        await put(store, DocumentDraft(f"{number:03}", "t", "x", f"s{number}", "text/plain", "en", (chunk,)))


async def test_the_order_is_that_of_bm25(store: Store) -> None:
    rng = np.random.default_rng(3)
    documents = [[f"w{word}" for word in rng.zipf(1.3, 40) % 60][: 5 + number] for number in range(30)]
    documents[7] += ["w1"] * 60  # frequencies far beyond the usual
    await _put_terms(store, documents)
    query = ["w7", "w11", "w23"]
    expected = _bm25(documents, query)
    hits = await store.index.search_words(query, ANN, None, 50)
    passages = await store.index.passages([hit.chunk for hit in hits], ANN)
    order = [int(passages[hit.chunk].source.uri) for hit in hits]
    assert set(order) == {number for number, score in enumerate(expected) if score > 0}
    assert [expected[number] for number in order] == sorted((s for s in expected if s > 0), reverse=True)


async def test_postgresql_scores_are_those_of_bm25(postgresql_url: str) -> None:
    documents = [["a"] * n + ["b"] * (n % 3) + ["c"] for n in range(1, 60)]
    async with Store(postgresql_url) as store:
        await _put_terms(store, documents)
        hits = await store.index.search_words(["a", "b", "missing"], ANN, None, 100)
        passages = await store.index.passages([hit.chunk for hit in hits], ANN)
    expected = _bm25(documents, ["a", "b"])
    for hit in hits:
        assert hit.score == pytest.approx(expected[int(passages[hit.chunk].source.uri)], rel=1e-6)


async def _put_vectors(store: Store, vectors: Vectors) -> list[int]:
    waiting = await store.documents.chunks_without_vectors("e", len(vectors))
    ids = [chunk.id for chunk in waiting]
    await store.documents.put_vectors("e", ids, vectors[: len(ids)])
    return ids


async def test_vectors_are_found_by_cosine(store: Store) -> None:
    await put(store, draft("One. Two. Three."))
    ids = await _put_vectors(store, np.eye(3, dtype=np.float32))
    hits = await store.index.search_vectors("e", np.array([0.6, 0.8, 0], np.float32), ANN, None, 2)
    assert [(hit.chunk, round(hit.score, 5)) for hit in hits] == [(ids[1], 0.8), (ids[0], 0.6)]


async def test_vector_search_obeys_rights_tenant_collection_and_embedder(store: Store) -> None:
    await put(store, draft("Secret.", "s.md", access=["hr"]))
    await put(store, draft("Open.", "o.md"), collection="b")
    await put(store, draft("Rival."), tenant="rival")
    secret, open_, rival = await _put_vectors(store, np.eye(3, dtype=np.float32))
    query = np.ones(3, np.float32)

    async def found(caller: Caller, within: frozenset[str] | None = None, embedder: str = "e") -> list[int]:
        return [hit.chunk for hit in await store.index.search_vectors(embedder, query, caller, within, 9)]

    assert await found(ANN) == [open_]
    assert sorted(await found(BOB)) == [secret, open_]
    assert await found(BOB, frozenset({"b"})) == [open_]
    assert await found(EVE) == [rival]
    assert await found(ANN, embedder="other") == []


async def test_vector_search_follows_every_change(store: Store) -> None:
    async def found() -> list[int]:
        return [hit.chunk for hit in await store.index.search_vectors("e", np.ones(2, np.float32), ANN, None, 9)]

    assert await found() == []
    await put(store, draft("One. Two.", "a.md"))
    one, two = await _put_vectors(store, np.eye(2, dtype=np.float32))
    assert await found() == [one, two]
    await store.documents.put_vectors("e", [two], np.array([[0, 2]], np.float32))
    assert await found() == [two, one]
    await put(store, draft("Two.", "a.md"))
    assert await found() == [two]
    await put(store, draft("Three.", "b.md"))
    [three] = await _put_vectors(store, np.array([[0.5, 0.5]], np.float32))
    assert await found() == [two, three]
    await store.documents.delete("acme", "handbook", "a.md")
    assert await found() == [three]


async def test_a_right_that_is_withdrawn_counts_at_once(store: Store) -> None:
    document = draft("Salaries.")
    await put(store, document)
    await _put_vectors(store, np.eye(1, 2, dtype=np.float32))
    query = np.ones(2, np.float32)
    assert len(await store.index.search_vectors("e", query, ANN, None, 9)) == 1
    await put(store, replace(document, access=frozenset({"hr"})))
    assert await store.index.search_vectors("e", query, ANN, None, 9) == []
    assert len(await store.index.search_vectors("e", query, BOB, None, 9)) == 1


async def test_many_searches_at_once_while_documents_come_in(store: Store) -> None:
    async def read_in(number: int) -> None:
        await put(store, draft(f"Leave number {number}.", f"{number}.md"))

    async def search() -> int:
        return len(await store.index.search_words(["leav"], ANN, None, 99))

    counts = await asyncio.gather(*(call for n in range(10) for call in (read_in(n), search())))
    assert all(count is None or count <= 10 for count in counts)
    assert await search() == 10


@given(st.lists(st.integers(1, 9), max_size=40).map(sorted))
def test_postings_count_each_chunk(occurrences: list[int]) -> None:
    postings = read_postings(",".join(map(str, occurrences)))
    assert dict(zip(postings.chunks.tolist(), postings.frequencies.tolist(), strict=True)) == Counter(occurrences)


@given(st.lists(st.sampled_from([0.5, 1.0, 1.5, 2.0]), max_size=30), st.integers(-1, 12))
def test_the_best_are_the_first_of_all_in_order(scores: list[float], limit: int) -> None:
    hits = best(np.arange(len(scores)), np.array(scores), limit)
    order = sorted(range(len(scores)), key=lambda row: (-scores[row], row))
    assert [hit.chunk for hit in hits] == order[: max(limit, 0)]


async def test_another_process_sees_new_vectors(database_url: str) -> None:
    async with Store(database_url) as writer, Store(database_url) as reader:
        query = np.ones(2, np.float32)
        assert await reader.index.search_vectors("e", query, ANN, None, 9) == []
        await put(writer, draft("One."))
        ids = await _put_vectors(writer, np.eye(1, 2, dtype=np.float32))
        assert [hit.chunk for hit in await reader.index.search_vectors("e", query, ANN, None, 9)] == ids


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(["hr", "it", "everyone"]), max_size=2), st.integers(0, 2**32))
def test_snapshot_search_is_exact(groups: list[str], seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = rng.standard_normal((50, 8)).astype(np.float32)
    owners = rng.integers(0, 3, 50).astype(np.int32)
    snapshot = Snapshot(np.arange(50) + 100, owners, matrix)
    query = rng.standard_normal(8).astype(np.float32)
    hits = snapshot.search(query, np.isin(["hr", "it", "everyone"], groups), 7)
    allowed = [row for row in range(50) if ["hr", "it", "everyone"][owners[row]] in groups]
    best = sorted(allowed, key=lambda row: -float(matrix[row] @ query))[:7]
    assert [hit.chunk for hit in hits] == [row + 100 for row in best]


async def test_a_vector_of_another_length_is_refused(store: Store) -> None:
    await put(store, draft("One."))
    await _put_vectors(store, np.eye(1, 4, dtype=np.float32))
    with pytest.raises(BadInput):
        await store.index.search_vectors("e", np.ones(3, np.float32), ANN, None, 3)
