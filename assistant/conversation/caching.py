"""The cache of answers: a question that means the same, for the same person's rights and evidence, needs no model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

import structlog

from assistant.conversation.answering import Answering, Route
from assistant.conversation.turns import StartedTurn
from assistant.core.caching import Asking, CachedAnswer, CacheKey, Recalled, cache_key, kept_answer, may_stand
from assistant.core.calls import ModelCall
from assistant.core.evidence import Evidence
from assistant.core.meaning.same import same_meaning
from assistant.core.planning import TurnPlan
from assistant.core.turn import TurnMessage
from assistant.interfaces import AnswerStore, Embedder, KeptAnswer, QuestionVector

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class CacheCounts:
    """How often an answer was found, not found, kept, and how often the cache failed, since the start."""

    found: int = 0
    missed: int = 0
    kept: int = 0
    failed: int = 0


class AnswerCache:
    """Finds and keeps answers. A failure costs a call of the model and nothing else.

    `embedder` None: only equal questions (`normalised`) are the same. `declared` are the custom modes whose answers may be
    given again; `settings` is what answers depend on beside plan and policy (the version of the program). With searches `outside`
    of the library nobody can tell whether it holds something newer, so only the same evidence gives the same answer.
    """

    def __init__(
        self,
        store: AnswerStore,
        answering: Answering,
        embedder: Embedder | None = None,
        *,
        declared: frozenset[str] = frozenset(),
        settings: tuple[str, ...] = (),
        outside: bool = False,
    ) -> None:
        self._store = store
        self._answering = answering
        self._embedder = embedder
        self._declared = declared
        self._outside = outside
        rules = (f"{rule.__module__}.{getattr(rule, '__qualname__', '')}" for rule in answering.rules)
        policy = answering.policy
        self._settings = (*settings, f"filtered={policy.filtered}", f"judged={policy.judged}", *rules)
        self.counts = CacheCounts()

    async def recall(self, start: StartedTurn, plan: TurnPlan, route: Route) -> Recalled | None:
        """Look for the answer of a planned turn; None when such a turn is never answered from the cache, or on a failure."""
        try:
            key = await asyncio.to_thread(cache_key, self._asking(start, plan, route), plan, self._declared)
            if key is None:
                return None
            library = None if self._outside else await self._store.library(key.tenant)
            key = replace(key, library=library)
            answer = await self.find(key, plan.evidence)
        except Exception:
            self._fail("an answer could not be looked up", start.turn)
            return None
        self.counts.found += answer is not None
        self.counts.missed += answer is None
        return Recalled(key, answer)

    async def find(self, key: CacheKey, evidence: Sequence[Evidence]) -> CachedAnswer | None:
        """The kept answer to this question, or to one that means the same; raises what store and embedder raise."""
        kept_ones = await self._store.candidates(key)
        candidates = [kept for kept in kept_ones if may_stand(kept.answer, kept.key, key, evidence)]
        for kept in candidates:
            if kept.key.question == key.question:
                return kept.answer
        return await self._alike(key, candidates) if candidates else None

    async def _alike(self, key: CacheKey, candidates: Sequence[KeptAnswer]) -> CachedAnswer | None:
        vector = await self._vector(key.question)
        if vector is None:
            return None
        for kept in candidates:
            similarity = _cosine(vector, kept.vector)
            if await asyncio.to_thread(same_meaning, key.question, kept.key.question, similarity):
                return kept.answer
        return None

    async def remember(
        self, start: StartedTurn, recalled: Recalled | None, message: TurnMessage, calls: Sequence[ModelCall]
    ) -> bool:
        """Keep the answer of an ended turn where that is allowed; whether it was kept. `message` is its fold with turn.done."""
        if recalled is None or recalled.answer is not None:
            return False
        answer = kept_answer(start.turn, message, calls)
        if answer is None:
            return False
        try:
            kept = await self.keep(recalled.key, answer)
        except Exception:
            self._fail("an answer could not be kept", start.turn)
            return False
        self.counts.kept += kept
        return kept

    async def keep(self, key: CacheKey, answer: CachedAnswer) -> bool:
        """Keep an answer under a key; raises what store and embedder raise."""
        return await self._store.keep(key, answer, await self._vector(key.question))

    async def _vector(self, question: str) -> QuestionVector | None:
        if self._embedder is None:
            return None
        return QuestionVector(self._embedder.name, await self._embedder.embed_query(question))

    def _asking(self, start: StartedTurn, plan: TurnPlan, route: Route) -> Asking:
        return Asking(
            caller=start.caller,
            collections=start.collections,
            model=route.model.name,
            window=route.model.window,
            sampling=self._answering.policy.sampling(plan.budget.output),
            schema=start.schema,
            settings=self._settings,
        )

    def _fail(self, what: str, turn: str) -> None:
        self.counts.failed += 1
        log.exception(what, turn=turn)


def _cosine(one: QuestionVector, other: QuestionVector | None) -> float | None:
    """The cosine of two unit vectors; None when they are not of one embedder."""
    if other is None or one.embedder != other.embedder or len(one.values) != len(other.values):
        return None
    return float(one.values @ other.values)
