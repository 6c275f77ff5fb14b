"""The exchange of a portal's token, over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from types import SimpleNamespace

import httpx
import pytest
import pytest_asyncio
from fastapi import FastAPI

from assistant.errors import AssistantError
from assistant.transport.auth import Authenticator, DevelopmentAuthenticator, RefusingAuthenticator
from assistant.transport.auth.exchange import router
from assistant.transport.auth.tokens import TokenAuthenticator
from assistant.transport.http import refuse
from tests.transport.auth.making import START, claims, minted


def client_of(authenticator: Authenticator) -> httpx.AsyncClient:
    app = FastAPI()
    app.state.doors = SimpleNamespace(authenticator=authenticator)
    app.add_exception_handler(AssistantError, refuse)
    app.include_router(router)
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://test")


@pytest_asyncio.fixture
async def http(authenticator: TokenAuthenticator) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(authenticator) as client:
        yield client


async def test_a_portals_token_becomes_one_of_ours(http: httpx.AsyncClient, authenticator: TokenAuthenticator) -> None:
    token = minted(claims())
    given = await http.post("/api/auth/exchange", headers={"Authorization": f"Bearer {token}"})
    assert given.status_code == 200
    body = given.json()
    assert set(body) == {"access_token", "token_type", "expires_at", "roles"}
    assert (body["roles"], body["expires_at"]) == (["auditor", "user"], "2026-11-30T12:15:00+00:00")
    assert (await authenticator.authenticate(body["access_token"])).caller.user == "ann"
    again = await http.post("/api/auth/exchange", headers={"Authorization": f"bearer {token}"})
    assert again.status_code == 401
    assert again.json()["error"] == {"code": "not_authenticated", "retryable": False, "reason": "replayed"}
    assert again.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize(("header", "reason"), [
    (None, "missing"),
    ("", "missing"),
    ("Bearer", "missing"),
    ("Bearer ", "missing"),
    ("Basic YTpi", "missing"),
    ("Bearer ä.b.c", "malformed"),
    ("Bearer " + "a" * 9000, "malformed"),
])  # fmt: skip
async def test_what_is_no_token_is_refused(http: httpx.AsyncClient, header: str | None, reason: str) -> None:
    headers = [] if header is None else [(b"Authorization", header.encode("latin-1"))]
    refused = await http.post("/api/auth/exchange", headers=headers)
    assert (refused.status_code, refused.json()["error"]["reason"]) == (401, reason)


async def test_an_expired_token_says_so(http: httpx.AsyncClient) -> None:
    now = int(START.timestamp())
    token = minted(claims(iat=now - 200, exp=now - 100))
    refused = await http.post("/api/auth/exchange", headers={"Authorization": f"Bearer {token}"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (401, "token_expired")


async def test_a_token_in_the_address_is_not_looked_at(http: httpx.AsyncClient) -> None:
    token = minted(claims())
    refused = await http.post("/api/auth/exchange", params={"token": token, "access_token": token})
    assert refused.json()["error"]["reason"] == "missing"


@pytest.mark.parametrize(("authenticator", "status"), [
    (DevelopmentAuthenticator("acme", "dev"), 404),
    (RefusingAuthenticator(), 401),
])  # fmt: skip
async def test_where_tokens_mean_nothing_there_is_no_exchange(authenticator: Authenticator, status: int) -> None:
    async with client_of(authenticator) as client:
        assert (await client.post("/api/auth/exchange", headers={"Authorization": "Bearer x"})).status_code == status
