from __future__ import annotations

import csv
import hashlib
import json
import stat
import tracemalloc
import zipfile
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

import pytest

from assistant.audit.export import ExportOrder, Trust, export
from assistant.audit.export_order import in_order
from assistant.audit.package import verify_package
from assistant.audit.signing import verify_signature
from assistant.core.audit import AuditKind, AuditRecord, canonical
from assistant.core.audit_filter import AuditFilter
from assistant.core.evidence import Evidence
from assistant.errors import BadInput
from tests.audit.export_cases import NOW, ORDER, Log, a_log, each

FILES = {
    "records.jsonl",
    "texts.jsonl",
    "answers.csv",
    "passages.jsonl",
    "proof.jsonl",
    "manifest.json",
    "audit.html",
}


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


async def test_a_folder_with_everything(tmp_path: Path) -> None:
    log = a_log(3)
    log.add({"of": "t1"}, {"reason": "wrong 错"}, kind=AuditKind.FEEDBACK)
    log.add({}, erased=True)
    report = await log.export(tmp_path / "out")
    out = tmp_path / "out"
    assert {path.name for path in out.iterdir()} == FILES
    assert (report.records, report.erased, report.first, report.last) == (5, 1, 1, 5)
    assert [line["hash"] for line in lines(out / "records.jsonl")] == [record.hash for record in log.records]
    assert lines(out / "texts.jsonl")[3:] == [
        {"record": "r4", "seq": 4, "texts": {"reason": "wrong 错"}},
        {"record": "r5", "seq": 5, "erased": True},
    ]
    assert len(lines(out / "passages.jsonl")) == 3


async def test_the_manifest_names_what_there_is_and_is_signed(tmp_path: Path) -> None:
    log = a_log(3)
    report = await log.export(tmp_path / "out")
    text = (tmp_path / "out" / "manifest.json").read_bytes()
    manifest = json.loads(text)
    assert hashlib.sha256(text).hexdigest() == report.manifest_sha256
    for file in manifest["files"]:
        content = (tmp_path / "out" / file["name"]).read_bytes()
        assert (file["size"], file["sha256"]) == (len(content), hashlib.sha256(content).hexdigest())
    assert {file["name"] for file in manifest["files"]} == FILES - {"manifest.json", "audit.html"}
    told = {name: manifest[name] for name in ("by", "reason", "at", "filters", "count", "first", "last")}
    assert told == {
        "by": "auditor-7",
        "reason": "yearly review 年度审查",
        "at": "2031-03-05T09:30:00.000Z",
        "filters": {"person": "p-1"},
        "count": 3,
        "first": 1,
        "last": 3,
    }
    assert manifest["first_previous"] == log.records[0].previous
    assert manifest["last_hash"] == log.records[-1].hash
    signature = __import__("base64").b64decode(manifest.pop("signature"))
    assert verify_signature(log.signer.public, canonical(manifest), signature)


async def test_a_spreadsheet_reads_the_answers(tmp_path: Path) -> None:
    log = Log()
    log.turn(question='=HYPERLINK("http://x","y")', answer='He said "no",\r\nthen left. 是的。')
    await log.export(tmp_path / "out")
    content = (tmp_path / "out" / "answers.csv").read_bytes()
    assert content.startswith(b"\xef\xbb\xbftime,person,")
    (row,) = csv.DictReader((tmp_path / "out" / "answers.csv").open(encoding="utf-8-sig", newline=""))
    assert row["question"] == '\'=HYPERLINK("http://x","y")'
    assert row["answer"] == 'He said "no",\r\nthen left. 是的。'


async def test_a_zip_holds_the_same_files(tmp_path: Path) -> None:
    log = a_log(3)
    await log.export(tmp_path / "out")
    await log.export(tmp_path / "out.zip")
    with zipfile.ZipFile(tmp_path / "out.zip") as zipped:
        assert zipped.testzip() is None
        assert set(zipped.namelist()) == FILES
        for name in FILES:
            assert zipped.read(name) == (tmp_path / "out" / name).read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {"out", "out.zip"}


async def test_only_the_owner_can_read_it(tmp_path: Path) -> None:
    await a_log(1).export(tmp_path / "out")
    await a_log(1).export(tmp_path / "out.zip")
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o700
    made = [tmp_path / "out.zip", *(tmp_path / "out").iterdir()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in made} == {0o600}


async def test_an_empty_export_is_a_package(tmp_path: Path) -> None:
    log = a_log(2)
    report = await log.export(tmp_path / "out", only=lambda record: False)
    assert (report.records, report.first, report.last) == (0, 0, 0)
    assert (await verify_package(tmp_path / "out")).ok


@pytest.mark.parametrize("reason", ["", "  \n"])
async def test_an_export_needs_a_reason(tmp_path: Path, reason: str) -> None:
    with pytest.raises(BadInput) as caught:
        await a_log(1).export(tmp_path / "out", order=ExportOrder("acme", "a", reason, NOW))
    assert caught.value.data["reason"] == "no_reason"
    assert list(tmp_path.iterdir()) == []


async def test_nothing_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out.zip").write_bytes(b"mine")
    for name in ("out", "out.zip"):
        with pytest.raises(BadInput) as caught:
            await a_log(1).export(tmp_path / name)
        assert caught.value.data["reason"] == "exists"
    assert (tmp_path / "out.zip").read_bytes() == b"mine"


async def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        await a_log(1).export(tmp_path / "no" / "out")
    assert caught.value.data["reason"] == "no_folder"


async def test_records_of_another_tenant_or_out_of_order_leave_nothing(tmp_path: Path) -> None:
    foreign, turned = a_log(2), a_log(2)
    foreign.alter(1, tenant="other")
    turned.records.reverse()
    for log in (foreign, turned):
        with pytest.raises(BadInput):
            await log.export(tmp_path / "out", trust=Trust())
    assert list(tmp_path.iterdir()) == []


async def test_a_source_that_fails_leaves_nothing(tmp_path: Path) -> None:
    log = a_log(2)

    async def broken() -> AsyncIterator[AuditRecord]:
        yield log.records[0]
        raise RuntimeError("gone")

    async def opened(record: AuditRecord) -> Mapping[str, str] | None:
        return {}

    async def shown(turn: str) -> Sequence[Evidence]:
        return []

    with pytest.raises(RuntimeError):
        await export(broken(), tmp_path / "out.zip", ORDER, opened=opened, evidence=shown, trust=Trust())
    assert list(tmp_path.iterdir()) == []


async def test_text_that_cannot_be_opened_does_not_stop_an_export(tmp_path: Path) -> None:
    log = a_log(2)

    async def opened(record: AuditRecord) -> Mapping[str, str] | None:
        if record.seq == 1:
            raise BadInput("the sealed text does not fit its record", reason="tampered")
        return {"answer": "fine"}

    report = await log.export(tmp_path / "out", opened=opened)
    assert report.erased == 0
    assert lines(tmp_path / "out" / "texts.jsonl") == [
        {"record": "r1", "seq": 1, "unreadable": True},
        {"record": "r2", "seq": 2, "texts": {"answer": "fine"}},
    ]


async def test_memory_does_not_grow_with_the_records(tmp_path: Path) -> None:
    async def peak(count: int) -> int:
        log = Log()
        for _ in range(count):
            log.add({"note": "n" * 2_000})

        async def opened(record: AuditRecord) -> Mapping[str, str] | None:
            return None

        tracemalloc.start()
        await log.export(tmp_path / f"{count}.zip", opened=opened)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    await peak(10)  # what is loaded once
    small, large = await peak(300), await peak(3_000)
    assert large < small + 1_000_000  # 2,700 more records are 6 MB


class Pages:
    """An audit log that finds the latest first."""

    def __init__(self, records: list[AuditRecord], *, every: int) -> None:
        self._records = records
        self._every = every
        self.reads = 0

    async def search(
        self, tenant: str, filters: AuditFilter, before: int | None = None, limit: int = 50
    ) -> list[AuditRecord]:
        below = [record for record in self._records if before is None or record.seq < before]
        return [record for record in reversed(below) if record.seq % self._every == 0][:limit]

    async def records(self, tenant: str, after: int = 0, limit: int = 1000) -> list[AuditRecord]:
        self.reads += 1
        return self._records[after : after + limit]


@pytest.mark.parametrize(("every", "most_reads"), [(1, 8), (2, 8), (7, 8), (600, 3)])
async def test_what_a_filter_finds_comes_in_order(every: int, most_reads: int) -> None:
    log = Log()
    for _ in range(1_800):
        log.add()
    pages = Pages(log.records, every=every)
    found = [record.seq async for record in in_order(pages, "acme", AuditFilter())]
    assert found == [seq for seq in range(1, 1_801) if seq % every == 0]
    assert pages.reads <= max(most_reads, len(found))


async def test_nothing_found_is_nothing(tmp_path: Path) -> None:
    assert [record async for record in in_order(Pages([], every=1), "acme", AuditFilter())] == []
    assert [record async for record in each([])] == []
