"""The page: built files of web/, served with a strict content security policy."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from fastapi import FastAPI, Request
from fastapi.responses import PlainTextResponse, Response
from fastapi.staticfiles import StaticFiles

CONTENT_SECURITY_POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self' data:",
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


def add_page(app: FastAPI, folder: Path) -> None:
    """Serve the built page at / and put the security headers on every response."""

    @app.middleware("http")
    async def secure(request: Request, forward: Callable[[Request], Awaitable[Response]]) -> Response:
        response = await forward(request)
        response.headers.update(HEADERS)
        if request.url.path.startswith("/api/"):
            response.headers["Cache-Control"] = "no-store"
        return response

    if folder.is_dir():
        app.mount("/", StaticFiles(directory=folder, html=True), name="page")
    else:

        @app.get("/")
        async def unbuilt() -> Response:
            """Say how the page is built."""
            return PlainTextResponse("The page is not built yet: run `make web`.", 503)
