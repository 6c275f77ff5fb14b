"""How PostgreSQL reads partitions by month: of a conversation one, of a time those that it meets."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest_asyncio
from sqlalchemy import event

from assistant.core.audit_filter import AuditFilter
from assistant.store import Store
from assistant.store.partitions import prepare
from tests.store.audit_filling import turn_draft
from tests.store.months import APRIL, JUNE, MARCH, MAY, begin, opened


@pytest_asyncio.fixture
async def store(postgresql_url: str) -> AsyncIterator[Store]:
    """A store with four months, each with a conversation and a record."""
    async with opened(postgresql_url) as made:
        for n, month in enumerate((MARCH, APRIL, MAY, JUNE)):
            await prepare(made.database, month, 0)
            await made.audit.append_one(turn_draft(n, at=month))
        yield made


async def read(store: Store, work: Callable[[], Awaitable[Any]], *without: str) -> set[str]:
    """The partitions that the statements of this work look at, as EXPLAIN ANALYZE tells of each, `without` some kinds of plans."""
    seen: list[tuple[str, Any]] = []

    def note(connection: object, cursor: object, statement: str, parameters: Any, *_: object) -> None:
        seen.append((statement, parameters))

    event.listen(store.database.engine.sync_engine, "before_cursor_execute", note)
    await work()
    event.remove(store.database.engine.sync_engine, "before_cursor_execute", note)
    found: set[str] = set()
    async with store.database.write() as connection:
        for kind in without:
            await connection.exec_driver_sql(f"SET LOCAL enable_{kind} = off")
        for statement, parameters in seen:
            if statement.startswith(("SELECT", "INSERT", "DELETE")) and "pg_notify" not in statement:
                rows = await connection.exec_driver_sql(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", parameters)
                found |= set(_scanned(rows.scalar_one()[0]["Plan"]))
        await connection.rollback()
    return {name for name in found if name.startswith(("events", "audit_records"))}


def _scanned(plan: dict[str, Any]) -> list[str]:
    """The tables that are read in a plan, without those that were never reached."""
    mine = [plan["Relation Name"]] if plan.get("Relation Name") and plan.get("Actual Loops") else []
    return mine + [name for part in plan.get("Plans", ()) for name in _scanned(part)]


async def test_a_conversation_is_read_in_its_month(store: Store) -> None:
    conversation = await begin(store, MAY, "t1")
    assert await read(store, lambda: store.events.read(conversation, after=1)) == {"events_2026_05"}
    assert await read(store, lambda: store.events.read(conversation, turn="t1")) == {"events_2026_05"}


async def test_a_page_of_a_time_is_read_from_its_months(store: Store) -> None:
    within = AuditFilter(since=APRIL, until=MAY)
    months = {"audit_records_2026_04", "audit_records_2026_05"}
    assert await read(store, lambda: store.audit.search("acme", within)) == months
    assert await read(store, lambda: store.audit.figures("acme", within)) == months


async def test_what_cites_a_document_is_read_from_the_month_of_each_citation(store: Store) -> None:
    source = {"document": "d1", "version": 1}
    body = {"citations": {"items": [{"source": source, "verdict": "supported"}]}}
    await store.audit.append_one(turn_draft(9, at=MAY, body=body))
    async with store.database.write() as connection:
        await connection.exec_driver_sql("ANALYZE audit_documents, audit_records")
    found: list[int] = []

    async def search() -> None:
        found.extend(record.seq for record in await store.audit.search("acme", AuditFilter(document="d1")))

    # As in a log that is too large for other plans.
    assert await read(store, search, "hashjoin", "mergejoin", "seqscan") == {"audit_records_2026_05"}
    assert found == [5]
