"""A real database, tampered with by SQL: whatever is done to a row, verification names it."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import text

from assistant.audit.checking import Verified, verify_log
from assistant.audit.checkpointing import Checkpointer
from assistant.audit.targets import FileTarget, Targets
from assistant.audit.verifying import Finding, Reason
from assistant.core.audit import AuditDraft, AuditKind
from assistant.store.audit import SqlAuditLog
from assistant.store.engine import Database, open_database
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
