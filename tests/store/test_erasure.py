"""Erasing a person: their text is nowhere any more, the rest stays, the chain is valid; a hold forbids it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from sqlalchemy import insert, select

from assistant.core.access import Caller
from assistant.core.audit import AuditKind
from assistant.core.keeping import ErasureReport, HoldScope
from assistant.errors import BadInput, Busy, NotFound
from assistant.store import Store, engine
from assistant.store.audit import SqlAuditLog
from assistant.store.documents import document_id
from assistant.store.erasure import SqlErasure
from assistant.store.holds import SqlHolds
from assistant.store.pseudonyms import pseudonym
from assistant.store.scrubbing import scrub
from assistant.store.sealing import key_of
from assistant.store.tables import legal_holds, metadata
from tests.store.audit_filling import ANNS, START, all_records, ask, check_chain, turn_draft
from tests.store.filling import ANN, BOB, draft, put

SECRET = "Kummerkasten-我的秘密"
BOBS = pseudonym(BOB)
WHY: dict[str, Any] = {"by": "uofficer", "reason": "request 17"}
LEAVE = document_id("acme", "handbook", "leave.md")


class Office:
    """A store in which ann and bob have asked, with what erases and holds."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.log = store.audit
        self.holds = SqlHolds(store.database, self.log)
        self.erasure = SqlErasure(store.database, self.log)
        self.sessions: dict[str, str] = {}

    async def erase(self, subject: str = ANNS, *, dry_run: bool = False) -> ErasureReport:
        return await self.erasure.erase("acme", subject, **WHY, dry_run=dry_run)

    async def everything(self) -> str:
        """All rows of all tables as one text."""
        rows: list[str] = []
        async with self.store.database.read() as connection:
            for table in metadata.sorted_tables:
                rows += [repr(tuple(row)) for row in await connection.execute(select(table))]
        return "\n".join(rows)


@pytest_asyncio.fixture
async def office(store: Store) -> AsyncIterator[Office]:
    yield await _filled(store)


async def _filled(store: Store) -> Office:
    await put(store, draft("Everyone has 20 days of leave. Ask the desk for more days."))
    office = Office(store)
    office.sessions = {
        "ann": await ask(store, ANN, "t1", SECRET),
        "ann2": await ask(store, ANN, "t2", SECRET),
        "bob": await ask(store, BOB, "t3", "Bobs Frage"),
    }
    return office


async def test_the_text_of_the_person_is_in_no_row_any_more(office: Office) -> None:
    before = await office.everything()
    assert before.count(SECRET) >= 20
    report = await office.erase()
    after = await office.everything()
    assert SECRET not in after
    assert "'ann'" not in after
    assert after.count("Bobs Frage") == before.count("Bobs Frage")
    assert report.scrubbed
    assert report.sealed == 4  # two answers, two corrections
    assert (report.text.conversations, report.text.turns, report.text.messages) == (2, 2, 4)
    assert (report.text.notes, report.text.model_calls, report.text.feedback) == (2, 2, 2)


async def test_the_chain_is_valid_and_says_who_did_it_and_why(office: Office) -> None:
    told = await office.log.records("acme")
    report = await office.erase()
    records = await all_records(office.log)
    check_chain(records)
    assert records[:-1] == told
    assert records[-1] == report.record
    assert (records[-1].kind, records[-1].actor, records[-1].subject) == (AuditKind.ERASURE, "uofficer", ANNS)
    assert records[-1].body["reason"] == "request 17"
    assert records[-1].body["text"]["turns"] == 2


async def test_sealed_text_opens_for_the_others_only(office: Office) -> None:
    await office.erase()
    records = [record for record in await office.log.records("acme") if record.kind is AuditKind.TURN]
    opened = {record.turn: await office.log.open_sealed(record) for record in records}
    assert opened["t1"] is opened["t2"] is None
    assert (opened["t3"] or {})["question"] == "Bobs Frage asks"
    async with office.store.database.read() as connection:
        assert await key_of(connection, "acme", ANNS) is None
    later = await office.log.append_one(turn_draft(9))
    assert (later.sealed_sha256, later.body["erased"]) == (None, True)


async def test_what_documents_say_stays_and_no_turn_is_recovered(office: Office) -> None:
    evidence = await office.store.conversations.evidence_of("t1")
    await office.erase()
    assert await office.store.conversations.evidence_of("t1") == evidence != []
    assert await office.store.conversations.open_turns() == []
    assert await office.store.documents.version_text(LEAVE, 1)
    assert await office.store.conversations.conversations(ANN) == []
    with pytest.raises(NotFound):
        await office.store.conversations.messages(ANN, office.sessions["ann"])
    assert len(await office.store.conversations.messages(BOB, office.sessions["bob"])) == 2


async def test_a_dry_run_says_the_same_and_changes_nothing(office: Office) -> None:
    before = await office.everything()
    dry = await office.erase(dry_run=True)
    assert await office.everything() == before
    assert dry.record is None
    assert not dry.scrubbed
    done = await office.erase()
    assert (dry.text, dry.sealed, dry.held_by) == (done.text, done.sealed, done.held_by)


async def test_a_person_can_be_erased_again(office: Office) -> None:
    await office.erase()
    await ask(office.store, ANN, "t8", SECRET)
    assert (await office.erase()).text.turns == 1
    assert SECRET not in await office.everything()
    assert (await office.erase()).text.turns == 0
    check_chain(await all_records(office.log))


async def test_who_is_not_there_is_not_found(office: Office) -> None:
    for subject in ("unobody", "ann", ""):
        with pytest.raises(NotFound):
            await office.erase(subject)
    with pytest.raises(NotFound):
        await office.erasure.erase("rival", ANNS, **WHY)
    for hostile in ("\x00", "\ud800"):
        with pytest.raises(BadInput):
            await office.erase(hostile)
    with pytest.raises(BadInput):
        await office.erasure.erase("acme", ANNS, by="uofficer", reason=" ")
    assert SECRET in await office.everything()


async def test_a_running_turn_has_to_end_first(office: Office) -> None:
    await office.store.conversations.begin_turn(
        ANN, office.sessions["ann"], turn="t9", client_id="c9", text="and now?", mode="auto", limit=9
    )
    with pytest.raises(Busy):
        await office.erase()
    assert (await office.erase(BOBS)).text.turns == 1


@pytest.mark.parametrize("scope", HoldScope)
async def test_a_hold_forbids_it_until_it_is_lifted(office: Office, scope: HoldScope) -> None:
    values = {"person": ANNS, "session": office.sessions["ann2"], "document": LEAVE, "collection": "handbook"}
    hold = await office.holds.place("acme", scope, values[scope], by="ulaw", reason="case 4")
    before = await office.everything()
    with pytest.raises(BadInput) as refused:
        await office.erase()
    assert refused.value.data == {"reason": "hold", "holds": [hold.id]}
    assert await office.everything() == before
    assert (await office.erase(dry_run=True)).held_by == (hold.id,)
    await office.holds.lift("acme", hold.id, by="ulaw", reason="case closed")
    assert (await office.erase()).text.conversations == 2
    check_chain(await all_records(office.log))


async def test_a_hold_on_others_forbids_nothing(office: Office) -> None:
    for scope, value in (
        ("person", BOBS),
        ("session", office.sessions["bob"]),
        ("document", "other"),
        ("collection", "x"),
    ):
        await office.holds.place("acme", HoldScope(scope), value, by="ulaw", reason="case")
    await office.holds.place("rival", HoldScope.PERSON, ANNS, by="ulaw", reason="case")
    assert (await office.erase()).text.conversations == 2


async def test_a_hold_covers_records_whose_conversation_is_gone(office: Office) -> None:
    lone = Caller("acme", "lone")
    cites = {"citations": [{"document": LEAVE, "version": 1}]}
    who = pseudonym(lone)
    await office.log.append_one(turn_draft(subject=who, conversation="old", body=cites))
    for scope, value in (("session", "old"), ("document", LEAVE), ("collection", "handbook")):
        hold = await office.holds.place("acme", HoldScope(scope), value, by="ulaw", reason="case")
        with pytest.raises(BadInput):
            await office.erase(who)
        await office.holds.lift("acme", hold.id, by="ulaw", reason="over")
    assert (await office.erase(who)).sealed == 1


async def test_what_comes_while_it_is_erased_comes_before_or_after(office: Office) -> None:
    appends = [office.log.append_one(turn_draft(n)) for n in range(10)]
    await asyncio.gather(*appends[:5], office.erase(), *appends[5:])
    records = await all_records(office.log)
    check_chain(records)
    assert len(records) == 17
    assert [await office.log.open_sealed(record) for record in records if record.subject == ANNS] == [None] * 15


async def test_a_hold_that_is_being_placed_is_waited_for(office: Office, database_url: str) -> None:
    other = engine.open_database(database_url)
    row = {"id": "h1", "tenant": "acme", "scope": "person", "value": ANNS, "reason": "case", "by": "ulaw", "at": START}
    draft_ = turn_draft(kind=AuditKind.HOLD, personal=None)
    try:
        async with other.write() as connection:
            await SqlAuditLog(other).append(connection, draft_)
            erasing = asyncio.create_task(office.erase())
            await asyncio.sleep(0.2)
            assert not erasing.done()
            await connection.execute(insert(legal_holds), [row])
        with pytest.raises(BadInput):
            await erasing
    finally:
        await other.close()
    assert SECRET in await office.everything()


def _pragma(patch: pytest.MonkeyPatch, pragma: str) -> None:
    """Every new SQLite connection gets this setting last."""
    patch.setattr(engine, "_PRAGMAS", (*engine._PRAGMAS, f"PRAGMA {pragma}"))


@pytest.mark.parametrize("zeroing", ["ON", "OFF"])  # the default depends on how SQLite was built
async def test_neither_file_nor_log_of_sqlite_holds_the_text(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, zeroing: str
) -> None:
    _pragma(monkeypatch, f"secure_delete = {zeroing}")
    async with Store(sqlite_url) as store:
        office = await _filled(store)
        for n in range(30):  # rows that were moved about before they were removed
            await ask(store, ANN, f"m{n}", f"{SECRET} {'x' * (n * 200)}")
        async with store.database.read() as connection:
            key = await key_of(connection, "acme", ANNS)
        assert key is not None
        assert key in _bytes(tmp_path)
        assert SECRET.encode() in _bytes(tmp_path)
        assert (await office.erase()).scrubbed
        left = _bytes(tmp_path)
        assert b"Kummerkasten" not in left
        assert key not in left
        assert b"Bobs Frage" in left
    assert b"Kummerkasten" not in _bytes(tmp_path)


async def test_a_long_read_keeps_the_log_and_the_report_says_so(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _pragma(monkeypatch, "busy_timeout = 50")
    async with Store(sqlite_url) as store:
        office = await _filled(store)
        async with store.database.read() as reader:
            await reader.execute(select(metadata.tables["messages"]))
            assert not (await office.erase()).scrubbed
            assert SECRET.encode() in _bytes(tmp_path)
        assert await scrub(store.database)
        assert SECRET.encode() not in _bytes(tmp_path)


def _bytes(folder: Path) -> bytes:
    return b"\n".join(path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file())
