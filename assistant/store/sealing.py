"""Personal text under a key per person: destroy the key, and nobody reads it again.

AES-256-GCM (NIST SP 800-38D) with a random nonce of 96 bits before the ciphertext. Tenant, person and record are authenticated with
it, so that a ciphertext fits its own record only.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from datetime import datetime
from typing import Final

import orjson
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from sqlalchemy import insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from assistant.core.audit import canonical
from assistant.errors import BadInput
from assistant.store.tables import person_keys
from assistant.store.upsert import insert_or_ignore
from assistant.store.wrapping import KeyWrap, opened, wrap_stored

KEY_BITS: Final = 256
NONCE_BYTES: Final = 12


def seal(key: bytes, personal: Mapping[str, str], *, tenant: str, subject: str, record: str) -> bytes:
    """The personal text of a record as nonce and ciphertext; BadInput for text that UTF-8 cannot hold."""
    try:
        plain = orjson.dumps(dict(personal), option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError as error:
        raise BadInput("personal text is text by name", reason="personal") from error
    nonce = os.urandom(NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, plain, canonical([tenant, subject, record]))


def unseal(key: bytes, sealed: bytes, *, tenant: str, subject: str, record: str) -> dict[str, str]:
    """The personal text again; BadInput with `reason` "tampered" when this is not what was sealed for this record."""
    try:
        nonce, ciphertext = sealed[:NONCE_BYTES], sealed[NONCE_BYTES:]
        plain = AESGCM(key).decrypt(nonce, ciphertext, canonical([tenant, subject, record]))
    except (InvalidTag, ValueError) as error:
        raise BadInput("the sealed text does not fit its record", reason="tampered") from error
    opened: dict[str, str] = orjson.loads(plain)
    return opened


def sealed_hash(sealed: bytes) -> str:
    """What a record holds of its ciphertext."""
    return hashlib.sha256(sealed).hexdigest()


async def key_of(connection: AsyncConnection, tenant: str, subject: str, wrap: KeyWrap | None = None) -> bytes | None:
    """The key of a person; None when there is none, destroyed or not yet made.

    Raises BadSetting where it is wrapped with another secret than that of `wrap`.
    """
    query = select(person_keys.c.key).where(person_keys.c.tenant == tenant, person_keys.c.subject == subject)
    key = await connection.scalar(query)
    return None if key is None else opened(wrap, bytes(key), tenant, subject)


async def key_for(
    connection: AsyncConnection, tenant: str, subject: str, at: datetime, wrap: KeyWrap | None = None
) -> bytes | None:
    """The key of a person, made at its first use; None when it was destroyed. One from before there was a secret is wrapped now.

    For holders of the lock of the tenant's chain: nobody else makes or destroys a key meanwhile. Raises as `key_of` does.
    """
    query = select(person_keys.c.key).where(person_keys.c.tenant == tenant, person_keys.c.subject == subject)
    row = (await connection.execute(query)).one_or_none()
    if row is not None:
        if row.key is not None and wrap is not None:
            await wrap_stored(connection, wrap, tenant, subject)
        return None if row.key is None else opened(wrap, bytes(row.key), tenant, subject)
    key = AESGCM.generate_key(KEY_BITS)
    stored = key if wrap is None else wrap.wrap(key, tenant, subject)
    await connection.execute(
        insert(person_keys),
        [{"tenant": tenant, "subject": subject, "key": stored, "made_at": at, "destroyed_at": None}],
    )
    return key


async def destroy_key(connection: AsyncConnection, tenant: str, subject: str, at: datetime) -> None:
    """Destroy the key of a person for good; who has none gets none. For holders of the lock of the tenant's chain."""
    row = {"tenant": tenant, "subject": subject, "key": None, "made_at": at, "destroyed_at": at}
    await insert_or_ignore(connection, person_keys, [row])
    theirs = (person_keys.c.tenant == tenant) & (person_keys.c.subject == subject)
    await connection.execute(
        update(person_keys).where(theirs, person_keys.c.key.is_not(None)).values(key=None, destroyed_at=at)
    )
