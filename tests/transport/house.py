"""A server in this process, with a portal that says who comes; clients that speak to it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from ulid import ULID
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Origin, Subprotocol

from assistant.app import create_app, now
from assistant.commands.serve import server_options
from assistant.config import AuditSettings, DatabaseSettings, RetrievalSettings, Settings
from assistant.core.access import EVERYONE, Caller
from assistant.errors import NotAuthenticated, OtherUser, TokenExpired
from assistant.interfaces import Identity
from assistant.store.migrations import migrate
from assistant.transport.auth import AccessToken
from assistant.transport.doors import Doors

BOARD = Caller("acme", "ann", frozenset({EVERYONE, "board"}))
PROTOCOL = Subprotocol("assistant.v1")
Frame = dict[str, Any]


@dataclass(slots=True)
class Portal:
    """Authenticates as it is told; `minutes` is the life of its tokens."""

    caller: Caller = BOARD
    minutes: float | None = None
    revoked: bool = False

    async def authenticate(self, token: str | None) -> Identity:
        if token == "expired":
            raise TokenExpired("it was good once")
        if token == "bad" or self.revoked:
            raise NotAuthenticated("no", reason="revoked")
        ends = None if self.minutes is None else now() + timedelta(minutes=self.minutes)
        return Identity(self.caller, token or "t", expires_at=ends, claimed=self.caller.groups)

    async def refresh(self, current: Identity, token: str) -> Identity:
        if token == "of-bob":
            raise OtherUser("another person")
        return await self.authenticate(token)

    async def recheck(self, current: Identity) -> Identity:
        if self.revoked:
            raise NotAuthenticated("sent away", reason="revoked")
        return replace(current, caller=self.caller)

    async def exchange(self, token: str | None) -> AccessToken:
        raise NotAuthenticated("not here")


@dataclass(slots=True)
class House:
    """A server in this process."""

    portal: Portal
    doors: Doors
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def connect(self, origin: str | None = "") -> ClientConnection:
        """A socket that is not open yet, from this origin; from our own where none is given."""
        at = Origin(self.url) if origin == "" else Origin(origin) if origin else None
        return await connect(self.url.replace("http", "ws") + "/v1/ws", subprotocols=[PROTOCOL], origin=at)

    async def socket(self, **d: Any) -> tuple[ClientConnection, Frame]:
        made = await self.connect()
        await send(made, "session.open", {"token": "t", **d})
        return made, await receive(made)


async def send(socket: ClientConnection, kind: str, d: Frame) -> None:
    await socket.send(json.dumps({"v": 1, "type": kind, "id": str(ULID()), "d": d}))


async def receive(socket: ClientConnection, *kinds: str) -> Frame:
    """The next frame, of one of these types where any are named."""
    async with asyncio.timeout(10):
        while True:
            frame: Frame = json.loads(await socket.recv())
            if not kinds or frame["type"] in kinds:
                return frame


async def close_code(socket: ClientConnection) -> int:
    with pytest.raises(ConnectionClosed) as ended:
        await receive(socket, "never")
    assert ended.value.rcvd is not None
    return ended.value.rcvd.code


@asynccontextmanager
async def at_home(folder: Path, **groups: Any) -> AsyncIterator[House]:
    """A house over a database in `folder`; `groups` are further groups of settings."""
    settings = Settings(
        tenant="acme",
        database=DatabaseSettings(url=f"sqlite+aiosqlite:///{folder / 'a.db'}"),
        retrieval=RetrievalSettings(embedder="none"),
        audit=AuditSettings(key=folder / "audit.pem"),
        **groups,
    )
    await migrate(settings.database.url)
    portal = Portal()
    app = create_app(settings, authenticator=portal)
    server = uvicorn.Server(uvicorn.Config(app, port=0, **{**server_options(), "timeout_graceful_shutdown": 2}))
    task = asyncio.create_task(server.serve())
    async with asyncio.timeout(20):
        while not server.started:
            await asyncio.sleep(0.01)
    try:
        yield House(portal, app.state.doors, server.servers[0].sockets[0].getsockname()[1])
    finally:
        server.should_exit = True
        await task


async def read_stream(http: httpx.AsyncClient, path: str, **headers: str) -> AsyncIterator[tuple[str, Frame]]:
    async with asyncio.timeout(10), http.stream("GET", path, headers=headers) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        id_ = ""
        async for line in response.aiter_lines():
            if line.startswith("id: "):
                id_ = line[4:]
            elif line.startswith("data: "):
                yield id_, json.loads(line[6:])
                id_ = ""
