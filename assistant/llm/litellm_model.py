"""Any model that litellm can reach, for providers that do not speak OpenAI's form (or when one door is enough)."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

from assistant.core.messages import ModelChunk, ModelDelta, ModelFinish, Usage
from assistant.core.prompt import ModelRequest
from assistant.errors import ModelUnavailable
from assistant.interfaces import TokenCounter
from assistant.llm.completion import Reply, messages_of, response_format_of, sampling_of, usage_of
from assistant.llm.litellm_door import begin_import, failure_of, litellm_module
from assistant.llm.tokens import counter_for, window_for


class LiteLLMModel:
    """One model by its litellm name ("anthropic/claude-...", "openai/gpt-..."); the key may come from the environment.

    Making one begins the import of litellm in the background; the first call waits for it.
    """

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None = None,
        api_base: str | None = None,
        window: int | None = None,
        counter: TokenCounter | None = None,
        timeout: float = 60.0,
        retries: int = 2,
    ) -> None:
        self._model = model
        self._window = window_for(model, window)
        self._counter = counter or counter_for(model)
        self._options: dict[str, Any] = {"timeout": timeout, "max_retries": retries, "drop_params": True}
        self._options |= {"api_key": api_key} if api_key else {}
        self._options |= {"api_base": api_base} if api_base else {}
        begin_import()

    @property
    def name(self) -> str:
        """The model's name as litellm knows it."""
        return self._model

    @property
    def window(self) -> int:
        """Tokens of input and output together."""
        return self._window

    @property
    def counter(self) -> TokenCounter:
        """The counter that fits best."""
        return self._counter

    async def aclose(self) -> None:
        """Nothing is held."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        """Answer the request; closing the iterator closes the provider's stream.

        Raises ModelUnavailable (also when the stream breaks off), ContextOverflow or ModelMisconfigured.
        """
        litellm = await litellm_module()
        reply = Reply()
        try:
            source = await self._open(litellm, request)
            try:
                async for chunk in source:
                    if text := _take(chunk, reply):
                        yield ModelDelta(text)
            finally:
                await _close(source)
        except Exception as error:
            raise failure_of(litellm, error) from error
        if not reply.complete:
            raise ModelUnavailable("the stream ended in the middle of the answer", reason="broken_off")
        yield ModelFinish(reply.finish().reason, self._with_cost(litellm, reply.usage))

    async def _open(self, litellm: Any, request: ModelRequest) -> Any:
        return await litellm.acompletion(
            model=self._model,
            messages=messages_of(request),
            stream=True,
            stream_options={"include_usage": True},
            **sampling_of(request),
            **response_format_of(request),
            **self._options,
        )

    def _with_cost(self, litellm: Any, usage: Usage) -> Usage:
        """The usage with its cost in US dollars where litellm's table knows the model."""
        try:
            parts = litellm.cost_per_token(
                model=self._model,
                prompt_tokens=usage.tokens_in,
                completion_tokens=usage.tokens_out,
                cache_read_input_tokens=usage.tokens_cached,
            )
        except Exception:  # unknown models raise bare exceptions of many kinds; a missing price is no failure
            return usage
        cost = float(sum(parts))
        return Usage(usage.calls, usage.tokens_in, usage.tokens_out, usage.tokens_cached, cost if cost > 0 else None)


def _take(chunk: Any, reply: Reply) -> str:
    """The text of a chunk; its usage and reason go into `reply`."""
    if (usage := getattr(chunk, "usage", None)) is not None:
        reply.usage = usage_of(usage.model_dump())
    if not chunk.choices:
        return ""
    choice = chunk.choices[0]
    if choice.finish_reason:
        reply.reason = str(choice.finish_reason)
    content = choice.delta.content
    return content if isinstance(content, str) else ""


async def _close(source: Any) -> None:
    """Close the wrapper and the response under it (closing the wrapper alone has leaked: litellm 13774, 30244)."""
    response: Any = getattr(getattr(source, "completion_stream", None), "response", None)
    await source.aclose()
    if hasattr(response, "aclose"):
        await response.aclose()
