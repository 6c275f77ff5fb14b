"""The page: built files of web/, served with a strict content security policy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from fastapi import FastAPI
from fastapi.responses import PlainTextResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CONTENT_SECURITY_POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self' blob: data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'self'",
        "require-trusted-types-for 'script'",
        "trusted-types lit-html",
    )
)
HEADERS: Final = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


FRAMED: Final = "/embed.html"
"""The page that portals may show in a frame."""


class SecurityHeaders:
    """ASGI middleware that puts the security headers on every HTTP response.

    Pages of the `portals` (exact origins) may put FRAMED into a frame, and nothing else.
    """

    def __init__(self, app: ASGIApp, portals: Sequence[str] = ()) -> None:
        self._app = app
        ancestors = " ".join(("frame-ancestors 'self'", *portals))
        policy = CONTENT_SECURITY_POLICY.replace("frame-ancestors 'self'", ancestors)
        self._framed = {**HEADERS, "Content-Security-Policy": policy}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; add headers to its response."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        private = scope["path"].startswith("/api/")
        own = self._framed if scope["path"] == FRAMED else HEADERS

        async def secured(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(own)
                if private:
                    headers["Cache-Control"] = "no-store"
            await send(message)

        await self._app(scope, receive, secured)


def add_page(app: FastAPI, folder: Path) -> None:
    """Serve the built page at /; where it is not built, say how to build it."""
    if folder.is_dir():
        app.mount("/", StaticFiles(directory=folder, html=True), name="page")
        return

    @app.get("/")
    async def unbuilt() -> Response:
        return PlainTextResponse("The page is not built yet: run `make web`.", 503)
