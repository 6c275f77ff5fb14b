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
        ended, usage, start, model = "cancelled", Usage(calls=1), self._watch.ms(), self.name
        try:
            async with aclosing(self._inner.stream(request)) as chunks:
                async for chunk in chunks:
                    if isinstance(chunk, ModelDelta):
                        parts.append(chunk.text)
                    else:
                        ended, usage, model = chunk.reason, chunk.usage, chunk.model or self.name
                    yield chunk
        except AssistantError as failure:
            ended, usage = failure.code, _used(failure)
            raise
        finally:
            spent = self._watch.ms() - start
            self._calls.append(ModelCall(request.purpose, model, request.messages, "".join(parts), ended, usage, spent))


def _used(failure: AssistantError) -> Usage:
    """What a failed call used, as its error says: the calls that were tried, and what the provider counted of them."""
    counts = [failure.data.get(key) for key in ("calls", "tokens_in", "tokens_out")]
    calls, read, written = (
        count if isinstance(count, int) else default for count, default in zip(counts, (1, 0, 0), strict=True)
    )
    return Usage(calls, read, written)
