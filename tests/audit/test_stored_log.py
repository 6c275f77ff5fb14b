"""A real database, tampered with by SQL: whatever is done to a row, verification names it."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from assistant.audit.checking import Verified, verify_log
from assistant.audit.checkpointing import Checkpointer
from assistant.audit.targets import FileTarget, Targets
from assistant.audit.verifying import Finding, Reason
from assistant.core.audit import AuditDraft, AuditKind
from assistant.store.audit import SqlAuditLog
from assistant.store.engine import Database, open_database
from assistant.store.tables import audit_records
from tests.audit.chains import KEYS, SIGNER, START

COUNT = 9


@pytest.fixture
def log(database: Database) -> SqlAuditLog:
    return SqlAuditLog(database)


@pytest.fixture
def targets(tmp_path: Path) -> Targets:
    return Targets([FileTarget(tmp_path / "beside" / "checkpoints.jsonl")])


async def fill(log: SqlAuditLog, targets: Targets, count: int = COUNT) -> None:
    """Records with and without personal text, and a checkpoint after every third."""
    maker = Checkpointer(SIGNER, lambda: datetime.now(UTC), targets, every_records=3)
    for number in range(count):
        kind = list(AuditKind)[number % 3]
        personal = {"question": f"问题 {number}"} if number % 2 == 0 else None
        body = {"mode": "compact", "cost": 0.1 * number}
        await log.append_one(AuditDraft("acme", kind, "u1", START, "u1", "c1", f"t{number}", body, personal))
        await maker.maybe("acme", log)


async def verified(log: SqlAuditLog, targets: Targets) -> Verified:
    return await verify_log("acme", log, targets, KEYS)


async def run(database: Database, statements: Sequence[str]) -> None:
    async with database.write() as connection:
        for statement in statements:
            await connection.execute(text(statement))


async def test_an_untouched_log_verifies_with_its_targets(log: SqlAuditLog, targets: Targets) -> None:
    await fill(log, targets)
    finding = Finding(ok=True, checked=COUNT, covered=COUNT)
    assert await verified(log, targets) == Verified(finding, targets=1, external=3, damaged=0)


EDIT = "UPDATE audit_records SET {} WHERE tenant = 'acme' AND seq = 5"
EDITS = {
    "tenant = 'rival'": Reason.GAP,
    "seq = 77": Reason.GAP,
    "id = 'other'": Reason.WRONG_HASH,
    "at = '2020-01-01T00:00:00.000Z'": Reason.WRONG_HASH,
    "kind = 'replay'": Reason.WRONG_HASH,
    "kind = 'nonsense'": Reason.WRONG_HASH,
    "actor = 'other'": Reason.WRONG_HASH,
    "subject = NULL": Reason.WRONG_HASH,
    "conversation = 'other'": Reason.WRONG_HASH,
    "turn = NULL": Reason.WRONG_HASH,
    "body = '{}'": Reason.WRONG_HASH,
    "body = 'no json'": Reason.WRONG_HASH,
    "body = '[]'": Reason.WRONG_HASH,
    "sealed = (SELECT r.sealed FROM audit_records r WHERE r.seq = 3)": Reason.WRONG_SEAL,
    "sealed = NULL": Reason.MISSING_SEAL,
    "sealed_sha256 = NULL": Reason.WRONG_HASH,
    "previous = hash": Reason.WRONG_HASH,
    "hash = previous": Reason.WRONG_HASH,
}


COLUMN_EDITS = (
    "model = 'other'", "mode = NULL", "mode = 'refine'", "status = 'failed'", "finish = 'stop'", "verdict = 'supported'",
    "has_conflict = NOT has_conflict", "rating = 'up'",
)  # fmt: skip


@pytest.mark.parametrize("edit", COLUMN_EDITS)
async def test_an_edit_of_any_column_for_filters_is_named(
    edit: str, log: SqlAuditLog, database: Database, targets: Targets
) -> None:
    await fill(log, targets)
    await run(database, [EDIT.format(edit)])
    finding = (await verified(log, targets)).finding
    assert (finding.ok, finding.reason, finding.seq) == (False, Reason.WRONG_COLUMNS, 5)


async def test_every_column_of_a_record_is_edited_above(log: SqlAuditLog) -> None:
    edited = {edit.split(" = ")[0] for edit in (*EDITS, *COLUMN_EDITS)}
    assert edited == set(audit_records.c.keys())


async def test_a_truth_that_is_not_one_is_named(sqlite_url: str, tmp_path: Path, targets: Targets) -> None:
    database = open_database(sqlite_url)
    log = SqlAuditLog(database)
    await log.append_one(AuditDraft("acme", AuditKind.TURN, "u1", START, body=CITING))
    await run(database, ["UPDATE audit_records SET has_conflict = 7"])
    finding = (await verified(log, targets)).finding
    assert (finding.reason, finding.seq) == (Reason.WRONG_COLUMNS, 1)
    await database.close()


BYTES = {
    "audit_records SET body": Reason.UNREADABLE,
    "audit_records SET actor": Reason.UNREADABLE,
    "audit_records SET mode": Reason.WRONG_COLUMNS,
    "audit_documents SET document": Reason.WRONG_COLUMNS,
}


@pytest.mark.parametrize("where", sorted(BYTES))
async def test_bytes_that_are_no_text_are_named(sqlite_url: str, targets: Targets, where: str) -> None:
    database = open_database(sqlite_url)
    log = SqlAuditLog(database)
    await fill_citing(log, targets)
    one = " AND document = 'd1'" if "documents" in where else ""
    await run(database, [f"UPDATE {where} = CAST(x'ff' AS TEXT) WHERE seq = 2{one}"])
    finding = (await verified(log, targets)).finding
    assert (finding.ok, finding.reason, finding.seq) == (False, BYTES[where], 2)
    await database.close()


CITING: dict[str, Any] = {
    "mode": "compact",
    "citations": [
        {"verdict": "partial", "source": {"document": "d1", "version": 1}},
        {"verdict": "supported", "source": {"document": "d2", "version": 3}},
    ],
    "conflicts": [{"topic": "leave"}],
}


async def fill_citing(log: SqlAuditLog, targets: Targets) -> None:
    """Two answers that cite, of which the first one was rated twice."""
    for turn in ("t1", "t2"):
        await log.append_one(AuditDraft("acme", AuditKind.TURN, "u1", START, "u1", "c1", turn, CITING))
    for rating in ("up", "down"):
        draft = AuditDraft("acme", AuditKind.FEEDBACK, "u1", START, "u1", "c1", "t1", {"rating": rating})
        await log.append_one(draft)
    await Checkpointer(SIGNER, lambda: START, targets).make("acme", log)


RATED = "UPDATE audit_records SET rating = 'up' WHERE seq = 1"
BESIDE: dict[str, tuple[str, Reason, int]] = {
    "an older rating of an answer": (RATED, Reason.WRONG_COLUMNS, 1),
    "no rating of an answer": ("UPDATE audit_records SET rating = NULL WHERE seq = 1", Reason.WRONG_COLUMNS, 1),
    "a rating of an answer that has none": ("UPDATE audit_records SET rating = 'up' WHERE seq = 2", Reason.WRONG_COLUMNS, 2),
    "the kind of a rating": ("UPDATE audit_records SET kind = 'view' WHERE seq = 4", Reason.WRONG_HASH, 4),
    "a document": ("UPDATE audit_documents SET document = 'd9' WHERE seq = 2 AND document = 'd1'", Reason.WRONG_COLUMNS, 2),
    "a version": ("UPDATE audit_documents SET version = 2 WHERE seq = 1 AND document = 'd2'", Reason.WRONG_COLUMNS, 1),
    "a time": ("UPDATE audit_documents SET at = '2020' WHERE seq = 1 AND document = 'd2'", Reason.WRONG_COLUMNS, 1),
    "a tenant": ("UPDATE audit_documents SET tenant = 'rival' WHERE seq = 2 AND document = 'd1'", Reason.WRONG_COLUMNS, 2),
    "a number": ("UPDATE audit_documents SET seq = 3 WHERE seq = 2 AND document = 'd1'", Reason.WRONG_COLUMNS, 2),
    "a number of the future": ("INSERT INTO audit_documents VALUES ('acme', 9, 'd1', 1, 'x')", Reason.STRAY, 9),
    "a number of none": ("INSERT INTO audit_documents VALUES ('acme', -3, 'd1', 1, 'x')", Reason.STRAY, -3),
    "a row more": ("INSERT INTO audit_documents VALUES ('acme', 3, 'd1', 1, 'x')", Reason.WRONG_COLUMNS, 3),
    "a row less": ("DELETE FROM audit_documents WHERE seq = 2 AND document = 'd2'", Reason.WRONG_COLUMNS, 2),
    "an end before": ("UPDATE audit_chains SET seq = 3", Reason.WRONG_END, 4),
    "an end behind": ("UPDATE audit_chains SET seq = 6", Reason.WRONG_END, 5),
    "another hash at the end": ("UPDATE audit_chains SET hash = 'x'", Reason.WRONG_END, 4),
    "an end of another": ("UPDATE audit_chains SET tenant = 'rival'", Reason.WRONG_END, 1),
    "no end": ("DELETE FROM audit_chains", Reason.WRONG_END, 1),
    "a checkpoint of another": ("UPDATE audit_checkpoints SET tenant = 'rival'", Reason.MISSING_CHECKPOINT, 4),
}  # fmt: skip


@pytest.mark.parametrize("what", sorted(BESIDE))
async def test_an_edit_beside_the_records_is_named(
    what: str, log: SqlAuditLog, database: Database, targets: Targets
) -> None:
    await fill_citing(log, targets)
    assert (await verified(log, targets)).finding == Finding(ok=True, checked=4, covered=4)
    statement, reason, seq = BESIDE[what]
    await run(database, [statement])
    finding = (await verified(log, targets)).finding
    assert (finding.ok, finding.reason, finding.seq) == (False, reason, seq)


async def test_what_no_signature_reaches_is_counted(log: SqlAuditLog, targets: Targets) -> None:
    await fill(log, targets, 5)
    assert (await verified(log, targets)).finding.unsigned == 2
    await Checkpointer(SIGNER, lambda: START, targets).finish(log)
    assert (await verified(log, targets)).finding.unsigned == 0


@pytest.mark.parametrize("edit", sorted(EDITS))
async def test_an_edit_of_any_column_of_a_record_is_named(
    edit: str, log: SqlAuditLog, database: Database, targets: Targets
) -> None:
    await fill(log, targets)
    await run(database, [EDIT.format(edit)])
    finding = (await verified(log, targets)).finding
    assert (finding.ok, finding.reason, finding.seq) == (False, EDITS[edit], 5)


SWAP = "UPDATE audit_records SET seq = {} WHERE tenant = 'acme' AND seq = {}"
CUT = ["DELETE FROM audit_records WHERE seq > 7", "UPDATE audit_chains SET seq = 7"]
NEWER = "DELETE FROM audit_checkpoints WHERE size > 6"
ATTACKS: dict[str, tuple[list[str], Reason, int]] = {
    "delete": (["DELETE FROM audit_records WHERE seq = 4"], Reason.GAP, 4),
    "delete the first": (["DELETE FROM audit_records WHERE seq = 1"], Reason.GAP, 1),
    "delete all": (["DELETE FROM audit_records", "DELETE FROM audit_chains"], Reason.TRUNCATED, 1),
    "reorder": ([SWAP.format(100, 4), SWAP.format(4, 6), SWAP.format(6, 100)], Reason.WRONG_HASH, 4),
    "truncate": (CUT, Reason.TRUNCATED, 8),
    "truncate with the checkpoint": ([*CUT, NEWER], Reason.MISSING_CHECKPOINT, 8),
    "delete a checkpoint": (["DELETE FROM audit_checkpoints WHERE size = 6"], Reason.MISSING_CHECKPOINT, 6),
    "swap checkpoints": (
        [f"UPDATE audit_checkpoints SET size = {new} WHERE size = {old}" for old, new in ((3, 50), (6, 3), (50, 6))],
        Reason.BAD_SIGNATURE,
        3,
    ),
    "forge a root": ([f"UPDATE audit_checkpoints SET root = '{'0' * 64}' WHERE size = 6"], Reason.BAD_SIGNATURE, 6),
    "forge a head": (["UPDATE audit_checkpoints SET head = root WHERE size = 6"], Reason.BAD_SIGNATURE, 6),
    "forge a time": (["UPDATE audit_checkpoints SET at = '2020-01-01T00:00:00.000Z' WHERE size = 6"], Reason.BAD_SIGNATURE, 6),
    "take another key": (["UPDATE audit_checkpoints SET key_id = '0123456789abcdef' WHERE size = 6"], Reason.UNKNOWN_KEY, 6),
    "spoil a signature": (["UPDATE audit_checkpoints SET signature = 'x' WHERE size = 6"], Reason.BAD_CHECKPOINT, 6),
}  # fmt: skip


@pytest.mark.parametrize("attack", sorted(ATTACKS))
async def test_an_attack_on_rows_is_named(attack: str, log: SqlAuditLog, database: Database, targets: Targets) -> None:
    await fill(log, targets)
    statements, reason, seq = ATTACKS[attack]
    await run(database, statements)
    finding = (await verified(log, targets)).finding
    assert (finding.ok, finding.reason, finding.seq) == (False, reason, seq)


async def test_a_restored_old_database_is_named(sqlite_url: str, tmp_path: Path, targets: Targets) -> None:
    path, old = Path(sqlite_url.removeprefix("sqlite:///")), tmp_path / "old.db"
    database = open_database(sqlite_url)
    await fill(SqlAuditLog(database), targets, 5)
    await database.close()
    shutil.copyfile(path, old)
    database = open_database(sqlite_url)
    maker = Checkpointer(SIGNER, lambda: START, targets)
    log = SqlAuditLog(database)
    await log.append_one(AuditDraft("acme", AuditKind.VIEW, "u2", START))
    await maker.make("acme", log)
    assert (await verified(log, targets)).finding.ok
    await database.close()
    restored = open_database(f"sqlite:///{old}")
    finding = (await verified(SqlAuditLog(restored), targets)).finding
    assert (finding.reason, finding.seq, finding.until) == (Reason.MISSING_CHECKPOINT, 6, 6)
    await restored.close()


async def test_the_log_of_a_tenant_is_verified_without_that_of_another(
    log: SqlAuditLog, database: Database, targets: Targets
) -> None:
    await fill(log, targets)
    await log.append_one(AuditDraft("rival", AuditKind.VIEW, "u2", START))
    await run(database, ["UPDATE audit_records SET actor = 'x' WHERE tenant = 'rival'"])
    assert (await verified(log, targets)).finding.ok
    assert not (await verify_log("rival", log, targets, KEYS)).finding.ok
