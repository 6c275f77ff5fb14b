"""Finding audit records: every filter against the same filter in plain Python, pages that fit together, indexes in use."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import pytest_asyncio
from sqlalchemy import text
from sqlalchemy.dialects import sqlite

from assistant.core.audit import AuditKind, AuditRecord
from assistant.core.audit_filter import AuditFilter, cited_versions, facets_of
from assistant.core.citations import Verdict
from assistant.errors import BadInput
from assistant.store import Store, audit
from assistant.store.audit import SqlAuditLog
from assistant.store.audit_filters import OUTDATED, page
from assistant.store.documents import document_id
from assistant.store.engine import Database
from tests.store.audit_filling import START, turn_draft
from tests.store.filling import draft, put

LEAVE = document_id("acme", "handbook", "leave.md")
GONE = document_id("acme", "handbook", "gone.md")
LONG = "d" * 5_000


def _cites(*versions: tuple[str, int], verdict: str = "supported") -> dict[str, Any]:
    items = [{"verdict": verdict, "source": {"document": document, "version": n}} for document, n in versions]
    return {"status": "complete", "items": items, "unsupported": []}


def _drafts() -> list[Any]:
    """Records that differ in everything that a filter looks at; the clock of one writer was late."""
    conflict = {"items": [{"topic": "days"}]}
    lying = _cites((LEAVE, 2)) | {"unsupported": [{"verdict": "contradicted"}]}
    return [
        turn_draft(0, body={"mode": "direct", "model": "a", "citations": _cites((LEAVE, 1))}),
        turn_draft(
            1, body={"mode": "tree", "model": "a", "citations": _cites((LEAVE, 1), (LEAVE, 2), verdict="partial")}
        ),
        turn_draft(2, subject="ubob", body={"mode": "direct", "model": "b", "citations": lying, "conflicts": conflict}),
        turn_draft(9, conversation="s2", body={"mode": "direct", "citations": _cites((GONE, 1)), "status": "failed"}),
        turn_draft(3, kind=AuditKind.FEEDBACK, turn="t1", body={"rating": "down"}, actor="ubob"),
        turn_draft(4, kind=AuditKind.FEEDBACK, turn="t2", body={"rating": "up"}),
        turn_draft(4, kind=AuditKind.VIEW, turn=None, conversation=None, subject=None, body=None, personal=None),
        turn_draft(5, body={"mode": "direct", "citations": [{"document": LONG, "version": 7, "verdict": "supported"}]}),
        turn_draft(6, turn="t1", kind=AuditKind.CORRECTION, body={"conflicts": []}),
        turn_draft(7, tenant="rival", body={"mode": "direct", "citations": _cites((LEAVE, 1)), "rating": "down"}),
    ]


@pytest_asyncio.fixture
async def log(store: Store) -> AsyncIterator[SqlAuditLog]:
    """A log over a document that has changed and one that is gone."""
    await put(store, draft("One."))
    await put(store, draft("Two."))
    await put(store, draft("Three.", "gone.md"))
    await store.documents.delete("acme", "handbook", "gone.md")
    found = SqlAuditLog(store.database)
    for each in _drafts():
        await found.append_one(each)
    yield found


def _documents(record: AuditRecord) -> set[str]:
    return {document for document, _ in cited_versions(record.body)}


def _changed(record: AuditRecord) -> bool:
    cited = cited_versions(record.body)
    return (LEAVE, 1) in cited or GONE in _documents(record)


Fits = Callable[[AuditRecord], bool]
AT = [f"2025-03-01T09:0{n}:00.000Z" for n in range(10)]
FILTERS: dict[str, tuple[AuditFilter, Fits, int]] = {
    "nothing": (AuditFilter(), lambda r: True, 9),
    "kind": (AuditFilter(kind=AuditKind.FEEDBACK), lambda r: r.kind == "feedback", 2),
    "time": (
        AuditFilter(since=START + timedelta(minutes=2), until=START + timedelta(minutes=5)),
        lambda r: AT[2] <= r.at < AT[5],
        4,
    ),
    "person": (AuditFilter(person="ubob"), lambda r: r.subject == "ubob", 1),
    "actor": (AuditFilter(actor="ubob"), lambda r: r.actor == "ubob", 1),
    "session": (AuditFilter(session="s2"), lambda r: r.conversation == "s2", 1),
    "turn": (AuditFilter(turn="t1"), lambda r: r.turn == "t1", 3),
    "document": (AuditFilter(document=LEAVE), lambda r: LEAVE in _documents(r), 3),
    "long document": (AuditFilter(document=LONG), lambda r: LONG in _documents(r), 1),
    "model": (AuditFilter(model="a"), lambda r: r.body.get("model") == "a", 2),
    "mode": (AuditFilter(mode="direct"), lambda r: r.body.get("mode") == "direct", 4),
    "status": (AuditFilter(status="failed"), lambda r: r.body.get("status") == "failed", 1),
    "verdict": (AuditFilter(verdict=Verdict.CONTRADICTED), lambda r: facets_of(r.body).verdict == "contradicted", 1),
    "conflict": (AuditFilter(conflict=True), lambda r: bool(r.body.get("conflicts")), 1),
    "no conflict": (AuditFilter(conflict=False), lambda r: not r.body.get("conflicts"), 8),
    "source changed": (AuditFilter(source_changed=True), _changed, 3),
    "source as it was": (AuditFilter(source_changed=False), lambda r: not _changed(r), 6),
    "feedback": (AuditFilter(feedback="down"), lambda r: r.turn == "t1" and r.kind != "correction", 2),
    "answers with feedback": (
        AuditFilter(feedback="down", kind=AuditKind.TURN),
        lambda r: r.turn == "t1" and r.kind == "turn",
        1,
    ),
    "document and person": (
        AuditFilter(document=LEAVE, person="ubob", conflict=True, verdict=Verdict.CONTRADICTED),
        lambda r: r.subject == "ubob",
        1,
    ),
    "nobody": (AuditFilter(person="x" * 100_000), lambda r: False, 0),
}


@pytest.mark.parametrize("name", FILTERS)
async def test_a_filter_finds_what_fits_the_latest_first(log: SqlAuditLog, name: str) -> None:
    wanted, fits, count = FILTERS[name]
    latest_first = sorted(await log.records("acme"), key=lambda r: (r.at, r.seq), reverse=True)
    expected = [record for record in latest_first if fits(record)]
    assert len(expected) == count
    assert await log.search("acme", wanted) == expected
    assert await _paged(log, wanted, 2) == expected


async def _paged(log: SqlAuditLog, wanted: AuditFilter, size: int) -> list[AuditRecord]:
    found: list[AuditRecord] = []
    before = None
    while part := await log.search("acme", wanted, before, size):
        assert len(part) <= size
        found += part
        before = part[-1].seq
    return found


async def test_a_page_stays_when_records_are_added(log: SqlAuditLog) -> None:
    first = await log.search("acme", AuditFilter(), None, 3)
    expected = await log.search("acme", AuditFilter(), first[-1].seq, 3)
    await log.append_one(turn_draft(20))
    assert await log.search("acme", AuditFilter(), first[-1].seq, 3) == expected


@pytest.mark.parametrize("before", [0, -1, 10, 2**63, -(2**80)])
async def test_a_page_begins_behind_a_record_of_the_tenant(log: SqlAuditLog, before: int) -> None:
    with pytest.raises(BadInput):
        await log.search("acme", AuditFilter(), before)


@pytest.mark.parametrize("name", ["person", "session", "turn", "document", "model", "mode", "status", "feedback"])
async def test_a_filter_that_no_database_can_hold_is_refused(log: SqlAuditLog, name: str) -> None:
    for hostile in ("\x00", "\ud800"):
        with pytest.raises(BadInput):
            await log.search("acme", AuditFilter(**{name: hostile}))  # type: ignore[arg-type]


async def test_nothing_is_found_of_another_tenant(log: SqlAuditLog) -> None:
    assert [record.tenant for record in await log.search("rival", AuditFilter(), None, -5)] == ["rival"]
    assert await log.search("nobody", AuditFilter(document=LEAVE)) == []
    assert len(await log.search("rival", AuditFilter(feedback="down"))) == 1


# A page is read from an index in order: nothing is sorted, and no table is read from end to end.
IN_ORDER = ["nothing", "kind", "time", "person", "actor", "session", "turn", "document", "model", "mode", "status"]
IN_ORDER += ["verdict", "conflict", "feedback", "source changed", "document and person", "answers with feedback"]


@pytest.mark.parametrize("before", [None, (AT[5], 3)], ids=["first page", "a page behind"])
@pytest.mark.parametrize("name", IN_ORDER)
async def test_a_page_is_read_from_an_index(
    sqlite_database: Database, name: str, before: tuple[str, int] | None
) -> None:
    plan = await _plan(sqlite_database, page("acme", FILTERS[name][0], before, 50))
    assert "TEMP B-TREE" not in plan
    assert "SCAN" not in plan
    assert "USING INDEX ix_audit_" in plan


async def test_the_rarest_filter_leads(sqlite_database: Database) -> None:
    everything = AuditFilter(kind=AuditKind.TURN, model="m", mode="direct", person="u1", feedback="up")
    assert "INDEX ix_audit_records_subject" in await _plan(sqlite_database, page("acme", everything, None, 50))


async def test_few_changed_sources_are_looked_up_one_by_one(sqlite_database: Database) -> None:
    plan = await _plan(sqlite_database, page("acme", AuditFilter(source_changed=True), None, 50, [5, 7, 9]))
    assert "(tenant=? AND seq=?)" in plan
    plan = await _plan(sqlite_database, OUTDATED.bindparams(tenant="acme", most=9))
    assert "SCAN" not in plan  # of every document, its old citations only
    assert "ix_audit_documents_version (tenant=? AND document=? AND version<?)" in plan


async def test_many_changed_sources_are_met_on_the_way(log: SqlAuditLog, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = await log.search("acme", AuditFilter(source_changed=True))
    monkeypatch.setattr(audit, "FEW", 1)
    assert await log.search("acme", AuditFilter(source_changed=True)) == expected != []


async def test_the_last_rating_counts(log: SqlAuditLog) -> None:
    said = (("up", AuditKind.FEEDBACK), ("down", AuditKind.CORRECTION), ("up", AuditKind.CORRECTION))
    for rating, kind in said:
        await log.append_one(turn_draft(30, kind=kind, turn="t0", body={"rating": rating}))
    await log.append_one(turn_draft(31, kind=AuditKind.CORRECTION, turn="t0", body={"rating": None}))
    answers = AuditFilter(kind=AuditKind.TURN, turn="t0")
    assert len(await log.search("acme", replace(answers, feedback="up"))) == 1
    assert await log.search("acme", replace(answers, feedback="down")) == []


@pytest_asyncio.fixture
async def sqlite_database(sqlite_url: str) -> AsyncIterator[Database]:
    async with Store(sqlite_url) as store:
        yield store.database


async def _plan(database: Database, query: Any) -> str:
    compiled = query.compile(dialect=sqlite.dialect(), compile_kwargs={"literal_binds": True})
    async with database.read() as connection:
        rows = await connection.execute(text(f"EXPLAIN QUERY PLAN {compiled}".replace(":", "\\:")))
        return "\n".join(row.detail for row in rows)


def test_facets_of_hostile_bodies_are_empty() -> None:
    bodies: list[dict[str, Any]] = [
        {},
        {"citations": "x", "conflicts": 3},
        {"citations": [1, None]},
        {"citations": {"items": {}}},
    ]
    for body in bodies:
        facets = facets_of(body)
        assert facets.verdict is None
        assert not facets.has_conflict
        assert cited_versions(body) == []
