"""Bring a database to the newest form, and say which form it has."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import structlog
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError

import assistant
from assistant.store.engine import Database, make_engine, parse_url
from assistant.store.partitions import is_partition
from assistant.store.tables import metadata

log = structlog.get_logger(__name__)

_LOCK: Final = 0x61737374  # "asst": one migration at a time per PostgreSQL database
_LOCK_NOT_AVAILABLE: Final = "55P03"


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a migration of PostgreSQL may wait, in milliseconds, and how often it is tried.

    `lock_ms` is the wait for a lock on a table: who waits for one has everybody behind it, also those who only read, so it
    gives up soon, and everything is tried again later. `statement_ms` bounds one statement, during which others wait.
    `turn_ms` is the wait for another process that migrates.
    """

    lock_ms: int = 2_000
    statement_ms: int = 300_000
    turn_ms: int = 600_000
    tries: int = 8
    pause_s: float = 1.0


PATIENCE: Final = Patience()


def script_location() -> Path:
    """The folder of the migrations: inside the installed package, or beside it in a checkout."""
    package = Path(assistant.__file__).parent
    installed = package / "_migrations"
    return installed if installed.is_dir() else package.parent / "migrations"


async def migrate(
    url: str, patience: Patience = PATIENCE, *, pause: Callable[[float], Awaitable[None]] = asyncio.sleep
) -> None:
    """Run all migrations that the database at `url` lacks, in one transaction.

    A new SQLite file is made together with its folder. Several processes may call this at once: one migrates, the
    others wait and find nothing to do. Where others hold a table in PostgreSQL, all is rolled back and tried again after
    pauses that double. Raises the database's error when the last try fails, or a statement takes too long; nothing is
    changed then. Behind a pooler of transactions, take the direct URL.
    """
    _make_folder(parse_url(url))
    database = Database(make_engine(url, pooled=False))
    try:
        for attempt in range(1, patience.tries + 1):
            try:
                async with database.write() as connection:
                    await connection.run_sync(_upgrade, patience)
                return
            except DBAPIError as error:
                if attempt == patience.tries or getattr(error.orig, "sqlstate", None) != _LOCK_NOT_AVAILABLE:
                    raise
            wait = patience.pause_s * 2 ** (attempt - 1)
            log.warning("a table is in use, the migration is tried again", attempt=attempt, pause_s=wait)
            await pause(wait)
    finally:
        await database.close()


async def current_and_head(url: str) -> tuple[str | None, str]:
    """The revision of the database (None when it was never migrated) and the newest one; creates nothing."""
    head = ScriptDirectory.from_config(_config()).get_current_head() or ""
    if _is_missing_file(parse_url(url)):
        return None, head
    database = Database(make_engine(url, pooled=False))
    try:
        async with database.read() as connection:
            return await connection.run_sync(lambda sync: MigrationContext.configure(sync).get_current_revision()), head
    finally:
        await database.close()


async def differences(url: str) -> list[Any]:
    """What the tables of the code and of the migrated database at `url` differ in; empty when they agree."""
    database = Database(make_engine(url, pooled=False))
    try:
        async with database.read() as connection:
            return await connection.run_sync(_compare)
    finally:
        await database.close()


def _make_folder(url: URL) -> None:
    if url.drivername.startswith("sqlite") and url.database:
        Path(url.database).parent.mkdir(parents=True, exist_ok=True)


def _is_missing_file(url: URL) -> bool:
    return url.drivername.startswith("sqlite") and not Path(url.database or "").is_file()


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(script_location()).replace("%", "%%"))
    return config


def _upgrade(connection: Connection, patience: Patience) -> None:
    # The lock comes first: Alembic's context is global to the process. SQLite holds its write lock already.
    if connection.dialect.name == "postgresql":
        _wait_at_most(connection, "lock_timeout", patience.turn_ms)
        _wait_at_most(connection, "statement_timeout", 0)
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        _wait_at_most(connection, "lock_timeout", patience.lock_ms)
        _wait_at_most(connection, "statement_timeout", patience.statement_ms)
    config = _config()
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _wait_at_most(connection: Connection, setting: str, milliseconds: int) -> None:
    connection.execute(
        text("SELECT set_config(:setting, :value, true)"), {"setting": setting, "value": str(milliseconds)}
    )


def _compare(connection: Connection) -> list[Any]:
    options = {"compare_type": True, "include_object": in_both_databases}
    return list(compare_metadata(MigrationContext.configure(connection, opts=options), metadata))


def in_both_databases(_item: Any, name: str | None, kind: str, _reflected: bool, _compare_to: Any) -> bool:
    """Whether Alembic is to compare this: what only one database has is left out.

    SQLite has the tables of FTS5 and the unique id of an audit record, which in PostgreSQL is one of each partition;
    PostgreSQL has indexes for searches, and partitions.
    """
    name = name or ""
    if kind == "table":
        return not (name.startswith("word_index") or is_partition(name))
    if kind == "unique_constraint":
        return name != "uq_audit_records_id"
    return not (kind == "index" and (name == "ix_chunks_terms" or name.startswith("ix_vectors_near_")))
