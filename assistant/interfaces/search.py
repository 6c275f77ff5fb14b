"""Search: what finds passages, and the two indexes behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from assistant.core.access import Caller
from assistant.core.evidence import Passage, Place
from assistant.interfaces.models import Vectors


class Retriever(Protocol):
    """Finds passages that the caller may read."""

    async def search(
        self,
        queries: Sequence[str],
        caller: Caller,
        *,
        collections: frozenset[str] | None = None,
        limit: int = 24,
        earlier: Sequence[Place] = (),
    ) -> list[Passage]:
        """The best passages for the queries (several wordings of one question, fused), best first, score in 0..1.

        `collections` None means all. Access is part of the search itself, never a filter afterwards. `earlier` are places
        that answers of the conversation cited, the latest first: what still stands there is scored against the new queries too.
        """
        ...


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk found by one index with the index's own score (higher is better, scale of that index)."""

    chunk: int
    score: float


class PassageIndex(Protocol):
    """The two indexes behind hybrid search. The caller's groups, tenant and collections are part of each query."""

    async def search_words(
        self,
        terms: Sequence[str],
        caller: Caller,
        collections: frozenset[str] | None,
        limit: int,
        also: Sequence[int] = (),
    ) -> list[Hit]:
        """BM25 over index terms (assistant.core.text.index_terms), best first: the best `limit`.

        Behind them those of the chunks `also` that hold a term and are not among the best, under the same rights.
        """
        ...

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
        ...

    async def chunks_at(
        self, places: Sequence[Place], caller: Caller, collections: frozenset[str] | None, limit: int
    ) -> list[int]:
        """The chunks that overlap these places and that the caller may find now, at most `limit`, in the order of the places.

        A place of a version that is no longer the current one, of a document that is gone or hidden, or that never was,
        has no chunks.
        """
        ...

    async def passages(self, chunks: Sequence[int], caller: Caller) -> dict[int, Passage]:
        """The passages of these chunks that the caller may read (checked again here), with score 0."""
        ...
