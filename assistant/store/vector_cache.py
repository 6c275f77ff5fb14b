"""The vectors of one embedder in memory, kept in step with the database by its change counters."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from assistant.errors import BadInput
from assistant.interfaces import Hit, Vectors

_STATE: Final = text("SELECT added, removed FROM index_changes WHERE name = 'vectors'")
_NEW: Final = text("""
    SELECT v.chunk, c.document, v.vector FROM vectors v JOIN chunks c ON c.id = v.chunk
    WHERE v.embedder = :embedder AND v.change > :seen ORDER BY v.change
""")
_ALIVE: Final = text("SELECT chunk FROM vectors WHERE embedder = :embedder")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The vectors at one moment: row i is the vector of chunk `chunks[i]` in document number `owners[i]`."""

    chunks: NDArray[np.int64]
    owners: NDArray[np.int32]
    matrix: Vectors
    documents: dict[str, int]

    def search(self, vector: Vectors, allowed: Sequence[str], limit: int) -> list[Hit]:
        """The best `limit` chunks of the allowed documents by dot product, best first; exact.

        Raises BadInput for a vector of another length than those of the embedder.
        """
        if len(self.chunks) and len(vector) != self.matrix.shape[1]:
            raise wrong_length(len(vector))
        rows = np.flatnonzero(self._mask(allowed)[self.owners])
        if not len(rows) or limit < 1:
            return []
        # A gather costs a copy, so it pays only when it leaves much out.
        narrow = len(rows) * 4 < len(self.owners)
        query = np.asarray(vector, dtype=np.float32)
        scores = self.matrix[rows] @ query if narrow else (self.matrix @ query)[rows]
        if limit < len(rows):
            best = np.argpartition(-scores, limit - 1)[:limit]
            rows, scores = rows[best], scores[best]
        order = np.lexsort((self.chunks[rows], -scores))
        return [Hit(int(self.chunks[rows[i]]), float(scores[i])) for i in order]

    def _mask(self, allowed: Sequence[str]) -> NDArray[np.bool_]:
        mask = np.zeros(len(self.documents), dtype=np.bool_)
        mask[[number for number in map(self.documents.get, allowed) if number is not None]] = True
        return mask


def wrong_length(given: int) -> BadInput:
    """The refusal of a vector that does not have the length of the embedder's."""
    return BadInput("the vectors of one embedder have one length", reason="dimension", given=given)


_EMPTY: Final = Snapshot(np.empty(0, np.int64), np.empty(0, np.int32), np.empty((0, 0), np.float32), {})


class VectorCache:
    """Loads what changed since the last look, never everything again."""

    def __init__(self, embedder: str) -> None:
        self._embedder = embedder
        self._added = 0
        self._removed = 0
        self._snapshot = _EMPTY
        self._loading = asyncio.Lock()

    async def refresh(self, connection: AsyncConnection) -> Snapshot:
        """The vectors as this connection's transaction sees them."""
        async with self._loading:
            added, removed = (await connection.execute(_STATE)).one()
            if removed > self._removed:
                await self._drop_removed(connection)
            if added > self._added:
                await self._load_added(connection)
            self._added, self._removed = max(added, self._added), max(removed, self._removed)
            return self._snapshot

    async def _drop_removed(self, connection: AsyncConnection) -> None:
        old = self._snapshot
        alive = (await connection.scalars(_ALIVE, {"embedder": self._embedder})).all()
        keep = np.isin(old.chunks, np.fromiter(alive, np.int64, len(alive)))
        if not keep.all():
            self._snapshot = Snapshot(old.chunks[keep], old.owners[keep], old.matrix[keep], old.documents)

    async def _load_added(self, connection: AsyncConnection) -> None:
        rows = (await connection.execute(_NEW, {"embedder": self._embedder, "seen": self._added})).all()
        if not rows:
            return
        old = self._snapshot
        documents = dict(old.documents)
        owners = np.array([documents.setdefault(row.document, len(documents)) for row in rows], np.int32)
        chunks = np.array([row.chunk for row in rows], np.int64)
        matrix = np.frombuffer(b"".join(row.vector for row in rows), "<f4").reshape(len(rows), -1)
        keep = ~np.isin(old.chunks, chunks)  # a new vector replaces the old one of its chunk
        before = old.matrix[keep] if keep.any() else np.empty((0, matrix.shape[1]), np.float32)
        self._snapshot = Snapshot(
            np.concatenate((old.chunks[keep], chunks)),
            np.concatenate((old.owners[keep], owners)),
            np.concatenate((before, matrix)),
            documents,
        )
