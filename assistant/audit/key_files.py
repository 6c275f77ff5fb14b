"""Files that hold keys and secrets: made once, for their owner only, and refused when others can read them. Everything here blocks."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path
from typing import Final

from assistant.errors import BadSetting

MOST_KEY_BYTES: Final = 64 * 1024
_OTHERS_OR_GROUP_WRITE: Final = stat.S_IRWXO | stat.S_IWGRP
_NAMES: Final = {
    "audit.key": "the key file {} of the audit log",
    "audit.secret": "the secret file {} of the installation",
}


def write_once(path: Path, content: bytes, mode: int) -> None:
    """Write a file that nobody sees half written; one that is there already stays, whoever made it. Raises OSError."""
    if path.exists():
        return
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            path.hardlink_to(temporary)
    finally:
        temporary.unlink(missing_ok=True)


def read_private(path: Path, setting: str) -> bytes:
    """The content of a file of this setting. Raises BadSetting where it is missing, no file, open to others or writable by its group."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError as error:
        raise refused(path, f"it cannot be read: {error.strerror}", setting) from error
    try:
        _check_mode(os.fstat(descriptor).st_mode, path, setting)
        return os.read(descriptor, MOST_KEY_BYTES)
    finally:
        os.close(descriptor)


def refused(path: Path, why: str, setting: str) -> BadSetting:
    """What is wrong with the file of a setting."""
    reason = setting.replace(".", "_")
    return BadSetting(f"{_NAMES[setting].format(path.name)}: {why}", setting=setting, reason=reason)


def _check_mode(mode: int, path: Path, setting: str) -> None:
    if not stat.S_ISREG(mode):
        raise refused(path, "it is not a file", setting)
    if os.name == "posix" and mode & _OTHERS_OR_GROUP_WRITE:
        raise refused(path, "others can read it or its group can write it; use chmod 600", setting)
