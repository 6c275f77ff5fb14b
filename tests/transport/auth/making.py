"""Keys, tokens and an authenticator for tests, on a clock that stands still until it is moved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import count
from typing import Any

import orjson
from joserfc import jws
from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey
from joserfc.jws import JWSRegistry
from joserfc.util import urlsafe_b64encode

from assistant.interfaces import IdentityStore
from assistant.transport.auth.claims import Rules
from assistant.transport.auth.jwks import Jwks
from assistant.transport.auth.mapping import ClaimsMap
from assistant.transport.auth.own import OwnTokens
from assistant.transport.auth.tokens import Outside, TokenAuthenticator

TENANT = "acme"
PORTAL = b"a secret of the portal that is long enough"
OWN = b"0123456789abcdef0123456789abcdef"
START = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
ISSUER = "https://portal.example"
_numbers = count()


@dataclass
class Clock:
    """Both clocks of a server; they move together."""

    at: datetime = START
    ticks: float = 1000.0

    def now(self) -> datetime:
        return self.at

    def monotonic(self) -> float:
        return self.ticks

    def move(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)
        self.ticks += seconds


@cache
def rsa() -> RSAKey:
    return RSAKey.generate_key(2048, {"kid": "r1"})


@cache
def ec() -> ECKey:
    return ECKey.generate_key("P-256", {"kid": "e1"})


@cache
def okp() -> OKPKey:
    return OKPKey.generate_key("Ed25519", {"kid": "o1"})


def key_set(*keys: RSAKey | ECKey | OKPKey | Mapping[str, Any]) -> dict[str, Any]:
    return {"keys": [dict(key) if isinstance(key, Mapping) else key.as_dict(private=False) for key in keys]}


def claims(clock: Clock | None = None, **changed: Any) -> dict[str, Any]:
    """Good claims of Ann with some of them changed; None leaves one out."""
    now = int((clock or Clock()).at.timestamp())
    good = {"iss": ISSUER, "aud": "assistant", "sub": "ann", "iat": now, "exp": now + 120, "jti": f"j{next(_numbers)}"}
    good |= {"groups": ["hr"], "roles": ["user", "auditor"]}
    return {name: value for name, value in (good | changed).items() if value is not None}


class _Any(JWSRegistry):
    max_payload_length = 1_000_000

    def get_alg(self, name: str) -> Any:
        return self.algorithms[name]


def minted(said: Mapping[str, Any] | bytes, key: Any = None, alg: str = "HS256", **header: Any) -> str:
    """A token as a portal or issuer makes it."""
    payload = said if isinstance(said, bytes) else orjson.dumps(said)
    head = {"alg": alg, "typ": "JWT", **header}
    signer = OctKey.import_key(PORTAL) if key is None else key
    return jws.serialize_compact(head, payload, signer, registry=_Any(strict_check_header=False))


def raw(header: Any, payload: Any, signature: bytes = b"") -> str:
    """Three parts as an attacker writes them."""
    parts = [each if isinstance(each, bytes) else orjson.dumps(each) for each in (header, payload)]
    return ".".join(urlsafe_b64encode(part).decode() for part in (*parts, signature))


@dataclass
class Issuer:
    """Publishes keys, and counts how often it is asked."""

    keys: dict[str, Any] = field(default_factory=lambda: key_set(rsa(), ec(), okp()))
    asked: int = 0

    async def load(self) -> dict[str, Any]:
        self.asked += 1
        return self.keys


def make_authenticator(
    store: IdentityStore,
    clock: Clock,
    *,
    issuer: Issuer | None = None,
    rules: Rules | None = None,
    mapping: ClaimsMap | None = None,
    portal: bool = True,
) -> TokenAuthenticator:
    keys = Jwks((issuer or Issuer()).load, clock.monotonic)
    strict = rules or Rules("assistant", ISSUER, 600, 10, needs_id=True)
    outside = Outside(strict, mapping or ClaimsMap(), OctKey.import_key(PORTAL) if portal else None, keys)
    return TokenAuthenticator(
        TENANT, outside, own_tokens(clock), store, access_life=timedelta(minutes=15), now=clock.now
    )


def own_tokens(clock: Clock, tenant: str = TENANT, secret: bytes = OWN) -> OwnTokens:
    return OwnTokens(secret, tenant, "assistant", now=clock.now, new_id=lambda: f"own{next(_numbers)}")
