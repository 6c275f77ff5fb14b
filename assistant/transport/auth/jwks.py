"""The public keys of an issuer (RFC 7517), kept for a while and asked for again when a token names one that is not known."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final

import orjson
import structlog
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, OKPKey, RSAKey

from assistant.errors import NotAuthenticated
from assistant.transport.auth.fetching import MOST_BYTES, Unavailable
from assistant.transport.auth.forms import Form, PublicKey
from assistant.transport.auth.refusing import refused

log = structlog.get_logger(__name__)

AGAIN_S: Final = 30.0
"""Keys are asked for at most this often, whatever tokens name."""
FRESH_S: Final = 3600.0
"""After this long they are asked for anyway, so that a key that was withdrawn goes."""
MOST_KEYS: Final = 100
LEAST_RSA_BITS: Final = 2048
_KINDS: Final[Mapping[str, type[PublicKey]]] = {"RSA": RSAKey, "EC": ECKey, "OKP": OKPKey}

Load = Callable[[], Awaitable[dict[str, Any]]]
_Known = tuple[str | None, frozenset[str], PublicKey]
"""The id of a key, the algorithms that it may be used with, and the key."""


class Jwks:
    """The keys behind one `load`, by the monotonic `clock`. One load at a time, shared by all who wait."""

    def __init__(self, load: Load, clock: Callable[[], float]) -> None:
        self._load = load
        self._clock = clock
        self._known: tuple[_Known, ...] | None = None
        self._loaded = self._tried = float("-inf")
        self._loading = asyncio.Lock()

    async def key_for(self, form: Form) -> PublicKey:
        """The key that a token names, if it is for the token's algorithm.

        Without a name there must be one such key alone. Raises NotAuthenticated: "signature" for a key that is not there,
        "keys_unavailable" where none could be had yet.
        """
        if self._known is None or self._clock() - self._loaded > FRESH_S:
            await self._load_again()
        if (key := self._find(form)) is None:
            await self._load_again()
            key = self._find(form)
        if key is None:
            raise self._missing()
        return key

    def _missing(self) -> NotAuthenticated:
        return refused("keys_unavailable" if self._known is None else "signature")

    def _find(self, form: Form) -> PublicKey | None:
        fitting = [
            key for kid, algorithms, key in self._known or () if form.alg in algorithms and form.kid in (None, kid)
        ]
        return fitting[0] if len(fitting) == 1 else None

    async def _load_again(self) -> None:
        async with self._loading:
            if self._clock() - self._tried < AGAIN_S:
                return
            try:
                self._known = _usable(await self._load())
            except Unavailable as error:
                log.warning("keys of the issuer cannot be had", why=str(error))
            else:
                self._loaded = self._clock()
            self._tried = self._clock()  # not before: whoever asks may be cancelled, and the next one then asks


def _usable(document: Mapping[str, Any]) -> tuple[_Known, ...]:
    """The keys of a set that can verify signatures; others, which later standards may bring, are passed over."""
    keys = document.get("keys")
    if not isinstance(keys, list):
        raise Unavailable("the document holds no keys")
    return tuple(known for each in keys[:MOST_KEYS] if isinstance(each, dict) and (known := _usable_key(each)))


def _usable_key(key: dict[str, Any]) -> _Known | None:
    kind = _KINDS.get(str(key.get("kty")))
    kid, use, only = key.get("kid"), key.get("use", "sig"), key.get("alg")
    if kind is None or use != "sig" or not isinstance(kid, str | None) or not isinstance(only, str | None):
        return None
    public = {name: value for name, value in key.items() if name in _PUBLIC_PARTS}
    try:
        imported = kind.import_key(public)
        algorithms = _algorithms(imported)
    except (JoseError, ValueError, TypeError, KeyError, AttributeError):
        return None
    return kid, algorithms if only is None else algorithms & {only}, imported


_PUBLIC_PARTS: Final = frozenset({"kty", "n", "e", "crv", "x", "y"})
"""What belongs to a public key; of a private one that lies in the wrong place nothing more is kept."""


def _algorithms(key: PublicKey) -> frozenset[str]:
    """One algorithm for each kind of key; none for keys that are too weak."""
    if isinstance(key, RSAKey):
        return frozenset({"RS256"} if key.public_key.key_size >= LEAST_RSA_BITS else ())
    if isinstance(key, ECKey):
        return frozenset({"ES256"} if key.curve_name == "P-256" else ())
    return frozenset({"EdDSA", "Ed25519"} if key.get("crv") == "Ed25519" else ())


async def load_file(path: Path) -> dict[str, Any]:
    """The key set in a file. Raises Unavailable."""
    try:
        found = orjson.loads(await asyncio.to_thread(_read, path))
    except (OSError, ValueError) as error:
        raise Unavailable(f"the file of keys cannot be read: {type(error).__name__}") from None
    if not isinstance(found, dict):
        raise Unavailable("the file of keys holds no JSON object")
    return found


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MOST_BYTES)
