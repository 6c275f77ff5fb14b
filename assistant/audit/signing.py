"""Ed25519 signatures (RFC 8032) of the audit log, and where their key lies. Reading and making key files blocks; at start-up only.

Each public key is kept beside the private one as `audit-KEYID.pub`, so that what an older key signed can still be checked after
the key was replaced. Auditors should hold copies of the public keys elsewhere.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from assistant.audit.key_files import MOST_KEY_BYTES, read_private, refused, write_once
from assistant.errors import BadInput, BadSetting

KEY_ID_LENGTH: Final = 16
SIGNATURE_BYTES: Final = 64
PUBLIC_KEY_BYTES: Final = 32


class Signer:
    """Signs with one private key. `key_id` names it, `public` is its public key (32 raw bytes)."""

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self._private = private
        self.public: Final = private.public_key().public_bytes_raw()
        self.key_id: Final = key_id_of(self.public)

    def sign(self, message: bytes) -> bytes:
        """The signature of the message, 64 bytes."""
        return self._private.sign(message)

    def public_pem(self) -> bytes:
        """The public key as PEM (SubjectPublicKeyInfo, RFC 8410), for people and other programs."""
        key = Ed25519PublicKey.from_public_bytes(self.public)
        return key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


def key_id_of(public: bytes) -> str:
    """The name of a public key: the first 16 hex digits of the SHA-256 of its 32 raw bytes."""
    return hashlib.sha256(public).hexdigest()[:KEY_ID_LENGTH]


def verify_signature(public: bytes, message: bytes, signature: bytes) -> bool:
    """Whether the owner of the public key (32 raw bytes) signed the message; False for keys and signatures of a wrong form."""
    if len(public) != PUBLIC_KEY_BYTES or len(signature) != SIGNATURE_BYTES:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def signer_at(path: Path, *, make: bool = True) -> Signer:
    """The signer with the key in this file (PEM, PKCS #8, no password). Where there is none, one is made if `make` says so.

    A made file is for its owner only (0600), its folder too where that did not exist (0700); two processes that start at the same time get the
    same key. Links are followed, as secrets are mounted by links. Raises BadSetting where the file is missing and not to be
    made, is open to others or writable by its group, or holds anything but one Ed25519 key.
    """
    if not path.exists() and make:
        _make(path)
    signer = Signer(_private_key(read_private(path, "audit.key"), path))
    if make:
        with contextlib.suppress(OSError):
            write_once(_public_path(path.parent, signer.key_id), signer.public_pem(), 0o644)
    return signer


def known_keys(folder: Path, signer: Signer | None = None) -> Mapping[str, bytes]:
    """The public keys by key id: all `audit-*.pub` of the folder, and the signer's. Raises BadSetting for a broken one."""
    keys = dict(read_public_key(path) for path in sorted(folder.glob("audit-*.pub")))
    return keys | {signer.key_id: signer.public} if signer else keys


def read_public_key(path: Path) -> tuple[str, bytes]:
    """The key id and the 32 raw bytes of the public key in a PEM file; raises BadSetting where it holds no Ed25519 key."""
    try:
        return public_key_of(path.read_bytes()[:MOST_KEY_BYTES])
    except (OSError, BadInput) as error:
        raise _refused(path, "it holds no Ed25519 public key in PEM") from error


def public_key_of(pem: bytes) -> tuple[str, bytes]:
    """The key id and the 32 raw bytes of a public key in PEM; raises BadInput where it is none of Ed25519."""
    try:
        key = serialization.load_pem_public_key(pem)
    except (ValueError, UnsupportedAlgorithm) as error:
        raise BadInput("this is no public key in PEM", reason="public_key") from error
    if not isinstance(key, Ed25519PublicKey):
        raise BadInput("this is no Ed25519 key", reason="public_key")
    public = key.public_bytes_raw()
    return key_id_of(public), public


def _public_path(folder: Path, key_id: str) -> Path:
    return folder / f"audit-{key_id}.pub"


def _make(path: Path) -> None:
    private = Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_once(path, private, 0o600)
    except OSError as error:
        raise _refused(path, f"no key can be made here: {error.strerror}") from error


def _private_key(pem: bytes, path: Path) -> Ed25519PrivateKey:
    try:
        key = serialization.load_pem_private_key(pem, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise _refused(path, "it holds no private key in PEM without a password") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise _refused(path, "its key is not an Ed25519 key")
    return key


def _refused(path: Path, why: str) -> BadSetting:
    return refused(path, why, "audit.key")
