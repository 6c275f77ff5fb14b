"""Legal holds: placed and lifted on the record, seen by their tenant alone."""

from __future__ import annotations

import pytest

from assistant.core.audit import AuditKind
from assistant.core.keeping import HoldScope
from assistant.errors import BadInput, NotFound
from assistant.store.audit import SqlAuditLog
from assistant.store.engine import Database
from assistant.store.holds import SqlHolds
from tests.store.audit_filling import check_chain


@pytest.fixture
def log(database: Database) -> SqlAuditLog:
    return SqlAuditLog(database)


@pytest.fixture
def holds(database: Database, log: SqlAuditLog) -> SqlHolds:
    return SqlHolds(database, log)


async def test_holds_are_listed_until_they_are_lifted(holds: SqlHolds) -> None:
    first = await holds.place("acme", HoldScope.PERSON, "u1", by="ulaw", reason="Fall 12")
    second = await holds.place("acme", HoldScope.COLLECTION, "合同", by="ulaw", reason="案件")
    assert await holds.list("acme") == [first, second]
    assert await holds.list("rival") == []
    lifted = await holds.lift("acme", first.id, by="uboss", reason="closed")
    assert lifted.lifted_at is not None
    assert await holds.list("acme") == [second]
    assert await holds.list("acme", lifted=True) == [lifted, second]


async def test_placing_and_lifting_is_on_the_record(holds: SqlHolds, log: SqlAuditLog) -> None:
    hold = await holds.place("acme", HoldScope.PERSON, "u1", by="ulaw", reason="case 12")
    await holds.lift("acme", hold.id, by="uboss", reason="closed")
    records = await log.records("acme")
    check_chain(records)
    assert [(each.kind, each.actor, each.subject) for each in records] == [
        (AuditKind.HOLD, "ulaw", "u1"),
        (AuditKind.HOLD, "uboss", "u1"),
    ]
    assert [(each.body["change"], each.body["reason"]) for each in records] == [
        ("placed", "case 12"),
        ("lifted", "closed"),
    ]
    assert {each.body["hold"] for each in records} == {hold.id}


async def test_a_hold_is_lifted_once_and_by_its_tenant(holds: SqlHolds, log: SqlAuditLog) -> None:
    hold = await holds.place("acme", HoldScope.SESSION, "s1", by="ulaw", reason="case")
    for tenant, id_ in (("rival", hold.id), ("acme", "unknown"), ("acme", "")):
        with pytest.raises(NotFound):
            await holds.lift(tenant, id_, by="ulaw", reason="over")
    await holds.lift("acme", hold.id, by="ulaw", reason="over")
    with pytest.raises(NotFound):
        await holds.lift("acme", hold.id, by="ulaw", reason="over")
    assert len(await log.records("acme")) == 2


@pytest.mark.parametrize(
    ("value", "by", "reason"),
    [
        ("", "ulaw", "case"),
        ("u1", "", "case"),
        ("u1", "ulaw", " \n"),
        ("u\x00", "ulaw", "case"),
        ("u1", "ulaw", "\ud800"),
        ("x" * 1_000_000, "ulaw", "case"),
    ],
)
async def test_a_hold_says_what_who_and_why(
    holds: SqlHolds, log: SqlAuditLog, value: str, by: str, reason: str
) -> None:
    with pytest.raises(BadInput):
        await holds.place("acme", HoldScope.PERSON, value, by=by, reason=reason)
    assert await holds.list("acme") == []
    assert await log.records("acme") == []
