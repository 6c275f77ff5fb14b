"""BM25 in PostgreSQL: exact over all postings of a small collection, over chosen candidates of a large one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, combinations, pairwise
from typing import Any, Final

from sqlalchemy import TextClause, text
from sqlalchemy.ext.asyncio import AsyncConnection

from assistant.interfaces import Hit
from assistant.store.reading_figures import Figures
from assistant.store.rights import readable

MOST_CANDIDATES: Final = 4_000
"""Chunks that one search by words scores in a large collection (measured: docs/decisions/0011)."""

_HIGHEST_FREQUENCY: Final = 128
_SMALL_PART: Final = 5
"""Who may read less than the fifth part of a collection is searched for by document, not by word."""
_ENOUGH: Final = 4
"""Candidates for each hit that is wanted, by estimate, before chunks with one common word alone are looked at."""


def _frequency_steps() -> str:
    """The values between which ts_rank of one lexeme lies when it occurs 1, 2, 3, ... times, as an SQL array.

    ts_rank of a tsvector for a single lexeme with all weights 1 is (1/1^2 + 1/2^2 + ... + 1/n^2) / (pi^2 / 6) for n
    occurrences (calc_rank_or in PostgreSQL's tsrank.c), so width_bucket over these steps gives n back. Reading n
    through unnest(tsvector) gives the same numbers five times slower.
    """
    sums = list(accumulate(1 / n**2 for n in range(1, _HIGHEST_FREQUENCY + 1)))
    steps = [sums[0] / 2, *((low + high) / 2 for low, high in pairwise(sums))]
    return "CAST(ARRAY[" + ",".join(f"{step / (math.pi**2 / 6):.8f}" for step in steps) + "] AS real[])"


_FREQUENCY: Final = f"width_bucket(ts_rank('{{1,1,1,1}}', c.terms, q.term), {_frequency_steps()})"
_ASKED: Final = "unnest(CAST(CAST(:terms AS text[]) AS tsquery[])) WITH ORDINALITY AS q(term, number)"

# BM25 (Robertson et al., TREC-3, 1994) with Lucene's idf, k1 = 1.2, b = 0.75. Collection size and document
# frequencies are those of what the caller may read, so that scores tell nothing about the rest.
_BEST: Final = """
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
"""


def _all(chunks: str) -> TextClause:
    """The exact search; `chunks` gives the id, length and terms of every readable chunk that may hold a term, as c."""
    return text(f"""
        WITH readable AS MATERIALIZED ({readable("postgresql")}),
        size AS (SELECT CAST(:chunks AS double precision) AS chunks, CAST(:mean AS double precision) AS mean),
        postings AS MATERIALIZED (
            SELECT c.id, c.length, q.number, {_FREQUENCY} AS frequency
            FROM {chunks} CROSS JOIN {_ASKED}
            WHERE c.terms @@ q.term
        ),
        weights AS (
            SELECT number, ln(1 + (size.chunks - count(*) + 0.5) / (count(*) + 0.5)) AS weight
            FROM postings, size GROUP BY number, size.chunks
        ),
        {_BEST}
    """)  # noqa: S608 - fixed text, values are parameters


# The index of words is asked once for all terms ...
_BY_WORDS: Final = _all("""(
    SELECT id, length, terms FROM chunks
    WHERE terms @@ CAST(:candidates AS tsquery) AND document IN (SELECT id FROM readable)
) c""")

# ... or not at all, where the caller may read a small part of the collection: then it brings mostly what is not theirs.
# (OFFSET 0 keeps the planner from asking it again for every document.)
_BY_DOCUMENTS: Final = _all("""readable CROSS JOIN LATERAL (
    SELECT id, length, terms FROM chunks WHERE document = readable.id OFFSET 0
) c""")

_READABLE: Final = f"EXISTS ({readable('postgresql')} AND d.id = c.document)"

# The candidates are read once, whatever the number of terms. `frequent` says in how many chunks a common term is, which
# the candidates alone do not tell; rare terms (NULL there) have all their chunks among them.
_CHOSEN: Final = text(f"""
    WITH size AS (SELECT CAST(:chunks AS double precision) AS chunks, CAST(:mean AS double precision) AS mean),
    postings AS MATERIALIZED (
        SELECT c.id, c.length, q.number, {_FREQUENCY} AS frequency
        FROM (
            (SELECT id, length, terms FROM chunks c WHERE c.terms @@ CAST(:rare AS tsquery) AND {_READABLE} LIMIT :most)
            UNION ALL
            (SELECT id, length, terms FROM chunks c
            WHERE c.terms @@ CAST(:common AS tsquery) AND NOT c.terms @@ CAST(:rare AS tsquery)
            AND NOT c.id = ANY(CAST(:also AS bigint[])) AND {_READABLE} LIMIT :most)
            UNION ALL
            SELECT id, length, terms FROM chunks c
            WHERE c.id = ANY(CAST(:also AS bigint[])) AND NOT c.terms @@ CAST(:rare AS tsquery) AND {_READABLE}
        ) c CROSS JOIN {_ASKED}
        WHERE c.terms @@ q.term
    ),
    counts AS (
        SELECT number, COALESCE((CAST(:frequent AS double precision[]))[number], count(*)) AS having_it
        FROM postings GROUP BY number
    ),
    weights AS (
        SELECT number, ln(1 + (GREATEST(size.chunks - having_it, 0) + 0.5) / (having_it + 0.5)) AS weight
        FROM counts, size
    ),
    {_BEST}
""")  # noqa: S608 - fixed text, values are parameters


@dataclass(frozen=True, slots=True)
class Choice:
    """Which chunks are scored: those that match the query `rare`, and of the others those that match `common`.

    `frequent` is the number of chunks with each term, as far as it cannot be counted among them.
    """

    rare: str
    common: str
    frequent: Sequence[float | None]


def choose(terms: Sequence[str], figures: Figures, limit: int, most: int = MOST_CANDIDATES) -> Choice:
    """The chunks that a search for these terms looks at, by what is known of the collection.

    Every chunk with a rare term, as long as the estimates stay below `most`, rarest first. A chunk that has no rare term
    can only be among the best when it has several of the common ones: so pairs of these come next, the fewest chunks
    first. Chunks with one common term alone are looked at only where that would give too few hits.
    """
    counts = {term: figures.share(term) * figures.chunks for term in terms}
    order = sorted(terms, key=lambda term: (counts[term], term))
    sums = list(accumulate(counts[term] for term in order))
    rare = [term for term, total in zip(order, sums, strict=True) if total <= most]
    common = order[len(rare) :]
    parts: list[str] = []
    expected = sums[len(rare) - 1] if rare else 0.0
    for one, other in sorted(combinations(common, 2), key=lambda pair: counts[pair[0]] * counts[pair[1]]):
        both = counts[one] * counts[other] / max(figures.chunks, 1)
        if expected + both > most and (parts or rare):
            break
        parts.append(f"({_quoted(one)} & {_quoted(other)})")
        expected += both
    if common and expected < _ENOUGH * limit:
        parts.append(_quoted(common[0]))
    frequent = [counts[term] if term in common else None for term in terms]
    return Choice(" | ".join(map(_quoted, rare)), " | ".join(parts), frequent)


def _quoted(term: str) -> str:
    return f"'{term}'"  # a term holds no quote and no backslash (assistant.store.types.token)


async def search_all(
    connection: AsyncConnection,
    terms: Sequence[str],
    figures: Figures,
    caller: Mapping[str, Any],
    limit: int,
    also: Sequence[int],
) -> list[Hit]:
    """Every chunk that the caller may read and that holds a term, scored exactly; the best, then what is left of `also`."""
    values = _values(terms, figures, caller, limit, also)
    if figures.chunks * _SMALL_PART < figures.total:
        return [Hit(row.id, row.score) for row in await connection.execute(_BY_DOCUMENTS, values)]
    values |= {"candidates": " | ".join(map(_quoted, terms))}
    return [Hit(row.id, row.score) for row in await connection.execute(_BY_WORDS, values)]


def _values(
    terms: Sequence[str], figures: Figures, caller: Mapping[str, Any], limit: int, also: Sequence[int]
) -> dict[str, Any]:
    size = {"chunks": figures.chunks, "mean": figures.mean}
    return {"terms": list(map(_quoted, terms)), "limit": limit, "also": list(also), **size, **caller}


async def search_chosen(
    connection: AsyncConnection,
    terms: Sequence[str],
    figures: Figures,
    caller: Mapping[str, Any],
    limit: int,
    also: Sequence[int],
    most: int = MOST_CANDIDATES,
) -> list[Hit]:
    """As `search_all`, but at most about `most` chunks are looked at; frequencies of common terms are estimates."""
    choice = choose(terms, figures, limit, most)
    values = _values(terms, figures, caller, limit, also) | {"most": 2 * most}
    values |= {"rare": choice.rare, "common": choice.common, "frequent": choice.frequent}
    return [Hit(row.id, row.score) for row in await connection.execute(_CHOSEN, values)]
