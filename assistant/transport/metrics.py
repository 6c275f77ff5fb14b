"""What is told of requests and sockets: figures, a line of the log, ids for all other lines; and the door for Prometheus."""

from __future__ import annotations

import asyncio
import hmac
import re
from time import perf_counter
from typing import Final
from uuid import uuid4

import structlog
from fastapi import FastAPI, Request
from fastapi.responses import Response
from prometheus_client import CONTENT_TYPE_LATEST, start_http_server
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assistant.errors import BadSetting, NotAuthenticated
from assistant.telemetry.figures import REGISTRY, REQUEST_SECONDS, REQUESTS, SOCKETS, exposition
from assistant.telemetry.tracing import beneath

log = structlog.get_logger(__name__)

ID_HEADER: Final = "X-Request-Id"
_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_PROBES: Final = frozenset({"/healthz", "/readyz", "/metrics"})


class Observed:
    """ASGI middleware around everything else: ids, trace, figures and one line for each request and each socket.

    A turn inherits the ids and the trace of the request or the handshake that started it. The line holds the route, never the
    path or the query, in which names of files and words of a search may stand.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass it on, and tell of it when it is over."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        id_ = _request_id(headers)
        with structlog.contextvars.bound_contextvars(request=id_), beneath(headers):
            if scope["type"] == "http":
                await self._request(scope, receive, send, id_)
            else:
                await self._socket(scope, receive, send)

    async def _request(self, scope: Scope, receive: Receive, send: Send, id_: str) -> None:
        began, status = perf_counter(), 500

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[ID_HEADER] = id_
            await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            seconds, route = perf_counter() - began, route_of(scope)
            method = scope["method"] if scope["method"] in _METHODS else "other"
            REQUESTS.labels(method, route, str(status)).inc()
            REQUEST_SECONDS.labels(route).observe(seconds)
            say = log.debug if route in _PROBES else log.info
            say("request", method=method, route=route, status=status, ms=round(1000 * seconds, 1))

    async def _socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        began, code = perf_counter(), 1006

        async def watched(message: Message) -> None:
            nonlocal code
            if message["type"] == "websocket.close":
                code = message.get("code", 1000)
            await send(message)

        async def heard() -> Message:
            nonlocal code
            message = await receive()
            if message["type"] == "websocket.disconnect":
                code = message.get("code", 1005)
            return message

        with SOCKETS.track_inprogress():
            try:
                await self._app(scope, heard, watched)
            finally:
                log.info("socket", route=route_of(scope), code=code, seconds=round(perf_counter() - began, 1))


def route_of(scope: Scope) -> str:
    """The route of a request with its parameters as names; `other` for what no route answers, and for files of the page."""
    return str(getattr(scope.get("route"), "path", "other"))


def _request_id(headers: Headers) -> str:
    given = headers.get(ID_HEADER, "")
    return given if _ID.fullmatch(given) else uuid4().hex


def add_metrics(app: FastAPI, token: str) -> None:
    """Serve GET /metrics to who has the token; without one there is no such door on this port."""
    if not token:
        return
    expected = f"Bearer {token}".encode()

    async def metrics(request: Request) -> Response:
        """All figures of this process. Raises NotAuthenticated for another token."""
        given = request.headers.get("authorization", "").encode()
        if not hmac.compare_digest(given, expected):
            raise NotAuthenticated("the figures want their own token")
        return Response(
            await asyncio.to_thread(exposition), media_type=CONTENT_TYPE_LATEST
        )  # it reads files of the system

    app.add_api_route("/metrics", metrics, methods=["GET"], include_in_schema=False)


def serve_metrics(host: str, port: int) -> int:
    """Serve the figures on a port of their own, from a thread, until the process ends; the port. For a network that only Prometheus
    reaches: whoever comes may read. Raises BadSetting when the port cannot be opened."""
    try:
        server, _ = start_http_server(port, addr=host, registry=REGISTRY)
    except OSError as error:
        raise BadSetting("the port for figures cannot be opened", setting="server.metrics_port", port=port) from error
    return int(server.server_port)
