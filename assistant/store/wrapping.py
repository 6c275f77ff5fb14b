"""The keys of persons, wrapped with a key that is not in the database: a copy of the database alone opens no sealed text.

AES-256-GCM (NIST SP 800-38D) with a random nonce of 96 bits; tenant and person are authenticated. The id of the wrapping key stands before
it, and once in the database, so that another secret than the one of the database is noticed before anything is written with it.
"""

from __future__ import annotations

import hashlib
import os
from datetime import datetime
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from assistant.core.audit import canonical
from assistant.errors import BadSetting
from assistant.store.pseudonyms import derived
from assistant.store.tables import audit_secrets, person_keys
from assistant.store.upsert import insert_or_ignore

PLAIN_BYTES: Final = 32
"""The length of a key that is not wrapped, as all were before there was a secret."""
_ID_BYTES: Final = 8
_NONCE_BYTES: Final = 12
_SETTING: Final = "audit.secret"


class KeyWrap:
    """Wraps and unwraps the keys of persons with the secret of the installation. `id` names the secret and does not tell it."""

    def __init__(self, secret: bytes) -> None:
        self._aead = AESGCM(derived(secret, "person keys"))
        self._id = hashlib.sha256(derived(secret, "name of the secret")).digest()[:_ID_BYTES]
        self.id: Final = self._id.hex()

    def wrap(self, key: bytes, tenant: str, subject: str) -> bytes:
        """The key as it is stored for this person."""
        nonce = os.urandom(_NONCE_BYTES)
        return self._id + nonce + self._aead.encrypt(nonce, key, canonical([tenant, subject]))

    def unwrap(self, stored: bytes, tenant: str, subject: str) -> bytes:
        """The key again. Raises BadSetting with `reason` "wrong_secret" where another secret wrapped it, or it was changed."""
        named, nonce, wrapped = (
            stored[:_ID_BYTES],
            stored[_ID_BYTES:][:_NONCE_BYTES],
            stored[_ID_BYTES + _NONCE_BYTES :],
        )
        try:
            if named != self._id:
                raise InvalidTag
            return self._aead.decrypt(nonce, wrapped, canonical([tenant, subject]))
        except (InvalidTag, ValueError) as error:
            raise BadSetting(
                "the secret of the installation does not open the key of a person",
                setting=_SETTING,
                reason="wrong_secret",
            ) from error


def opened(wrap: KeyWrap | None, stored: bytes, tenant: str, subject: str) -> bytes:
    """The key in its stored form, wrapped or from before. Raises BadSetting where there is no secret to open it."""
    if len(stored) == PLAIN_BYTES:
        return stored
    if wrap is None:
        raise _missing()
    return wrap.unwrap(stored, tenant, subject)


async def check_secret(connection: AsyncConnection, wrap: KeyWrap | None) -> bool:
    """Whether the database is used with this secret already; False where it was never used with any.

    Raises BadSetting with `reason` "wrong_secret" for another one, "no_secret" where one is needed and none given.
    """
    known = set(await connection.scalars(select(audit_secrets.c.id)))
    if known and wrap is None:
        raise _missing()
    if known and wrap is not None and wrap.id not in known:
        raise BadSetting(
            "the secret of the installation is not the one that this database is used with; put the file back",
            setting=_SETTING,
            reason="wrong_secret",
        )
    return bool(known)


async def note_secret(connection: AsyncConnection, wrap: KeyWrap | None, at: datetime) -> bool:
    """As `check_secret`; from now on the database is used with this secret. For transactions that write."""
    known = await check_secret(connection, wrap)
    if not known and wrap is not None:
        await insert_or_ignore(connection, audit_secrets, [{"name": "installation", "id": wrap.id, "made_at": at}])
        await check_secret(connection, wrap)  # another process may have been first, with another file
    return known


async def unwrapped(connection: AsyncConnection, limit: int) -> list[tuple[str, str]]:
    """The (tenant, subject) of at most `limit` persons whose key is not wrapped yet."""
    query = select(person_keys.c.tenant, person_keys.c.subject).where(func.length(person_keys.c.key) == PLAIN_BYTES)
    return [(row.tenant, row.subject) for row in await connection.execute(query.limit(limit))]


async def wrap_stored(connection: AsyncConnection, wrap: KeyWrap, tenant: str, subject: str) -> None:
    """Wrap the key of a person that is stored plain. For holders of the lock of the tenant's chain."""
    theirs = (person_keys.c.tenant == tenant) & (person_keys.c.subject == subject)
    plain = await connection.scalar(select(person_keys.c.key).where(theirs))
    if plain is not None and len(plain) == PLAIN_BYTES:
        wrapped = wrap.wrap(bytes(plain), tenant, subject)
        await connection.execute(update(person_keys).where(theirs).values(key=wrapped))


def _missing() -> BadSetting:
    return BadSetting(
        "this database is used with a secret of the installation, and none is given",
        setting=_SETTING,
        reason="no_secret",
    )
