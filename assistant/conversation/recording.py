"""Recording: every call of a model in a turn is kept with its prompt and its text, for people who want to see."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from assistant.conversation.turns import Stopwatch
from assistant.core.calls import ModelCall
from assistant.core.messages import ModelChunk, ModelDelta, Usage
from assistant.core.prompt import ModelRequest
from assistant.errors import AssistantError
from assistant.interfaces import ChatModel, ModelAround


class RecordingModel(ModelAround):
    """A model whose calls are added to `calls` when they end, in that order, however they end."""

    def __init__(self, inner: ChatModel, calls: list[ModelCall], watch: Stopwatch) -> None:
        super().__init__(inner)
        self._calls = calls
        self._watch = watch

    async def aclose(self) -> None:
        """Nothing: the model inside belongs to somebody else."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        """Answer as the model inside does, and record it."""
        parts: list[str] = []
        ended, usage, start = "cancelled", Usage(calls=1), self._watch.ms()
        try:
            async with aclosing(self._inner.stream(request)) as chunks:
                async for chunk in chunks:
                    if isinstance(chunk, ModelDelta):
                        parts.append(chunk.text)
                    else:
                        ended, usage = chunk.reason, chunk.usage
                    yield chunk
        except AssistantError as failure:
            ended = failure.code
            raise
        finally:
            spent = self._watch.ms() - start
            self._calls.append(
                ModelCall(request.purpose, self.name, request.messages, "".join(parts), ended, usage, spent)
            )
