"""Tokens told apart by their form, and signatures verified by a fixed algorithm for each kind of key."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

import orjson
from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey
from joserfc.jws import JWSRegistry
from joserfc.util import urlsafe_b64decode

from assistant.transport.auth.refusing import malformed, refused

LONGEST_TOKEN: Final = 8192
LONGEST_HEADER: Final = 1024
ACCESS: Final = "at+jwt"
"""The `typ` of access tokens, ours and (RFC 9068) those of others."""
_TYPES: Final = frozenset({"jwt", ACCESS, f"application/{ACCESS}"})
"""Tokens that issuers make for something else, as to end a session, say so by another `typ` (RFC 8725, 3.11)."""
KEY_PREFIX: Final = "ak_"

SECRET: Final = ("HS256",)
PUBLIC: Final = ("RS256", "ES256", "EdDSA", "Ed25519")

PublicKey = RSAKey | ECKey | OKPKey
_JWT: Final = re.compile(r"([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]*)")


class Kind(Enum):
    """What a token is, by its form alone; nothing of it is believed yet."""

    KEY = "key"
    OWN = "own"
    PORTAL = "portal"
    PUBLIC = "public"


@dataclass(frozen=True, slots=True)
class Form:
    """The kind of a token, and what its header says of its key."""

    kind: Kind
    alg: str = ""
    kid: str | None = None


class _Registry(JWSRegistry):
    """Exactly the given algorithms, within our bounds.

    joserfc warns of EdDSA by this name (RFC 9864 renames it), which issuers use all the same.
    """

    max_header_length = LONGEST_HEADER
    max_payload_length = LONGEST_TOKEN

    def get_alg(self, name: str) -> Any:
        if name not in (self.allowed or ()):
            raise refused("algorithm")
        return self.algorithms[name]


_REGISTRIES: Final = {
    algorithms: _Registry(algorithms=algorithms, strict_check_header=False)
    for algorithms in (SECRET, *((name,) for name in PUBLIC))
}


def form_of(token: str | None) -> Form:
    """What the token is. Raises NotAuthenticated for none, for one without the form of any, and for other algorithms."""
    if not token:
        raise refused("missing")
    if len(token) > LONGEST_TOKEN:
        raise malformed()
    if token.startswith(KEY_PREFIX):
        return Form(Kind.KEY)
    parts = _JWT.fullmatch(token)
    if parts is None:
        raise malformed()
    return _form(_header(parts[1]))


def _header(part: str) -> Mapping[str, Any]:
    try:
        header = orjson.loads(urlsafe_b64decode(part.encode())) if len(part) <= LONGEST_HEADER else None
    except ValueError:
        header = None
    # `crit` would ask us to understand more than we do; `b64` changes what is signed.
    if not isinstance(header, dict) or "crit" in header or "b64" in header:
        raise malformed()
    return header


def _form(header: Mapping[str, Any]) -> Form:
    alg, typ, kid = header.get("alg"), header.get("typ", "JWT"), header.get("kid")
    if not (isinstance(alg, str) and isinstance(typ, str) and isinstance(kid, str | None)):
        raise malformed()
    if alg not in SECRET + PUBLIC:
        raise refused("algorithm")
    if typ.lower() not in _TYPES:
        raise malformed()
    if alg in PUBLIC:
        return Form(Kind.PUBLIC, alg, kid)
    return Form(Kind.OWN if typ.lower() == ACCESS else Kind.PORTAL, alg, kid)


def verified(token: str, key: OctKey | PublicKey, algorithm: str) -> dict[str, Any]:
    """The claims of a token that was signed with this key by this algorithm. Raises NotAuthenticated for all others."""
    try:
        signed = jws.deserialize_compact(token, key, registry=_REGISTRIES[(algorithm,)])
    except (JoseError, ValueError, TypeError, RecursionError):
        raise refused("signature") from None
    try:
        claims = orjson.loads(signed.payload or b"")
    except ValueError:
        claims = None
    if not isinstance(claims, dict):
        raise malformed()
    return claims


def signed(claims: Mapping[str, Any], key: OctKey, typ: str) -> str:
    """The claims as a token of ours, signed by HMAC with SHA-256."""
    header = {"alg": SECRET[0], "typ": typ}
    return jws.serialize_compact(header, orjson.dumps(claims), key, registry=_REGISTRIES[SECRET])
