"""Models and embedders of the settings, and what is learnt of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack

import structlog

from assistant import __version__
from assistant.config import Settings
from assistant.conversation.answering import Answering, Route
from assistant.conversation.caching import AnswerCache
from assistant.interfaces import ChatModel, Embedder
from assistant.llm.learning import TokenFactor
from assistant.llm.litellm_embedder import LiteLLMEmbedder
from assistant.llm.opening import open_reliable
from assistant.llm.tokens import price_for, sees_images
from assistant.retrieval.embedders import choose_embedder
from assistant.store import Store
from assistant.store.answer_cache import SqlAnswerCache
from assistant.store.factors import ModelFactors

log = structlog.get_logger(__name__)

LITELLM = "litellm/"
"""Names of embedders that begin like this are reached through litellm."""


async def open_model(
    settings: Settings, name: str, factors: ModelFactors, stack: AsyncExitStack, *, alone: bool = False
) -> ChatModel:
    """A model by its name with what stands in for it (unless `alone`), and with what earlier runs learnt of their tokenizers.

    It is closed with the stack.
    """

    async def factor_of(name: str) -> tuple[TokenFactor, Callable[[TokenFactor], None]]:
        known = await factors.get(name)
        factor = TokenFactor(*known) if known else TokenFactor()
        keeper = FactorKeeper(name, factors, factor.value)
        stack.push_async_callback(keeper.aclose)
        return factor, keeper.keep

    chosen = settings.model.model_copy(update={"fallbacks": []}) if alone else settings.model
    model = await open_reliable(chosen, name, factor_of)
    stack.push_async_callback(model.aclose)
    return model


class FactorKeeper:
    """Stores what is learnt of a model's tokenizer, in the background, when it has changed by a hundredth."""

    def __init__(self, model: str, factors: ModelFactors, stored: float) -> None:
        self._model = model
        self._factors = factors
        self._stored = stored
        self._tasks: set[asyncio.Task[None]] = set()

    def keep(self, factor: TokenFactor) -> None:
        """Begin to store the factor; a failure to store is only logged, the factor is used all the same."""
        if abs(factor.value - self._stored) < 0.01 * self._stored and factor.samples > 1:
            return
        self._stored = factor.value
        task = asyncio.create_task(self._put(factor.value, factor.samples))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _put(self, value: float, samples: int) -> None:
        try:
            await self._factors.put(self._model, value, samples)
        except Exception:
            log.exception("a token factor could not be stored", model=self._model)

    async def aclose(self) -> None:
        """Return when everything is stored."""
        await asyncio.gather(*self._tasks)


async def open_routes(settings: Settings, factors: ModelFactors, stack: AsyncExitStack) -> tuple[Route, Route | None]:
    """The model of the settings, and the cheaper one where one is named; both are closed with the stack."""
    names = [settings.model.name, *([settings.model.simple] if settings.model.simple else [])]
    routes = []
    for name in names:
        model = await open_model(settings, name, factors, stack)
        vision = settings.model.vision
        sees = await asyncio.to_thread(sees_images, name) if vision is None else vision  # reads a file
        routes.append(Route(model, await asyncio.to_thread(price_for, name) if name else None, sees))
    return routes[0], (routes[1] if len(routes) > 1 else None)


def make_embedder(settings: Settings) -> Embedder | None:
    """The embedder that the settings name; None when search is by words only."""
    name = settings.retrieval.embedder
    if name.startswith(LITELLM):
        chosen = settings.retrieval
        key, base = chosen.api_key.get_secret_value() or None, chosen.base_url or None
        return LiteLLMEmbedder(name.removeprefix(LITELLM), chosen.dimension, api_key=key, api_base=base)
    return choose_embedder(name)


def kept_answers(settings: Settings, store: Store) -> SqlAnswerCache:
    """Where answers are kept that may be given again."""
    return SqlAnswerCache(store.database, hours=settings.cache.hours, entries=settings.cache.entries)


def make_cache(settings: Settings, store: Store, answering: Answering, embedder: Embedder | None) -> AnswerCache | None:
    """The cache of answers; None when the settings want none."""
    chosen = settings.cache
    if not chosen.enabled:
        return None
    outside = bool(settings.retrieval.external)
    kept = kept_answers(settings, store)
    return AnswerCache(
        kept, answering, embedder, declared=frozenset(chosen.modes), settings=(__version__,), outside=outside
    )
