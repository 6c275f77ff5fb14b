"""From where a page may open a websocket, and where this server itself is."""

from __future__ import annotations

from collections.abc import Sequence

from assistant.interfaces import Identity
from assistant.interfaces.identity import SERVICE
from assistant.transport.auth.authenticator import DEVELOPMENT


def origin_allowed(origin: str | None, host: str | None, allowed: Sequence[str]) -> bool:
    """Whether a websocket may be opened from this origin.

    Allowed are exactly the configured origins and the server's own; where none is sent, `needs_origin` says the rest. The origin
    "null" (sandboxed or local pages) is refused, even where somebody configured it.
    """
    if origin is None:
        return True
    if origin == "null":
        return False
    return origin in allowed or is_own(origin, host)


def needs_origin(identity: Identity) -> bool:
    """Whether a websocket of this identity must say from where it was opened: every person's, as their tokens live in pages.

    Services, which have no page, and the development identity need not.
    """
    return identity.token != DEVELOPMENT and not identity.caller.user.startswith(SERVICE)


def is_own(origin: str, host: str | None) -> bool:
    """Whether an origin is that of the server which was asked by this Host header."""
    return bool(host) and origin.lower() in {f"{scheme}://{str(host).lower()}" for scheme in ("http", "https")}
