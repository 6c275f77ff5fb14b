"""How PostgreSQL is reached: a replica that is behind or away, a pooler in between, a way past it."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from sqlalchemy import event, text

from assistant.core.attachments import SHARED, files_of
from assistant.errors import BadSetting
from assistant.store import Store
from assistant.store.engine import Database, Reach, make_engine, open_database
from assistant.store.migrations import migrate
from assistant.store.search_postgresql import PostgresqlPassageIndex
from tests.store.filling import ANN, BOB, draft, put


@pytest.fixture
def nowhere() -> str:
    """The URL of a port of this machine where nothing listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"postgresql://u:p@127.0.0.1:{free.getsockname()[1]}/none"


@pytest_asyncio.fixture
async def behind(postgresql_url: str, new_postgresql_url: str) -> AsyncIterator[tuple[Store, Store, Database]]:
    """A store, a second one that stands for its replica, which got what we put there and not the rest, and a handle on both."""
    await migrate(new_postgresql_url)
    both = open_database(postgresql_url, reach=Reach(replica_url=new_postgresql_url))
    async with Store(postgresql_url) as store, Store(new_postgresql_url) as replica:
        yield store, replica, both
    await both.close()


async def test_searches_read_the_replica_and_passages_what_is_true_now(behind: tuple[Store, Store, Database]) -> None:
    store, replica, both = behind
    index = PostgresqlPassageIndex(both)
    await put(store, draft("Leave now."))
    assert await index.search_words(["leav"], ANN, None, 5) == []
    await put(replica, draft("Leave now."))
    hits = await index.search_words(["leav"], ANN, None, 5)
    assert [passage.text for passage in (await index.passages([hit.chunk for hit in hits], ANN)).values()] == [
        "Leave now."
    ]


async def test_a_right_that_was_withdrawn_counts_before_the_replica_knows(
    behind: tuple[Store, Store, Database],
) -> None:
    store, replica, both = behind
    index = PostgresqlPassageIndex(both)
    await put(replica, draft("Salaries."))
    await put(store, draft("Salaries.", access=["hr"]))
    [hit] = await index.search_words(["salari"], ANN, None, 5)
    assert await index.passages([hit.chunk], ANN) == {}
    assert len(await index.passages([hit.chunk], BOB)) == 1


async def test_files_that_were_just_attached_are_found_before_the_replica_has_them(
    behind: tuple[Store, Store, Database],
) -> None:
    store, _, both = behind
    await put(store, draft("Leave now."), collection=files_of("c1"))
    index = PostgresqlPassageIndex(both)
    assert len(await index.search_words(["leav"], ANN, frozenset({files_of("c1")}), 5)) == 1
    assert await index.search_words(["leav"], ANN, frozenset({SHARED, files_of("c1")}), 5) == []


async def test_reading_and_writing_of_what_must_be_there_at_once_never_go_to_the_replica(
    behind: tuple[Store, Store, Database],
) -> None:
    _, _, both = behind
    own, other = both.engine.url.database, None
    for way in (both.read, both.write):
        async with way() as connection:
            assert await connection.scalar(text("SELECT current_database()")) == own
    async with both.read_copy() as connection:
        other = await connection.scalar(text("SELECT current_database()"))
    assert other != own


async def test_a_replica_that_is_away_is_left_alone_for_a_while(
    postgresql_url: str, nowhere: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, tried = [100.0], []
    monkeypatch.setattr("assistant.store.engine.monotonic", lambda: now[0])
    away = make_engine(nowhere, pooled=False)
    event.listen(away.sync_engine, "do_connect", lambda *_: tried.append(now[0]))
    database = Database(make_engine(postgresql_url), replica=away)
    for moment in (100.0, 105.0, 111.0):
        now[0] = moment
        async with database.read_copy() as connection:
            assert await connection.scalar(text("SELECT 1")) == 1
    await database.close()
    assert tried == [100.0, 111.0]


async def test_without_a_replica_the_database_itself_is_read(database: Database) -> None:
    async with database.read_copy() as connection:
        assert await connection.scalar(text("SELECT 1")) == 1
    assert database.direct_url == database.engine.url


def test_what_is_for_postgresql_alone_is_refused_elsewhere(tmp_path: object) -> None:
    sqlite, postgresql = f"sqlite:///{tmp_path}/a.db", "postgresql://u@h/d"
    for url, reach in (
        (sqlite, Reach(replica_url=postgresql)),
        (postgresql, Reach(replica_url=sqlite)),
        (sqlite, Reach(direct_url=postgresql)),
        (postgresql, Reach(direct_url="nonsense")),
    ):
        with pytest.raises(BadSetting) as refused:
            open_database(url, reach=reach)
        assert refused.value.data["setting"] in ("database.replica_url", "database.direct_url")


async def test_no_prepared_statement_stays_or_takes_a_name_that_another_session_took(postgresql_url: str) -> None:
    engine = make_engine(postgresql_url, prepared=False, pool_size=1)
    names = set()
    for number in range(5):
        async with engine.connect() as connection:
            await connection.execute(text("SELECT :n + 1"), {"n": number})
            query = text("SELECT name FROM pg_prepared_statements WHERE name > :n")
            found = (await connection.scalars(query, {"n": ""})).all()
            assert len(found) == 1
            names |= set(found)
    await engine.dispose()
    assert len(names) == 5
    assert all(name.startswith("__assistant_") for name in names)


async def test_a_store_works_without_prepared_statements(postgresql_url: str) -> None:
    database = open_database(postgresql_url, reach=Reach(prepared=False))
    async with Store(postgresql_url) as store:
        await put(store, draft("Leave now."))
    hits = await PostgresqlPassageIndex(database).search_words(["leav"], ANN, None, 5)
    await database.close()
    assert len(hits) == 1
