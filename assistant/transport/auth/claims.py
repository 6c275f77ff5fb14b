"""Whether the claims of a token hold: who issued it for whom, from when until when, about whom."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from assistant.config import AuthSettings
from assistant.core.text import without_unstorable
from assistant.interfaces.identity import SERVICE
from assistant.transport.auth.mapping import claim
from assistant.transport.auth.refusing import malformed, refused

LONGEST_NAME: Final = 255
LATEST: Final = 253_402_300_799.0
"""The end of the year 9999: no later time can be said."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What a token must say. `issuer` empty: anyone whose key is trusted; `longest_s` None: as long as it likes."""

    audience: str
    issuer: str = ""
    longest_s: float | None = None
    leeway_s: float = 0.0
    needs_id: bool = False
    user_claim: str = "sub"

    @classmethod
    def of(cls, auth: AuthSettings) -> Rules:
        """The rules for tokens from outside by these settings."""
        return cls(auth.audience, auth.issuer, auth.longest_s, auth.leeway_s, auth.single_use, auth.user_claim)


@dataclass(frozen=True, slots=True)
class Holds:
    """What a token that holds says of its person. `id` is empty where it has none."""

    user: str
    id: str
    issued_at: datetime
    expires_at: datetime


def check(claims: Mapping[str, Any], rules: Rules, now: datetime) -> Holds:
    """Raises NotAuthenticated with the reason where the claims do not hold; TokenExpired where only their time is over."""
    if rules.issuer and claims.get("iss") != rules.issuer:
        raise refused("issuer")
    if not _is_for(claims.get("aud"), rules.audience):
        raise refused("audience")
    issued_at, expires_at = _times(claims, rules, now.timestamp())
    user = claim(claims, rules.user_claim)
    if not is_user(user) or user.startswith(SERVICE):
        raise malformed()
    return Holds(user, _id(claims.get("jti"), needed=rules.needs_id), issued_at, expires_at)


def _is_for(audience: Any, ours: str) -> bool:
    return audience == ours or (isinstance(audience, list) and len(audience) <= 20 and ours in audience)


def _times(claims: Mapping[str, Any], rules: Rules, now: float) -> tuple[datetime, datetime]:
    issued, expires = _time(claims.get("iat")), _time(claims.get("exp"))
    if expires <= now - rules.leeway_s:
        raise refused("expired")
    if max(issued, _time(claims.get("nbf", issued))) > now + rules.leeway_s:
        raise refused("not_yet_valid")
    if expires <= issued or (rules.longest_s is not None and expires - issued > rules.longest_s):
        raise refused("lifetime")
    return datetime.fromtimestamp(issued, UTC), datetime.fromtimestamp(expires, UTC)


def _time(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LATEST:
        raise malformed()
    return float(value)


def is_user(name: Any) -> bool:
    """Whether this can be the name of a person: it can be stored, and is what it looks like to a reader of logs."""
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME or name != name.strip():
        return False
    return without_unstorable(name) == name and not any(unicodedata.category(char) == "Cc" for char in name)


def _id(value: Any, *, needed: bool) -> str:
    if value is None and not needed:
        return ""
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_NAME or without_unstorable(value) != value:
        raise malformed()
    return value
