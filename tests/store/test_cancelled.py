"""A reader that is cancelled, as at every socket that is closed, gives its connection back whole and without a trace in the log."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest
import pytest_asyncio
from sqlalchemy import text

from assistant.store.engine import Database, make_engine


@pytest_asyncio.fixture
async def file(sqlite_url: str) -> AsyncIterator[Database]:
    made = Database(make_engine(sqlite_url))
    yield made
    await made.close()


async def read(file: Database) -> object:
    async with file.read() as connection:
        return await connection.scalar(text("SELECT 1"))


async def test_a_reader_cancelled_at_any_moment(file: Database, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    for moment in range(400):
        reading = asyncio.create_task(read(file))
        for _ in range(moment % 40):
            await asyncio.sleep(0)
        await asyncio.sleep(moment % 20 * 0.0001)
        reading.cancel()
        with suppress(asyncio.CancelledError):
            await reading
    assert await read(file) == 1
    assert caplog.records == []
