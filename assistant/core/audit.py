"""The audit record: what is kept of each answer and of each look at it, and how records are chained. Pure.

Records of a tenant form a chain: each holds the hash of the one before. A record is hashed over its canonical JSON (RFC 8785).
Personal text is not in it: it is sealed with the key of its person, and only the hash of the ciphertext is in the record, so that
destroying the key leaves the chain valid.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final

import rfc8785

from assistant.errors import BadInput

VERSION: Final = 1


class AuditKind(StrEnum):
    """What a record tells of."""

    TURN = "turn"
    FEEDBACK = "feedback"
    CORRECTION = "correction"
    VIEW = "view"
    EXPORT = "export"
    REPLAY = "replay"
    HOLD = "hold"
    ERASURE = "erasure"
    RETENTION = "retention"
    ADOPTION = "adoption"
    DOCUMENT = "document"
    IDENTITY = "identity"


@dataclass(frozen=True, slots=True)
class AuditDraft:
    """A record before it has a place: who did what to whose turn, and what is known of it.

    `actor` and `subject` are pseudonyms; `body` is plain JSON without personal text; `personal` is the personal text by name
    (question, standalone, answer, ...), sealed before it is stored.
    """

    tenant: str
    kind: AuditKind
    actor: str
    at: datetime
    subject: str | None = None
    conversation: str | None = None
    turn: str | None = None
    body: Mapping[str, Any] | None = None
    personal: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """A record in its place: `seq` grows by one per tenant from 1; `hash` covers everything else, `previous` included.

    `sealed_sha256` is the hash of the ciphertext of the personal text, None where there is none.
    """

    tenant: str
    seq: int
    id: str
    at: str
    kind: AuditKind
    actor: str
    subject: str | None
    conversation: str | None
    turn: str | None
    body: Mapping[str, Any]
    sealed_sha256: str | None
    previous: str
    hash: str


class StoredBody(dict[str, Any]):
    """A body that was read, with the text that it was read from.

    Records are stored in the form in which they are hashed: hashing the text as it stands says whether it is the one that was written, and
    costs a fifth of writing it anew.
    """

    text: str | None = None

    @classmethod
    def read(cls, text: str, value: Mapping[str, Any]) -> StoredBody:
        """The value that this text holds."""
        body = cls(value)
        body.text = text
        return body


RECORD_FIELDS: Final = tuple(field.name for field in fields(AuditRecord))
"""The fields of a record; `hash` covers all others and the version of the form."""


def genesis(tenant: str) -> str:
    """The hash that stands before the first record of a tenant."""
    return hashlib.sha256(b"assistant.audit.v1\0" + tenant.encode()).hexdigest()


def place(draft: AuditDraft, *, id_: str, seq: int, previous: str, sealed_sha256: str | None) -> AuditRecord:
    """The draft as the record number `seq` after the one with the hash `previous`.

    Raises BadInput for a body that JSON cannot hold.
    """
    values: dict[str, Any] = {
        "tenant": draft.tenant,
        "seq": seq,
        "id": id_,
        "at": stamp(draft.at),
        "kind": draft.kind,
        "actor": draft.actor,
        "subject": draft.subject,
        "conversation": draft.conversation,
        "turn": draft.turn,
        "body": dict(draft.body or {}),
        "sealed_sha256": sealed_sha256,
        "previous": previous,
    }
    return AuditRecord(**values, hash=_digest(values))


def hash_of(record: AuditRecord) -> str:
    """The hash that a record should have, computed from everything else in it."""
    return _digest({name: getattr(record, name) for name in RECORD_FIELDS if name != "hash"})


def stamp(at: datetime) -> str:
    """A point in time as records have it: UTC, milliseconds."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def canonical(value: Any) -> bytes:
    """The canonical JSON of a value (RFC 8785); BadInput for what it cannot hold (NaN, integers beyond 2**53)."""
    try:
        return bytes(rfc8785.dumps(value))
    except (rfc8785.CanonicalizationError, UnicodeEncodeError, RecursionError) as error:
        raise BadInput("a record holds what JSON cannot", reason="canonical") from error


def _digest(values: Mapping[str, Any]) -> str:
    plain = {name: str(value) if isinstance(value, AuditKind) else value for name, value in values.items()}
    plain |= {"version": VERSION}
    body = plain["body"]
    stored = body.text if isinstance(body, StoredBody) else None
    content = None if stored is None else _spliced(plain, stored)
    return hashlib.sha256(canonical(plain) if content is None else content).hexdigest()


def _spliced(values: Mapping[str, Any], body: str) -> bytes | None:
    """The canonical JSON of a record with the text of its body as it stands; None where another value is not as records have it.

    Names, texts without lone surrogates and small integers are what `json` writes in the canonical form as well.
    """
    others = {name: value for name, value in values.items() if name != "body"}
    if not all(
        value is None or type(value) is str or (type(value) is int and 0 <= value < 2**53) for value in others.values()
    ):
        return None
    before = {name: value for name, value in others.items() if name < "body"}
    after = {name: value for name, value in others.items() if name > "body"}
    try:
        return f'{_sorted_json(before)[:-1]},"body":{body},{_sorted_json(after)[1:]}'.encode()
    except UnicodeEncodeError:
        return None


def _sorted_json(values: Mapping[str, Any]) -> str:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
