"""Why a token is refused. The reason is told, what the token said is not."""

from __future__ import annotations

from typing import Literal

from assistant.errors import NotAuthenticated, TokenExpired

Reason = Literal[
    "missing",
    "malformed",
    "algorithm",
    "signature",
    "issuer",
    "audience",
    "expired",
    "not_yet_valid",
    "lifetime",
    "replayed",
    "revoked",
    "keys_unavailable",
    "kind",
    "origin",
]


def refused(reason: Reason) -> NotAuthenticated:
    """The error for a token that is refused for this reason."""
    if reason == "expired":
        return TokenExpired("the token has expired", reason=reason)
    return NotAuthenticated(f"the token is refused: {reason}", reason=reason)


def malformed() -> NotAuthenticated:
    """The error for a token that does not have the form of one."""
    return refused("malformed")
