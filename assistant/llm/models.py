"""Choose a model from plain settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final, Literal, get_args

from assistant.errors import BadSetting
from assistant.interfaces import ChatModel, TokenCounter
from assistant.llm.endpoints import MOST_OPEN
from assistant.llm.extractive import ExtractiveModel
from assistant.llm.learning import LearningModel, TokenFactor
from assistant.llm.litellm_model import LiteLLMModel
from assistant.llm.openai_stream import RETRIES, OpenAICompatibleModel
from assistant.llm.scripted import ScriptedModel
from assistant.llm.tokens import CorrectedCounter, counter_for, encoding_of

ModelKind = Literal["extractive", "openai", "litellm", "scripted"]
"""extractive: quotes, no weights; openai: any compatible endpoint; litellm: all other providers; scripted: a fake."""

_NEEDS_NAME: Final = frozenset({"openai", "litellm"})


def choose_model(
    kind: str = "extractive",
    name: str = "",
    *,
    base_url: str = "",
    api_key: str = "",
    window: int | None = None,
    timeout: float = 60.0,
    connect: float = 5.0,
    retries: int = RETRIES,
    connections: int = MOST_OPEN,
    factor: TokenFactor | None = None,
    learnt: Callable[[TokenFactor], None] = lambda _: None,
) -> ChatModel:
    """The model that these settings name. Loads token tables, so call it at start-up.

    `window` in tokens, `timeout` in seconds of silence, `connect` in seconds, `retries` of a call that has said nothing (0
    inside a ReliableModel, which has its own), `connections` that one endpoint may have open. Where the tokenizer of the model is not public, its counts are
    corrected by `factor`, which grows better with every reported usage; `learnt` hears of it. Raises BadSetting for an
    unknown kind, a missing name or address, or a window or timeout that is not positive.
    """
    _check(kind, name, base_url, window, timeout)
    if kind not in _NEEDS_NAME:
        model = ScriptedModel() if kind == "scripted" else ExtractiveModel()
        return replace(model, window=window) if window else model
    shared: dict[str, Any] = {"window": window, "timeout": timeout, "retries": retries}
    if kind == "openai":
        shared |= {"connect": connect, "connections": connections}
        make: Callable[[TokenCounter], ChatModel] = partial(_openai, base_url, name, api_key, shared)
    else:
        make = partial(_litellm, base_url, name, api_key, shared)
    counter = counter_for(name)
    if encoding_of(name) is not None:
        return make(counter)
    factor = factor or TokenFactor()
    return LearningModel(make(CorrectedCounter(counter, lambda: factor.value)), counter, factor, learnt)


def _openai(base_url: str, name: str, api_key: str, options: dict[str, Any], counter: TokenCounter) -> ChatModel:
    return OpenAICompatibleModel(base_url, name, api_key, counter=counter, **options)


def _litellm(base_url: str, name: str, api_key: str, options: dict[str, Any], counter: TokenCounter) -> ChatModel:
    return LiteLLMModel(name, api_key=api_key or None, api_base=base_url or None, counter=counter, **options)


def _check(kind: str, name: str, base_url: str, window: int | None, timeout: float) -> None:
    if kind not in get_args(ModelKind):
        raise BadSetting(f"unknown kind of model: {kind}", kind=kind, known=list(get_args(ModelKind)))
    if kind in _NEEDS_NAME and not name:
        raise BadSetting(f"a model of kind {kind} needs a name", kind=kind)
    if kind == "openai" and not base_url.startswith(("http://", "https://")):
        raise BadSetting("a model of kind openai needs a base_url that begins with http:// or https://", kind=kind)
    if window is not None and window <= 0:
        raise BadSetting("the window must be a positive number of tokens", window=window)
    if timeout <= 0:
        raise BadSetting("the timeout must be a positive number of seconds", timeout=timeout)
