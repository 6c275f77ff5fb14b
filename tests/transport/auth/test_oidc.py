"""Signing in at a provider and coming back, over HTTP, with a real provider on loopback."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
import pytest_asyncio
from fastapi import FastAPI
from joserfc.jwk import OctKey, RSAKey
from pydantic import SecretStr

from assistant.config import AuthSettings, Settings
from assistant.errors import AssistantError
from assistant.store.identity import SqlIdentity
from assistant.transport.auth.entrance import Entrance, open_entrance
from assistant.transport.auth.fetching import Unavailable
from assistant.transport.auth.oidc import LOGIN_COOKIE, SESSION_COOKIE, router
from assistant.transport.auth.provider import checked
from assistant.transport.auth.sign_in import path_within
from assistant.transport.http import refuse
from tests.transport.auth.making import Clock
from tests.transport.auth.provider_here import CLIENT, SECRET, OpenIdProvider, serving

HERE = "http://127.0.0.1:8000"
OWN_PAGE = {"Sec-Fetch-Site": "same-origin"}


@pytest_asyncio.fixture
async def provider(clock: Clock) -> AsyncIterator[OpenIdProvider]:
    async with serving(OpenIdProvider(clock)) as here:
        yield here


class Browser:
    """A browser with its cookies, and the server behind it."""

    def __init__(self, client: httpx.AsyncClient, entrance: Entrance, provider: OpenIdProvider) -> None:
        self.client = client
        self.entrance = entrance
        self.provider = provider

    async def leave(self, back: str = "/") -> str:
        """Go to the provider and be signed in there; the address that the provider sends back to."""
        left = await self.client.get("/auth/login", params={"return": back})
        assert left.status_code == 303
        async with httpx.AsyncClient(verify=False) as outside:
            signed = await outside.get(left.headers["location"])
        return str(signed.headers["location"])

    async def sign_in(self, back: str = "/") -> httpx.Response:
        return await self.client.get(await self.leave(back))

    async def token(self, **headers: str) -> httpx.Response:
        return await self.client.get("/auth/token", headers=headers or OWN_PAGE)


async def make_browser(
    provider: OpenIdProvider, identities: SqlIdentity, clock: Clock, folder: Path, **auth: Any
) -> Browser:
    chosen = {"oidc_issuer": provider.url, "oidc_client": CLIENT, "oidc_secret": SecretStr(SECRET), "public_url": HERE}
    settings = Settings(tenant="acme", auth=AuthSettings(key=folder / "auth.key", **chosen | auth))
    ids = iter(range(1000))
    entrance = await open_entrance(settings, identities, now=clock.now, new_id=lambda: f"id{next(ids)}")
    app = FastAPI()
    app.state.doors = SimpleNamespace(sign_in=entrance.sign_in, authenticator=entrance.authenticator)
    app.add_exception_handler(AssistantError, refuse)
    app.include_router(router)
    client = httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=HERE)
    return Browser(client, entrance, provider)


@pytest_asyncio.fixture
async def browser(
    provider: OpenIdProvider, identities: SqlIdentity, clock: Clock, tmp_path: Path
) -> AsyncIterator[Browser]:
    made = await make_browser(provider, identities, clock, tmp_path)
    async with made.client:
        yield made


def code_of(response: httpx.Response) -> tuple[int, str, str]:
    error = response.json()["error"]
    return response.status_code, error["code"], error.get("reason", "")


async def test_a_person_signs_in_and_the_page_gets_tokens(browser: Browser, clock: Clock) -> None:
    came = await browser.sign_in("/?chat=1#top")
    assert (came.status_code, came.headers["location"]) == (303, "/?chat=1#top")
    got = await browser.token()
    assert got.status_code == 200
    assert got.headers["cache-control"] == "no-store"
    assert got.json()["roles"] == ["user"]
    identity = await browser.entrance.authenticator.authenticate(got.json()["access_token"])
    assert (identity.caller.tenant, identity.caller.user) == ("acme", "ann")
    assert identity.caller.groups == {"everyone", "hr"}
    assert identity.expires_at == clock.at + timedelta(minutes=15)
    assert (await browser.token()).json()["access_token"] != got.json()["access_token"]
    assert browser.provider.seen == ["describe", "token", "keys"]


async def test_what_is_asked_of_the_provider(browser: Browser) -> None:
    left = await browser.client.get("/auth/login")
    asked = {name: value[0] for name, value in parse_qs(urlsplit(left.headers["location"]).query).items()}
    assert len(asked.pop("state")) >= 43
    assert len(asked.pop("nonce")) >= 43
    assert len(asked.pop("code_challenge")) == 43
    assert asked == {
        "ui": "plain", "response_type": "code", "client_id": CLIENT, "scope": "openid profile",
        "redirect_uri": f"{HERE}/auth/callback", "code_challenge_method": "S256",
    }  # fmt: skip


async def test_the_cookies_are_for_this_alone(browser: Browser) -> None:
    left = await browser.client.get("/auth/login")
    kept = left.headers["set-cookie"].lower()
    assert all(part in kept for part in (LOGIN_COOKIE, "httponly", "samesite=lax", "path=/auth", "max-age=600"))
    came = await browser.sign_in()
    session, login = sorted(came.headers.get_list("set-cookie"), key=lambda each: LOGIN_COOKIE in each)
    assert all(part in session.lower() for part in (SESSION_COOKIE, "httponly", "samesite=strict", "path=/auth"))
    assert "domain" not in session.lower()
    assert "max-age=0" in login.lower()


async def test_over_https_the_cookies_are_secure(
    provider: OpenIdProvider, identities: SqlIdentity, clock: Clock, tmp_path: Path
) -> None:
    made = await make_browser(provider, identities, clock, tmp_path, public_url="https://chat.example")
    async with made.client:
        left = await made.client.get("/auth/login")
        assert "secure" in left.headers["set-cookie"].lower()
        assert "Secure" not in str(left.request.headers)


async def test_a_client_without_a_secret_has_its_proof_in_pkce(
    provider: OpenIdProvider, identities: SqlIdentity, clock: Clock, tmp_path: Path
) -> None:
    provider.public = True
    made = await make_browser(provider, identities, clock, tmp_path, oidc_secret=SecretStr(""))
    async with made.client:
        assert (await made.sign_in()).status_code == 303
        assert (await made.token()).status_code == 200


@pytest.mark.parametrize("changed", [
    {"nonce": "another"},
    {"nonce": None},
    {"aud": "another"},
    {"aud": None},
    {"aud": "another", "azp": CLIENT},
    {"aud": [CLIENT, "another"]},
    {"azp": "another"},
    {"iss": "https://evil.example"},
    {"iss": None},
    {"exp": 1},
    {"exp": None},
    {"iat": 4_000_000_000},
    {"sub": None},
    {"sub": ""},
    {"sub": "service:0011223344556677"},
    {"sub": "ann\n"},
    {"groups": {"hr": 1}},
])  # fmt: skip
async def test_a_statement_that_does_not_hold_signs_nobody_in(browser: Browser, changed: dict[str, Any]) -> None:
    browser.provider.changed = changed
    came = await browser.sign_in()
    assert code_of(came)[:2] == (401, "not_authenticated")
    assert SESSION_COOKIE not in browser.client.cookies
    assert (await browser.token()).status_code == 401


@pytest.mark.parametrize(("alg", "key"), [
    ("HS256", OctKey.import_key(SECRET.encode())),
    ("RS256", RSAKey.generate_key(2048)),
    ("RS512", None),
])  # fmt: skip
async def test_a_statement_by_another_key_signs_nobody_in(browser: Browser, alg: str, key: Any) -> None:
    browser.provider.alg = alg
    browser.provider.key = key or browser.provider.key
    assert code_of(await browser.sign_in())[:2] == (401, "not_authenticated")


async def test_a_browser_that_did_not_leave_from_here_does_not_come_in(browser: Browser) -> None:
    mine = await browser.leave()
    browser.client.cookies.clear()
    assert code_of(await browser.client.get(mine)) == (401, "not_authenticated", "missing")
    await browser.leave()  # another attempt: its state is another, too
    assert code_of(await browser.client.get(mine)) == (401, "not_authenticated", "signature")
    assert browser.provider.seen.count("token") == 0


@pytest.mark.parametrize(("change", "reason"), [
    ("state=", "missing"),
    ("state=wrong", "signature"),
    ("state=%F0%9F%A6%8A", "signature"),
    ("code=", "missing"),
    ("iss=https://evil.example", "issuer"),
    ("code=stolen", "signature"),
])  # fmt: skip
async def test_an_answer_that_was_tampered_with_is_refused(browser: Browser, change: str, reason: str) -> None:
    address = httpx.URL(await browser.leave())
    name, _, value = change.partition("=")
    params = {**dict(address.params), name: httpx.QueryParams(f"x={value}")["x"]}
    came = await browser.client.get(address.copy_with(params=params))
    assert code_of(came) == (401, "not_authenticated", reason)


async def test_a_code_is_taken_once(browser: Browser) -> None:
    address = await browser.leave()
    kept = browser.client.cookies.get(LOGIN_COOKIE)
    assert (await browser.client.get(address)).status_code == 303
    again = await browser.client.get(address, headers={"Cookie": f"{LOGIN_COOKIE}={kept}"})
    assert again.status_code == 401


async def test_the_way_back_is_open_for_ten_minutes(browser: Browser, clock: Clock) -> None:
    address = await browser.leave()
    clock.move(600)
    assert code_of(await browser.client.get(address)) == (401, "token_expired", "expired")


async def test_the_cookies_do_not_stand_for_each_other(browser: Browser) -> None:
    await browser.sign_in()
    session = browser.client.cookies[SESSION_COOKIE]
    address = await browser.leave()
    login = browser.client.cookies[LOGIN_COOKIE]
    browser.client.cookies.clear()
    as_login = await browser.client.get(address, headers={"Cookie": f"{LOGIN_COOKIE}={session}"})
    assert code_of(as_login) == (401, "not_authenticated", "signature")
    as_session = await browser.token(**OWN_PAGE, Cookie=f"{SESSION_COOKIE}={login}")
    assert code_of(as_session) == (401, "not_authenticated", "signature")
    with pytest.raises(AssistantError):
        await browser.entrance.authenticator.authenticate(session)


@pytest.mark.parametrize("headers", [
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "none"},
    {"Sec-Fetch-Site": "cross-site", "Origin": HERE},
    {"Origin": "http://127.0.0.1:8001"},
    {"Origin": "null"},
    {"Accept": "*/*"},
])  # fmt: skip
async def test_only_a_page_of_this_origin_gets_a_token(browser: Browser, headers: dict[str, str]) -> None:
    await browser.sign_in()
    assert code_of(await browser.token(**headers)) == (401, "not_authenticated", "origin")
    out = await browser.client.post("/auth/logout", headers=headers)
    assert code_of(out) == (401, "not_authenticated", "origin")
    assert (await browser.token(Origin=HERE)).status_code == 200


async def test_a_session_ends_after_eight_hours_and_its_last_token_with_it(browser: Browser, clock: Clock) -> None:
    await browser.sign_in()
    clock.move(8 * 3600 - 60)
    last = (await browser.token()).json()
    assert last["expires_at"] == (clock.at + timedelta(minutes=1)).isoformat()
    clock.move(70)
    assert code_of(await browser.token()) == (401, "token_expired", "expired")


async def test_who_signed_out_is_out_with_every_copy_of_the_cookie(browser: Browser) -> None:
    await browser.sign_in()
    copy = browser.client.cookies[SESSION_COOKIE]
    assert (await browser.client.post("/auth/logout", headers=OWN_PAGE)).json() == {"signed_in": False}
    assert code_of(await browser.token())[2] == "missing"
    stolen = await browser.token(**OWN_PAGE, Cookie=f"{SESSION_COOKIE}={copy}")
    assert code_of(stolen) == (401, "not_authenticated", "revoked")


async def test_a_revoked_person_gets_no_more_tokens(browser: Browser, identities: SqlIdentity, clock: Clock) -> None:
    await browser.sign_in()
    clock.move(1)
    await identities.revoke_person("acme", "ann", clock.at)
    assert code_of(await browser.token()) == (401, "not_authenticated", "revoked")
    clock.move(1)
    await browser.sign_in()
    assert (await browser.token()).status_code == 200


@pytest.mark.parametrize("described", [
    {"issuer": "https://evil.example"},
    {"token_endpoint": "http://token.example/"},
    {"jwks_uri": None},
    {"authorization_endpoint": "javascript:alert(1)"},
])  # fmt: skip
async def test_a_provider_that_sends_us_elsewhere_is_not_followed(browser: Browser, described: dict[str, Any]) -> None:
    browser.provider.described = described
    left = await browser.client.get("/auth/login")
    assert code_of(left) == (401, "not_authenticated", "keys_unavailable")


@pytest.mark.parametrize("place", ["http://localhost:8080/token", "https://127.0.0.1/token", "http://[::1]/token"])
def test_a_provider_elsewhere_does_not_send_us_to_this_machine(place: str) -> None:
    issuer = "https://id.example"
    said = {"issuer": issuer, "token_endpoint": place}
    said |= {name: f"{issuer}/{name}" for name in ("authorization_endpoint", "jwks_uri")}
    with pytest.raises(Unavailable):
        checked(said, issuer)
    assert checked(said | {"token_endpoint": f"{issuer}/token"}, issuer)


async def test_groups_that_do_not_fit_a_cookie_are_refused_with_words(browser: Browser) -> None:
    browser.provider.person = {"sub": "ann", "groups": [f"a-rather-long-name-{n}" for n in range(150)]}
    assert code_of(await browser.sign_in()) == (422, "bad_input", "groups")


async def test_without_a_provider_there_is_no_way_in(identities: SqlIdentity, clock: Clock, tmp_path: Path) -> None:
    nowhere = OpenIdProvider(clock)
    made = await make_browser(nowhere, identities, clock, tmp_path)
    async with made.client:
        for path in ("/auth/login", "/auth/callback?code=x&state=y", "/auth/token"):
            assert (await made.client.get(path)).status_code == 404


@pytest.mark.parametrize("path", ["/", "/chat", "/chat?x=1&y=//z", "/a/b#c", "/@evil.example"])
def test_paths_of_this_site(path: str) -> None:
    assert path_within(path) == path


@pytest.mark.parametrize("path", [
    "", "//evil.example", "/\\evil.example", "\\\\evil.example", "https://evil.example", "javascript:alert(1)", "chat",
    "/\t/evil.example", "/\n/evil.example", "\t//evil.example", "/\x00", "/ä", "/a b", "/auth/logout", "/" + "a" * 1000,
    "///evil.example", "/a\r\nSet-Cookie: x=y",
])  # fmt: skip
def test_paths_that_lead_away(path: str) -> None:
    assert path_within(path) == "/"


@pytest.mark.parametrize("path", ["//evil.example/x", "https://evil.example"])
async def test_nobody_is_sent_away_after_signing_in(browser: Browser, path: str) -> None:
    assert (await browser.sign_in(path)).headers["location"] == "/"
