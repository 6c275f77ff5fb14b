"""A bound on request bodies, before anything reads them."""

from __future__ import annotations

from typing import Final

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES: Final = 128 * 1024
"""A question of 8,000 characters fits, escaped or not."""


class BodyLimit:
    """ASGI middleware that answers 413 to a body that is announced or found to be larger than `most` bytes."""

    def __init__(self, app: ASGIApp, most: int = MOST_BYTES) -> None:
        self._app = app
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request whose body is small enough; read at most one part too many."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        announced = Headers(scope=scope).get("content-length", "0")
        parts = None if not announced.isdigit() or int(announced) > self._most else await self._read(receive)
        if parts is None:
            body = {"error": {"code": "bad_input", "retryable": False, "reason": "too_large", "limit": self._most}}
            await JSONResponse(body, 413)(scope, receive, send)
            return
        waiting = iter(parts)

        async def replay() -> Message:
            return next(waiting, None) or await receive()

        await self._app(scope, replay, send)

    async def _read(self, receive: Receive) -> list[Message] | None:
        """All parts of the body; None when it is too large."""
        parts: list[Message] = []
        size = 0
        while True:
            message = await receive()
            parts.append(message)
            size += len(message.get("body", b""))
            if size > self._most:
                return None
            if message["type"] != "http.request" or not message.get("more_body", False):
                return parts
