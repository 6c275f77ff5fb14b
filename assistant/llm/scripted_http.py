"""A fake provider of OpenAI's chat completions and embeddings on a real socket; it sees who hangs up."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import threading
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route


@dataclass(slots=True)
class Behaviour:
    """What the provider does with one request.

    `status` other than 200 answers with `body` and `headers`; a `body` with status 200 comes as one JSON document.
    `hang` never answers; `break_after` ends the stream after so many pieces; `raw` sends these bytes;
    `endless` never stops.
    """

    text: str = "The answer."
    piece: int = 4
    delay: float = 0.0
    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    hang: bool = False
    break_after: int | None = None
    raw: list[bytes] | None = None
    endless: bool = False
    usage: bool = True
    reason: str = "stop"


@dataclass(slots=True)
class Provider:
    """The running provider: `behaviours` are used one a request, the last one repeats.

    It records the bodies and keys it got and the connections they came on, how many pieces it sent, and whether a
    client hung up in the middle of an answer.
    """

    url: str = ""
    behaviours: list[Behaviour] = field(default_factory=lambda: [Behaviour()])
    bodies: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    sent: int = 0
    cancelled: threading.Event = field(default_factory=threading.Event)
    connections: set[tuple[str, int]] = field(default_factory=set)

    def behave(self, *behaviours: Behaviour) -> None:
        """Behave like this from now on, and forget what was recorded."""
        self.behaviours = list(behaviours)
        self.bodies.clear()
        self.keys.clear()
        self.connections.clear()
        self.sent = 0
        self.cancelled.clear()

    def next(self) -> Behaviour:
        """What to do with the request that was recorded last."""
        return self.behaviours[min(len(self.bodies) - 1, len(self.behaviours) - 1)]


def _chunk(delta: dict[str, Any], reason: str | None = None) -> bytes:
    body = {
        "id": "c1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "test-model",
        "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
    }
    return b"data: " + json.dumps(body).encode() + b"\n\n"


def _usage() -> bytes:
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    body = {
        "id": "c1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "test-model",
        "choices": [],
        "usage": usage,
    }
    return b"data: " + json.dumps(body).encode() + b"\n\n"


async def _stream(provider: Provider, behaviour: Behaviour) -> AsyncIterator[bytes]:
    try:
        if behaviour.raw is not None:
            for piece in behaviour.raw:
                yield piece
                await asyncio.sleep(behaviour.delay)
            return
        yield _chunk({"role": "assistant", "content": ""})
        starts = range(0, len(behaviour.text), behaviour.piece)
        for number, start in enumerate(starts):
            if behaviour.break_after is not None and number >= behaviour.break_after:
                return
            yield _chunk({"content": behaviour.text[start : start + behaviour.piece]})
            provider.sent += 1
            await asyncio.sleep(behaviour.delay)
        while behaviour.endless:
            yield _chunk({"content": "more "})
            provider.sent += 1
            await asyncio.sleep(behaviour.delay)
        yield _chunk({}, behaviour.reason)
        if behaviour.usage:
            yield _usage()
        yield b"data: [DONE]\n\n"
    except (asyncio.CancelledError, GeneratorExit):
        provider.cancelled.set()
        raise


def _app(provider: Provider) -> Starlette:
    async def complete(request: Request) -> Response:
        provider.bodies.append(await request.json())
        provider.keys.append(request.headers.get("authorization", ""))
        if request.client:
            provider.connections.add((request.client.host, request.client.port))
        behaviour = provider.next()
        if behaviour.hang:
            await request.receive()  # returns when the client has hung up
        if behaviour.status != 200:
            return JSONResponse(behaviour.body, behaviour.status, headers=behaviour.headers)
        if behaviour.body is not None:
            return JSONResponse(behaviour.body)
        return StreamingResponse(_stream(provider, behaviour), media_type="text/event-stream")

    async def embed(request: Request) -> Response:
        body = await request.json()
        provider.bodies.append(body)
        data = [
            {"object": "embedding", "index": place, "embedding": [float(len(text)), 3.0, 4.0]}
            for place, text in enumerate(body["input"])
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return JSONResponse({"object": "list", "data": data[::-1], "model": "e", "usage": usage})

    return Starlette(
        routes=[
            Route("/v1/chat/completions", complete, methods=["POST"]),
            Route("/v1/embeddings", embed, methods=["POST"]),
        ]
    )


@contextlib.contextmanager
def running_provider() -> Iterator[Provider]:
    """Run a provider on a free port of this machine until the block ends."""
    provider = Provider()
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    provider.url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    config = uvicorn.Config(_app(provider), log_level="error", lifespan="off", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    deadline = time.monotonic() + 10
    while not server.started and time.monotonic() < deadline:
        time.sleep(0.01)
    try:
        yield provider
    finally:
        server.should_exit = True
        thread.join(5)
        listener.close()
