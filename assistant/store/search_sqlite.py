"""Search in SQLite: FTS5 holds the postings; scoring and vectors are exact and in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from assistant.core.access import Caller
from assistant.core.evidence import Passage
from assistant.interfaces import Hit, Vectors
from assistant.store.chunk_cache import ChunkCache, Chunks, Readable, read_postings
from assistant.store.engine import Database
from assistant.store.passages import read_passages, search_terms
from assistant.store.rights import readable, rights
from assistant.store.tables import documents
from assistant.store.vector_cache import VectorCache

# The bm25() of FTS5 gives nothing for a term that more than half of the chunks hold and is four times slower than
# reading the postings (decision 0002). No MATCH, so there is no query language to inject into.
_POSTINGS: Final = text("SELECT group_concat(doc) FROM word_index_terms WHERE term = :term")
_READABLE: Final = select(documents.c.id, documents.c.chunk_count, documents.c.term_count).where(
    documents.c.id.in_(text(readable("sqlite")))
)


class SqlitePassageIndex:
    """The PassageIndex in SQLite. One per process: it keeps the lengths and vectors of all chunks in memory."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._chunks = ChunkCache()
        self._vectors: dict[str, VectorCache] = {}

    async def search_words(
        self, terms: Sequence[str], caller: Caller, collections: frozenset[str] | None, limit: int
    ) -> list[Hit]:
        """BM25 over index terms, best first."""
        wanted = search_terms(terms)
        if not wanted:
            return []
        async with self._database.read() as connection:
            allowed = await _readable(connection, caller, collections)
            chunks = await self._chunks.refresh(connection)
            found = [await connection.scalar(_POSTINGS, {"term": term}) for term in wanted]
        return await asyncio.to_thread(_rank, chunks, [postings for postings in found if postings], allowed, limit)

    async def search_vectors(
        self, embedder: str, vector: Vectors, caller: Caller, collections: frozenset[str] | None, limit: int
    ) -> list[Hit]:
        """Cosine over the vectors of this embedder, best first; BadInput for a vector of another length."""
        cache = self._vectors.setdefault(embedder, VectorCache(embedder))
        async with self._database.read() as connection:
            allowed = await _readable(connection, caller, collections)
            snapshot = await cache.refresh(connection)
        return await asyncio.to_thread(snapshot.search, vector, allowed.documents, limit)

    async def passages(self, chunks: Sequence[int], caller: Caller) -> dict[int, Passage]:
        """The passages of these chunks that the caller may read (checked again here), with score 0."""
        return await read_passages(self._database, chunks, caller)


async def _readable(connection: AsyncConnection, caller: Caller, collections: frozenset[str] | None) -> Readable:
    rows = (await connection.execute(_READABLE, rights("sqlite", caller, collections))).all()
    return Readable([row.id for row in rows], sum(row.chunk_count for row in rows), sum(row.term_count for row in rows))


def _rank(chunks: Chunks, found: Sequence[str], allowed: Readable, limit: int) -> list[Hit]:
    return chunks.rank([read_postings(postings) for postings in found], allowed, limit)
