"""Search in SQLite: FTS5 holds the postings; scoring and vectors are exact and in memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, Final

from assistant.core.access import Caller
from assistant.core.evidence import Passage, Place
from assistant.interfaces import Hit, Vectors
from assistant.store.chunk_cache import ChunkCache, Readable, read_postings
from assistant.store.engine import Database
from assistant.store.passages import read_chunks_at, read_passages, search_terms
from assistant.store.rights import readable, rights
from assistant.store.sqlite_threads import SqliteThreads
from assistant.store.vector_cache import VectorCache

# The bm25() of FTS5 gives nothing for a term that more than half of the chunks hold and is four times slower than
# reading the postings (decision 0002). No MATCH, so there is no query language to inject into.
_POSTINGS: Final = "SELECT group_concat(doc) FROM word_index_terms WHERE term = ?"
_READABLE: Final = f"SELECT id, chunk_count, term_count FROM documents WHERE id IN ({readable('sqlite')})"  # noqa: S608


class SqlitePassageIndex:
    """The PassageIndex in SQLite. One per process: it keeps the lengths and vectors of all chunks in memory."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._threads = SqliteThreads(database, 2, "search")
        self._chunks = ChunkCache()
        self._vectors: dict[str, VectorCache] = {}

    async def search_words(
        self,
        terms: Sequence[str],
        caller: Caller,
        collections: frozenset[str] | None,
        limit: int,
        also: Sequence[int] = (),
    ) -> list[Hit]:
        """BM25 over index terms, best first: the best `limit`, then what is left of `also` and holds a term."""
        wanted, values = search_terms(terms), rights("sqlite", caller, collections)
        return await self._threads.read(self._rank_words, wanted, values, limit, also)

    async def search_vectors(
        self,
        embedder: str,
        vector: Vectors,
        caller: Caller,
        collections: frozenset[str] | None,
        limit: int,
        also: Sequence[int] = (),
    ) -> list[Hit]:
        """Cosine over the vectors of this embedder, best first: the best `limit`, then what is left of `also`.

        Raises BadInput for a vector of another length.
        """
        cache, values = self._vectors.setdefault(embedder, VectorCache(embedder)), rights("sqlite", caller, collections)
        return await self._threads.read(self._rank_vectors, cache, vector, values, limit, also)

    async def chunks_at(
        self, places: Sequence[Place], caller: Caller, collections: frozenset[str] | None, limit: int
    ) -> list[int]:
        """The chunks that overlap these places and that the caller may find now, at most `limit`, in their order."""
        return await read_chunks_at(self._database, places, caller, collections, limit)

    async def passages(self, chunks: Sequence[int], caller: Caller) -> dict[int, Passage]:
        """The passages of these chunks that the caller may read (checked again here), with score 0."""
        return await read_passages(self._database, chunks, caller)

    async def close(self) -> None:
        """Close the connections that searches use."""
        await self._threads.close()

    def _rank_words(
        self,
        connection: sqlite3.Connection,
        wanted: Sequence[str],
        values: Mapping[str, Any],
        limit: int,
        also: Sequence[int],
    ) -> list[Hit]:
        found = [connection.execute(_POSTINGS, (term,)).fetchone()[0] for term in wanted]
        postings = [read_postings(occurrences) for occurrences in found if occurrences]
        if not postings:
            return []
        return self._chunks.refresh(connection).rank(postings, _readable(connection, values), limit, also)

    def _rank_vectors(
        self,
        connection: sqlite3.Connection,
        cache: VectorCache,
        vector: Vectors,
        values: Mapping[str, Any],
        limit: int,
        also: Sequence[int],
    ) -> list[Hit]:
        chunks = self._chunks.refresh(connection)
        allowed = chunks.allowed(_readable(connection, values).documents)
        return cache.refresh(connection, chunks).search(vector, allowed, limit, also)


def _readable(connection: sqlite3.Connection, values: Mapping[str, Any]) -> Readable:
    rows = connection.execute(_READABLE, values).fetchall()
    return Readable([row[0] for row in rows], sum(row[1] for row in rows), sum(row[2] for row in rows))
