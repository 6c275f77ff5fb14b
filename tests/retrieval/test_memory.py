"""The index in memory: BM25, cosine and access."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from assistant.core.access import Caller
from assistant.core.evidence import Passage
from assistant.core.text import index_terms
from assistant.retrieval.memory import MemoryIndex
from tests.making import passage, source

ANA = Caller("acme", "ana", frozenset({"everyone", "hr"}))
BOB = Caller("acme", "bob")


def secret(text: str, *groups: str, collection: str = "handbook") -> Passage:
    version = replace(source(text[:10]), access=frozenset(groups), collection=collection)
    return passage(text, version=version)


async def found(index: MemoryIndex, question: str, caller: Caller = BOB, **more: frozenset[str] | None) -> list[int]:
    return [hit.chunk for hit in await index.search_words(index_terms(question), caller, more.get("collections"), 10)]


async def test_rare_words_weigh_more_and_long_texts_less() -> None:
    index = MemoryIndex()
    index.add("acme", passage("Leave leave leave, and a great deal of other words about many other things here."))
    index.add("acme", passage("Sabbatical leave."))
    index.add("acme", passage("Leave."))
    assert (await found(index, "sabbatical leave"))[0] == 2
    assert (await found(index, "sabbatical")) == [2]


async def test_title_and_section_are_found_too() -> None:
    index = MemoryIndex()
    index.add("acme", passage("Twenty days.", section="Annual leave", version=source(title="Handbook")))
    assert await found(index, "handbook") == [1]
    assert await found(index, "annual") == [1]


async def test_only_what_the_caller_may_read_is_found_and_counted() -> None:
    index = MemoryIndex()
    index.add("acme", secret("Salary bands of managers.", "hr"))
    index.add("acme", secret("Salary is paid monthly.", "everyone"))
    index.add("other", secret("Salary of another company.", "everyone"))
    alone = MemoryIndex()
    alone.add("acme", secret("Salary is paid monthly.", "everyone"))
    assert await found(index, "salary", ANA) == [1, 2] or await found(index, "salary", ANA) == [2, 1]
    assert await found(index, "salary", BOB) == [2]
    hidden = await index.search_words(["salari"], BOB, None, 10)
    assert hidden[0].score == pytest.approx((await alone.search_words(["salari"], BOB, None, 10))[0].score)
    assert list(await index.passages([1, 2, 3, 99], BOB)) == [2]


async def test_collections_limit_a_search() -> None:
    index = MemoryIndex()
    index.add("acme", secret("Salary one.", "everyone", collection="a"))
    index.add("acme", secret("Salary two.", "everyone", collection="b"))
    assert await found(index, "salary", collections=frozenset({"b"})) == [2]
    assert await found(index, "salary", collections=frozenset()) == []


async def test_vectors_are_ranked_by_cosine_within_the_same_rights() -> None:
    index = MemoryIndex()
    index.add("acme", secret("first", "everyone"))
    index.add("acme", secret("second", "hr"))
    index.add("acme", secret("third", "everyone"))
    index.put_vectors("e", [1], np.array([[0, 1]], dtype=np.float32))
    index.put_vectors("e", [2, 3], np.array([[1, 0], [0.6, 0.8]], dtype=np.float32))
    query = np.array([1, 0], dtype=np.float32)
    assert [hit.chunk for hit in await index.search_vectors("e", query, ANA, None, 10)] == [2, 3, 1]
    assert [hit.chunk for hit in await index.search_vectors("e", query, BOB, None, 1)] == [3]
    assert await index.search_vectors("another", query, ANA, None, 10) == []


async def test_nothing_is_found_in_nothing() -> None:
    index = MemoryIndex()
    assert await found(index, "leave") == []
    index.add("acme", passage(""))
    assert await found(index, "leave") == []
    assert await index.search_words([], BOB, None, 10) == []
    assert await index.search_words(["leav"], BOB, None, 0) == []


def test_vectors_must_fit_their_chunks() -> None:
    with pytest.raises(ValueError, match="2 chunks with 1 vectors"):
        MemoryIndex().put_vectors("e", [1, 2], np.ones((1, 2), dtype=np.float32))
