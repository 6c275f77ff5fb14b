"""What is told of every call of a model: a span with the names of OpenTelemetry's GenAI conventions, and figures."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from functools import wraps
from time import perf_counter
from typing import Any, Final, TypeVar

import orjson
import structlog
from opentelemetry.trace import Span, SpanKind

from assistant.core.messages import Message, ModelChunk, ModelDelta, ModelFinish, Role, Usage
from assistant.core.prompt import ModelRequest
from assistant.errors import AssistantError
from assistant.interfaces import ChatModel
from assistant.telemetry.figures import MODEL_CALLS, MODEL_DOLLARS, MODEL_SECONDS, MODEL_TOKENS, bounded
from assistant.telemetry.tracing import Value, begin, fail, tells_content

Model = TypeVar("Model", bound=ChatModel)
Stream = Callable[[Model, ModelRequest], AsyncGenerator[ModelChunk, None]]

HERE: Final = "assistant"
"""The provider of a model that runs in this process."""
_PROVIDERS: Final = {
    "anthropic": "anthropic",
    "azure": "azure.ai.openai",
    "azure_ai": "azure.ai.inference",
    "bedrock": "aws.bedrock",
    "cohere": "cohere",
    "deepseek": "deepseek",
    "gemini": "gcp.gemini",
    "groq": "groq",
    "mistral": "mistral_ai",
    "perplexity": "perplexity",
    "vertex_ai": "gcp.vertex_ai",
    "watsonx": "ibm.watsonx.ai",
    "xai": "x_ai",
}


def observed(stream: Stream[Model]) -> Stream[Model]:
    """Tell of every call of a model's `stream`. Retries and stand-ins inside are one call, to the one who waits for it."""

    @wraps(stream)
    async def telling(model: Model, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        call = _Observed(model, request)
        try:
            async with aclosing(stream(model, request)) as chunks:
                async for chunk in chunks:
                    if call.silent or type(chunk) is not ModelDelta or call.parts is not None:
                        call.hear(chunk)
                    yield chunk
        except AssistantError as error:
            call.failed(error)
            raise
        finally:
            call.end()

    return telling


class _Observed:
    """One call: what is known of it so far. `parts` is its text, where spans may hold it."""

    __slots__ = ("_began", "_finish", "_request", "_span", "ended", "model", "parts", "silent")

    def __init__(self, model: ChatModel, request: ModelRequest) -> None:
        self.model, self._request = model.name, request
        self._began, self.silent, self.ended = perf_counter(), True, "cancelled"
        self._finish = ModelFinish()
        self._span = _begun(model, request)
        self.parts: list[str] | None = [] if self._span is not None and tells_content() else None

    def hear(self, chunk: ModelChunk) -> None:
        """Take note of the first word, of the end, and of every word where spans may hold them."""
        if isinstance(chunk, ModelFinish):
            self._finish, self.ended, self.model = chunk, chunk.reason, chunk.model or self.model
        elif self.parts is not None:
            self.parts.append(chunk.text)
        if self.silent:
            self.silent = False
            if self._span is not None:
                self._span.set_attribute("gen_ai.response.time_to_first_chunk", perf_counter() - self._began)

    def failed(self, error: AssistantError) -> None:
        """The call ended with an error."""
        self.ended = error.code
        if self._span is not None:
            fail(self._span, error)

    def end(self) -> None:
        """Count the call, and end its span."""
        name, usage = bounded("model", self.model), self._finish.usage
        MODEL_CALLS.labels(name, self._request.purpose, self.ended).inc()
        MODEL_SECONDS.labels(name).observe(perf_counter() - self._began)
        for kind, count in (("in", usage.tokens_in), ("out", usage.tokens_out), ("cached", usage.tokens_cached)):
            if count:
                MODEL_TOKENS.labels(name, kind).inc(count)
        if usage.cost:
            MODEL_DOLLARS.labels(name).inc(usage.cost)
        if self._span is not None:
            self._span.set_attributes(_response(self.model, self.ended, usage))
            if self.parts is not None:
                self._span.set_attributes(_content(self._request.messages, "".join(self.parts), self.ended))
            self._span.end()


def _begun(model: ChatModel, request: ModelRequest) -> Span | None:
    provider = provider_of(model)
    kind = SpanKind.INTERNAL if provider == HERE else SpanKind.CLIENT
    span = begin(f"chat {model.name}", kind)
    if span is not None:
        span.set_attributes(_asked(model.name, provider, request))
    return span


def provider_of(model: ChatModel) -> str:
    """The provider by the name that litellm gives a model ("anthropic/..."); any other endpoint speaks OpenAI's form.

    A slash alone says nothing: models of a server of one's own have one, too.
    """
    if model.name in ("extractive", "scripted"):
        return HERE
    return _PROVIDERS.get(model.name.partition("/")[0], "openai")


def _asked(model: str, provider: str, request: ModelRequest) -> dict[str, Value]:
    sampling, known = request.sampling, structlog.contextvars.get_contextvars()
    asked: dict[str, Value] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": model,
        "gen_ai.request.stream": True,
        "gen_ai.request.max_tokens": sampling.max_tokens,
        "gen_ai.request.temperature": sampling.temperature,
        "gen_ai.request.top_p": sampling.top_p,
        "gen_ai.request.frequency_penalty": sampling.frequency_penalty,
        "gen_ai.request.presence_penalty": sampling.presence_penalty,
        "gen_ai.output.type": "text" if request.schema is None else "json",
        "assistant.purpose": request.purpose,
    }
    return asked | ({"gen_ai.conversation.id": str(known["session"])} if "session" in known else {})


def _response(model: str, ended: str, usage: Usage) -> dict[str, Any]:
    told: dict[str, Any] = {
        "gen_ai.response.model": model,
        "gen_ai.response.finish_reasons": [ended],
        "gen_ai.usage.input_tokens": usage.tokens_in,
        "gen_ai.usage.output_tokens": usage.tokens_out,
        "gen_ai.usage.cache_read.input_tokens": usage.tokens_cached,
        "assistant.calls": usage.calls,
    }
    return told | ({"assistant.cost": usage.cost} if usage.cost is not None else {})


def _content(messages: Sequence[Message], text: str, ended: str) -> dict[str, Value]:
    """Prompt and answer in the JSON form of the conventions; images are left out."""
    system = [_part(message.text) for message in messages if message.role is Role.SYSTEM]
    others = [
        {"role": message.role.value, "parts": [_part(message.text)]}
        for message in messages
        if message.role is not Role.SYSTEM
    ]
    said = [{"role": "assistant", "parts": [_part(text)], "finish_reason": ended}]
    return {
        "gen_ai.system_instructions": orjson.dumps(system).decode(),
        "gen_ai.input.messages": orjson.dumps(others).decode(),
        "gen_ai.output.messages": orjson.dumps(said).decode(),
    }


def _part(text: str) -> dict[str, str]:
    return {"type": "text", "content": text}
