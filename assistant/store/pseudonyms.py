"""Pseudonyms: names for people that are the same everywhere in a tenant and do not tell who it is."""

from __future__ import annotations

import hashlib
import hmac
from typing import Final

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from assistant.core.access import Caller

SECRET_BYTES: Final = 32
"""The length of the secret of an installation, and of every key that is derived from it."""
_DIGITS: Final = 32


class Pseudonyms:
    """The names of people, keyed with the secret of the installation: who has a list of users and no secret can test none of them.

    Without a secret, and in records from before there was one, a pseudonym is a plain hash. Old records stay as they are, so a
    person may be known by both.
    """

    def __init__(self, secret: bytes | None = None) -> None:
        self._key = None if secret is None else derived(secret, "pseudonyms")

    def of(self, caller: Caller) -> str:
        """The name under which the caller is recorded from now on."""
        if self._key is None:
            return pseudonym(caller)
        return "u" + hmac.new(self._key, _known(caller), hashlib.sha256).hexdigest()[:_DIGITS]

    def all_of(self, caller: Caller) -> tuple[str, ...]:
        """Every name under which the caller may have been recorded, the present one first."""
        return tuple(dict.fromkeys((self.of(caller), pseudonym(caller))))


def pseudonym(caller: Caller) -> str:
    """The name of a caller where there is no secret: the same in all conversations of the tenant."""
    return "u" + hashlib.sha256(_known(caller)).hexdigest()[:20]


def derived(secret: bytes, use: str) -> bytes:
    """The key for one use, from the secret of the installation (HKDF-SHA-256, RFC 5869); no key tells of another."""
    return HKDF(algorithm=SHA256(), length=SECRET_BYTES, salt=None, info=f"assistant {use}".encode()).derive(secret)


def _known(caller: Caller) -> bytes:
    return f"{caller.tenant}\0{caller.user}".encode()
