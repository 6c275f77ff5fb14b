"""A fake provider of OpenAI's chat completions and embeddings on a real socket; it sees who hangs up."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import socket
import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import uvicorn

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


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
    connections: set[tuple[Any, ...]] = field(default_factory=set)

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


async def _chunks(provider: Provider, behaviour: Behaviour) -> AsyncGenerator[bytes, None]:
    """The body of a stream, piece by piece, in the pace of the behaviour."""
    if behaviour.raw is not None:
        for piece in behaviour.raw:
            yield piece
            await asyncio.sleep(behaviour.delay)
        return
    yield _chunk({"role": "assistant", "content": ""})
    for number, text in enumerate(_texts(behaviour)):
        if behaviour.break_after is not None and number >= behaviour.break_after:
            return
        yield _chunk({"content": text})
        provider.sent += 1
        await asyncio.sleep(behaviour.delay)
    yield _chunk({}, behaviour.reason)
    if behaviour.usage:
        yield _usage()
    yield b"data: [DONE]\n\n"


def _texts(behaviour: Behaviour) -> Iterator[str]:
    for start in range(0, len(behaviour.text), behaviour.piece):
        yield behaviour.text[start : start + behaviour.piece]
    for number in itertools.count():
        if not behaviour.endless:
            return
        yield f"more {number} "


def _app(provider: Provider) -> Callable[[Scope, Receive, Send], Awaitable[None]]:
    """The provider as a bare ASGI application."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        provider.bodies.append(json.loads(await _body(receive)))
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        provider.keys.append(headers.get(b"authorization", ""))
        provider.connections.add(tuple(scope["client"]))
        behaviour = provider.next()
        if behaviour.hang:
            await receive()  # returns when the client has hung up
        elif scope["path"].endswith("/embeddings"):
            await _answer(send, 200, _embeddings(provider.bodies[-1]["input"]), {})
        elif behaviour.status != 200 or behaviour.body is not None:
            await _answer(send, behaviour.status, behaviour.body, behaviour.headers)
        else:
            await _stream(provider, behaviour, receive, send)

    return app


async def _stream(provider: Provider, behaviour: Behaviour, receive: Receive, send: Send) -> None:
    """Send the stream until it ends or the client hangs up."""
    await _start(send, 200, {"content-type": "text/event-stream"})
    gone = asyncio.ensure_future(receive())
    async with contextlib.aclosing(_chunks(provider, behaviour)) as chunks:
        async for chunk in chunks:
            if gone.done():
                provider.cancelled.set()
                return
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
    gone.cancel()
    await send({"type": "http.response.body", "body": b""})


async def _body(receive: Receive) -> bytes:
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body


async def _start(send: Send, status: int, headers: Mapping[str, str]) -> None:
    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})


async def _answer(send: Send, status: int, body: Any, headers: Mapping[str, str]) -> None:
    await _start(send, status, {"content-type": "application/json", **headers})
    await send({"type": "http.response.body", "body": json.dumps(body).encode()})


def _embeddings(texts: Sequence[str]) -> dict[str, Any]:
    """One vector a text, told apart by its length; in reverse order, as a provider may."""
    data = [
        {"object": "embedding", "index": place, "embedding": [float(len(text)), 3.0, 4.0]}
        for place, text in enumerate(texts)
    ]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return {"object": "list", "data": data[::-1], "model": "e", "usage": usage}


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
