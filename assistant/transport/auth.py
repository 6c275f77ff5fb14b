"""Who is calling. A development identity behind an explicit setting; tokens come with the portal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol
from urllib.parse import urlsplit

from assistant.core.access import EVERYONE, Caller
from assistant.errors import NotAuthenticated

USER: Final = "user"
AUDITOR: Final = "auditor"
"""May look for audit records, open them (each look on the record) and have the log verified."""
EXPORTER: Final = "exporter"
"""May take audit records out of the house."""


class Authenticator(Protocol):
    """Turns a token into a caller."""

    async def authenticate(self, token: str | None) -> Caller:
        """The caller of a token; raises NotAuthenticated."""
        ...


class DevelopmentAuthenticator:
    """Takes everyone for the same person. Never for production."""

    def __init__(self, tenant: str, user: str, groups: Sequence[str] = (), roles: Sequence[str] = (USER,)) -> None:
        self._caller = Caller(tenant, user, frozenset({EVERYONE, *groups}), frozenset(roles))

    async def authenticate(self, token: str | None) -> Caller:
        """The development user, whatever the token is."""
        return self._caller


class RefusingAuthenticator:
    """Refuses everyone: no way to come in is configured."""

    async def authenticate(self, token: str | None) -> Caller:
        """Always raises NotAuthenticated."""
        raise NotAuthenticated("no identity is configured")


def origin_allowed(origin: str | None, host: str | None, allowed: Sequence[str]) -> bool:
    """Whether a websocket may be opened from this origin.

    Allowed are exactly the configured origins and the server's own; a client without a browser sends none. The origin
    "null" (sandboxed or local pages) is refused.
    """
    if origin is None:
        return True
    if origin in allowed:
        return True
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(host) and parts.netloc == host
