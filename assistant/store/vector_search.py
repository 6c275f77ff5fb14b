"""Search by vectors in PostgreSQL: exact, or through an approximate index, with the caller's rights inside both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from pgvector.sqlalchemy import HALFVEC, VECTOR
from sqlalchemy import TextClause, bindparam, text
from sqlalchemy.ext.asyncio import AsyncConnection

from assistant.interfaces import Hit, Vectors
from assistant.store.rights import readable
from assistant.store.vector_indexes import literal

MOST_VISITED: Final = 20_000
"""Vectors that one search through the index looks at, before it is clear that it finds too little."""
_WIDEST: Final = 1_000
"""pgvector's limit for hnsw.ef_search."""
_NARROWEST: Final = 800
"""Below this, less than .95 of the best 24 are found where vectors are hardly clustered (measured: docs/decisions/0011)."""

_STANDING: Final = f"""
    SELECT v.chunk, -(v.vector <#> :vector)
    FROM vectors v JOIN chunks c ON c.id = v.chunk
    WHERE v.embedder = :embedder AND v.chunk = ANY(CAST(:also AS bigint[]))
    AND c.document IN ({readable("postgresql")})
"""  # noqa: S608 - fixed text, values are parameters

_EXACT: Final = text(f"""
    WITH readable AS ({readable("postgresql")}),
    best AS (
        SELECT v.chunk, -(v.vector <#> :vector) AS score
        FROM vectors v JOIN chunks c ON c.id = v.chunk
        WHERE v.embedder = :embedder AND c.document IN (SELECT id FROM readable)
        ORDER BY v.vector <#> :vector, v.chunk LIMIT :limit
    )
    SELECT chunk, score FROM best UNION {_STANDING}
    ORDER BY score DESC, chunk
""").bindparams(bindparam("vector", type_=VECTOR()))  # noqa: S608 - fixed text, values are parameters

# relaxed_order brings the nearest a little out of order, which the exact scores of whole vectors put right.
_SETTINGS: Final = text("""
    SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.ef_search', :width, true),
        set_config('hnsw.max_scan_tuples', :most, true), set_config('plan_cache_mode', 'force_custom_plan', true)
""")


@lru_cache(maxsize=64)
def _near(embedder: str, dimension: int) -> TextClause:
    """The search through the index of one embedder.

    The rights are a condition of the scan (a subquery that gives one value is not turned into a join): the index is
    asked for more until enough of what it brings may be read.
    """
    half = f"v.vector::halfvec({int(dimension)})".replace(":", "\\:")
    name = literal(embedder).replace(":", "\\:")
    return text(f"""
        WITH near AS MATERIALIZED (
            SELECT v.chunk, v.vector FROM vectors v
            WHERE v.embedder = {name} AND (
                SELECT true FROM chunks c
                WHERE c.id = v.chunk AND EXISTS ({readable("postgresql")} AND d.id = c.document)
            )
            ORDER BY {half} <#> :half LIMIT :wanted
        ),
        best AS (SELECT chunk, -(vector <#> :vector) AS score FROM near ORDER BY score DESC, chunk LIMIT :limit)
        SELECT chunk, score, (SELECT count(*) FROM near) AS found FROM (SELECT chunk, score FROM best UNION {_STANDING}) one
        ORDER BY score DESC, chunk
    """).bindparams(bindparam("vector", type_=VECTOR()), bindparam("half", type_=HALFVEC()))  # noqa: S608


async def search_exactly(
    connection: AsyncConnection,
    embedder: str,
    vector: Vectors,
    caller: Mapping[str, Any],
    limit: int,
    also: Sequence[int],
) -> list[Hit]:
    """The best `limit` of all that the caller may read, best first, then what is left of `also`."""
    values = {"embedder": embedder, "vector": vector, "limit": limit, "also": list(also), **caller}
    return [Hit(row.chunk, row.score) for row in await connection.execute(_EXACT, values)]


async def search_near(
    connection: AsyncConnection,
    embedder: str,
    vector: Vectors,
    caller: Mapping[str, Any],
    limit: int,
    also: Sequence[int],
) -> list[Hit] | None:
    """As `search_exactly`, nearly: through the index. None when the index gives up before it has found `limit`."""
    width = min(max(5 * limit, _NARROWEST), _WIDEST)
    await connection.execute(_SETTINGS, {"width": str(width), "most": str(MOST_VISITED)})
    values = {"embedder": embedder, "vector": vector, "half": vector, "limit": limit, "wanted": limit, **caller}
    rows = (await connection.execute(_near(embedder, len(vector)), values | {"also": list(also)})).all()
    return [Hit(row.chunk, row.score) for row in rows] if rows and rows[0].found >= limit else None


def visited(limit: int, share: float) -> float:
    """How many vectors a search through the index looks at, where this share of them may be read."""
    return limit / max(share, 1e-9)
