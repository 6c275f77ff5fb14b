"""Who is calling: tokens of a portal, of an issuer with public keys, of this server, and API keys of services."""

from __future__ import annotations

from assistant.transport.auth.authenticator import (
    AccessToken,
    Authenticator,
    DevelopmentAuthenticator,
    RefusingAuthenticator,
)
from assistant.transport.auth.checking import check_identity
from assistant.transport.auth.origins import needs_origin, origin_allowed
from assistant.transport.auth.roles import ADMIN, AUDITOR, EXPORTER, ROLES, USER

__all__ = [
    "ADMIN",
    "AUDITOR",
    "EXPORTER",
    "ROLES",
    "USER",
    "AccessToken",
    "Authenticator",
    "DevelopmentAuthenticator",
    "RefusingAuthenticator",
    "check_identity",
    "needs_origin",
    "origin_allowed",
]
