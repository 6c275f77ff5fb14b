"""The OpenID provider: where it is, how its answer becomes a verified statement of who signed in (code flow with PKCE)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from urllib.parse import quote_plus

import structlog
from authlib.oauth2.rfc6749.parameters import prepare_grant_uri  # type: ignore[import-untyped]
from authlib.oauth2.rfc7636 import create_s256_code_challenge  # type: ignore[import-untyped]
from authlib.oidc.core import CodeIDToken  # type: ignore[import-untyped]
from httpx import URL
from joserfc.errors import JoseError

from assistant.config import AuthSettings
from assistant.transport.auth.fetching import Fetcher, Unavailable, is_local, is_safe
from assistant.transport.auth.forms import Kind, form_of, verified
from assistant.transport.auth.jwks import FRESH_S, Jwks
from assistant.transport.auth.refusing import malformed, refused

log = structlog.get_logger(__name__)

CALLBACK: Final = "/auth/callback"


@dataclass(frozen=True, slots=True)
class Attempt:
    """What the browser carries while its person is at the provider, to be compared when it comes back."""

    state: str
    nonce: str
    verifier: str


class Provider:
    """One OpenID provider. What it says of itself is asked for once an hour."""

    def __init__(
        self, auth: AuthSettings, fetcher: Fetcher, *, now: Callable[[], datetime], clock: Callable[[], float]
    ) -> None:
        self._auth = auth
        self._fetcher = fetcher
        self._now = now
        self._clock = clock
        self._said: Mapping[str, Any] = {}
        self._asked_at = float("-inf")
        self._keys = Jwks(self._load_keys, clock)

    @property
    def issuer(self) -> str:
        """Who the provider is."""
        return self._auth.oidc_issuer

    async def address_for(self, attempt: Attempt) -> str:
        """Where to send the browser. Raises NotAuthenticated "keys_unavailable" where the provider cannot be asked."""
        said = await self._described()
        address: str = prepare_grant_uri(
            said["authorization_endpoint"],
            self._auth.oidc_client,
            "code",
            redirect_uri=self._callback,
            scope=self._auth.oidc_scopes,
            state=attempt.state,
            nonce=attempt.nonce,
            code_challenge=create_s256_code_challenge(attempt.verifier),
            code_challenge_method="S256",
        )
        return address

    async def redeem(self, code: str, attempt: Attempt) -> dict[str, Any]:
        """What the provider states of the person, verified. Raises NotAuthenticated."""
        said = await self._described()
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": self._callback}
        form |= {"code_verifier": attempt.verifier}
        login = self._login(said, form)
        try:
            answer = await self._fetcher.post(said["token_endpoint"], form, login)
        except Unavailable as error:
            log.warning("the provider gives no token", why=str(error))
            raise refused("signature") from None
        token = answer.get("id_token")
        if not isinstance(token, str):
            raise malformed()
        return await self._verified(token, attempt.nonce)

    def _login(self, said: Mapping[str, Any], form: dict[str, str]) -> tuple[str, str] | None:
        """How this client proves itself: by HTTP Basic, by the form where the provider takes only that, or not at all."""
        secret = self._auth.oidc_secret.get_secret_value()
        methods = said.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        if secret and "client_secret_basic" in methods:
            return quote_plus(self._auth.oidc_client), quote_plus(secret)  # RFC 6749, 2.3.1
        form["client_id"] = self._auth.oidc_client
        if secret:
            form["client_secret"] = secret
        return None

    async def _verified(self, token: str, nonce: str) -> dict[str, Any]:
        form = form_of(token)
        if form.kind is not Kind.PUBLIC:
            raise refused("algorithm")
        claims = verified(token, await self._keys.key_for(form), form.alg)
        wanted = {"iss": self.issuer, "aud": self._auth.oidc_client}
        options = {name: {"essential": True, "value": value} for name, value in wanted.items()}
        params = {"nonce": nonce, "client_id": self._auth.oidc_client}
        stated = CodeIDToken(claims, {"alg": form.alg}, options, params)
        try:
            stated.validate(int(self._now().timestamp()), int(self._auth.leeway_s))
        except (JoseError, ValueError, TypeError) as error:
            log.info("a statement of the provider does not hold", why=type(error).__name__)
            raise refused("signature") from None
        return claims

    @property
    def _callback(self) -> str:
        return self._auth.public_url.rstrip("/") + CALLBACK

    async def _load_keys(self) -> dict[str, Any]:
        return await self._fetcher.get((await self._describe())["jwks_uri"])

    async def _described(self) -> Mapping[str, Any]:
        try:
            return await self._describe()
        except Unavailable as error:
            log.warning("the provider cannot be asked", why=str(error))
            raise refused("keys_unavailable") from None

    async def _describe(self) -> Mapping[str, Any]:
        """What the provider says of itself, not older than an hour where it can be asked."""
        if self._clock() - self._asked_at > FRESH_S:
            try:
                self._said = checked(await self._fetcher.get(_description_at(self.issuer)), self.issuer)
            except Unavailable:
                if not self._said:
                    raise
            self._asked_at = self._clock()
        return self._said


def _description_at(issuer: str) -> str:
    return issuer.rstrip("/") + "/.well-known/openid-configuration"


def checked(said: dict[str, Any], issuer: str) -> dict[str, Any]:
    """What a provider says of itself. Raises Unavailable where it says it is another, or sends us to an unsafe place."""
    if said.get("issuer") != issuer:
        raise Unavailable("the provider names another issuer")
    for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
        place = said.get(name)
        if not isinstance(place, str) or not is_safe(place):
            raise Unavailable(f"the provider's {name} is not https")
        if is_local(URL(place).host) and not is_local(URL(issuer).host):
            raise Unavailable(f"the provider's {name} is on this machine")
    return said
