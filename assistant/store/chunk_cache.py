"""Length and document of every chunk in memory, and BM25 over postings."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from assistant.interfaces import Hit

K1: Final = 1.2
B: Final = 0.75

_NEW: Final = text("SELECT id, document, length FROM chunks WHERE id > :last ORDER BY id")


@dataclass(frozen=True, slots=True)
class Postings:
    """Where one term occurs: chunk ids, ascending, and how often in each."""

    chunks: NDArray[np.int64]
    frequencies: NDArray[np.int64]


def read_postings(occurrences: str) -> Postings:
    """Postings from the chunk id of each occurrence, ascending, separated by commas."""
    chunks = np.fromstring(occurrences, dtype=np.int64, sep=",")
    first = np.flatnonzero(np.diff(chunks, prepend=-1))
    return Postings(chunks[first], np.diff(first, append=len(chunks)))


@dataclass(frozen=True, slots=True)
class Readable:
    """The documents that a caller may read, and the number of their chunks and index terms."""

    documents: Sequence[str]
    chunk_count: int
    term_count: int


@dataclass(frozen=True, slots=True)
class Chunks:
    """Chunk `ids[i]` (ascending) has `lengths[i]` terms and belongs to document number `owners[i]`.

    Chunks that have left the index may still be here; they are in no postings.
    """

    ids: NDArray[np.int64]
    owners: NDArray[np.int32]
    lengths: NDArray[np.float64]
    documents: dict[str, int]

    def rank(self, postings: Sequence[Postings], readable: Readable, limit: int) -> list[Hit]:
        """The best `limit` chunks of the readable documents by BM25, best first.

        BM25 (Robertson et al., TREC-3, 1994) with Lucene's idf. Collection size and document frequencies are those of
        what the caller may read, so that scores tell nothing about the rest.
        """
        allowed = self._mask(readable.documents)[self.owners]
        mean = readable.term_count / max(readable.chunk_count, 1) or 1.0
        scores = np.zeros(len(self.ids))
        for posting in postings:
            rows = np.searchsorted(self.ids, posting.chunks)
            known = allowed[rows]
            rows, frequency = rows[known], posting.frequencies[known]
            weight = np.log(1 + (readable.chunk_count - len(rows) + 0.5) / (len(rows) + 0.5))
            scores[rows] += weight * frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * self.lengths[rows] / mean))
        return self._best(scores, limit)

    def _best(self, scores: NDArray[np.float64], limit: int) -> list[Hit]:
        rows = np.flatnonzero(scores)
        if 0 < limit < len(rows):
            # Everything above the limit-th score, and of those equal to it the first ones by id.
            least = np.partition(scores[rows], len(rows) - limit)[len(rows) - limit]
            rows = rows[scores[rows] >= least]
        order = rows[np.lexsort((rows, -scores[rows]))][: max(limit, 0)]
        return [Hit(int(self.ids[row]), float(scores[row])) for row in order]

    def _mask(self, allowed: Sequence[str]) -> NDArray[np.bool_]:
        mask = np.zeros(len(self.documents), dtype=np.bool_)
        mask[[number for number in map(self.documents.get, allowed) if number is not None]] = True
        return mask


_EMPTY: Final = Chunks(np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.float64), {})


class ChunkCache:
    """The chunks of a SQLite database in memory: 20 bytes each, loaded once and then only what is new.

    SQLite has one writer and never gives an id twice, so new chunks are those with higher ids.
    """

    def __init__(self) -> None:
        self._chunks = _EMPTY
        self._loading = asyncio.Lock()

    async def refresh(self, connection: AsyncConnection) -> Chunks:
        """The chunks as this connection's transaction sees them, at least."""
        async with self._loading:
            old = self._chunks
            last = int(old.ids[-1]) if len(old.ids) else 0
            rows = (await connection.execute(_NEW, {"last": last})).all()
            if rows:
                documents = dict(old.documents)
                owners = [documents.setdefault(row.document, len(documents)) for row in rows]
                self._chunks = Chunks(
                    np.concatenate((old.ids, np.array([row.id for row in rows], np.int64))),
                    np.concatenate((old.owners, np.array(owners, np.int32))),
                    np.concatenate((old.lengths, np.array([row.length for row in rows], np.float64))),
                    documents,
                )
            return self._chunks
