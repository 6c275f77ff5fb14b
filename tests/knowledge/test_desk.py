"""The desk: documents in one by one, and nothing in that should not be."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from assistant.core.access import EVERYONE
from assistant.core.evidence import Authority
from assistant.errors import BadDocument, BadInput, Busy, NotFound
from assistant.interfaces import DocumentChange, Upload, UploadReport
from assistant.knowledge.desk import DeskPolicy, KnowledgeDesk, check_collection, check_groups, readable_name
from assistant.knowledge.documents import Limits
from assistant.knowledge.pool import ReaderPool
from assistant.knowledge.sync import IngestOptions, ingest
from assistant.store import Store
from tests.knowledge.desks import Here, alias, desk_of
from tests.knowledge.files import archive
from tests.store.filling import ANN, BOB, find

LEAVE = b"# Leave\n\nEmployees get 20 days of leave."


@pytest_asyncio.fixture
async def opened(sqlite_url: str) -> AsyncIterator[Store]:
    async with Store(sqlite_url) as store:
        yield store


@pytest.fixture
def desk(opened: Store) -> KnowledgeDesk:
    return desk_of(opened)


@pytest.fixture
def at(tmp_path: Path) -> Path:
    return tmp_path / "body"


async def send(
    desk: KnowledgeDesk, at: Path, data: bytes, uri: str = "leave.md", *, kind: str = "", **said: Any
) -> UploadReport:
    at.write_bytes(data)
    return await desk.put(BOB, Upload("handbook", uri, at, kind, said), "why")


async def test_a_file_is_added_left_alone_and_updated(desk: KnowledgeDesk, opened: Store, at: Path) -> None:
    added = await send(desk, at, LEAVE)
    assert (added.outcome, added.version) == ("added", 1)
    assert await find(opened, "leave days", ANN) == [LEAVE.decode()]
    assert (await send(desk, at, LEAVE)) == replace(added, outcome="unchanged")
    updated = await send(desk, at, LEAVE.replace(b"20", b"25"))
    assert (updated.outcome, updated.document, updated.version) == ("updated", added.document, 2)
    closed = await send(desk, at, LEAVE.replace(b"20", b"25"), access=["hr"])
    assert (closed.outcome, closed.version) == ("updated", 2)
    assert await find(opened, "leave days", ANN) == []
    bodies = [record.body for record in await opened.audit.records("acme")]
    assert [body["what"] for body in bodies] == ["added", "updated", "updated"]
    assert bodies[-1]["access"] == ["hr"]


async def test_what_is_said_wins_over_the_file(desk: KnowledgeDesk, opened: Store, at: Path) -> None:
    text = b"---\ntitle: Inside\ndate: 2020-01-01\naccess: board\n---\n" + LEAVE
    report = await send(desk, at, text, title="Outside", authority="high", owner="HR", access=["hr"])
    assert report.document is not None
    view = await opened.library.document("acme", report.document)
    assert (view.title, view.date, view.authority, view.owner, view.access) == (
        "Outside", date(2020, 1, 1), Authority.HIGH, "HR", frozenset({"hr"}),
    )  # fmt: skip


async def test_a_setting_survives_an_upload_that_does_not_speak_of_it(
    desk: KnowledgeDesk, opened: Store, at: Path
) -> None:
    report = await send(desk, at, LEAVE, access=["hr"])
    assert report.document is not None
    await desk.change(BOB, report.document, DocumentChange(frozenset({"access"}), frozenset({"board"})), "")
    await send(desk, at, LEAVE + b" More.")
    assert (await opened.library.document("acme", report.document)).access == {"board"}
    again = await send(desk, at, LEAVE + b" More.", access=["hr"])
    assert again.outcome == "updated"
    assert (await opened.library.document("acme", report.document)).access == {"hr"}


@pytest.mark.parametrize(
    ("data", "uri", "said", "reason"),
    [
        (b"", "a.md", {}, "empty"),
        (b"\0\0\0", "a.md", {}, "empty"),
        (b"<html>", "a.pdf", {}, "corrupt"),
        (b"MZ\x90\0" * 9, "a.exe", {}, "unsupported"),
        (archive({"a.txt": "x"}), "a.zip", {}, "unsupported"),
        (archive({"word/document.xml": b"\0" * 30_000_000}), "a.docx", {}, "bomb"),
        (LEAVE * 100, "a.md", {}, "too_large"),
        (LEAVE, "a.md", {"acess": ["hr"]}, "bad_metadata"),
        (b"---\naccess: [\n---\n" + LEAVE, "a.md", {}, "bad_metadata"),
    ],
)
async def test_what_cannot_be_read_is_skipped_with_the_reason(
    opened: Store, at: Path, data: bytes, uri: str, said: dict[str, Any], reason: str
) -> None:
    desk = desk_of(opened, policy=DeskPolicy(limits=Limits(bytes=200_000 if reason == "bomb" else 2000)))
    report = await send(desk, at, data, uri, **said)
    assert report == UploadReport(uri, "skipped", reason=reason)
    assert await opened.audit.records("acme") == []
    assert await opened.library.documents("acme") == []


async def test_a_real_reader_process_refuses_a_bomb_and_reads_on(opened: Store, at: Path) -> None:
    async with ReaderPool(1) as pool:
        desk = KnowledgeDesk(opened.library, opened.files, pool, pseudonym=alias)
        bomb = archive({"word/document.xml": b"\0" * 30_000_000})
        assert (await send(desk, at, bomb, "bomb.docx")).reason == "bomb"
        assert (await send(desk, at, LEAVE)).outcome == "added"


async def test_the_type_that_was_declared_tells_texts_apart(opened: Store, at: Path) -> None:
    readers = Here()
    desk = desk_of(opened, readers)
    page = b"<p>Employees get 20 days.</p><script>alert(1)</script>"
    report = await send(desk, at, page, "https://intranet/leave", kind="text/html; charset=utf-8")
    assert report.document is not None
    view = await opened.library.document("acme", report.document)
    assert (view.uri, view.media_type) == ("https://intranet/leave", "text/html")
    assert (await opened.library.text("acme", view.id, 1, 0, 99)).text == "Employees get 20 days."
    assert readable_name("a.md", "text/html") == "a.md"
    assert readable_name("a", "image/png") == "a"
    assert readable_name("v1.2", "text/markdown") == "v1.2.md"
    lied = await send(desk, at, LEAVE, "a.md", kind="application/pdf")
    assert lied.outcome == "added"


async def test_a_folder_does_not_take_away_what_was_sent_in(
    desk: KnowledgeDesk, opened: Store, at: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "other.md").write_text("# Other\n\nText.")
    (folder / "gone.md").write_text("# Gone\n\nText.")
    await send(desk, at, LEAVE)
    where = {"store": opened.documents, "tenant": "acme", "collection": "handbook", "pool": Here()}
    assert (await ingest(folder, options=IngestOptions(), **where)).deleted == 0  # type: ignore[arg-type]
    (folder / "gone.md").unlink()
    assert (await ingest(folder, options=IngestOptions(), **where)).deleted == 1  # type: ignore[arg-type]
    assert {one.uri for one in await opened.library.documents("acme")} == {"leave.md", "other.md"}
    (synced,) = await opened.library.documents("acme", query="other")
    with pytest.raises(BadInput) as refused:
        await desk.reingest(BOB, synced.id, "")
    assert refused.value.data["reason"] == "no_original"


async def test_an_original_is_read_anew_with_what_was_said(
    desk: KnowledgeDesk, opened: Store, at: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = await send(desk, at, LEAVE, access=["hr"], date="2025-01-02")
    assert report.document is not None
    assert (await desk.reingest(BOB, report.document, "new parser")).outcome == "unchanged"
    read = Here.read

    async def better(self: Here, job: Any, data: bytes) -> Any:
        return await read(self, job, data + b"\n\nAnd what the former parser overlooked.")

    monkeypatch.setattr(Here, "read", better)
    again = await desk.reingest(BOB, report.document, "new parser")
    assert (again.outcome, again.version) == ("updated", 2)
    view = await opened.library.document("acme", report.document)
    assert (view.access, view.date, view.uploaded) == (frozenset({"hr"}), date(2025, 1, 2), True)
    assert (await desk.reingest(BOB, report.document, "once more")).outcome == "unchanged"
    assert [record.body["what"] for record in await opened.audit.records("acme")][-1] == "reingested"
    with pytest.raises(NotFound):
        await desk.reingest(replace(BOB, tenant="rival"), report.document, "")


async def test_two_are_read_at_once_and_a_third_comes_back_later(opened: Store, tmp_path: Path) -> None:
    gate = asyncio.Event()
    readers = Here(gate)
    desk = desk_of(opened, readers)
    for n in range(3):
        (tmp_path / f"{n}").write_bytes(LEAVE)
    uploads = [Upload("handbook", f"{n}.md", tmp_path / f"{n}") for n in range(3)]
    running = [asyncio.create_task(desk.put(BOB, one, "")) for one in uploads[:2]]
    while len(readers.jobs) < 2:
        await asyncio.sleep(0)
    with pytest.raises(Busy) as refused:
        await desk.put(BOB, uploads[2], "")
    assert refused.value.data["retry_after_ms"]
    running[0].cancel()
    gate.set()
    await asyncio.gather(*running, return_exceptions=True)
    assert (await desk.put(BOB, uploads[2], "")).outcome == "added"


async def test_a_file_of_a_session_is_for_its_owner_whatever_it_claims(
    desk: KnowledgeDesk, opened: Store, at: Path
) -> None:
    session = (await opened.conversations.open(ANN, None)).id
    at.write_bytes(b"---\naccess: everyone\nauthority: high\ntitle: Mine\n---\n" + LEAVE)
    view = await desk.attach(ANN, session, "mine.md", at, "text/markdown")
    assert (view.title, view.name, view.chunks) == ("Mine", "mine.md", 1)
    (passage,) = (await opened.index.passages([1], ANN)).values()
    assert passage.source.access == {ANN.private_group}
    assert passage.source.authority is Authority.LOW
    assert await opened.index.passages([1], replace(BOB, groups=frozenset({EVERYONE, "hr"}))) == {}
    at.write_bytes(b"")
    with pytest.raises(BadDocument):
        await desk.attach(ANN, session, "mine.md", at, "")
    with pytest.raises(NotFound):
        await desk.attach(BOB, session, "mine.md", at, "")
    await desk.detach(ANN, session, view.id)
    assert await opened.files.files(ANN, session) == []


@pytest.mark.parametrize("name", ["", " ", "files:s1", "*", "a\nb", "a\0", " a", "x" * 201, "\u202eabc"])
def test_collections_that_cannot_be(name: str) -> None:
    with pytest.raises(BadInput):
        check_collection(name)


@pytest.mark.parametrize("group", ["", " ", ANN.private_group, "person:x", "a\r\nb", "x" * 201, "\ud800"])
def test_groups_that_cannot_be_given(group: str) -> None:
    with pytest.raises(BadInput):
        check_groups(frozenset({"hr", group}))


async def test_nothing_is_sent_in_for_a_session_or_a_private_group(desk: KnowledgeDesk, at: Path) -> None:
    at.write_bytes(LEAVE)
    for upload in (
        Upload("files:s1", "a.md", at),
        Upload("handbook", "a.md", at, said={"access": [ANN.private_group]}),
    ):
        with pytest.raises(BadInput):
            await desk.put(BOB, upload, "")
