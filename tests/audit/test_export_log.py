"""An export of the audit log in a real database, as the door for it does it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from assistant.audit.checkpointing import Checkpointer
from assistant.audit.export import Trust, export
from assistant.audit.export_order import in_order
from assistant.audit.package import PackageFinding, verify_package
from assistant.audit.signing import Signer
from assistant.core.audit_filter import AuditFilter
from assistant.core.evidence import Evidence
from assistant.store.audit import SqlAuditLog
from assistant.store.engine import Database
from assistant.store.sealing import destroy_key
from tests.audit.export_cases import NOW, ORDER
from tests.store.audit_filling import turn_draft

SIGNER = Signer(Ed25519PrivateKey.from_private_bytes(b"k" * 32))


async def no_evidence(turn: str) -> Sequence[Evidence]:
    return ()


async def trust(log: SqlAuditLog) -> Trust:
    await Checkpointer(SIGNER, lambda: NOW).make("acme", log)
    last = (await log.checkpoints("acme"))[-1:]
    return Trust(last, {SIGNER.key_id: SIGNER.public}, log.hashes, SIGNER)


async def test_the_whole_log_and_what_a_filter_finds(database: Database, tmp_path: Path) -> None:
    log = SqlAuditLog(database)
    for n in range(9):
        await log.append_one(turn_draft(n, subject="zoe" if n in (2, 3, 7) else "ann"))
    known = {"opened": log.open_sealed, "evidence": no_evidence, "trust": await trust(log)}
    await export(log.stream("acme"), tmp_path / "whole", ORDER, **known)  # type: ignore[arg-type]
    found = in_order(log, "acme", AuditFilter(person="zoe"))
    await export(found, tmp_path / "part.zip", ORDER, **known)  # type: ignore[arg-type]
    keys = {SIGNER.key_id: SIGNER.public}
    assert await verify_package(tmp_path / "whole", keys) == PackageFinding(True, 9, covered=9, signed=True)
    assert await verify_package(tmp_path / "part.zip", keys) == PackageFinding(True, 3, covered=9, signed=True)
    assert "答案 7" in (tmp_path / "whole" / "texts.jsonl").read_text(encoding="utf-8")


async def test_an_erased_person_is_told_as_erased_and_all_verifies(database: Database, tmp_path: Path) -> None:
    log = SqlAuditLog(database)
    for n in range(4):
        await log.append_one(turn_draft(n, subject="zoe" if n == 1 else "ann"))
    async with database.write() as connection:
        await destroy_key(connection, "acme", "zoe", NOW)
    await log.append_one(turn_draft(4, subject="zoe"))
    given = await trust(log)
    report = await export(
        log.stream("acme"), tmp_path / "out", ORDER, opened=log.open_sealed, evidence=no_evidence, trust=given
    )
    assert report.erased == 2
    texts = [json.loads(line) for line in (tmp_path / "out" / "texts.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(line["seq"], line.get("erased", False)) for line in texts] == [
        (1, False),
        (2, True),
        (3, False),
        (4, False),
        (5, True),
    ]
    assert "Frage 1" not in "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "out").iterdir())
    assert (await verify_package(tmp_path / "out")).ok
