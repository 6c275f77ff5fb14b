"""Who asks, signed for a search outside: a pseudonym, the groups, and the request that the token is for."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from uuid import uuid4

from joserfc import jwt
from joserfc.jwk import OctKey

from assistant.core.access import PRIVATE, Caller
from assistant.errors import BadSetting

ISSUER: Final = "assistant"
LIFE_S: Final = 60
SECRET_BYTES: Final = 32
"""The least length of a secret."""


@dataclass(frozen=True, slots=True)
class CallerSigner:
    """Signs the caller of each request with the secret shared with one search (HS256).

    `audience` is the name of the search, `pseudonym` gives the name under which a caller is known outside. The groups of one
    person alone never leave. Raises BadSetting for a secret that is too short.
    """

    audience: str
    secret: str
    pseudonym: Callable[[Caller], str]
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    def __post_init__(self) -> None:
        if len(self.secret.encode()) < SECRET_BYTES:
            raise BadSetting(f"give a secret of at least {SECRET_BYTES} bytes", setting="retrieval.external.secret")

    def token(self, caller: Caller, body: bytes) -> str:
        """A token of one minute for exactly this body: its sha256 is in it, so that it is good for no other question."""
        now = int(self.clock().timestamp())
        claims = {
            "iss": ISSUER,
            "aud": self.audience,
            "sub": self.pseudonym(caller),
            "tenant": caller.tenant,
            "groups": shown_groups(caller),
            "iat": now,
            "exp": now + LIFE_S,
            "jti": uuid4().hex,
            "sha256": hashlib.sha256(body).hexdigest(),
        }
        return jwt.encode({"alg": "HS256", "typ": "JWT"}, claims, OctKey.import_key(self.secret))


def shown_groups(caller: Caller) -> list[str]:
    """The groups that a search outside hears of, in their order."""
    return sorted(group for group in caller.groups if not group.startswith(PRIVATE))
