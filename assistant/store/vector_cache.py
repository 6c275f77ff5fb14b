"""The vectors of one embedder in memory, kept in step with a SQLite database by its change counters."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assistant.errors import BadInput
from assistant.interfaces import Hit, Vectors
from assistant.store.chunk_cache import Chunks, best

_STATE: Final = "SELECT added, removed FROM index_changes WHERE name = 'vectors'"
_NEW: Final = "SELECT chunk, vector FROM vectors WHERE embedder = ? AND change > ?"
_COUNT: Final = "SELECT count(*) FROM vectors WHERE embedder = ?"
_ALIVE: Final = "SELECT chunk FROM vectors WHERE embedder = ?"
_PART: Final = 4096  # rows read at a time


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The vectors at one moment: row i is the vector of chunk `chunks[i]` in document number `owners[i]`."""

    chunks: NDArray[np.int64]
    owners: NDArray[np.int32]
    matrix: Vectors

    def search(self, vector: Vectors, allowed: NDArray[np.bool_], limit: int, also: Sequence[int] = ()) -> list[Hit]:
        """The best `limit` chunks by dot product, best first, then what is left of the chunks `also`; exact.

        `allowed[n]` says whether document n may be read. Raises BadInput for a vector of another length than those of the embedder.
        """
        if len(self.chunks) and len(vector) != self.matrix.shape[1]:
            raise wrong_length(len(vector))
        rows = np.flatnonzero(allowed[self.owners])
        if not len(rows):
            return []
        # A gather costs a copy, so it pays only when it leaves much out.
        narrow = len(rows) * 4 < len(self.owners)
        query = np.asarray(vector, dtype=np.float32)
        scores = self.matrix[rows] @ query if narrow else (self.matrix @ query)[rows]
        return best(self.chunks[rows], scores, limit, also)


def wrong_length(given: int) -> BadInput:
    """The refusal of a vector that does not have the length of the embedder's."""
    return BadInput("the vectors of one embedder have one length", reason="dimension", given=given)


_EMPTY: Final = Snapshot(np.empty(0, np.int64), np.empty(0, np.int32), np.empty((0, 0), np.float32))


class VectorCache:
    """Loads what changed since the last look, never everything again."""

    def __init__(self, embedder: str) -> None:
        self._embedder = embedder
        self._added = 0
        self._removed = 0
        self._snapshot = _EMPTY
        self._space = _EMPTY.matrix  # the snapshot's matrix with room for more rows
        self._lock = threading.Lock()

    def refresh(self, connection: sqlite3.Connection, chunks: Chunks) -> Snapshot:
        """The vectors as this transaction sees them, at least; `chunks` holds all chunks it sees."""
        with self._lock:
            added, removed = connection.execute(_STATE).fetchone()
            if removed > self._removed:
                self._drop_removed(connection)
            if added > self._added:
                self._load_added(connection, chunks)
            self._added, self._removed = max(added, self._added), max(removed, self._removed)
            return self._snapshot

    def _drop_removed(self, connection: sqlite3.Connection) -> None:
        alive = [id_ for (id_,) in connection.execute(_ALIVE, (self._embedder,))]
        self._keep(np.isin(self._snapshot.chunks, np.array(alive, np.int64)))

    def _keep(self, rows: NDArray[np.bool_]) -> None:
        if not rows.all():
            old = self._snapshot
            self._space = old.matrix[rows]
            self._snapshot = Snapshot(old.chunks[rows], old.owners[rows], self._space)

    def _load_added(self, connection: sqlite3.Connection, chunks: Chunks) -> None:
        (total,) = connection.execute(_COUNT, (self._embedder,)).fetchone()
        cursor = connection.execute(_NEW, (self._embedder, self._added))
        while rows := cursor.fetchmany(_PART):
            ids = np.array([id_ for id_, _ in rows], np.int64)
            matrix = np.frombuffer(b"".join(vector for _, vector in rows), "<f4").reshape(len(rows), -1)
            self._keep(~np.isin(self._snapshot.chunks, ids))  # a new vector replaces the old one of its chunk
            self._append(ids, chunks.owners[chunks.rows(ids)], matrix, total)

    def _append(self, ids: NDArray[np.int64], owners: NDArray[np.int32], matrix: Vectors, total: int) -> None:
        """Write the rows behind the others, where no snapshot looks; move to a larger space when it is full."""
        old = self._snapshot
        before, after = len(old.chunks), len(old.chunks) + len(ids)
        if after > len(self._space):
            room = max(total, after)
            space = np.empty((room + room // 8, matrix.shape[1]), np.float32)
            space[:before] = old.matrix.reshape(before, matrix.shape[1])
            self._space = space
        self._space[before:after] = matrix
        joined = (np.concatenate((old.chunks, ids)), np.concatenate((old.owners, owners)))
        self._snapshot = Snapshot(*joined, self._space[:after])
