"""Search in SQLite: FTS5 for words, exact search in memory for vectors."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from sqlalchemy import text

from assistant.core.access import Caller
from assistant.core.evidence import Passage
from assistant.interfaces import Hit, Vectors
from assistant.store.engine import Database
from assistant.store.passages import read_passages, search_terms
from assistant.store.rights import readable, rights
from assistant.store.vector_cache import VectorCache

# bm25() of FTS5: k1 = 1.2, b = 0.75, smaller is better (https://www.sqlite.org/fts5.html#the_bm25_function).
_WORDS: Final = text(f"""
    SELECT c.id, -bm25(word_index) AS score
    FROM word_index JOIN chunks c ON c.id = word_index.rowid
    WHERE word_index MATCH :match AND c.document IN ({readable("sqlite")})
    ORDER BY score DESC, c.id LIMIT :limit
""")  # noqa: S608 - fixed text, values are parameters
_READABLE: Final = text(readable("sqlite"))


class SqlitePassageIndex:
    """The PassageIndex in SQLite. One per process: it keeps the vectors of each embedder in memory."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._caches: dict[str, VectorCache] = {}

    async def search_words(
        self, terms: Sequence[str], caller: Caller, collections: frozenset[str] | None, limit: int
    ) -> list[Hit]:
        """BM25 over index terms, best first."""
        found = search_terms(terms)
        if not found:
            return []
        values = {"match": match_any(found), "limit": limit} | rights("sqlite", caller, collections)
        async with self._database.read() as connection:
            return [Hit(row.id, row.score) for row in await connection.execute(_WORDS, values)]

    async def search_vectors(
        self, embedder: str, vector: Vectors, caller: Caller, collections: frozenset[str] | None, limit: int
    ) -> list[Hit]:
        """Cosine over the vectors of this embedder, best first."""
        cache = self._caches.setdefault(embedder, VectorCache(embedder))
        async with self._database.read() as connection:
            snapshot = await cache.refresh(connection)
            allowed = (await connection.scalars(_READABLE, rights("sqlite", caller, collections))).all()
        return await asyncio.to_thread(snapshot.search, vector, allowed, limit)

    async def passages(self, chunks: Sequence[int], caller: Caller) -> dict[int, Passage]:
        """The passages of these chunks that the caller may read (checked again here), with score 0."""
        return await read_passages(self._database, chunks, caller)


def match_any(terms: Sequence[str]) -> str:
    """An FTS5 query for any of these terms. Terms hold letters, digits and underscores only; the quotes keep AND, OR,
    NOT and NEAR from being operators.
    """
    return " OR ".join(f'"{term}"' for term in terms)
