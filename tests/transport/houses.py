"""A house for tests of doors: a real store behind the routers of the library, whoever the token names is let in."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import httpx
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError

from assistant.audit.people import IdentityDesk
from assistant.core.access import EVERYONE, Caller
from assistant.errors import AssistantError
from assistant.interfaces import Identity
from assistant.knowledge.desk import DeskPolicy
from assistant.store import Store
from assistant.store.identity import SqlIdentity
from assistant.transport.admin import router as admin_router
from assistant.transport.doors import StartLimiter
from assistant.transport.files import router as files_router
from assistant.transport.http import refuse, refuse_request
from assistant.transport.limits import BodyLimit
from assistant.transport.people import router as people_router
from tests.knowledge.desks import Here, alias, desk_of

UPLOAD_BYTES = 300_000
ROLES = {
    "ada": {"user", "admin"},
    "ann": {"user"},
    "bob": {"user"},
    "ida": {"user", "auditor"},
    "rob": {"user", "auditor", "exporter"},
    "none": set[str](),
}


class Named:
    """Whoever the token names is let in; eve is an admin of another company."""

    async def authenticate(self, token: str | None) -> Identity:
        if token == "eve":
            return Identity(Caller("rival", "eve", roles=frozenset({"user", "admin"})), "t")
        name = token or "ann"
        return Identity(Caller("acme", name, frozenset({EVERYONE}), frozenset(ROLES[name])), "t")


def as_(name: str, **headers: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {name}", **headers}


def app_of(store: Store, readers: Here | None = None, policy: DeskPolicy | None = None, starts: int = 1000) -> FastAPI:
    def now() -> datetime:
        return datetime.now(UTC)

    people = IdentityDesk(SqlIdentity(store.database), store.people, store.audit, pseudonym=alias, clock=now)
    app = FastAPI()
    app.state.doors = SimpleNamespace(
        authenticator=Named(),
        store=store.conversations,
        library=store.library,
        files=store.files,
        desk=desk_of(store, readers, policy),
        people=people,
        upload_bytes=UPLOAD_BYTES,
        limiter=StartLimiter(starts, time.monotonic),
        now=now,
    )
    app.add_middleware(BodyLimit)
    app.add_exception_handler(AssistantError, refuse)
    app.add_exception_handler(RequestValidationError, refuse_request)
    for router in (admin_router, people_router, files_router):
        app.include_router(router)
    return app


@asynccontextmanager
async def client_of(app: Any) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        yield client
