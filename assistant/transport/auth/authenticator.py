"""What doors ask of whoever tells callers apart; the development identity, and the refusal of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Protocol

from assistant.core.access import EVERYONE, Caller
from assistant.errors import NotAuthenticated, NotFound
from assistant.interfaces import Identity
from assistant.transport.auth.roles import USER


@dataclass(frozen=True, slots=True)
class AccessToken:
    """A token of this server for one person, for a short time."""

    token: str = field(repr=False)
    expires_at: datetime
    roles: frozenset[str]


class Authenticator(Protocol):
    """Turns tokens into callers."""

    async def authenticate(self, token: str | None) -> Identity:
        """The caller of a token. Raises TokenExpired, and NotAuthenticated with `reason`."""
        ...

    async def refresh(self, current: Identity, token: str) -> Identity:
        """The same caller by a newer token. Raises OtherUser for another subject or tenant, and as `authenticate`."""
        ...

    async def recheck(self, current: Identity) -> Identity:
        """The caller as of now: with the groups of the moment. Raises TokenExpired, and NotAuthenticated when revoked."""
        ...

    async def exchange(self, token: str | None) -> AccessToken:
        """A token of this server for one from outside, which is spent by it. Raises NotAuthenticated, as `authenticate`.

        Raises NotFound where tokens mean nothing.
        """
        ...


DEVELOPMENT: Final = "development"
"""The id of the token of the development identity."""


class DevelopmentAuthenticator:
    """Takes everyone for the same person. Never for production."""

    def __init__(self, tenant: str, user: str, groups: Sequence[str] = (), roles: Sequence[str] = (USER,)) -> None:
        caller = Caller(tenant, user, frozenset({EVERYONE, *groups}), frozenset(roles))
        self._identity = Identity(caller, DEVELOPMENT, claimed=caller.groups)

    async def authenticate(self, token: str | None) -> Identity:
        """The development user, whatever the token is."""
        return self._identity

    async def refresh(self, current: Identity, token: str) -> Identity:
        """The development user."""
        return self._identity

    async def recheck(self, current: Identity) -> Identity:
        """The development user."""
        return self._identity

    async def exchange(self, token: str | None) -> AccessToken:
        """Always raises NotFound: nobody needs a token."""
        raise NotFound("a development identity needs no token")


class RefusingAuthenticator:
    """Refuses everyone: no way to come in is configured."""

    async def authenticate(self, token: str | None) -> Identity:
        """Always raises NotAuthenticated."""
        raise NotAuthenticated("no identity is configured", reason="missing")

    async def refresh(self, current: Identity, token: str) -> Identity:
        """Always raises NotAuthenticated."""
        return await self.authenticate(token)

    async def recheck(self, current: Identity) -> Identity:
        """Always raises NotAuthenticated."""
        return await self.authenticate(None)

    async def exchange(self, token: str | None) -> AccessToken:
        """Always raises NotAuthenticated."""
        raise NotAuthenticated("no identity is configured", reason="missing")
