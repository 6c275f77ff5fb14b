"""The secret of an installation: it keys the pseudonyms and wraps the keys of persons, and is kept outside of the database.

Who loses it can read no sealed text any more; who keeps it in the same backup as the database has protected nothing with it.
"""

from __future__ import annotations

import re
import secrets
from pathlib import Path
from typing import Final

from assistant.audit.key_files import read_private, refused, write_once

_SETTING: Final = "audit.secret"
_BYTES: Final = 32
_FORM: Final = re.compile(rb"[0-9a-f]{64}")


def secret_at(path: Path, *, make: bool = True) -> bytes:
    """The 32 bytes in this file (64 hex digits). Where there is none, one is made if `make` says so; blocks.

    A made file is for its owner only; two processes that start at the same time get the same secret. Raises BadSetting where
    the file is missing and not to be made, is open to others or writable by its group, or holds anything else.
    """
    if not path.exists() and make:
        _make(path)
    content = read_private(path, _SETTING).strip()
    if not _FORM.fullmatch(content):
        raise refused(path, "it does not hold 64 hex digits", _SETTING)
    return bytes.fromhex(content.decode())


def _make(path: Path) -> None:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_once(path, secrets.token_hex(_BYTES).encode() + b"\n", 0o600)
    except OSError as error:
        raise refused(path, f"no secret can be made here: {error.strerror}", _SETTING) from error
