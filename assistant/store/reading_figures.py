"""How much a caller may read, and how common words are in it: what a search needs to know to choose its way."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any, Final

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from assistant.core.access import PRIVATE
from assistant.core.attachments import FILES
from assistant.store.rights import readable

SAMPLED: Final = 1_000
"""Documents that are looked at, two chunks of each, to learn which words are common."""
KEPT_S: Final = 300.0
"""For how long figures of a large collection hold, in seconds. They steer scores a little, never who finds what."""
_READING_S: Final = 10.0
_MOST_KEPT: Final = 1_000
_COMMON: Final = 0.005

# Sums over documents: nothing is counted in the chunks.
_SIZE: Final = text(f"""
    SELECT COALESCE(sum(chunk_count), 0) AS chunks, COALESCE(sum(term_count), 0) AS terms,
        (SELECT GREATEST(reltuples, 0) FROM pg_class WHERE oid = CAST('chunks' AS regclass)) AS total
    FROM documents WHERE id IN ({readable("postgresql")})
""")  # noqa: S608 - fixed text, values are parameters

# The ids of documents are hashes, so the first ones are a sample; of each the two chunks whose ids hash lowest.
_SHARES: Final = text(f"""
    WITH part AS MATERIALIZED ({readable("postgresql")} AND d.chunk_count > 0 ORDER BY d.id LIMIT {SAMPLED}),
    sample AS MATERIALIZED (
        SELECT c.terms FROM part CROSS JOIN LATERAL (
            SELECT terms FROM chunks WHERE document = part.id ORDER BY hashint8(id), id LIMIT 2
        ) c
    ),
    size AS (SELECT CAST(count(*) AS double precision) AS sampled FROM sample)
    SELECT lexeme, count(*) / size.sampled AS share
    FROM sample CROSS JOIN LATERAL unnest(sample.terms) AS one, size
    GROUP BY lexeme, size.sampled HAVING count(*) >= {_COMMON} * size.sampled
""")  # noqa: S608 - fixed text, values are parameters


@dataclass(frozen=True, slots=True)
class Figures:
    """What a caller may read: the number of chunks, the mean of their lengths, the share of the chunks with a common word.

    `total` is about how many chunks there are for anybody; it decides which way is shorter, and is in no score.
    """

    chunks: float
    mean: float
    total: float = 0.0
    shares: Mapping[str, float] = field(default_factory=dict)

    def share(self, term: str) -> float:
        """The share of the chunks that hold this term, by a sample; 0 for one that is too rare to be noticed."""
        return self.shares.get(term, 0.0)


class ReadingFigures:
    """Figures by rights. Those of a collection above `small` chunks are kept for a while, with its common words."""

    def __init__(self, small: int, *, clock: Callable[[], float] = monotonic) -> None:
        self._small = small
        self._clock = clock
        self._kept: OrderedDict[tuple[Any, ...], tuple[float, Figures | None]] = OrderedDict()

    async def of(self, connection: AsyncConnection, caller: Mapping[str, Any]) -> Figures:
        """The figures of what a caller with these `rights` may read.

        Where that is much, without what only this person or this session has: so many have the same figures.
        """
        common = in_common(caller)
        key = tuple(tuple(value) if isinstance(value, list) else value for value in common.values())
        until, figures = self._kept.get(key, (0.0, None))
        if self._clock() >= until:
            if figures:  # others take the old ones meanwhile
                self._keep(key, figures, _READING_S)
            figures = await self._read(connection, common)
            self._keep(key, figures, KEPT_S)
        return figures or await self._size(connection, caller)

    def _keep(self, key: tuple[Any, ...], figures: Figures | None, seconds: float) -> None:
        self._kept[key] = (self._clock() + seconds, figures)
        self._kept.move_to_end(key)
        if len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)

    async def _read(self, connection: AsyncConnection, caller: Mapping[str, Any]) -> Figures | None:
        """The figures with the common words; None where it is little, and cheap to look at anew."""
        size = await self._size(connection, caller)
        if size.chunks <= self._small:
            return None
        rows = await connection.execute(_SHARES, caller)
        return replace(size, shares={row.lexeme: row.share for row in rows})

    async def _size(self, connection: AsyncConnection, caller: Mapping[str, Any]) -> Figures:
        row = (await connection.execute(_SIZE, caller)).one()
        return Figures(float(row.chunks), float(row.terms) / max(float(row.chunks), 1), float(row.total))


def in_common(caller: Mapping[str, Any]) -> dict[str, Any]:
    """The `rights` without the group of one person, and without the files of one session beside a whole library."""
    groups = [group for group in caller["groups"] if not group.startswith(PRIVATE)]
    collections = [name for name in caller["collections"] if not (caller["shared"] and name.startswith(FILES))]
    return {**caller, "groups": groups, "collections": collections}
