"""The files of an exported package, a folder or a zip file, as somebody may have changed them."""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

import orjson

from assistant.audit.checkpoints import Checkpoint, checkpoint_of
from assistant.audit.export import TYPE
from assistant.audit.export_proof import Node
from assistant.audit.signing import key_id_of
from assistant.core.audit import RECORD_FIELDS, AuditRecord, canonical, hash_of
from assistant.core.merkle import HASH_BYTES
from assistant.errors import BadInput

MOST_LINE: Final = 64 * 1024 * 1024
"""Bytes of a line, and of a manifest; more is nothing that this program wrote."""

_CHUNK: Final = 1 << 20

_BROKEN: Final = (OSError, EOFError, LookupError, NotImplementedError, RuntimeError, zipfile.BadZipFile, zlib.error)
"""What reading from a folder or zip file that somebody has damaged may raise."""


class Misfit(Exception):
    """Something in a package does not fit; for a reason, at a record or in a file where one can be named."""

    def __init__(self, reason: str, seq: int | None = None, file: str | None = None) -> None:
        super().__init__(reason)
        self.reason, self.seq, self.file = reason, seq, file


Read = Callable[[str], IO[bytes]]
"""Opens a file of the package by its name."""


@contextmanager
def opened_package(package: Path) -> Iterator[Read]:
    """How the files of a package are read; BadInput when there is none."""
    if package.is_dir():
        yield lambda name: (package / name).open("rb")
        return
    try:
        zipped = zipfile.ZipFile(package)
    except _BROKEN as error:
        raise BadInput("this is no package of an audit export", reason="package") from error
    with zipped:
        yield zipped.open


def manifest_of(read: Read) -> dict[str, Any]:
    """The manifest of a package; BadInput when there is none of the form this version knows."""
    try:
        with read("manifest.json") as file:
            text = file.read(MOST_LINE)
        manifest = orjson.loads(text)
        known = manifest["type"] == TYPE and canonical(manifest) == text and _has_form(manifest)
    except (*_BROKEN, TypeError, AttributeError, ValueError, BadInput) as error:
        raise BadInput("the package has no readable manifest", reason="package") from error
    if not known:
        raise BadInput("the manifest has another form", reason="package")
    return dict(manifest)


def _has_form(manifest: Mapping[str, Any]) -> bool:
    files = [file["name"] for file in manifest["files"]]
    return (
        all(isinstance(name, str) and Path(name).name == name for name in files)
        and set(_NEEDED) <= set(files)
        and all(isinstance(key, str) for key in manifest["public_keys"].values())
        and isinstance(manifest["checkpoints"], list)
        and isinstance(manifest["tenant"], str)
    )


_NEEDED: Final = ("records.jsonl", "texts.jsonl", "passages.jsonl", "proof.jsonl")


def keys_in(manifest: Mapping[str, Any]) -> dict[str, bytes]:
    """The public keys in a manifest that have the name they should."""
    keys = {name: bytes_of(key) for name, key in manifest["public_keys"].items()}
    return {name: key for name, key in keys.items() if key_id_of(key) == name}


def lines_of(read: Read, name: str) -> Iterator[bytes]:
    """The lines of a file; one without end or of monstrous length is a misfit, as is a file that cannot be read."""
    try:
        with read(name) as file:
            while line := file.readline(MOST_LINE):
                if not line.endswith(b"\n"):
                    raise Misfit("malformed", file=name)
                yield line[:-1]
    except _BROKEN as error:
        raise Misfit("wrong_file", file=name) from error


def facts_of(read: Read, name: str) -> tuple[str, int]:
    """The sha256 and the size of a file; a misfit when it cannot be read."""
    digest, size = hashlib.sha256(), 0
    try:
        with read(name) as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
                size += len(chunk)
    except _BROKEN as error:
        raise Misfit("wrong_file", file=name) from error
    return digest.hexdigest(), size


def record_in(line: bytes, *, after: int) -> AuditRecord:
    """The record in a line, which has its hash; a misfit names its own number, or the one it should have."""
    try:
        fields = orjson.loads(line)
        if set(fields) != set(RECORD_FIELDS) or type(fields["seq"]) is not int or not isinstance(fields["hash"], str):
            raise Misfit("malformed", after + 1)
        record = AuditRecord(**fields)
        if canonical(fields) != line:
            raise Misfit("not_canonical", record.seq)
        if hash_of(record) != record.hash:
            raise Misfit("wrong_hash", record.seq)
    except (ValueError, TypeError, BadInput) as error:
        raise Misfit("malformed", after + 1) from error
    return record


def node_in(line: bytes) -> Node:
    """The subtree in a line of the proof; a misfit when there is none."""
    try:
        low, high, hashed = orjson.loads(line)
        node = Node(low, high, bytes.fromhex(hashed))
        if type(low) is int and type(high) is int and 0 <= low < high and len(node.hash) == HASH_BYTES:
            return node
    except (ValueError, TypeError) as error:
        raise Misfit("malformed", file="proof.jsonl") from error
    raise Misfit("malformed", file="proof.jsonl")


def checkpoint_in(row: Any) -> Checkpoint:
    """The checkpoint in a manifest; a misfit when it has another form."""
    try:
        return checkpoint_of(row)
    except (BadInput, TypeError) as error:
        raise Misfit("bad_checkpoint") from error


def bytes_of(text: object) -> bytes:
    """What base64 stands for; empty when it is none."""
    try:
        return b64decode(str(text), validate=True)
    except ValueError:
        return b""
