"""The authenticator of a server in use: every kind of token, people whose rights were changed, tokens that are taken once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from joserfc.jwk import OctKey

from assistant.core.access import EVERYONE, Caller
from assistant.errors import OtherUser
from assistant.interfaces import Identity, IdentityStore
from assistant.transport.auth.authenticator import AccessToken
from assistant.transport.auth.claims import Holds, Rules, check
from assistant.transport.auth.forms import ACCESS, Form, Kind, PublicKey, form_of, verified
from assistant.transport.auth.jwks import Jwks
from assistant.transport.auth.mapping import ClaimsMap
from assistant.transport.auth.own import OwnTokens
from assistant.transport.auth.refusing import refused
from assistant.transport.auth.service_keys import holder

_MARGIN: Final = timedelta(minutes=1)
"""Clocks of the workers and of the database differ."""


@dataclass(frozen=True, slots=True)
class Outside:
    """Whom this server believes besides itself, and what their tokens must say. None: nobody of that kind."""

    rules: Rules
    claims: ClaimsMap
    portal: OctKey | None = None
    keys: Jwks | None = None


class TokenAuthenticator:
    """Believes its own access tokens, API keys, and the tokens of `outside`.

    Where the rules need an id, a token from outside is spent by its first use, here or on another worker.
    """

    def __init__(
        self,
        tenant: str,
        outside: Outside,
        own: OwnTokens,
        store: IdentityStore,
        *,
        access_life: timedelta,
        now: Callable[[], datetime],
    ) -> None:
        self._tenant = tenant
        self._outside = outside
        self._own = own
        self._store = store
        self._access_life = access_life
        self._now = now

    async def authenticate(self, token: str | None) -> Identity:
        """The caller of a token. Raises TokenExpired, and NotAuthenticated with `reason`."""
        form = form_of(token)
        return await self.recheck(await self._holder(token or "", form))

    async def refresh(self, current: Identity, token: str) -> Identity:
        """The same caller by a newer token. Raises OtherUser for another subject or tenant, and as `authenticate`."""
        newer = await self.authenticate(token)
        if (newer.caller.tenant, newer.caller.user) != (current.caller.tenant, current.caller.user):
            raise OtherUser("the newer token is of another person")
        return newer

    async def recheck(self, current: Identity) -> Identity:
        """The caller as of now: with the groups of the moment. Raises TokenExpired, and NotAuthenticated when revoked."""
        leeway = timedelta(seconds=self._outside.rules.leeway_s)
        if current.expires_at is not None and current.expires_at + leeway <= self._now():
            raise refused("expired")
        said = await self._store.person(current.caller.tenant, current.caller.user)
        if said is not None and _is_before(current.issued_at, said.not_before):
            raise refused("revoked")
        replaced = said.groups if said is not None else None
        groups = current.claimed if replaced is None else replaced | {EVERYONE}
        return replace(current, caller=replace(current.caller, groups=groups))

    async def exchange(self, token: str | None) -> AccessToken:
        """An access token for a token from outside, which is spent by it. Raises NotAuthenticated, as `authenticate`.

        Our own tokens and API keys are not exchanged: nobody stays for longer than those who sent them say.
        """
        form = form_of(token)
        if form.kind not in (Kind.PORTAL, Kind.PUBLIC):
            raise refused("kind")
        known = await self.recheck(await self._from_outside(token or "", form))
        return self._own.access(replace(known.caller, groups=known.claimed), self._access_life)

    async def _holder(self, token: str, form: Form) -> Identity:
        match form.kind:
            case Kind.KEY:
                return await holder(token, self._tenant, self._store, self._now())
            case Kind.OWN:
                return self._own.identity(ACCESS, token)
            case Kind.PORTAL | Kind.PUBLIC:
                return await self._from_outside(token, form)

    async def _from_outside(self, token: str, form: Form) -> Identity:
        claims = verified(token, await self._key_of(form), form.alg)
        holds = check(claims, self._outside.rules, self._now())
        groups, roles = self._outside.claims.read(claims)
        await self._take(holds, form)
        return Identity(
            Caller(self._tenant, holds.user, groups, roles), holds.id, holds.issued_at, holds.expires_at, groups
        )

    async def _key_of(self, form: Form) -> OctKey | PublicKey:
        """The key of a kind of token; a token can choose among public keys, never between kinds."""
        if form.kind is Kind.PORTAL and self._outside.portal is not None:
            return self._outside.portal
        if form.kind is Kind.PUBLIC and self._outside.keys is not None:
            return await self._outside.keys.key_for(form)
        raise refused("algorithm")

    async def _take(self, holds: Holds, form: Form) -> None:
        """Spend a token. It is remembered for as long as it would be believed."""
        if not self._outside.rules.needs_id:
            return
        until = holds.expires_at + timedelta(seconds=self._outside.rules.leeway_s) + _MARGIN
        if not await self._store.spend(self._tenant, f"{form.kind.value}:{holds.id}", until):
            raise refused("replayed")


def _is_before(issued: datetime | None, not_before: datetime | None) -> bool:
    return not_before is not None and (issued is None or issued < not_before)
