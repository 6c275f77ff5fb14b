"""How SQLite reads a large audit log: by the numbers of records, never a whole index for a page or a batch."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
import pytest_asyncio
from sqlalchemy import event

from assistant.store import Store
from tests.store.audit_filling import turn_draft


@pytest_asyncio.fixture
async def opened(sqlite_url: str) -> AsyncIterator[Store]:
    async with Store(sqlite_url) as store:
        for n in range(3):
            await store.audit.append_one(turn_draft(n))
        yield store


async def plans(store: Store, work: Callable[[], Awaitable[Any]]) -> list[str]:
    """How SQLite reads the records for each statement of this work."""
    seen: list[tuple[str, Any]] = []

    def note(connection: object, cursor: object, statement: str, parameters: Any, *_: object) -> None:
        seen.append((statement, parameters))

    event.listen(store.database.engine.sync_engine, "before_cursor_execute", note)
    await work()
    event.remove(store.database.engine.sync_engine, "before_cursor_execute", note)
    found: list[str] = []
    async with store.database.read() as connection:
        for statement, parameters in seen:
            if statement.startswith("SELECT"):
                rows = await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
                told = [str(row.detail) for row in rows]
                found += [line for line in told if "audit_records" in line or "later" in line]
    return found


async def test_what_came_after_a_page_is_looked_up_by_number(opened: Store) -> None:
    (plan,) = await plans(opened, lambda: opened.audit.aftermath("acme", [1, 2, 3]))
    assert "(tenant=? AND seq=?)" in plan


async def test_batches_of_a_verification_go_on_by_number(opened: Store) -> None:
    columns, rated = await plans(opened, lambda: opened.audit.columns("acme", 1, 100))
    assert "(tenant=? AND seq>?)" in columns
    assert "ix_audit_records_turn (tenant=? AND turn=?)" in rated


@pytest.mark.parametrize("read", ["hashes", "ciphertexts", "records"])
async def test_so_do_all_that_read_the_whole_log(opened: Store, read: str) -> None:
    (plan,) = await plans(opened, lambda: getattr(opened.audit, read)("acme", 1, 100))
    assert "(tenant=? AND seq>?)" in plan
