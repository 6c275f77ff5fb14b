"""Open the model of the settings with everything that stands in for it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from assistant.config import FallbackSettings, ModelSettings
from assistant.interfaces import ChatModel
from assistant.llm.breaker import Breaker
from assistant.llm.endpoints import Endpoint
from assistant.llm.learning import TokenFactor
from assistant.llm.models import choose_model
from assistant.llm.reliable import Patience, ReliableModel

FactorOf = Callable[[str], Awaitable[tuple[TokenFactor, Callable[[TokenFactor], None]]]]
"""What was learnt of the tokenizer of a model, by its name, and who hears when more is learnt."""


async def open_reliable(chosen: ModelSettings, name: str, factor_of: FactorOf) -> ChatModel:
    """The model `name` of the settings' kind and endpoint, with its stand-ins; one that runs in this process is itself.

    Loads token tables in a thread. Raises BadSetting for what `choose_model` refuses.
    """
    if chosen.kind == "extractive" or not name:
        return await asyncio.to_thread(choose_model, chosen.kind, name, window=chosen.window or None)
    main = FallbackSettings(name=name, window=chosen.window)
    endpoints = [await _opened(chosen, one, factor_of) for one in (main, *chosen.fallbacks)]
    patience = Patience(chosen.first_s, chosen.timeout_s, chosen.whole_s or None)
    return ReliableModel(endpoints, patience, retries=chosen.retries)


async def _opened(chosen: ModelSettings, one: FallbackSettings, factor_of: FactorOf) -> Endpoint:
    factor, learnt = await factor_of(one.name)
    elsewhere = bool(one.base_url or one.kind not in ("", chosen.kind))
    key = (
        one.api_key if elsewhere or one.api_key.get_secret_value() else chosen.api_key
    )  # a key goes to its own endpoint
    model = await asyncio.to_thread(
        choose_model,
        one.kind or chosen.kind,
        one.name,
        base_url=one.base_url if elsewhere else chosen.base_url,
        api_key=key.get_secret_value(),
        window=one.window or None,
        timeout=max(chosen.timeout_s, chosen.first_s),
        connect=chosen.connect_s,
        retries=0,
        connections=chosen.most_open,
        factor=factor,
        learnt=learnt,
    )
    breaker = Breaker(most=chosen.failures, rest_s=chosen.rest_s)
    return Endpoint(model, breaker, chosen.most_open, one.on)
