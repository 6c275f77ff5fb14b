"""Bring a database to the newest form, and say which form it has."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text
from sqlalchemy.engine import URL

import assistant
from assistant.store.engine import Database, make_engine, parse_url
from assistant.store.tables import metadata

_LOCK: Final = 0x61737374  # "asst": one migration at a time per PostgreSQL database


def script_location() -> Path:
    """The folder of the migrations: inside the installed package, or beside it in a checkout."""
    package = Path(assistant.__file__).parent
    installed = package / "_migrations"
    return installed if installed.is_dir() else package.parent / "migrations"


async def migrate(url: str) -> None:
    """Run all migrations that the database at `url` lacks, in one transaction.

    A new SQLite file is made together with its folder. Several processes may call this at once: one migrates, the
    others wait and find nothing to do.
    """
    _make_folder(parse_url(url))
    database = Database(make_engine(url, pooled=False))
    try:
        async with database.write() as connection:
            await connection.run_sync(_upgrade)
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


def _upgrade(connection: Connection) -> None:
    # The lock comes first: Alembic's context is global to the process. SQLite holds its write lock already.
    if connection.dialect.name == "postgresql":
        connection.execute(text("SET LOCAL lock_timeout = '60s'"))
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        # A migration never queues behind a long query, with everybody else behind it.
        connection.execute(text("SET LOCAL lock_timeout = '5s'"))
    config = _config()
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _compare(connection: Connection) -> list[Any]:
    options = {"compare_type": True, "include_object": _in_both_databases}
    return list(compare_metadata(MigrationContext.configure(connection, opts=options), metadata))


def _in_both_databases(_item: Any, name: str | None, kind: str, _reflected: bool, _compare_to: Any) -> bool:
    return not ((kind == "table" and (name or "").startswith("word_index")) or name == "ix_chunks_terms")
