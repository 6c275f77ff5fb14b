"""A tiny OpenID provider on loopback: authorization code with PKCE, one client, and whatever goes wrong when told."""

from __future__ import annotations

import base64
import hashlib
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, quote_plus, urlencode

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response

from tests.transport.auth.making import Clock, key_set, minted, rsa

CLIENT, SECRET = "chat", "the client's secret"


@dataclass
class OpenIdProvider:
    """Signs `person` in without asking. `changed` claims replace those of the ID token; None leaves one out."""

    clock: Clock
    url: str = ""
    person: dict[str, Any] = field(default_factory=lambda: {"sub": "ann", "groups": ["hr"]})
    changed: dict[str, Any] = field(default_factory=dict)
    described: dict[str, Any] = field(default_factory=dict)
    header: dict[str, Any] = field(default_factory=lambda: {"kid": "r1"})
    key: Any = field(default_factory=rsa)
    alg: str = "RS256"
    public: bool = False
    asked: dict[str, dict[str, str]] = field(default_factory=dict)
    seen: list[str] = field(default_factory=list)

    def app(self) -> FastAPI:
        app = FastAPI()
        app.get("/.well-known/openid-configuration")(self.describe)
        app.get("/authorize")(self.authorize)
        app.post("/token")(self.token)
        app.get("/keys")(self.keys)
        return app

    async def describe(self) -> Any:
        self.seen.append("describe")
        places = {"authorization_endpoint": "/authorize?ui=plain", "token_endpoint": "/token", "jwks_uri": "/keys"}
        return {"issuer": self.url, **{name: self.url + path for name, path in places.items()}, **self.described}

    async def authorize(self, request: Request) -> Response:
        asked = dict(request.query_params)
        code = f"code{len(self.asked)}"
        self.asked[code] = asked
        back = urlencode({"code": code, "state": asked["state"], "iss": self.url})
        return RedirectResponse(f"{asked['redirect_uri']}?{back}", 302)

    async def token(self, request: Request) -> Response:
        form = {name: values[0] for name, values in parse_qs((await request.body()).decode()).items()}
        self.seen.append("token")
        asked = self.asked.pop(form.get("code", ""), None)  # a code is taken once
        basic = "Basic " + base64.b64encode(f"{CLIENT}:{quote_plus(SECRET)}".encode()).decode()
        known = form.get("client_id") == CLIENT if self.public else request.headers.get("authorization") == basic
        challenge = base64.urlsafe_b64encode(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
        if asked is None or not known or form["redirect_uri"] != asked["redirect_uri"]:
            return JSONResponse({"error": "invalid_grant"}, 400)
        if asked["code_challenge_method"] != "S256" or challenge.rstrip(b"=").decode() != asked["code_challenge"]:
            return JSONResponse({"error": "invalid_grant"}, 400)
        return JSONResponse({"access_token": "of no use", "token_type": "Bearer", "id_token": self._id_token(asked)})

    def _id_token(self, asked: dict[str, str]) -> str:
        now = int(self.clock.at.timestamp())
        said = {"iss": self.url, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": asked["nonce"], **self.person}
        said |= self.changed
        return minted(
            {name: value for name, value in said.items() if value is not None}, self.key, self.alg, **self.header
        )

    async def keys(self) -> Any:
        self.seen.append("keys")
        return key_set(rsa())


@asynccontextmanager
async def serving(provider: OpenIdProvider) -> AsyncIterator[OpenIdProvider]:
    """The provider on a free port of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        provider.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        config = uvicorn.Config(provider.app(), log_config=None, lifespan="off")
        config.load()
        server = uvicorn.Server(config)
        server.lifespan = config.lifespan_class(config)
        # Without the server's own loop, which looks only every tenth of a second whether it shall end.
        await server.startup(sockets=[listening])
        yield provider
        server.force_exit = True
        await server.shutdown(sockets=[listening])
