"""Search in PostgreSQL: BM25 over tsvectors, pgvector for vectors, both exact."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Final

from pgvector.sqlalchemy import VECTOR
from sqlalchemy import bindparam, text
from sqlalchemy.exc import DBAPIError

from assistant.core.access import Caller
from assistant.core.evidence import Passage, Place
from assistant.interfaces import Hit, Vectors
from assistant.store.engine import Database
from assistant.store.passages import read_chunks_at, read_passages, search_terms
from assistant.store.rights import readable, rights
from assistant.store.vector_cache import wrong_length

_HIGHEST_FREQUENCY: Final = 128


def _frequency_steps() -> str:
    """The values between which ts_rank of one lexeme lies when it occurs 1, 2, 3, ... times, as an SQL array.

    ts_rank of a tsvector for a single lexeme with all weights 1 is (1/1^2 + 1/2^2 + ... + 1/n^2) / (pi^2 / 6) for n
    occurrences (calc_rank_or in PostgreSQL's tsrank.c), so width_bucket over these steps gives n back. Reading n
    through unnest(tsvector) gives the same numbers five times slower.
    """
    sums = list(accumulate(1 / n**2 for n in range(1, _HIGHEST_FREQUENCY + 1)))
    steps = [sums[0] / 2, *((low + high) / 2 for low, high in pairwise(sums))]
    return "CAST(ARRAY[" + ",".join(f"{step / (math.pi**2 / 6):.8f}" for step in steps) + "] AS real[])"


# BM25 (Robertson et al., TREC-3, 1994) with Lucene's idf, k1 = 1.2, b = 0.75. Collection size and document
# frequencies are those of what the caller may read, so that scores tell nothing about the rest.
_WORDS: Final = f"""
    WITH readable AS MATERIALIZED ({readable("postgresql")}),
    size AS (
        SELECT CAST(sum(chunk_count) AS double precision) AS chunks,
            CAST(sum(term_count) AS double precision) / NULLIF(sum(chunk_count), 0) AS mean
        FROM documents WHERE id IN (SELECT id FROM readable)
    ),
    postings AS MATERIALIZED (
        SELECT c.id, c.length, q.number,
            width_bucket(ts_rank('{{1,1,1,1}}', c.terms, q.term), {_frequency_steps()}) AS frequency
        FROM unnest(CAST(CAST(:terms AS text[]) AS tsquery[])) WITH ORDINALITY AS q(term, number)
        CROSS JOIN LATERAL (
            SELECT id, length, terms FROM chunks
            WHERE terms @@ q.term AND document IN (SELECT id FROM readable)
        ) c
    ),
    weights AS (
        SELECT number, ln(1 + (size.chunks - count(*) + 0.5) / (count(*) + 0.5)) AS weight
        FROM postings, size GROUP BY number, size.chunks
    ),
    scores AS MATERIALIZED (
        SELECT p.id, sum(
            w.weight * p.frequency * 2.2 / (p.frequency + 1.2 * (0.25 + 0.75 * p.length / GREATEST(size.mean, 1)))
        ) AS score
        FROM postings p JOIN weights w ON w.number = p.number, size
        GROUP BY p.id
    )
    (SELECT id, score FROM scores ORDER BY score DESC, id LIMIT :limit)
    UNION SELECT id, score FROM scores WHERE id = ANY(CAST(:also AS bigint[]))
    ORDER BY score DESC, id
"""  # noqa: S608 - fixed text, values are parameters

_VECTORS: Final = text(f"""
    WITH readable AS ({readable("postgresql")}),
    best AS (
        SELECT v.chunk, -(v.vector <#> :vector) AS score
        FROM vectors v JOIN chunks c ON c.id = v.chunk
        WHERE v.embedder = :embedder AND c.document IN (SELECT id FROM readable)
        ORDER BY v.vector <#> :vector, v.chunk LIMIT :limit
    )
    SELECT chunk, score FROM best
    UNION SELECT v.chunk, -(v.vector <#> :vector)
        FROM vectors v JOIN chunks c ON c.id = v.chunk
        WHERE v.embedder = :embedder AND v.chunk = ANY(CAST(:also AS bigint[]))
        AND c.document IN (SELECT id FROM readable)
    ORDER BY score DESC, chunk
""").bindparams(bindparam("vector", type_=VECTOR()))  # noqa: S608 - fixed text, values are parameters


class PostgresqlPassageIndex:
    """The PassageIndex in PostgreSQL; keeps nothing in memory."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def search_words(
        self,
        terms: Sequence[str],
        caller: Caller,
        collections: frozenset[str] | None,
        limit: int,
        also: Sequence[int] = (),
    ) -> list[Hit]:
        """BM25 over index terms, best first: the best `limit`, then what is left of `also` and holds a term."""
        found = [f"'{term}'" for term in search_terms(terms)]
        if not found:
            return []
        values = {"terms": found, "limit": limit, "also": list(also)} | rights("postgresql", caller, collections)
        async with self._database.read() as connection:
            return [Hit(row.id, row.score) for row in await connection.execute(text(_WORDS), values)]

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
        values = {"embedder": embedder, "vector": vector, "limit": limit, "also": list(also)}
        values |= rights("postgresql", caller, collections)
        try:
            async with self._database.read() as connection:
                return [Hit(row.chunk, row.score) for row in await connection.execute(_VECTORS, values)]
        except DBAPIError as error:
            if "different vector dimensions" in str(error.orig):
                raise wrong_length(len(vector)) from error
            raise

    async def passages(self, chunks: Sequence[int], caller: Caller) -> dict[int, Passage]:
        """The passages of these chunks that the caller may read (checked again here), with score 0."""
        return await read_passages(self._database, chunks, caller)

    async def chunks_at(
        self, places: Sequence[Place], caller: Caller, collections: frozenset[str] | None, limit: int
    ) -> list[int]:
        """The chunks that overlap these places and that the caller may find now, at most `limit`, in their order."""
        return await read_chunks_at(self._database, places, caller, collections, limit)

    async def close(self) -> None:
        """Nothing is held."""
