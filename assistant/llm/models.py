"""Choose a model from plain settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final, Literal, get_args

from assistant.errors import BadSetting
from assistant.interfaces import ChatModel, TokenCounter
from assistant.llm.extractive import ExtractiveModel
from assistant.llm.learning import LearningModel, TokenFactor
from assistant.llm.litellm_model import LiteLLMModel
from assistant.llm.openai_stream import OpenAICompatibleModel
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
    factor: TokenFactor | None = None,
    learnt: Callable[[TokenFactor], None] = lambda _: None,
) -> ChatModel:
    """The model that these settings name. Loads token tables, so call it at start-up.

    `window` in tokens and `timeout` in seconds of silence. Where the tokenizer of the model is not public, its counts are
    corrected by `factor`, which grows better with every reported usage; `learnt` hears of it. Raises BadSetting for an
    unknown kind, a missing name or address, or a window or timeout that is not positive.
    """
    _check(kind, name, base_url, window, timeout)
    if kind not in _NEEDS_NAME:
        model = ScriptedModel() if kind == "scripted" else ExtractiveModel()
        return replace(model, window=window) if window else model
    counter = counter_for(name)
    if encoding_of(name) is not None:
        return _remote(kind, name, base_url, api_key, window, timeout, counter)
    factor = factor or TokenFactor()
    corrected = CorrectedCounter(counter, lambda: factor.value)
    return LearningModel(_remote(kind, name, base_url, api_key, window, timeout, corrected), counter, factor, learnt)


def _remote(
    kind: str, name: str, base_url: str, api_key: str, window: int | None, timeout: float, counter: TokenCounter
) -> ChatModel:
    if kind == "openai":
        return OpenAICompatibleModel(base_url, name, api_key, window=window, timeout=timeout, counter=counter)
    return LiteLLMModel(
        name, api_key=api_key or None, api_base=base_url or None, window=window, timeout=timeout, counter=counter
    )


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
