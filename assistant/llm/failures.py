"""What a provider's refusal means to this program: a status and a body become one error of the tree. Pure."""

from __future__ import annotations

import re
from typing import Any, Final

import orjson

from assistant.errors import ContextOverflow, ModelMisconfigured, ModelUnavailable, TurnFailed

# Wordings of OpenAI, Azure, vLLM, TGI, llama.cpp, Ollama, Anthropic, Mistral and Gemini for a prompt that is too long.
_TOO_LONG: Final = re.compile(
    r"context[ _]?(?:length|window|size)|maximum context|max_model_len|prompt is too long|input is too long"
    r"|too many (?:input )?tokens|exceeds? the (?:available|maximum)[^.]{0,40}(?:context|token|length)"
    r"|(?:inputs?|prompt) (?:tokens?|length)[^.]{0,60}(?:exceed|must be|too)|reduce the length|token limit",
    re.IGNORECASE,
)
_SECRET: Final = re.compile(r"(?:sk|pk|key|token|bearer)[-_ ][A-Za-z0-9_\-*]{8,}", re.IGNORECASE)
_BUSY: Final = frozenset({408, 409, 425, 429})


def failure(status: int, body: bytes | str, retry_after_ms: int | None = None) -> TurnFailed:
    """The error for an HTTP status and the body that came with it; `data` holds the status and, if known, the wait."""
    words = message_of(body)
    if status == 413 or (status in {400, 422, 500} and _TOO_LONG.search(words)):
        return ContextOverflow(f"{status}: {_log_line(words)}", status=status)
    detail = f"{status}: {_log_line(words)}"
    if status in _BUSY or status >= 500:
        return ModelUnavailable(detail, status=status, retry_after_ms=retry_after_ms)
    return ModelMisconfigured(detail, status=status)


def failure_in_stream(error: Any) -> TurnFailed:
    """The error for an error object that came inside a stream with status 200."""
    status = _status_in(error)
    return failure(status, orjson.dumps({"error": error}, default=str))


def _status_in(error: Any) -> int:
    """The status that an error object names; 500 for an overload or anything unknown, 400 for a bad request."""
    if isinstance(error, dict):
        for key in ("status", "code", "http_status"):
            value = error.get(key)
            if isinstance(value, int) and 400 <= value < 600:
                return value
            if isinstance(value, str) and value.isdecimal() and 400 <= int(value) < 600:
                return int(value)
        kind = str(error.get("type", "")).lower()
        if "invalid_request" in kind or "badrequest" in kind:
            return 400
        if "rate_limit" in kind:
            return 429
    return 500


def message_of(body: bytes | str) -> str:
    """The words of an error body: `error.code` and `error.message` of the usual forms, else the body's start."""
    text = body.decode("utf-8", "replace") if isinstance(body, bytes) else body
    try:
        parsed = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text[:2000]
    inner = parsed.get("error", parsed) if isinstance(parsed, dict) else parsed
    if isinstance(inner, dict):
        parts = [inner.get(key) for key in ("code", "type", "message", "detail")]
        return " ".join(str(part) for part in parts if part)[:2000]
    return str(inner)[:2000]


def _log_line(words: str) -> str:
    """One short line for the log, with what looks like a key taken out."""
    return _SECRET.sub("[key]", " ".join(words.split()))[:300]


def retry_after_ms(value: str | None, limit_ms: int = 3_600_000) -> int | None:
    """The wait that a Retry-After header asks for, in milliseconds; None when absent or given as a date.

    Source: RFC 9110, 10.2.3. A date would need a clock; providers send seconds.
    """
    try:
        seconds = float(value) if value else -1.0
    except ValueError:
        return None
    return min(int(seconds * 1000), limit_ms) if 0 <= seconds < float("inf") else None
