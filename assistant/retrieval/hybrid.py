"""Hybrid search: words (BM25) and meaning (vectors), several wordings of one question, fused into one ranking."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from assistant.core.access import Caller
from assistant.core.evidence import Passage
from assistant.core.text import index_terms
from assistant.errors import AssistantError
from assistant.interfaces import Embedder, PassageIndex, Vectors

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FusionPolicy:
    """How hits become one ranking.

    `later` is the weight of every wording after the first (context of the conversation); `vectors` the share of the
    vector side against the word side; `pool` how many hits each search may bring.
    """

    later: float = 0.3
    vectors: float = 0.4
    pool: int = 200


class HybridRetriever:
    """Searches one PassageIndex by words and, where an embedder is given, by vectors."""

    def __init__(
        self, index: PassageIndex, embedder: Embedder | None = None, policy: FusionPolicy = FusionPolicy()
    ) -> None:
        self._index = index
        self._embedder = embedder
        self._policy = policy

    async def search(
        self, queries: Sequence[str], caller: Caller, *, collections: frozenset[str] | None = None, limit: int = 24
    ) -> list[Passage]:
        """The best passages for the wordings, best first, score in 0..1."""
        wordings = list(dict.fromkeys(query.strip() for query in queries if query.strip()))
        if not wordings or limit < 1:
            return []
        weights = [1.0] + [self._policy.later] * (len(wordings) - 1)
        pool = max(self._policy.pool, limit)
        words, vectors = await asyncio.gather(
            self._words(wordings, weights, caller, collections, pool),
            self._vectors(wordings, weights, caller, collections, pool),
        )
        scores = fuse(words, vectors, share=self._policy.vectors)
        best = sorted(scores, key=lambda chunk: (-scores[chunk], chunk))[:limit]
        passages = await self._index.passages(best, caller)
        return [replace(passages[chunk], score=scores[chunk]) for chunk in best if chunk in passages]

    async def _words(
        self,
        wordings: Sequence[str],
        weights: Sequence[float],
        caller: Caller,
        collections: frozenset[str] | None,
        pool: int,
    ) -> dict[int, float]:
        """BM25 summed over the wordings: it is a sum over terms, so that this is one query with weighted terms."""
        total: dict[int, float] = {}
        for wording, weight in zip(wordings, weights, strict=True):
            terms = list(dict.fromkeys(index_terms(wording)))
            hits = await self._index.search_words(terms, caller, collections, pool) if terms else []
            for hit in hits:
                total[hit.chunk] = total.get(hit.chunk, 0.0) + weight * hit.score
        return total

    async def _vectors(
        self,
        wordings: Sequence[str],
        weights: Sequence[float],
        caller: Caller,
        collections: frozenset[str] | None,
        pool: int,
    ) -> dict[int, float]:
        """Cosines to the weighted mean of the wordings' vectors; nothing when the embedder fails (words still work)."""
        if self._embedder is None:
            return {}
        try:
            rows = [await self._embedder.embed_query(wording) for wording in wordings]
        except AssistantError as failure:
            log.warning("search goes on without vectors: %s", failure.code)
            return {}
        hits = await self._index.search_vectors(
            self._embedder.name, mean_vector(rows, weights), caller, collections, pool
        )
        return {hit.chunk: hit.score for hit in hits}


def mean_vector(rows: Sequence[Vectors], weights: Sequence[float]) -> Vectors:
    """The weighted mean of unit vectors, scaled to length one."""
    mean = np.average(np.stack(rows), axis=0, weights=weights)
    length = float(np.linalg.norm(mean)) or 1.0
    return np.asarray(mean / length, dtype=np.float32)


def fuse(words: Mapping[int, float], vectors: Mapping[int, float], *, share: float) -> dict[int, float]:
    """A convex combination of the two sides, each scaled to 0..1 (Bruch, Gai and Ingber 2023); alone, a side counts fully."""
    if not words or not vectors:
        share = 1.0 if vectors else 0.0
    left, right = _scaled(words), _scaled(vectors)
    return {
        chunk: (1 - share) * left.get(chunk, 0.0) + share * right.get(chunk, 0.0)
        for chunk in left.keys() | right.keys()
    }


def _scaled(scores: Mapping[int, float]) -> dict[int, float]:
    top = max(scores.values(), default=0.0)
    return {chunk: max(score, 0.0) / top for chunk, score in scores.items()} if top > 0 else dict.fromkeys(scores, 0.0)
