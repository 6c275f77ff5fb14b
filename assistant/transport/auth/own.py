"""The tokens that this server makes itself: access tokens of pages, and what the cookies of the sign-in hold."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from joserfc.jwk import OctKey

from assistant.config import Settings
from assistant.core.access import EVERYONE, Caller
from assistant.errors import BadInput
from assistant.interfaces import Identity
from assistant.transport.auth.authenticator import AccessToken
from assistant.transport.auth.claims import Rules, check
from assistant.transport.auth.forms import ACCESS, LONGEST_TOKEN, SECRET, signed, verified
from assistant.transport.auth.refusing import malformed
from assistant.transport.auth.roles import ROLES
from assistant.transport.auth.secret import secret_at

ISSUER: Final = "assistant"
SESSION: Final = "session+jwt"
"""The `typ` of what the cookie of a signed-in person holds."""
LOGIN: Final = "login+jwt"
"""The `typ` of what the browser keeps while its person is at the provider."""


class OwnTokens:
    """Makes and reads tokens of this server. Each use has a key of its own, so that no token can pass for one of another use."""

    def __init__(
        self,
        secret: bytes,
        tenant: str,
        audience: str,
        *,
        now: Callable[[], datetime],
        new_id: Callable[[], str],
        leeway_s: float = 0.0,
    ) -> None:
        self._keys = {use: OctKey.import_key(_key_for(secret, use)) for use in (ACCESS, SESSION, LOGIN)}
        self._tenant = tenant
        self._rules = Rules(audience, ISSUER, leeway_s=leeway_s, needs_id=True)  # another worker may have made it
        self._now = now
        self._new_id = new_id

    def access(self, caller: Caller, life: timedelta, until: datetime | None = None) -> AccessToken:
        """An access token for this caller, which ends at `until` at the latest. Raises BadInput, as `sign`."""
        expires_at = _earliest(self._now() + life, until)
        return AccessToken(self._of(ACCESS, caller, expires_at), expires_at, caller.roles)

    def session(self, caller: Caller, life: timedelta) -> tuple[str, datetime]:
        """What the cookie of a signed-in person holds, and when it ends. Raises BadInput, as `sign`."""
        expires_at = self._now() + life
        return self._of(SESSION, caller, expires_at), expires_at

    def _of(self, use: str, caller: Caller, expires_at: datetime) -> str:
        about = {"sub": caller.user, "tenant": caller.tenant}
        rights = {"groups": sorted(caller.groups - {EVERYONE}), "roles": sorted(caller.roles)}
        return self.sign(use, {**about, **rights}, expires_at)

    def sign(self, use: str, claims: Mapping[str, Any], expires_at: datetime) -> str:
        """The claims as a token for one of the uses. Raises BadInput where it would be too large to be read again."""
        stamp = {"iat": self._now().timestamp(), "exp": expires_at.timestamp(), "jti": self._new_id()}
        head = {"iss": ISSUER, "aud": self._rules.audience}
        token = signed({**head, **stamp, **claims}, self._keys[use], use)
        if len(token) > LONGEST_TOKEN:
            raise BadInput(
                "so many groups do not fit a token: choose those that matter by auth.groups", reason="groups"
            )
        return token

    def read(self, use: str, token: str) -> dict[str, Any]:
        """The claims of a token that was made for this use; the times are not looked at. Raises NotAuthenticated."""
        if len(token) > LONGEST_TOKEN:
            raise malformed()
        return verified(token, self._keys[use], SECRET[0])

    def identity(self, use: str, token: str) -> Identity:
        """Who holds an access token or a session. Raises TokenExpired, and NotAuthenticated for tokens of others."""
        claims = self.read(use, token)
        holds = check(claims, self._rules, self._now())
        if claims.get("tenant") != self._tenant:
            raise malformed()
        groups = frozenset({EVERYONE, *claims.get("groups", ())})
        caller = Caller(self._tenant, holds.user, groups, ROLES.intersection(claims.get("roles", ())))
        return Identity(caller, holds.id, holds.issued_at, holds.expires_at, groups)


async def open_own_tokens(settings: Settings, *, now: Callable[[], datetime], new_id: Callable[[], str]) -> OwnTokens:
    """The tokens that a server with these settings makes and believes. Raises BadSetting for a secret that cannot be used."""
    auth = settings.auth
    secret = await asyncio.to_thread(secret_at, auth.key)
    return OwnTokens(secret, settings.tenant, auth.audience, now=now, new_id=new_id, leeway_s=auth.leeway_s)


def _key_for(secret: bytes, use: str) -> bytes:
    return hmac.digest(secret, f"assistant/{use}".encode(), "sha256")


def _earliest(first: datetime, second: datetime | None) -> datetime:
    return min(first, second or datetime.max.replace(tzinfo=UTC))
