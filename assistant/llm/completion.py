"""OpenAI's chat completion format: the request that is sent and the chunks that come back. Pure."""

from __future__ import annotations

import base64
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from assistant.core.messages import Message, ModelFinish, Usage
from assistant.core.prompt import ModelRequest
from assistant.errors import ModelUnavailable, TurnFailed
from assistant.llm.failures import failure_in_stream, message_of
from assistant.llm.sse import SseEvent

_OPTIONAL: Final = (
    "response_format",
    "stream_options",
    "frequency_penalty",
    "presence_penalty",
    "temperature",
    "top_p",
    "max_tokens",
)
_CUT_OFF: Final = frozenset({"length", "max_tokens", "content_filter", "model_length"})


def messages_of(request: ModelRequest) -> list[dict[str, Any]]:
    """The messages as the wire has them."""
    return [{"role": message.role.value, "content": _content(message)} for message in request.messages]


def _content(message: Message) -> str | list[dict[str, Any]]:
    """The text, or a list of parts when there are images: each image after a line that says what it belongs to."""
    if not message.images:
        return message.text
    parts: list[dict[str, Any]] = [{"type": "text", "text": message.text}]
    for image in message.images:
        encoded = base64.b64encode(image.content).decode()
        parts.append({"type": "text", "text": image.label})
        parts.append({"type": "image_url", "image_url": {"url": f"data:{image.media_type};base64,{encoded}"}})
    return parts


def sampling_of(request: ModelRequest) -> dict[str, Any]:
    """The sampling parameters as the wire has them."""
    sampling = request.sampling
    return {
        "max_tokens": sampling.max_tokens,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "frequency_penalty": sampling.frequency_penalty,
        "presence_penalty": sampling.presence_penalty,
    }


def response_format_of(request: ModelRequest) -> dict[str, Any]:
    """The form of the reply as the wire has it; nothing when any text will do."""
    if request.schema is None:
        return {}
    named = {"name": "answer", "schema": dict(request.schema), "strict": False}
    return {"response_format": {"type": "json_schema", "json_schema": named}}


def payload(model: str, request: ModelRequest, without: Collection[str] = ()) -> dict[str, Any]:
    """The body of a streaming request without refused parameters; a refused max_tokens gets its newer name."""
    body: dict[str, Any] = {
        "model": model,
        "messages": messages_of(request),
        "stream": True,
        "stream_options": {"include_usage": True},
        **sampling_of(request),
        **response_format_of(request),
    }
    if "max_tokens" in without:
        body["max_completion_tokens"] = body["max_tokens"]
    return {key: value for key, value in body.items() if key not in without}


def drop_refused(status: int, body: bytes, sent: Mapping[str, Any]) -> str | None:
    """The optional parameter among those sent that the endpoint refuses by name, None when it is something else."""
    if status not in {400, 422}:
        return None
    words = message_of(body)
    named = _param(body)
    return next((key for key in _OPTIONAL if key in sent and (key == named or _refuses(words, key))), None)


def _param(body: bytes) -> str:
    """The `error.param` of OpenAI's error form."""
    try:
        parsed = orjson.loads(body)
    except orjson.JSONDecodeError:
        return ""
    error = parsed.get("error") if isinstance(parsed, dict) else None
    return str(error.get("param", "")).partition(".")[0] if isinstance(error, dict) else ""


def _refuses(words: str, key: str) -> bool:
    complaint = ("unsupported", "not support", "unknown", "unrecognized", "extra", "unexpected", "not permitted")
    lower = words.lower()
    return key in lower and any(word in lower for word in complaint)


@dataclass(slots=True)
class Reply:
    """What a stream has said so far besides its text.

    `done` means that nothing of interest can follow; `error` is a failure that the stream itself reports.
    """

    reason: str = ""
    usage: Usage = field(default_factory=lambda: Usage(calls=1))
    done: bool = False
    error: TurnFailed | None = None

    @property
    def complete(self) -> bool:
        """Whether the provider said that the answer is at its end."""
        return self.done or bool(self.reason)

    def take(self, events: Sequence[SseEvent]) -> str:
        """Read events and give their text up to the end or the first failure, which is kept in `error`."""
        texts = []
        for event in events:
            if event.data.startswith(b"[DONE]"):
                self.done = True
                break
            try:
                texts.append(self._take_chunk(_parse(event)))
            except TurnFailed as error:
                self.error = error
                break
        return "".join(texts)

    def _take_chunk(self, chunk: dict[str, Any]) -> str:
        if error := chunk.get("error"):
            raise failure_in_stream(error)
        if usage := chunk.get("usage"):
            self.usage = usage_of(usage)
        choices = chunk.get("choices")
        if not choices or not isinstance(choices[0], dict):
            return ""
        choice = choices[0]
        if reason := choice.get("finish_reason"):
            self.reason = str(reason)
        content = (choice.get("delta") or choice.get("message") or {}).get("content")
        return content if isinstance(content, str) else ""

    def finish(self) -> ModelFinish:
        """The end of the answer; a filter of the provider that cut the text counts as length."""
        return ModelFinish("length" if self.reason in _CUT_OFF else "stop", self.usage)


def whole_reply(body: bytes, reply: Reply) -> str:
    """The text of a reply that came as one JSON document instead of a stream."""
    text = reply.take([SseEvent(body)])
    reply.done = reply.done or bool(text)
    return text


def usage_of(usage: Any) -> Usage:
    """The provider's token counts; what is missing or not a number counts as 0."""
    if not isinstance(usage, dict):
        return Usage(calls=1)
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else 0
    return Usage(
        calls=1,
        tokens_in=_whole(usage.get("prompt_tokens")),
        tokens_out=_whole(usage.get("completion_tokens")),
        tokens_cached=_whole(cached),
    )


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _parse(event: SseEvent) -> dict[str, Any]:
    try:
        chunk = orjson.loads(event.data)
    except orjson.JSONDecodeError as error:
        raise ModelUnavailable("the stream holds something that is not JSON", reason="broken") from error
    if not isinstance(chunk, dict):
        raise ModelUnavailable("the stream holds something that is not a chunk", reason="broken")
    return {"error": chunk, **chunk} if event.name == "error" and "error" not in chunk else chunk
