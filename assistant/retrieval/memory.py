"""A PassageIndex in memory: the fake that tests use, and the yardstick for the ones in SQL."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from assistant.core.access import Caller
from assistant.core.attachments import covers
from assistant.core.evidence import Passage, Place
from assistant.core.text import index_terms
from assistant.errors import BadInput
from assistant.interfaces import Hit, Vectors

K1: Final = 1.2
B: Final = 0.75


@dataclass(frozen=True, slots=True)
class _Entry:
    tenant: str
    passage: Passage
    counts: Counter[str]
    length: int


@dataclass(slots=True)
class _Table:
    """The vectors of one embedder: `rows[i]` belongs to chunk `chunks[i]`."""

    chunks: list[int]
    rows: Vectors


class MemoryIndex:
    """Words and vectors of passages, both searched exactly.

    Chunk ids are given in order from 1. Every search looks only at what the caller may read: document frequencies
    and lengths too are taken over the readable passages, so that scores say nothing about hidden ones.
    """

    def __init__(self) -> None:
        self._entries: dict[int, _Entry] = {}
        self._postings: dict[str, list[int]] = defaultdict(list)
        self._tables: dict[str, _Table] = {}

    def add(self, tenant: str, passage: Passage, terms: Sequence[str] | None = None) -> int:
        """Store a passage and return its chunk id; `terms` default to the index terms of title, section and text."""
        if terms is None:
            terms = index_terms(f"{passage.source.title}\n{passage.section}\n{passage.text}")
        chunk = len(self._entries) + 1
        counts = Counter(terms)
        self._entries[chunk] = _Entry(tenant, replace(passage, score=0.0), counts, len(terms))
        for term in counts:
            self._postings[term].append(chunk)
        return chunk

    def put_vectors(self, embedder: str, chunks: Sequence[int], vectors: Vectors) -> None:
        """Store unit vectors of chunks, one row per chunk."""
        if len(chunks) != len(vectors):
            raise ValueError(f"{len(chunks)} chunks with {len(vectors)} vectors")
        if table := self._tables.get(embedder):
            self._tables[embedder] = _Table([*table.chunks, *chunks], np.concatenate([table.rows, vectors]))
        else:
            self._tables[embedder] = _Table(list(chunks), np.asarray(vectors, dtype=np.float32))

    async def search_words(
        self,
        terms: Sequence[str],
        caller: Caller,
        collections: frozenset[str] | None,
        limit: int,
        also: Sequence[int] = (),
    ) -> list[Hit]:
        """Okapi BM25 (Robertson and Zaragoza 2009) with k1 = 1.2, b = 0.75 and the idf that is never negative."""
        readable = self._readable(caller, collections)
        if not readable or limit < 1:
            return []
        mean = sum(self._entries[chunk].length for chunk in readable) / len(readable) or 1.0
        scores: dict[int, float] = defaultdict(float)
        for term, weight in Counter(terms).items():
            found = [chunk for chunk in self._postings.get(term, ()) if chunk in readable]
            idf = math.log(1 + (len(readable) - len(found) + 0.5) / (len(found) + 0.5))
            for chunk in found:
                entry = self._entries[chunk]
                tf = entry.counts[term]
                scores[chunk] += weight * idf * tf * (K1 + 1) / (tf + K1 * (1 - B + B * entry.length / mean))
        return _best(scores, limit, also)

    async def search_vectors(
        self,
        embedder: str,
        vector: Vectors,
        caller: Caller,
        collections: frozenset[str] | None,
        limit: int,
        also: Sequence[int] = (),
    ) -> list[Hit]:
        """Cosine of unit vectors, best first; nothing when there are no vectors of this embedder.

        Raises BadInput for a vector of another length.
        """
        table = self._tables.get(embedder)
        if table is None or limit < 1:
            return []
        if len(vector) != table.rows.shape[1]:
            raise BadInput("the vectors of one embedder have one length", reason="dimension", given=len(vector))
        readable = self._readable(caller, collections)
        cosines = table.rows @ vector
        scores = {c: float(s) for c, s in zip(table.chunks, cosines, strict=True) if c in readable}
        return _best(scores, limit, also)

    async def chunks_at(
        self, places: Sequence[Place], caller: Caller, collections: frozenset[str] | None, limit: int
    ) -> list[int]:
        """The chunks that overlap these places and that the caller may find now, at most `limit`, in their order."""
        readable = sorted(self._readable(caller, collections))
        found = [chunk for place in places for chunk in readable if _stands(self._entries[chunk].passage, place)]
        return list(dict.fromkeys(found))[: max(limit, 0)]

    async def passages(self, chunks: Sequence[int], caller: Caller) -> dict[int, Passage]:
        """The passages of these chunks that the caller may read, with score 0."""
        known = ((chunk, self._entries[chunk]) for chunk in chunks if chunk in self._entries)
        return {chunk: entry.passage for chunk, entry in known if _may_read(entry, caller)}

    def _readable(self, caller: Caller, collections: frozenset[str] | None) -> frozenset[int]:
        return frozenset(
            chunk
            for chunk, entry in self._entries.items()
            if _may_read(entry, caller) and covers(collections, entry.passage.source.collection)
        )


def _may_read(entry: _Entry, caller: Caller) -> bool:
    return entry.tenant == caller.tenant and caller.may_read(entry.passage.source.access)


def _stands(passage: Passage, place: Place) -> bool:
    source = passage.source
    return (source.document, source.number) == (place.document, place.version) and passage.span.overlaps(place.span)


def _best(scores: dict[int, float], limit: int, also: Sequence[int]) -> list[Hit]:
    """The best hits, then what is left of `also`; equal scores in order of chunk id, so that a search is repeatable."""
    ranked = sorted(scores, key=lambda c: (-scores[c], c))
    return [Hit(chunk, scores[chunk]) for n, chunk in enumerate(ranked) if n < limit or chunk in also]
