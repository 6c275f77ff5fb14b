"""The tables of the queue: procrastinate's own, in a schema of their own, brought to the version of the installed package."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Final
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

import psycopg
import structlog
from procrastinate.schema import SchemaManager, migrations_path

log = structlog.get_logger(__name__)

SCHEMA: Final = "jobs"
_LOCK: Final = 0x6A6F6273  # "jobs": one process at a time brings the tables forward
_LATER: Final = "_post_"
_SSL: Final = {"ssl": "sslmode"}
_LIBPQ: Final = frozenset({"host", "port", "user", "password", "sslmode", "application_name", "connect_timeout"})
_RECORDS: Final = f"""
    CREATE SCHEMA IF NOT EXISTS {SCHEMA};
    CREATE TABLE IF NOT EXISTS {SCHEMA}.applied (name text PRIMARY KEY, at timestamptz NOT NULL DEFAULT now());
    CREATE TABLE IF NOT EXISTS {SCHEMA}.releases (version text PRIMARY KEY, at timestamptz NOT NULL DEFAULT now());
"""


def libpq_url(url: str) -> str:
    """The URL of the settings as libpq reads it: no name of a driver, and only the parameters that it knows."""
    parts = urlsplit(url)
    known = [(_SSL.get(name, name), value) for name, value in parse_qsl(parts.query)]
    query = urlencode([item for item in known if item[0] in _LIBPQ], quote_via=quote)
    return urlunsplit(("postgresql", parts.netloc, parts.path, query, ""))


async def prepare(url: str) -> None:
    """Make the tables of the queue, or bring them to the installed version, in one transaction; several may call this at once.

    A schema that a newer version has brought forward is left as it is.
    """
    installed = await asyncio.to_thread(_installed)
    async with await psycopg.AsyncConnection.connect(libpq_url(url)) as connection:
        await connection.execute("SELECT set_config('lock_timeout', '10s', true)")
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        await connection.execute(_RECORDS)
        await connection.execute(f"SET LOCAL search_path TO {SCHEMA}")
        applied = await _names(connection, "SELECT name FROM applied")
        if applied:
            missing = due(list(installed.files), applied, await _names(connection, "SELECT version FROM releases"))
            for name in missing:
                log.info("jobs.migrating", file=name)
                await connection.execute(installed.files[name])
        else:
            missing = list(installed.files)
            await connection.execute(installed.schema)
        await _note(connection, "applied", "name", missing)
        await _note(connection, "releases", "version", [installed.version])


@dataclass(frozen=True, slots=True)
class _Installed:
    """What the installed package brings: its version, all tables as they are now, and the way there in steps."""

    version: str
    schema: bytes
    files: Mapping[str, bytes]


def _installed() -> _Installed:
    """Reads files."""
    files = {path.name: path.read_bytes() for path in sorted(migrations_path.glob("*.sql"))}
    return _Installed(version("procrastinate"), SchemaManager.get_schema().encode(), files)


def due(files: Sequence[str], applied: Collection[str], releases: Collection[str]) -> list[str]:
    """The migrations to run, in order: those that are missing, but what takes away only a release later.

    Files with `_post_` remove what older processes still call, so they wait until a release with their version was here
    before: old and new processes run side by side while a release goes out.
    """
    newest = max((_numbers(one) for one in releases), default=())
    missing = [name for name in sorted(files) if name not in applied]
    return [name for name in missing if _LATER not in name or _numbers(name.split("_", 1)[0]) <= newest]


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text)[:3])


async def _names(connection: psycopg.AsyncConnection, query: str) -> set[str]:
    rows = await (await connection.execute(query.encode())).fetchall()
    return {str(row[0]) for row in rows}


async def _note(connection: psycopg.AsyncConnection, table: str, column: str, values: Sequence[str]) -> None:
    query = f"INSERT INTO {table} ({column}) SELECT unnest(%s::text[]) ON CONFLICT DO NOTHING"
    await connection.execute(query.encode(), (list(values),))
