"""A synthetic library of any number of chunks: words as frequent as in the demo pages, topics, names, rights, vectors.

Everything follows from the number of a document, so that two stores, or two runs, hold the same library.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from making import pages
from numpy.typing import NDArray
from sqlalchemy import select

from assistant.core.access import EVERYONE, Caller
from assistant.core.text import Span, index_terms, words
from assistant.interfaces import ChunkDraft, DocumentDraft, Vectors
from assistant.store import Store
from assistant.store.documents import document_id
from assistant.store.tables import chunks

TENANT = "acme"
COLLECTION = "library"
CHUNKS = 20
"""Chunks of a document."""
WORDS = 120
"""Words of a chunk."""
DIMENSION = 512
EMBEDDER = "synthetic"
READERS = {
    "1 %": Caller(TENANT, "one", frozenset({"hundredth"})),
    "10 %": Caller(TENANT, "ten", frozenset({"tenth"})),
    "all": Caller(TENANT, "all", frozenset({EVERYONE})),
}
"""Callers by the share of the documents that they may read."""
_TOPICS = 400
_TOPIC_WORDS = 120
_NAMES = 50_000
_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Words with their index terms and shares of the text; the words of each topic; a vector for each word."""

    words: Sequence[str]
    terms: Sequence[tuple[str, ...]]
    shares: NDArray[np.float64]
    topics: NDArray[np.int64]
    vectors: Vectors


@cache
def vocabulary() -> Vocabulary:
    """The words of the demo pages by frequency, and names that few chunks hold."""
    counts = Counter(word for _, draft in pages() for word in words(draft.text))
    common = [word for word, _ in counts.most_common(8_000)]
    names = [f"name{number}" for number in range(_NAMES)]
    shares = np.array([counts[word] for word in common], np.float64)
    tail = 1 / np.arange(1, _NAMES + 1) ** 0.8
    shares = np.concatenate((shares / shares.sum() * 0.98, tail / tail.sum() * 0.02))
    rng = np.random.default_rng(1)
    flat = shares[: len(common)] ** 0.5
    topics = np.stack([rng.choice(len(common), _TOPIC_WORDS, p=flat / flat.sum()) for _ in range(_TOPICS)])
    # What is frequent says little: a word counts the less in a vector the more often it comes.
    weights = 1 / np.sqrt(1 + shares / 1e-4)
    vectors = rng.standard_normal((len(shares), DIMENSION)) * weights[:, None]
    every = [*common, *names]
    return Vocabulary(every, [tuple(index_terms(word)) for word in every], shares, topics, vectors.astype(np.float32))


def chunk_words(number: int) -> NDArray[np.int64]:
    """The words of the chunks of one document, one row a chunk: half from the topics of the document, half from all."""
    known, rng = vocabulary(), np.random.default_rng((7, number))
    everywhere = rng.choice(len(known.shares), (CHUNKS, WORDS), p=known.shares)
    own = known.topics[rng.integers(0, _TOPICS, 2)].ravel()
    topical = rng.choice(own, (CHUNKS, WORDS))
    return np.where(rng.random((CHUNKS, WORDS)) < 0.5, topical, everywhere)


def vector_of(row: NDArray[np.int64]) -> Vectors:
    """The unit vector of some words."""
    total = vocabulary().vectors[row].sum(axis=0)
    return np.asarray(total / np.linalg.norm(total), np.float32)


def document(number: int) -> DocumentDraft:
    """The document of this number: every tenth also for the group tenth, every hundredth also for hundredth."""
    known, text, parts = vocabulary(), "", []
    for row in chunk_words(number):
        start = len(text)
        text += " ".join(known.words[word] for word in row) + ".\n"
        terms = tuple(term for word in row for term in known.terms[word])
        parts.append(ChunkDraft(Span(start, len(text) - 1), "Section", None, terms))
    groups = {EVERYONE} | ({"tenth"} if number % 10 == 0 else set()) | ({"hundredth"} if number % 100 == 0 else set())
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    uri = f"{number:07}.md"
    return DocumentDraft(uri, uri, text, sha256, "text/markdown", "en", tuple(parts), access=frozenset(groups))


def questions(count: int) -> list[tuple[str, Vectors]]:
    """Questions of three to eight words of one topic and from everywhere, and their vectors."""
    known, rng, found = vocabulary(), np.random.default_rng(11), []
    for _ in range(count):
        topic = known.topics[rng.integers(0, _TOPICS)]
        everywhere = rng.choice(len(known.shares), 4, p=known.shares)
        row = np.concatenate((rng.choice(topic, rng.integers(2, 6)), everywhere[: rng.integers(1, 4)]))
        found.append((" ".join(known.words[word] for word in row), vector_of(row)))
    return found


async def grow(store: Store, before: int, after: int) -> None:
    """Add documents until the library has `after` chunks; it has `before` of them."""
    numbers = iter(range(before // CHUNKS, after // CHUNKS))

    async def work() -> None:
        for number in numbers:
            await _add(store, number)

    await asyncio.gather(*(work() for _ in range(_AT_ONCE if store.database.dialect == "postgresql" else 1)))


async def _add(store: Store, number: int) -> None:
    draft = document(number)
    await store.documents.put(TENANT, COLLECTION, draft, fingerprint=draft.sha256)
    id_ = document_id(TENANT, COLLECTION, draft.uri)
    async with store.database.read() as connection:
        query = select(chunks.c.id).where(chunks.c.document == id_).order_by(chunks.c.position)
        ids = (await connection.scalars(query)).all()
    await store.documents.put_vectors(EMBEDDER, ids, np.stack([vector_of(row) for row in chunk_words(number)]))
