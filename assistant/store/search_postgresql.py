"""Search in PostgreSQL: BM25 over tsvectors, pgvector for vectors; exact where little may be read, bounded where much."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Final

from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection

from assistant.core.access import Caller
from assistant.core.attachments import FILES
from assistant.core.evidence import Passage, Place
from assistant.interfaces import Hit, Vectors
from assistant.store.engine import Database
from assistant.store.passages import read_chunks_at, read_passages, search_terms
from assistant.store.reading_figures import Figures, ReadingFigures
from assistant.store.rights import rights
from assistant.store.unreachable import patient
from assistant.store.vector_cache import wrong_length
from assistant.store.vector_indexes import VectorIndex, VectorIndexes
from assistant.store.vector_search import MOST_VISITED, search_exactly, search_near, visited
from assistant.store.word_search import MOST_CANDIDATES, search_all, search_chosen


@dataclass(frozen=True, slots=True)
class Bounds:
    """Where a search stops looking at all that the caller may read (measured: docs/decisions/0011).

    Up to so many readable chunks a search by `words`, or by `vectors`, is exact; `candidates` is about how many chunks a
    search by words scores beyond. An index over vectors is made when an embedder has as many as `vectors`.
    """

    words: int = 10_000
    vectors: int = 10_000
    candidates: int = MOST_CANDIDATES


BOUNDS: Final = Bounds()


class PostgresqlPassageIndex:
    """The PassageIndex in PostgreSQL; keeps nothing in memory but figures.

    Searches may read a replica. Passages and chunks by their place never do: what may be read is decided by what is true
    now. Nor does a search in the files of a session alone: what was just attached is there.
    """

    def __init__(self, database: Database, bounds: Bounds = BOUNDS) -> None:
        self._database = database
        self._bounds = bounds
        self._figures = ReadingFigures(bounds.words)
        self._indexes = VectorIndexes(database, bounds.vectors)

    @patient
    async def search_words(
        self,
        terms: Sequence[str],
        caller: Caller,
        collections: frozenset[str] | None,
        limit: int,
        also: Sequence[int] = (),
    ) -> list[Hit]:
        """BM25 over index terms, best first: the best `limit`, then what is left of `also` and holds a term.

        Where the caller may read much, chunks with the rarest terms are scored and the frequencies of common terms are
        estimates from a sample of what the caller may read.
        """
        found, values = search_terms(terms), rights("postgresql", caller, collections)
        if not found:
            return []
        bounds = self._bounds
        async with self._reading(collections) as connection:
            figures = await self._figures.of(connection, values)
            if figures.chunks <= bounds.words:
                return await search_all(connection, found, figures, values, limit, also)
            return await search_chosen(connection, found, figures, values, limit, also, bounds.candidates)

    @patient
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

        Where the caller may read much and the embedder has an index, through it: the best nearly, with exact scores.
        Raises BadInput for a vector of another length.
        """
        values = rights("postgresql", caller, collections)
        asked = (embedder, vector, values, limit, also)
        try:
            async with self._reading(collections) as connection:
                if await self._index_pays(
                    connection, embedder, vector, await self._figures.of(connection, values), limit
                ):
                    hits = await search_near(connection, *asked)
                    if hits is not None:
                        return hits
                return await search_exactly(connection, *asked)
        except DBAPIError as error:
            if "different vector dimensions" in str(error.orig):
                raise wrong_length(len(vector)) from error
            raise

    def _reading(self, collections: frozenset[str] | None) -> AbstractAsyncContextManager[AsyncConnection]:
        """The replica, but for a search in files alone that somebody may just have attached."""
        attached = bool(collections) and all(name.startswith(FILES) for name in collections or ())
        return self._database.read() if attached else self._database.read_copy()

    async def _index_pays(
        self, connection: AsyncConnection, embedder: str, vector: Vectors, figures: Figures, limit: int
    ) -> bool:
        """Whether the index is there and looks at fewer vectors than an exact search."""
        if figures.chunks <= self._bounds.vectors or limit < 1:
            return False
        index = await self._indexes.of(connection, embedder)
        self._indexes.make_in_background(embedder, index)
        return index.ready and index.dimension == len(vector) and self._few(index, figures, limit)

    def _few(self, index: VectorIndex, figures: Figures, limit: int) -> bool:
        share = min(figures.chunks / max(index.vectors, 1), 1.0)
        return visited(limit, share) <= min(MOST_VISITED, figures.chunks)

    async def prepare(self, embedder: str) -> bool:
        """Make the index over the vectors of this embedder, where it is missing and pays; whether there is one now.

        For a job or a command that has filled the store; a search that misses the index has it made in the background.
        False also where another process is making it.
        """
        async with self._database.read() as connection:
            index = await self._indexes.of(connection, embedder)
        if index.ready or not self._indexes.wanted(index):
            return index.ready
        return await self._indexes.make(embedder, index.dimension)

    async def passages(self, chunks: Sequence[int], caller: Caller) -> dict[int, Passage]:
        """The passages of these chunks that the caller may read (checked again here), with score 0."""
        return await read_passages(self._database, chunks, caller)

    async def chunks_at(
        self, places: Sequence[Place], caller: Caller, collections: frozenset[str] | None, limit: int
    ) -> list[int]:
        """The chunks that overlap these places and that the caller may find now, at most `limit`, in their order."""
        return await read_chunks_at(self._database, places, caller, collections, limit)

    async def close(self) -> None:
        """Stop the making of an index."""
        await self._indexes.close()
