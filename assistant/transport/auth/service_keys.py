"""API keys of services: `ak_<id>_<secret>`. Only the SHA-256 of the secret is kept, which has 256 random bits itself."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from assistant.core.access import EVERYONE, Caller
from assistant.errors import BadInput
from assistant.interfaces import Identity, IdentityStore, ServiceKey, service_user
from assistant.transport.auth.refusing import malformed, refused
from assistant.transport.auth.roles import ROLES

_FORM: Final = re.compile(r"ak_([0-9a-f]{16})_([A-Za-z0-9_-]{43})")


def new_key(
    tenant: str,
    name: str,
    groups: Iterable[str],
    roles: Iterable[str],
    *,
    now: datetime,
    life: timedelta | None = None,
) -> tuple[ServiceKey, str]:
    """A key as it is kept, and as its service holds it; the latter cannot be made again. Raises BadInput for unknown roles."""
    known = check_roles(roles)
    id_, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
    expires_at = now + life if life is not None else None
    key = ServiceKey(tenant, id_, name, _digest(secret), frozenset(groups), known, now, expires_at)
    return key, f"ak_{id_}_{secret}"


def check_roles(roles: Iterable[str]) -> frozenset[str]:
    """The roles. Raises BadInput for one that this server does not know."""
    given = frozenset(roles)
    if not given <= ROLES:
        raise BadInput(f"the roles are {', '.join(sorted(ROLES))}", reason="roles", known=sorted(ROLES))
    return given


async def holder(token: str, tenant: str, store: IdentityStore, now: datetime) -> Identity:
    """Who holds an API key. Raises TokenExpired, and NotAuthenticated for keys that are unknown, wrong or revoked."""
    form = _FORM.fullmatch(token)
    if form is None:
        raise malformed()
    key = await store.key_by_id(tenant, form[1])
    # An unknown id is compared too: how long a refusal takes tells nobody which ids there are.
    if not hmac.compare_digest(_digest(form[2]), key.digest if key else "0" * 64) or key is None:
        raise refused("signature")
    if key.revoked_at is not None:
        raise refused("revoked")
    if key.expires_at is not None and key.expires_at <= now:
        raise refused("expired")
    if key.last_used != now.date():
        await store.use_key(key, now.date())
    groups = key.groups | {EVERYONE}
    caller = Caller(tenant, service_user(key.id), groups, ROLES & key.roles)
    return Identity(caller, key.id, key.made_at, key.expires_at, groups)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
