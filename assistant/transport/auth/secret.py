"""The secret that signs this server's own tokens, and where it lies. Reading and making the file blocks; at start-up only."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path
from typing import Final

from assistant.errors import BadSetting

SECRET_BYTES: Final = 32
_MOST_BYTES: Final = 4096
_OTHERS_OR_GROUP_WRITE: Final = stat.S_IRWXO | stat.S_IWGRP


def secret_at(path: Path) -> bytes:
    """The secret in this file (64 hexadecimal digits). Where there is none, one is made.

    A made file is for its owner only (0600), its folder too where that did not exist (0700); two processes that start at
    the same time get the same secret. All workers must read the same file. Raises BadSetting where the file is open to
    others or writable by its group, or holds anything else.
    """
    if not path.exists():
        _make(path)
    try:
        secret = bytes.fromhex(_read(path).decode("ascii"))
    except ValueError as error:
        raise _refused(path, "it holds no secret in hexadecimal digits") from error
    if len(secret) < SECRET_BYTES:
        raise _refused(path, "its secret is too short")
    return secret


def _make(path: Path) -> None:
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secrets.token_hex(SECRET_BYTES).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            path.hardlink_to(temporary)
    except OSError as error:
        raise _refused(path, f"no secret can be made here: {error.strerror}") from error
    finally:
        temporary.unlink(missing_ok=True)


def _read(path: Path) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError as error:
        raise _refused(path, f"it cannot be read: {error.strerror}") from error
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise _refused(path, "it is not a file")
        if os.name == "posix" and mode & _OTHERS_OR_GROUP_WRITE:
            raise _refused(path, "others can read it or its group can write it; use chmod 600")
        return os.read(descriptor, _MOST_BYTES)
    finally:
        os.close(descriptor)


def _refused(path: Path, why: str) -> BadSetting:
    return BadSetting(f"the file {path.name} that signs access tokens: {why}", setting="auth.key")
