"""Bounds on bodies over a real socket: lengths that lie, bodies without an end, clients that go away."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
import pytest_asyncio
import uvicorn
from fastapi import FastAPI, Request

from assistant.errors import AssistantError
from assistant.transport.http import refuse
from assistant.transport.limits import MOST_BYTES, BodyLimit
from assistant.transport.receiving import received

MOST = 200_000
UPLOAD = "/api/sessions/s1/files"


class House:
    """An application with one upload and one ordinary route, and what arrived there."""

    def __init__(self) -> None:
        self.seen: list[int] = []
        self.others: list[int] = []
        self.folders: list[Path] = []
        self.failed: list[str] = []
        self.app = FastAPI()
        self.app.state.doors = SimpleNamespace(upload_bytes=MOST)
        self.app.add_middleware(BodyLimit)
        self.app.add_exception_handler(AssistantError, refuse)
        self.app.post("/api/sessions/{session}/files")(self.upload)
        self.app.post("/api/other")(self.other)

    async def upload(self, session: str, request: Request) -> dict[str, int]:
        try:
            async with received(request) as path:
                self.folders.append(path.parent)
                self.seen.append(path.stat().st_size)
        except BaseException as error:
            self.failed.append(type(error).__name__)
            raise
        return {"size": self.seen[-1]}

    async def other(self, request: Request) -> dict[str, int]:
        self.others.append(len(await request.body()))
        return {"size": self.others[-1]}


@pytest.fixture
def house() -> House:
    return House()


@pytest.fixture
def port(house: House) -> Iterator[int]:
    server = uvicorn.Server(uvicorn.Config(house.app, port=0, log_level="critical", lifespan="off"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.01)
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    thread.join()


async def ask(port: int, head: str, *parts: bytes, path: str = UPLOAD, leave: bool = False) -> tuple[int, str]:
    """The status and the body of the answer to a request that is written byte by byte; 0 when there is none."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(f"POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{head}\r\n\r\n".encode())
        for part in parts:
            writer.write(part)
            await writer.drain()
        if leave:
            return 0, ""
        answer = await reader.read()
    except ConnectionError:
        return 0, ""
    finally:
        writer.close()
    status, _, body = answer.partition(b"\r\n\r\n")
    return (int(status.split()[1]) if status else 0), body.decode()


def chunked(*parts: bytes) -> list[bytes]:
    return [f"{len(part):x}\r\n".encode() + part + b"\r\n" for part in parts]


async def test_an_upload_arrives_whole_and_leaves_no_file(port: int, house: House) -> None:
    for size in (0, 1, MOST_BYTES + 1, MOST):
        status, body = await ask(port, f"Content-Length: {size}", b"x" * size)
        assert (status, json.loads(body)) == (200, {"size": size})
    status, body = await ask(port, "Transfer-Encoding: chunked", *chunked(*[b"x" * 50_000] * 4, b""))
    assert (status, json.loads(body)) == (200, {"size": MOST})
    assert not any(folder.exists() for folder in house.folders)


async def test_what_is_too_large_is_refused_before_or_while_it_is_read(port: int, house: House) -> None:
    for head in (f"Content-Length: {MOST + 1}", "Content-Length: 99999999999999999999"):
        status, body = await ask(port, head)
        assert status in (400, 413)
        if status == 413:
            assert json.loads(body)["error"] == {
                "code": "bad_input", "retryable": False, "reason": "too_large", "limit": MOST,
            }  # fmt: skip
    endless = chunked(*[b"x" * 50_000] * 5)
    status, _ = await ask(port, "Transfer-Encoding: chunked", *endless)
    assert status in (0, 413)  # who goes on writing may not hear the answer
    while not house.failed:
        await asyncio.sleep(0.001)
    assert house.failed == ["_Overrun"]
    assert house.seen == []


async def test_other_bodies_keep_their_bound(port: int, house: House) -> None:
    for path in ("/api/other", "/api/sessions/s1/files/../other"):
        status, _ = await ask(port, f"Content-Length: {MOST_BYTES + 1}", path=path)
        assert status == 413
    assert (await ask(port, "Content-Length: 3", b"abc", path="/api/other"))[0] == 200
    status, _ = await ask(port, "Transfer-Encoding: chunked", *chunked(*[b"x" * 50_000] * 4), path="/api/other")
    assert status in (0, 413)
    assert house.others == [3]


@pytest.mark.parametrize(("path", "most"), [(UPLOAD, MOST), ("/api/other", MOST_BYTES)])
async def test_a_body_without_a_length_is_counted(house: House, path: str, most: int) -> None:
    async def pieces(size: int) -> AsyncIterator[bytes]:
        while size > 0:
            yield b"x" * min(size, 10_000)
            size -= 10_000

    transport = httpx.ASGITransport(app=house.app)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as http:
        assert (await http.post(path, content=pieces(most))).json() == {"size": most}
        refused = await http.post(path, content=pieces(most + 1))
    assert (refused.status_code, refused.json()["error"]["limit"]) == (413, most)


async def test_lengths_that_lie_do_no_harm(port: int, house: House) -> None:
    status, body = await ask(port, "Content-Length: 3", b"abcdef")
    assert (status, json.loads(body)) == (200, {"size": 3})  # the rest is no part of the body
    await ask(port, "Content-Length: 100", b"abc", leave=True)
    while not house.failed:
        await asyncio.sleep(0.001)
    assert house.failed == ["BadInput"]
    for lie in ("-1", "1e3", "x", "\xb2", "3, 4", " "):
        status, _ = await ask(port, f"Content-Length: {lie}", b"abc")
        assert status in (0, 400, 413), lie
    assert house.seen == [3]
    assert not any(folder.exists() for folder in house.folders)


@pytest.mark.parametrize("announced", ["²", "٣", "9" * 5000, "-1", ""])
async def test_a_length_that_is_no_number_is_refused_without_a_server_to_catch_it(announced: str) -> None:
    sent: list[dict[str, object]] = []

    async def send(message: object) -> None:
        sent.append(message)  # type: ignore[arg-type]

    async def nothing(*_: object) -> None:
        raise AssertionError("the application was asked")

    headers = [(b"content-length", announced.encode("latin-1", "replace"))]
    scope = {"type": "http", "method": "POST", "path": "/api/other", "headers": headers}
    await BodyLimit(nothing)(scope, nothing, send)  # type: ignore[arg-type]
    assert sent[0]["status"] == 413


@pytest_asyncio.fixture(autouse=True)
async def nothing_is_left(house: House) -> AsyncIterator[None]:
    yield
    assert not any(folder.exists() for folder in house.folders)
