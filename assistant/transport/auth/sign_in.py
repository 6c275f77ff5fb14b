"""Signing in to the stand-alone pages at an OpenID provider. The cookies hold signed statements; nothing is kept here."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from assistant.config import Settings
from assistant.core.access import Caller
from assistant.errors import BadInput
from assistant.interfaces import Identity, IdentityStore
from assistant.interfaces.identity import SERVICE
from assistant.transport.auth.authenticator import AccessToken, Authenticator
from assistant.transport.auth.claims import is_user
from assistant.transport.auth.mapping import ClaimsMap, claim
from assistant.transport.auth.own import LOGIN, SESSION, OwnTokens
from assistant.transport.auth.provider import Attempt, Provider
from assistant.transport.auth.refusing import malformed, refused

AT_THE_PROVIDER: Final = timedelta(minutes=10)
SIGNED_IN: Final = timedelta(hours=8)
LONGEST_COOKIE: Final = 3900
"""Browsers drop a cookie of more than 4096 bytes, name and attributes included, without a word."""
LONGEST_PATH: Final = 1000


@dataclass(frozen=True, slots=True)
class SignedIn:
    """What the browser of a signed-in person is to keep, and where it goes on."""

    cookie: str
    back: str


class SignIn:
    """The way to the provider and back, and the access tokens of those who came back."""

    def __init__(
        self,
        settings: Settings,
        provider: Provider,
        own: OwnTokens,
        store: IdentityStore,
        authenticator: Authenticator,
        *,
        now: Callable[[], datetime],
    ) -> None:
        self._tenant = settings.tenant
        self._user_claim = settings.auth.user_claim
        self._claims = ClaimsMap.of(settings.auth)
        self._access_life = timedelta(minutes=settings.auth.access_minutes)
        self._provider = provider
        self._own = own
        self._store = store
        self._authenticator = authenticator
        self._now = now
        self.public_url: Final = settings.auth.public_url.rstrip("/")

    async def begin(self, back: str) -> tuple[str, str]:
        """Where the browser is to go, and the cookie that it keeps meanwhile. Raises NotAuthenticated."""
        attempt = Attempt(secrets.token_urlsafe(32), secrets.token_urlsafe(32), secrets.token_urlsafe(48))
        carried = {**asdict(attempt), "back": path_within(back)}
        return await self._provider.address_for(attempt), self._own.sign(LOGIN, carried, self._now() + AT_THE_PROVIDER)

    async def finish(self, carried: str, state: str, code: str, issuer: str | None) -> SignedIn:
        """The session of the person who came back with this code, by the cookie of `begin`.

        Raises NotAuthenticated for a browser that did not leave from here, and where the provider does not vouch for
        anybody; BadInput where the groups do not fit a cookie.
        """
        attempt, back = self._attempt(carried)
        if not hmac.compare_digest(state.encode(), attempt.state.encode()):
            raise refused("signature")
        if issuer is not None and issuer != self._provider.issuer:  # RFC 9207: the answer of another provider
            raise refused("issuer")
        caller = self._caller(await self._provider.redeem(code, attempt))
        cookie, expires_at = self._own.session(caller, SIGNED_IN)
        if len(cookie) > LONGEST_COOKIE:
            raise BadInput(
                "so many groups do not fit a cookie: choose those that matter by auth.groups", reason="groups"
            )
        await self._authenticator.recheck(Identity(caller, "", self._now(), expires_at, caller.groups))
        return SignedIn(cookie, back)

    async def access(self, cookie: str | None) -> AccessToken:
        """A new access token for a signed-in person. Raises TokenExpired and NotAuthenticated."""
        session = self._session(cookie)
        if await self._store.is_spent(self._tenant, _ended(session)):
            raise refused("revoked")
        await self._authenticator.recheck(session)
        return self._own.access(session.caller, self._access_life, session.expires_at)

    async def end(self, cookie: str | None) -> None:
        """End a session for good, also for whoever has a copy of the cookie. Raises NotAuthenticated for none."""
        session = self._session(cookie)
        until = session.expires_at or self._now() + SIGNED_IN
        await self._store.spend(self._tenant, _ended(session), until + timedelta(minutes=1))

    def _session(self, cookie: str | None) -> Identity:
        if not cookie:
            raise refused("missing")
        return self._own.identity(SESSION, cookie)

    def _attempt(self, carried: str) -> tuple[Attempt, str]:
        if not carried:
            raise refused("missing")
        claims: dict[str, Any] = self._own.read(LOGIN, carried)
        if claims["exp"] <= self._now().timestamp():
            raise refused("expired")
        return Attempt(claims["state"], claims["nonce"], claims["verifier"]), claims["back"]

    def _caller(self, stated: dict[str, Any]) -> Caller:
        user = claim(stated, self._user_claim)
        if not is_user(user) or user.startswith(SERVICE):
            raise malformed()
        return Caller(self._tenant, user, *self._claims.read(stated))


def _ended(session: Identity) -> str:
    return f"session:{session.token}"


def path_within(path: str) -> str:
    """The path if it leads to a page of this site for every browser; else the start page."""
    plain = 0 < len(path) <= LONGEST_PATH and path.isascii() and path.isprintable() and " " not in path
    if not plain or not path.startswith("/") or path.startswith(("//", "/auth/")) or "\\" in path:
        return "/"
    return path
