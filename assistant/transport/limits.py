"""A bound on request bodies, before anything reads them."""

from __future__ import annotations

import re
from typing import Final

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES: Final = 128 * 1024
"""A question of 8,000 characters fits, escaped or not."""

_UPLOADS: Final = {"PUT": re.compile(r"/api/admin/documents"), "POST": re.compile(r"/api/sessions/[^/]+/files")}


def is_upload(scope: Scope) -> bool:
    """Whether a request sends in a file, which may be larger than other bodies and is read as it comes."""
    form = _UPLOADS.get(scope["method"])
    return form is not None and form.fullmatch(scope["path"]) is not None


class BodyLimit:
    """ASGI middleware that answers 413 to a body that is announced or found to be larger than `most` bytes.

    Bodies of uploads may have `upload_bytes` of the doors, and are passed on piece by piece.
    """

    def __init__(self, app: ASGIApp, most: int = MOST_BYTES) -> None:
        self._app = app
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request whose body is small enough; read at most one part too many."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        upload = is_upload(scope)
        most = int(scope["app"].state.doors.upload_bytes) if upload else self._most
        if not _is_within(Headers(scope=scope).get("content-length", "0"), most):
            await _too_large(most)(scope, receive, send)
        elif upload:
            await self._stream(scope, receive, send, most)
        else:
            await self._whole(scope, receive, send)

    async def _whole(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the body before anything else does."""
        parts = await self._read(receive)
        if parts is None:
            await _too_large(self._most)(scope, receive, send)
            return
        waiting = iter(parts)

        async def replay() -> Message:
            return next(waiting, None) or await receive()

        await self._app(scope, replay, send)

    async def _stream(self, scope: Scope, receive: Receive, send: Send, most: int) -> None:
        """Pass the body on as it comes; who reads beyond `most` is broken off, whatever length was announced."""
        size, begun = 0, False

        async def counted() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > most:
                raise _Overrun
            return message

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, counted, watched)
        except _Overrun:
            if not begun:
                await _too_large(most)(scope, receive, send)

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


class _Overrun(Exception):
    """A body went on beyond its bound."""


def _is_within(announced: str, most: int) -> bool:
    """Whether the announced length is a number that is small enough; int() takes more digits than those of ASCII."""
    return announced.isascii() and announced.isdigit() and len(announced) < 20 and int(announced) <= most


def _too_large(most: int) -> JSONResponse:
    body = {"error": {"code": "bad_input", "retryable": False, "reason": "too_large", "limit": most}}
    return JSONResponse(body, 413)
