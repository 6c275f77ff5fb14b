"""Learn from reported usage how far a model's real token counts are from those of a borrowed tokenizer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

from assistant.core.messages import ModelChunk, ModelFinish
from assistant.core.prompt import ModelRequest
from assistant.core.reading import MESSAGE_OVERHEAD
from assistant.errors import ContextOverflow
from assistant.interfaces import ChatModel, ModelAround, TokenCounter
from assistant.llm.tokens import bounded_factor, learn_factor

CAUTIOUS: Final = 1.2
"""The factor of a model of which nothing was learnt: borrowed tokenizers are off by a third and more."""
_OVERFLOWN: Final = 1.1
_LEAST_WEIGHT: Final = 0.2


@dataclass(slots=True)
class TokenFactor:
    """The factor of one model and the number of reports behind it."""

    value: float = CAUTIOUS
    samples: int = 0


class LearningModel(ModelAround):
    """A model whose tokenizer is not public, with a counter that every reported usage makes better.

    `inner` counts with `factor`, `counter` is the same without it. `learnt` hears of each change, to store it.
    """

    def __init__(
        self, inner: ChatModel, counter: TokenCounter, factor: TokenFactor, learnt: Callable[[TokenFactor], None]
    ) -> None:
        super().__init__(inner)
        self._counter = counter
        self._factor = factor
        self._learnt = learnt

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        """Answer as the model inside does; learn from the usage at the end, and from a prompt that was too long."""
        try:
            async with aclosing(self._inner.stream(request)) as chunks:
                async for chunk in chunks:
                    if isinstance(chunk, ModelFinish):
                        await self._learn(request, chunk.usage.tokens_in)
                    yield chunk
        except ContextOverflow:
            self._become(self._factor.value * _OVERFLOWN)
            raise

    async def _learn(self, request: ModelRequest, reported: int) -> None:
        if reported <= 0:
            return
        counted = await asyncio.to_thread(self._counted, request)
        weight = max(_LEAST_WEIGHT, 1 / (self._factor.samples + 1))
        self._become(learn_factor(self._factor.value, counted=counted, reported=reported, weight=weight))

    def _counted(self, request: ModelRequest) -> int:
        return sum(self._counter.count(message.text) + MESSAGE_OVERHEAD for message in request.messages)

    def _become(self, value: float) -> None:
        self._factor.value = bounded_factor(value)
        self._factor.samples += 1
        self._learnt(self._factor)
