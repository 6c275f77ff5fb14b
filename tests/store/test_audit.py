"""The audit log: one chain per tenant without gaps, whoever appends, and what is read back is what was hashed."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import func, select, text, update

from assistant.core.audit import AuditKind, AuditRecord, genesis, hash_of
from assistant.errors import BadInput, NotFound
from assistant.store.audit import SqlAuditLog
from assistant.store.engine import Database, open_database
from assistant.store.sealing import key_for
from assistant.store.tables import audit_chains, audit_records, person_keys
from tests.store.audit_filling import ANNS, all_records, check_chain, turn_draft


@pytest.fixture
def log(database: Database) -> SqlAuditLog:
    return SqlAuditLog(database)


async def test_records_are_chained_from_the_genesis_of_their_tenant(log: SqlAuditLog) -> None:
    written = [await log.append_one(turn_draft(n)) for n in range(20)]
    other = await log.append_one(turn_draft(tenant="rival"))
    assert other.previous == genesis("rival")
    read = await all_records(log)
    assert read == written
    check_chain(read)
    assert await log.tenants() == ["acme", "rival"]


async def test_what_is_read_back_hashes_the_same(log: SqlAuditLog) -> None:
    body = {
        "numbers": [0.1, 1.0, -0.0, 1e300, 2**53 - 1, -5],
        "text": "a\x00b \u2028 é 😀 \u202e عربي 天",
        "deep": {"z": None, "a": [True, {}]},
    }
    record = await log.append_one(turn_draft(body=body))
    read = await log.record("acme", record.id)
    assert read.hash == hash_of(read) == record.hash
    assert read.body["text"] == body["text"]


async def test_records_and_hashes_come_in_pages(log: SqlAuditLog) -> None:
    written = [await log.append_one(turn_draft(n)) for n in range(5)]
    assert await log.records("acme", after=1, limit=2) == written[1:3]
    assert await log.hashes("acme", 3, 10) == [(4, written[3].hash), (5, written[4].hash)]
    assert [record.seq async for record in log.stream("acme", 1, through=3, batch=1)] == [2, 3]
    assert await log.records("acme", after=2**70) == []
    assert await log.records("acme", after=-(2**70), limit=-1) == []
    assert [seq for seq, _ in await log.ciphertexts("acme", 0, 9)] == [1, 2, 3, 4, 5]


async def test_a_record_is_of_its_tenant_alone(log: SqlAuditLog) -> None:
    record = await log.append_one(turn_draft())
    for tenant, id_ in (("rival", record.id), ("acme", "no"), ("acme", "\x00"), ("\ud800", record.id)):
        with pytest.raises(NotFound):
            await log.record(tenant, id_)


async def test_a_rollback_leaves_no_hole(log: SqlAuditLog, database: Database) -> None:
    first = await log.append_one(turn_draft(0))

    async def fail() -> None:
        async with database.write() as connection:
            await log.append(connection, turn_draft(1, subject="unew"))
            await log.append(connection, turn_draft(2, tenant="newcomer"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    second = await log.append_one(turn_draft(3))
    assert (second.seq, second.previous) == (2, first.hash)
    assert (await log.append_one(turn_draft(tenant="newcomer"))).previous == genesis("newcomer")
    async with database.read() as connection:
        keyed = select(person_keys.c.subject).where(person_keys.c.tenant == "acme")
        assert list(await connection.scalars(keyed)) == [ANNS]


async def test_record_and_what_it_tells_of_commit_together(log: SqlAuditLog, database: Database) -> None:
    async with database.write() as connection:
        records = [await log.append(connection, turn_draft(n)) for n in range(3)]
    assert await log.records("acme") == records
    check_chain(records)


async def test_appends_of_two_databases_at_once_keep_one_chain(log: SqlAuditLog, database_url: str) -> None:
    other = open_database(database_url)
    both = (log, SqlAuditLog(other))
    people = ("u1", "u2", "u3")
    drafts = [turn_draft(n, subject=people[n % 3], tenant=("acme", "rival")[n % 2]) for n in range(40)]
    try:
        await asyncio.gather(*(both[n // 2 % 2].append_one(draft) for n, draft in enumerate(drafts)))
    finally:
        await other.close()
    for tenant in ("acme", "rival"):
        records = await all_records(log, tenant)
        assert len(records) == 20
        check_chain(records, tenant)
        assert all([await log.open_sealed(record) is not None for record in records])


@pytest.mark.parametrize("already", [0, 1])
async def test_a_writer_that_waits_for_another_gets_the_next_number(
    database_url: str, log: SqlAuditLog, already: int
) -> None:
    for n in range(already):
        await log.append_one(turn_draft(n))
    other = open_database(database_url)
    try:
        async with other.write() as connection:
            await SqlAuditLog(other).append(connection, turn_draft(0))
            waiting = asyncio.create_task(log.append_one(turn_draft(1)))
            await asyncio.sleep(0.1)
            assert not waiting.done()
        assert (await waiting).seq == already + 2
    finally:
        await other.close()
    check_chain(await all_records(log))


async def test_personal_text_is_sealed_and_opens_again(log: SqlAuditLog, database: Database) -> None:
    personal = {"question": "Darf ich's wissen? 我可以吗 \x00 😀", "answer": "x" * 1_000_000}
    record = await log.append_one(turn_draft(personal=personal))
    assert await log.open_sealed(record) == personal
    async with database.read() as connection:
        row = (await connection.execute(select(audit_records))).one()
    assert b"xxxxx" not in bytes(row.sealed)
    assert "wissen" not in row.body
    assert await log.open_sealed(await log.append_one(turn_draft(personal=None))) is None
    assert await log.open_sealed(await log.append_one(turn_draft(personal={}))) is None


async def test_a_sealed_text_of_another_record_is_refused(log: SqlAuditLog, database: Database) -> None:
    first, second = [await log.append_one(turn_draft(n)) for n in range(2)]
    theirs = select(audit_records.c.sealed).where(audit_records.c.seq == 2).scalar_subquery()
    async with database.write() as connection:
        await connection.execute(update(audit_records).where(audit_records.c.seq == 1).values(sealed=theirs))
    with pytest.raises(BadInput, match="does not fit"):
        await log.open_sealed(first)
    with pytest.raises(BadInput, match="does not fit"):  # even when the hash was changed with it
        await log.open_sealed(replace(first, sealed_sha256=second.sealed_sha256))
    assert await log.open_sealed(second) is not None


HOSTILE: dict[str, dict[str, Any]] = {
    "tenant with NUL": {"tenant": "a\x00"},
    "surrogate in a person": {"subject": "\ud800"},
    "endless session": {"conversation": "x" * 1_000_000},
    "actor with NUL": {"actor": "\x00"},
    "NaN": {"body": {"score": float("nan")}},
    "huge integer": {"body": {"n": 2**60}},
    "surrogate in the body": {"body": {"title": "\udfff"}},
    "NUL in a mode": {"body": {"mode": "a\x00"}},
    "NUL in a document": {"body": {"citations": [{"document": "\x00", "version": 1}]}},
    "a key that is no text": {"body": {1: 2}},
    "a set": {"body": {"groups": {1, 2}}},
    "surrogate in personal text": {"personal": {"question": "\ud83d"}},
    "personal text of nobody": {"subject": None},
}


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE.keys())
async def test_what_cannot_be_kept_is_refused_and_nothing_moves(log: SqlAuditLog, hostile: dict[str, Any]) -> None:
    first = await log.append_one(turn_draft())
    with pytest.raises(BadInput):
        await log.append_one(turn_draft(1, **hostile))
    assert (await log.append_one(turn_draft(2))).previous == first.hash
    check_chain(await all_records(log))


async def test_bodies_of_any_form_can_be_kept(log: SqlAuditLog) -> None:
    bodies: list[Any] = [
        {"citations": 5, "conflicts": "x", "mode": [], "model": {}},
        {"citations": [None, {"source": 3}, {"document": "d", "version": 2**40}, {"document": "d", "version": True}]},
        {"mode": "m" * 1_000_000, "model": "模型" * 5_000, "rating": "é"},
        {"citations": [{"document": "d" * 5000, "version": 1, "verdict": "supported"}] * 3},
    ]
    for n, body in enumerate(bodies):
        await log.append_one(turn_draft(n, body=body))
    records = await all_records(log)
    check_chain(records)
    assert [record.body for record in records] == bodies


async def test_a_spoilt_row_is_still_read_and_its_hash_tells(log: SqlAuditLog, database: Database) -> None:
    for n in range(3):
        await log.append_one(turn_draft(n))
    changes: list[dict[str, Any]] = [{"kind": "nonsense"}, {"body": "{"}, {"body": "[1]"}]
    async with database.write() as connection:
        for seq, change in enumerate(changes, start=1):
            await connection.execute(update(audit_records).where(audit_records.c.seq == seq).values(**change))
    records = await log.records("acme")
    assert len(records) == 3
    assert all(record.hash != hash_of(record) for record in records)


async def test_an_erased_person_gets_no_sealed_text_again(log: SqlAuditLog, database: Database) -> None:
    async with database.write() as connection:
        assert await key_for(connection, "acme", ANNS, turn_draft().at) is not None
        await connection.execute(update(person_keys).values(key=None))
    record = await log.append_one(turn_draft())
    assert record.sealed_sha256 is None
    assert record.body["erased"] is True
    assert record.body["mode"] == "direct"
    assert await log.open_sealed(record) is None
    assert "erased" not in (await log.append_one(turn_draft(personal=None))).body
    check_chain(await all_records(log))


async def test_checkpoints_are_kept_by_size_and_never_replaced(log: SqlAuditLog) -> None:
    row = {"tenant": "acme", "size": 20, "root": "r", "head": "h", "at": "2025", "key_id": "k", "signature": "s"}
    await log.save_checkpoint(row)
    await log.save_checkpoint(row | {"size": 3})
    await log.save_checkpoint(row | {"root": "other"})
    assert await log.checkpoints("acme") == [row | {"size": 3}, row]
    assert await log.checkpoints("rival") == []


async def test_the_end_of_the_chain_is_known(log: SqlAuditLog, database: Database) -> None:
    record: AuditRecord | None = None
    for n in range(3):
        record = await log.append_one(turn_draft(n, kind=AuditKind.VIEW, personal=None))
    assert record is not None
    async with database.read() as connection:
        row = (await connection.execute(select(audit_chains))).one()
        assert await connection.scalar(select(func.count()).select_from(audit_records)) == 3
        assert await connection.scalar(text("SELECT count(*) FROM person_keys")) == 0
    assert (row.seq, row.hash) == (3, record.hash)
