"""Checkpoints: a signature over the state of a tenant's log at one moment, so that its past cannot be written anew.

A checkpoint holds the number of records, the root of the Merkle tree over their hashes (assistant.core.merkle; an entry is the 32 bytes of a
record's hash) and the hash of the last one. Its form and use follow the signed tree heads of RFC 9162, section 4.9.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final, Protocol

import orjson

from assistant.audit.signing import Signer
from assistant.core.audit import canonical, stamp
from assistant.core.merkle import CompactRange
from assistant.errors import BadInput

MOST_LINE_BYTES: Final = 16 * 1024
_HASH: Final = re.compile(r"[0-9a-f]{64}")
_KEY_ID: Final = re.compile(r"[0-9a-f]{16}")
_MOST_SIZE: Final = 2**53 - 1


class RecordSource(Protocol):
    """The part of an audit log from which checkpoints are made, and which keeps them."""

    async def hashes(self, tenant: str, after: int, limit: int) -> list[tuple[int, str]]:
        """The (seq, hash) of at most `limit` records with seq > after, by ascending seq."""
        ...

    async def save_checkpoint(self, row: Mapping[str, Any], /) -> None:
        """Keep a checkpoint, as `Checkpoint.row` gives it; where one of the same tenant and size is kept, that one stays."""
        ...

    async def checkpoints(self, tenant: str) -> list[dict[str, Any]]:
        """All checkpoints of the tenant as they were saved, by ascending size."""
        ...


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What was signed: `size` records with the Merkle root `root`, the last with the hash `head` (hex), at a time, by a key.

    `signature` is the base64 of the Ed25519 signature over the canonical JSON (RFC 8785) of everything else.
    """

    tenant: str
    size: int
    root: str
    head: str
    at: str
    key_id: str
    signature: str

    def row(self) -> dict[str, Any]:
        """Its fields by name: plain JSON values."""
        return asdict(self)

    def signed_bytes(self) -> bytes:
        """The bytes that the signature covers."""
        return _signed_bytes(self.row())

    def signature_bytes(self) -> bytes:
        """The signature, 64 bytes."""
        return base64.b64decode(self.signature)

    def line(self) -> bytes:
        """One line of JSON with its line feed, for files beside the database."""
        return canonical(self.row()) + b"\n"

    def state(self) -> tuple[int, str, str]:
        """The state of the log that it tells of; two of the same state differ in when and by whom they were signed."""
        return self.size, self.root, self.head


def sign_checkpoint(tenant: str, tree: CompactRange, head: str, at: datetime, signer: Signer) -> Checkpoint:
    """The checkpoint of a log with this tree, whose last record has the hash `head`."""
    told = {
        "tenant": tenant,
        "size": tree.size,
        "root": tree.root().hex(),
        "head": head,
        "at": stamp(at),
        "key_id": signer.key_id,
    }
    signature = base64.b64encode(signer.sign(_signed_bytes(told))).decode()
    return checkpoint_of({**told, "signature": signature})


def checkpoint_of(row: Mapping[str, Any]) -> Checkpoint:
    """The checkpoint in a row; raises BadInput where a field is missing, more than the known ones, or not of its form."""
    if set(row) != set(Checkpoint.__slots__):
        raise _malformed("fields")
    if type(row["size"]) is not int or not 0 < row["size"] <= _MOST_SIZE:
        raise _malformed("size")
    if not isinstance(row["tenant"], str):
        raise _malformed("tenant")
    for name, form in (("root", _HASH), ("head", _HASH), ("key_id", _KEY_ID)):
        if not isinstance(row[name], str) or not form.fullmatch(row[name]):
            raise _malformed(name)
    if not _is_stamp(row["at"]):
        raise _malformed("at")
    if not _is_signature(row["signature"]):
        raise _malformed("signature")
    return Checkpoint(**row)


def checkpoint_in(line: bytes) -> Checkpoint:
    """The checkpoint in a line of JSON; raises BadInput where there is none."""
    if len(line) > MOST_LINE_BYTES:
        raise _malformed("length")
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise _malformed("json") from error
    if not isinstance(row, dict):
        raise _malformed("json")
    return checkpoint_of(row)


def _signed_bytes(row: Mapping[str, Any]) -> bytes:
    return canonical({name: value for name, value in row.items() if name != "signature"})


def _is_stamp(at: object) -> bool:
    try:
        return isinstance(at, str) and stamp(datetime.fromisoformat(at)) == at
    except (ValueError, OverflowError):
        return False


def _is_signature(text: object) -> bool:
    try:
        return isinstance(text, str) and len(base64.b64decode(text, validate=True)) == 64
    except ValueError:
        return False


def _malformed(what: str) -> BadInput:
    return BadInput(f"a checkpoint is malformed: {what}", reason="checkpoint", field=what)
