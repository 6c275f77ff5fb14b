"""Length and document of every chunk of a SQLite database in memory, and BM25 over postings."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assistant.interfaces import Hit

K1: Final = 1.2
B: Final = 0.75

_NEW: Final = "SELECT id, document, length FROM chunks WHERE id > ? ORDER BY id"


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

    def rows(self, ids: NDArray[np.int64]) -> NDArray[np.intp]:
        """Where these chunks are."""
        return np.searchsorted(self.ids, ids)

    def allowed(self, documents: Sequence[str]) -> NDArray[np.bool_]:
        """For each document number whether it is one of these documents."""
        allowed = np.zeros(len(self.documents), dtype=np.bool_)
        allowed[[number for number in map(self.documents.get, documents) if number is not None]] = True
        return allowed

    def rank(self, postings: Sequence[Postings], readable: Readable, limit: int, also: Sequence[int] = ()) -> list[Hit]:
        """The best `limit` chunks of the readable documents by BM25, best first, then what is left of `also`.

        BM25 (Robertson et al., TREC-3, 1994) with Lucene's idf. Collection size and document frequencies are those of
        what the caller may read, so that scores tell nothing about the rest.
        """
        allowed = self.allowed(readable.documents)[self.owners]
        mean = readable.term_count / max(readable.chunk_count, 1) or 1.0
        scores = np.zeros(len(self.ids))
        for posting in postings:
            rows = self.rows(posting.chunks)
            known = allowed[rows]
            rows, frequency = rows[known], posting.frequencies[known]
            weight = np.log(1 + (readable.chunk_count - len(rows) + 0.5) / (len(rows) + 0.5))
            scores[rows] += weight * frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * self.lengths[rows] / mean))
        found = np.flatnonzero(scores)
        return best(self.ids[found], scores[found], limit, also)


def best(ids: NDArray[np.int64], scores: NDArray[Any], limit: int, also: Sequence[int] = ()) -> list[Hit]:
    """The `limit` highest scores, best first, of equal ones the lowest ids; then those of `also` that are left."""
    if limit < 1:
        return []
    wanted = np.isin(ids, np.array(also, np.int64)) if also else np.zeros(len(ids), np.bool_)
    if limit < len(ids):
        near = wanted | (scores >= np.partition(scores, len(ids) - limit)[len(ids) - limit])
        ids, scores, wanted = ids[near], scores[near], wanted[near]
    order = np.lexsort((ids, -scores))
    places = [*order[:limit], *(row for row in order[limit:] if wanted[row])]
    return [Hit(int(ids[row]), float(scores[row])) for row in places]


_EMPTY: Final = Chunks(np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.float64), {})


class ChunkCache:
    """The chunks in memory: 20 bytes each, loaded once and then only what is new.

    SQLite has one writer and never gives an id twice, so new chunks are those with higher ids.
    """

    def __init__(self) -> None:
        self._chunks = _EMPTY
        self._lock = threading.Lock()

    def refresh(self, connection: sqlite3.Connection) -> Chunks:
        """The chunks as this transaction sees them, at least."""
        with self._lock:
            old = self._chunks
            rows = connection.execute(_NEW, (int(old.ids[-1]) if len(old.ids) else 0,)).fetchall()
            if rows:
                documents = dict(old.documents)
                owners = [documents.setdefault(document, len(documents)) for _, document, _ in rows]
                self._chunks = Chunks(
                    np.concatenate((old.ids, np.array([id_ for id_, _, _ in rows], np.int64))),
                    np.concatenate((old.owners, np.array(owners, np.int32))),
                    np.concatenate((old.lengths, np.array([length for _, _, length in rows], np.float64))),
                    documents,
                )
            return self._chunks
