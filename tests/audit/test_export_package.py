"""Attacks on a package and on the log it comes from: each is named."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assistant.audit.package import PackageFinding, verify_package
from assistant.audit.signing import Signer
from assistant.core.audit import AuditRecord, canonical, hash_of
from assistant.errors import BadInput
from tests.audit.export_cases import Log, a_log


def keys_of(log: Log) -> dict[str, bytes]:
    return {log.signer.key_id: log.signer.public}


def edit(path: Path, change: Callable[[list[str]], list[str]]) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("".join(line + "\n" for line in change(lines)), encoding="utf-8")


async def checked(log: Log, folder: Path, *sizes: int | None, **more: Any) -> PackageFinding:
    await log.export(folder, *sizes, **more)
    return await verify_package(folder, keys_of(log))


async def test_a_whole_log_verifies(tmp_path: Path) -> None:
    log = a_log(5)
    assert await checked(log, tmp_path / "out") == PackageFinding(True, 5, covered=5, signed=True)
    await log.export(tmp_path / "out.zip")
    assert (await verify_package(tmp_path / "out.zip", keys_of(log))).ok


@pytest.mark.parametrize("sizes", [(1,), (4,), (6,), (3, 6)])
async def test_a_part_of_a_log_verifies_with_its_proof(tmp_path: Path, sizes: tuple[int, ...]) -> None:
    log = a_log(7)
    found = await checked(log, tmp_path / "out", *sizes, only=lambda record: record.seq in (2, 3, 6))
    assert found == PackageFinding(True, 3, covered=max(sizes), signed=True)


async def test_records_that_no_checkpoint_covers_verify_by_their_links_only(tmp_path: Path) -> None:
    log = a_log(3)
    trust = replace(log.trust(), signer=None)
    assert await checked(log, tmp_path / "out", trust=trust) == PackageFinding(True, 3, covered=0, signed=False)


async def test_progress_is_told(tmp_path: Path) -> None:
    log = Log()
    for _ in range(2_100):
        log.add()
    await log.export(tmp_path / "out")
    told: list[int] = []
    await verify_package(tmp_path / "out", on_progress=told.append)
    assert told == [1_000, 2_000]


def _rehashed(record: AuditRecord) -> AuditRecord:
    return replace(record, hash=hash_of(record))


async def test_a_changed_record_of_the_log_is_named(tmp_path: Path) -> None:
    log = a_log(5)
    log.alter(2, actor="nobody")
    found = await checked(log, tmp_path / "out")
    assert (found.ok, found.reason, found.seq, found.records) == (False, "wrong_hash", 3, 2)


async def test_a_changed_record_with_its_own_new_hash_breaks_the_next_link(tmp_path: Path) -> None:
    log = a_log(5)
    log.records[2] = _rehashed(replace(log.records[2], actor="nobody"))
    found = await checked(log, tmp_path / "out")
    assert (found.reason, found.seq) == ("broken_link", 4)


async def test_a_rewritten_log_does_not_have_the_signed_root(tmp_path: Path) -> None:
    log, other = a_log(5), a_log(1)
    trust = log.trust(None)
    other.add({"mode": "another"})
    for _ in range(3):
        other.turn()
    found = await checked(other, tmp_path / "out", trust=trust)
    assert found.reason == "wrong_root"


async def test_a_log_that_was_cut_short_has_no_proof(tmp_path: Path) -> None:
    log = a_log(5)
    trust = log.trust(None)
    del log.records[3:]
    found = await checked(log, tmp_path / "out", trust=trust)
    assert found.reason == "no_proof"


async def test_a_log_with_a_hole_has_no_proof(tmp_path: Path) -> None:
    log = a_log(5)
    trust = log.trust(None)
    del log.records[2]
    found = await checked(log, tmp_path / "out", trust=trust)
    assert found.reason == "no_proof"


@pytest.mark.parametrize("field", ["root", "head", "size", "at", "tenant", "signature", "key_id"])
async def test_a_changed_checkpoint_is_found(tmp_path: Path, field: str) -> None:
    log = a_log(5)
    other = {"root": "0" * 64, "head": "0" * 64, "size": 4, "at": "2031-03-05T10:00:00.001Z", "tenant": "x"}
    other |= {"signature": "A" * 86 + "==", "key_id": "0" * 16}
    row = {**log.checkpoint(), field: other[field]}
    found = await checked(log, tmp_path / "out", trust=replace(log.trust(), checkpoints=[row]))
    assert found.reason == ("unknown_key" if field == "key_id" else "bad_signature")


@pytest.mark.parametrize("row", [{}, {"size": "many"}, {"size": 3, "root": None}, {"size": -1}])
async def test_a_checkpoint_of_another_form_is_exported_and_refused(tmp_path: Path, row: dict[str, Any]) -> None:
    log = a_log(2)
    found = await checked(log, tmp_path / "out", trust=replace(log.trust(), checkpoints=[row]))
    assert found.reason == "bad_checkpoint"


async def test_a_key_of_ones_own_is_not_known(tmp_path: Path) -> None:
    log = a_log(2)
    forged = a_log(2)
    forged.signer = Signer(Ed25519PrivateKey.from_private_bytes(b"f" * 32))
    await forged.export(tmp_path / "out")
    assert (await verify_package(tmp_path / "out")).ok
    assert (await verify_package(tmp_path / "out", keys_of(log))).reason == "unknown_key"


@pytest.mark.parametrize(
    ("file", "change", "reason"),
    [
        ("records.jsonl", lambda lines: lines[:-1], "wrong_extent"),
        ("records.jsonl", lambda lines: [], "wrong_extent"),
        ("records.jsonl", lambda lines: lines[1:], "wrong_extent"),
        ("records.jsonl", lambda lines: [lines[0], *lines[2:]], "gap"),
        ("records.jsonl", lambda lines: [lines[1], lines[0], *lines[2:]], "wrong_extent"),
        ("records.jsonl", lambda lines: [lines[0], lines[0], *lines[1:]], "out_of_order"),
        ("records.jsonl", lambda lines: [lines[0].replace('"seq":1', '"seq":1.0'), *lines[1:]], "malformed"),
        ("records.jsonl", lambda lines: [lines[0] + " ", *lines[1:]], "not_canonical"),
        ("records.jsonl", lambda lines: ['{"actor":1}', *lines[1:]], "malformed"),
        ("records.jsonl", lambda lines: ["[" * 100_000, *lines[1:]], "malformed"),
        ("records.jsonl", lambda lines: [lines[0].replace("{", '{"actor":"p-9",', 1), *lines[1:]], "not_canonical"),
        ("proof.jsonl", lambda lines: ["[0,1]"], "malformed"),
        ("proof.jsonl", lambda lines: ['[0,8,"' + "0" * 64 + '"]'], "gap"),
        ("texts.jsonl", lambda lines: [lines[0].replace("lamps", "camps"), *lines[1:]], "wrong_file"),
        ("passages.jsonl", lambda lines: lines[1:], "wrong_file"),
        ("answers.csv", lambda lines: lines[:1], "wrong_file"),
    ],
)
async def test_a_changed_file_of_the_package_is_found(
    tmp_path: Path, file: str, change: Callable[[list[str]], list[str]], reason: str
) -> None:
    log = a_log(5)
    await log.export(tmp_path / "out")
    edit(tmp_path / "out" / file, change)
    found = await verify_package(tmp_path / "out", keys_of(log))
    assert (found.ok, found.reason) == (False, reason)


@given(at=st.integers(0, 10**6), bit=st.integers(0, 7))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
async def test_any_flipped_bit_of_a_record_names_a_record(tmp_path: Path, at: int, bit: int) -> None:
    out = tmp_path / "out"
    if not out.exists():
        await a_log(4).export(out)
    path = out / "records.jsonl"
    kept = path.read_bytes()
    at %= len(kept)
    path.write_bytes(kept[:at] + bytes([kept[at] ^ (1 << bit)]) + kept[at + 1 :])
    found = await verify_package(out)
    path.write_bytes(kept)
    assert not found.ok
    line = kept[:at].count(b"\n") + 1
    assert found.file == "records.jsonl" or found.seq in (line, line + 1)


async def test_a_manifest_that_was_changed_is_not_signed(tmp_path: Path) -> None:
    log = a_log(2)
    await log.export(tmp_path / "out")
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_bytes())
    (tmp_path / "out" / "manifest.json").write_bytes(canonical({**manifest, "reason": "no reason"}))
    found = await verify_package(tmp_path / "out", keys_of(log))
    assert (found.reason, found.file) == ("bad_signature", "manifest.json")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        b"{",
        b"[" * 100_000,
        b'{"type":"assistant.audit.export.v1"}',
        b'{"checkpoints":[],"files":[{"name":"../x"}],"public_keys":{},"tenant":"a","type":"assistant.audit.export.v1"}',
        b'{"checkpoints":[],"files":[],"public_keys":{},"tenant":"a","type":"assistant.audit.export.v1"}',
        b'{"checkpoints":[],"files":7,"public_keys":[],"tenant":"a","type":"assistant.audit.export.v1"}',
    ],
)
async def test_what_is_no_package_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "manifest.json").write_bytes(content)
    with zipfile.ZipFile(tmp_path / "out.zip", "w") as zipped:
        zipped.writestr("manifest.json", content)
    for package in (tmp_path / "out", tmp_path / "out.zip"):
        with pytest.raises(BadInput):
            await verify_package(package)


async def test_no_file_and_no_zip_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"not a zip")
    (tmp_path / "empty").mkdir()
    for name in ("x", "missing.zip", "empty"):
        with pytest.raises(BadInput):
            await verify_package(tmp_path / name)


async def test_a_file_that_is_gone_is_named(tmp_path: Path) -> None:
    log = a_log(2)
    for name in ("texts.jsonl", "records.jsonl", "proof.jsonl"):
        out = tmp_path / name.replace(".", "-")
        await log.export(out)
        (out / name).unlink()
        found = await verify_package(out)
        assert (found.ok, found.reason, found.file) == (False, "wrong_file", name)
