"""Back-up of a SQLite database while it is in use, and what a restored database of either kind needs before it serves."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlalchemy import delete, update
from ulid import ULID

from assistant.errors import BadInput, BadSetting
from assistant.store.engine import BUSY_TIMEOUT_MS, Database, make_engine, parse_url
from assistant.store.tables import conversations, workers

PAGES: Final = 2_000
"""Pages that are copied at once (8 MB); between two helpings others may write."""
PAUSE_S: Final = 0.01


@dataclass(frozen=True, slots=True)
class Copied:
    """A back-up that was made: its size, and whether the copy is whole."""

    bytes: int
    whole: bool


async def back_up(url: str, target: Path) -> Copied:
    """Copy the SQLite database at `url` to a new file as of one moment, while others read and write; then check the copy.

    The file is there under its name only when it is complete, and only its owner may read it; one that is not `whole` is kept, as
    the database is no better. Raises BadSetting for PostgreSQL,
    which has tools of its own, and BadInput when there is something at `target` already.
    """
    parsed = parse_url(url)
    if not parsed.drivername.startswith("sqlite"):
        raise BadSetting(
            "PostgreSQL is backed up by pg_dump or a base backup: docs/operations.md", setting="database.url"
        )
    return await asyncio.to_thread(_copy, Path(parsed.database or ""), target)


def _copy(source: Path, target: Path) -> Copied:
    if target.exists():
        raise BadInput("there is a file already", reason="exists")
    if not source.is_file():
        raise BadSetting("there is no database", setting="database.url")
    part = target.with_name(f"{target.name}.part")
    part.unlink(missing_ok=True)
    os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        with closing(sqlite3.connect(source)) as original, closing(sqlite3.connect(part)) as copy:
            original.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
            original.backup(copy, pages=PAGES, sleep=PAUSE_S)
            whole = _is_whole(copy)
        with part.open("rb+") as written:
            os.fsync(written.fileno())
        os.link(part, target)  # unlike a renaming, this takes no other file's place
    finally:
        part.unlink(missing_ok=True)
    return Copied(target.stat().st_size, whole)


def _is_whole(copy: sqlite3.Connection) -> bool:
    """Make the copy one file, without a log beside it, and look whether it is whole."""
    try:
        copy.execute("PRAGMA journal_mode=DELETE")
        return bool(copy.execute("PRAGMA quick_check").fetchone() == ("ok",))
    except sqlite3.DatabaseError:
        return False


async def renew_epochs(url: str) -> int:
    """Give every conversation a new epoch, because numbers after the back-up were given out and will be given out again.

    A client that resumes by the old epoch loads the session anew instead of taking other events for those it knows. Workers of
    the time of the back-up are forgotten, so that their open turns are ended at the next start. How many conversations there are. Call it once, after the restore and before a server starts;
    called again it only makes clients load once more. Raises the database's error where it is not migrated.
    """
    database = Database(make_engine(url, pooled=False))
    try:
        async with database.write() as connection:
            done = await connection.execute(update(conversations).values(epoch=str(ULID())))
            await connection.execute(delete(workers))
    finally:
        await database.close()
    return done.rowcount
