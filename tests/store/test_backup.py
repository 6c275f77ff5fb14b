from __future__ import annotations

import asyncio
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from assistant.core.events import AnswerDelta, TurnAccepted
from assistant.errors import BadInput, BadSetting
from assistant.store import Store
from assistant.store.backup import back_up, renew_epochs
from tests.store.filling import ANN


async def begin(store: Store, number: int) -> str:
    """A conversation with one event."""
    opened = await store.conversations.open(ANN, None)
    await store.events.append(opened.id, f"t{number}", [TurnAccepted(f"t{number}", "c", "Hello?", "p")])
    return opened.id


async def test_a_back_up_is_one_moment_although_others_write_all_the_time(sqlite_url: str, tmp_path: Path) -> None:
    async with Store(sqlite_url) as store:
        session = await begin(store, 1)
        stop = asyncio.Event()

        async def write() -> int:
            off = 0
            while not stop.is_set():
                await store.events.append(session, "t1", [AnswerDelta(off, "x" * 2000)])
                off += 2000
            return off // 2000

        writing = asyncio.create_task(write())
        copied = await back_up(sqlite_url, tmp_path / "copy.db")
        stop.set()
        written = await writing
    assert copied.whole
    assert written > 0
    async with Store(f"sqlite:///{tmp_path / 'copy.db'}") as copy:
        events = await copy.events.read(session)
        assert [item.seq for item in events] == list(range(1, len(events) + 1))
        assert 1 <= len(events) <= written + 1
        assert await copy.events.head(session) == len(events)


async def test_a_copy_is_one_file_for_its_owner_alone(sqlite_url: str, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    assert (await back_up(sqlite_url, target)).bytes == target.stat().st_size
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert {path.name for path in tmp_path.iterdir() if "copy" in path.name} == {"copy.db"}


async def test_nothing_that_is_there_is_written_over(sqlite_url: str, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    target.write_text("mine")
    with pytest.raises(BadInput):
        await back_up(sqlite_url, target)
    assert target.read_text() == "mine"


async def test_a_database_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(BadSetting):
        await back_up(f"sqlite:///{tmp_path / 'none.db'}", tmp_path / "copy.db")
    assert list(tmp_path.iterdir()) == []


async def test_postgresql_is_referred_to_its_own_tools(tmp_path: Path) -> None:
    with pytest.raises(BadSetting):
        await back_up("postgresql://127.0.0.1/none", tmp_path / "copy.db")


async def test_a_copy_that_is_damaged_is_told(sqlite_url: str, tmp_path: Path) -> None:
    path = Path(sqlite_url.removeprefix("sqlite:///"))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
        connection.executescript("PRAGMA writable_schema=1;"
            "UPDATE sqlite_schema SET rootpage = 3 WHERE type = 'index' AND name LIKE 'ix_turns%';")  # fmt: skip
        connection.commit()
    assert not (await back_up(sqlite_url, tmp_path / "copy.db")).whole


async def test_every_conversation_gets_another_epoch_and_keeps_its_numbers(database_url: str) -> None:
    async with Store(database_url, worker="w1") as store:
        await store.workers.enter()
        sessions = [await begin(store, number) for number in range(3)]
        before = {session: await store.conversations.open(ANN, session) for session in sessions}
    assert await renew_epochs(database_url) == 3
    async with Store(database_url, worker="w2") as store:
        for session in sessions:
            after = await store.conversations.open(ANN, session)
            assert after.epoch != before[session].epoch
            assert after.head_seq == before[session].head_seq == 1
        assert await store.workers.beat() is False
