"""Searches outside for tests: any answer on a real socket, and the example of the documentation."""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import pytest
import uvicorn

SECRET = "a secret that is 32 bytes or more"
EXAMPLE = Path(__file__).parents[2] / "docs" / "search" / "search.py"


@dataclass
class Asked:
    """What a server was asked: path, headers and body of each request."""

    url: str = ""
    requests: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)


Answer = Callable[[Asked], bytes | Awaitable[bytes]]


def http(body: object = b"", status: str = "200 OK", headers: str = "") -> bytes:
    """A whole HTTP answer; what is no bytes is written as JSON."""
    raw = body if isinstance(body, bytes) else orjson.dumps(body)
    return f"HTTP/1.1 {status}\r\ncontent-length: {len(raw)}\r\nconnection: close\r\n{headers}\r\n".encode() + raw


def answer(*passages: dict[str, Any]) -> bytes:
    """An answer with these passages, each as `passage` makes it."""
    return http({"v": 1, "passages": list(passages)})


def passage(**more: Any) -> dict[str, Any]:
    """A passage that breaks no rule, with changes; None takes a field away."""
    usual = {"document": "d", "version": 1, "text": "31 days.", "title": "T", "access": ["everyone"]}
    return {name: value for name, value in (usual | more).items() if value is not None}


@asynccontextmanager
async def serving(*answers: bytes | Answer) -> AsyncIterator[Asked]:
    """A server that gives these answers one after the other, the last one for ever, and notes what it was asked."""
    asked = Asked()

    async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            first, *lines = head.strip().split("\r\n")
            headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
            asked.requests.append((first, headers, await reader.readexactly(int(headers["content-length"]))))
            given = answers[min(len(asked.requests), len(answers)) - 1]
            found = given(asked) if callable(given) else given
            writer.write(found if isinstance(found, bytes) else await found)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(one, "127.0.0.1", 0)
    asked.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/search"
    try:
        yield asked
    finally:
        server.close()


@asynccontextmanager
async def example(monkeypatch: pytest.MonkeyPatch, secret: str = SECRET) -> AsyncIterator[str]:
    """The example of docs/search on a real socket; gives its URL."""
    monkeypatch.setenv("SEARCH_SECRET", secret)
    spec = importlib.util.spec_from_file_location("example_search", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    await asyncio.to_thread(spec.loader.exec_module, module)
    server = uvicorn.Server(uvicorn.Config(module.app, port=0, log_level="error", lifespan="off"))
    task = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}/search"
    finally:
        server.should_exit = True
        await task
