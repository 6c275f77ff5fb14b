"""Codes of errors as HTTP statuses and websocket close codes."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from assistant.errors import AssistantError

HTTP_STATUS: Final[dict[str, int]] = {
    "bad_input": 422,
    "bad_document": 422,
    "bad_setting": 422,
    "search_unavailable": 503,
    "unavailable": 503,
    "model_output_invalid": 502,
    "question_too_long": 413,
    "not_authenticated": 401,
    "token_expired": 401,
    "other_user": 403,
    "not_found": 404,
    "idempotency_mismatch": 409,
    "busy": 429,
    "model_unavailable": 503,
    "context_overflow": 422,
    "model_misconfigured": 503,
}


def http_status(error: AssistantError) -> int:
    """The HTTP status of an error; 500 for what is not the caller's doing."""
    return HTTP_STATUS.get(error.code, 500)


def retry_after(wait_ms: int | None) -> dict[str, str]:
    """The header that says when to come back, in whole seconds; none where nothing is known."""
    return {"Retry-After": str(max(1, -(-wait_ms // 1000)))} if wait_ms is not None else {}


class Close(IntEnum):
    """Close codes of the websocket: 40xx come back, 45xx do not."""

    SLOW_READER = 4001
    DRAINING = 4002
    TOKEN_EXPIRED = 4003
    RATE_LIMITED = 4004
    STATE_LOST = 4005
    NO_PONG = 4006
    UNAVAILABLE = 4007
    BAD_FRAME = 4500
    NOT_AUTHENTICATED = 4501
    NO_OPEN = 4502
    ORIGIN_REFUSED = 4503
    OTHER_USER = 4504
    VERSION = 4505
