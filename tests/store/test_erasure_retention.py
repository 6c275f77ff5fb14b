"""Retention: what is old goes with everything that hangs on it, what is held or runs stays, versions live as long as answers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio
from sqlalchemy import select, update

from assistant.core.audit import AuditKind, stamp
from assistant.core.keeping import HoldScope, RetentionReport
from assistant.errors import BadInput, NotFound
from assistant.store import Store, retention
from assistant.store.documents import document_id
from assistant.store.erasure import SqlErasure
from assistant.store.holds import SqlHolds
from assistant.store.pseudonyms import pseudonym
from assistant.store.retention import SqlRetention
from assistant.store.tables import conversations, documents, metadata
from tests.store.audit_filling import ANNS, all_records, ask, check_chain
from tests.store.filling import ANN, BOB, EVE, draft, put

LEAVE = document_id("acme", "handbook", "leave.md")
WHY: dict[str, Any] = {"by": "upolicy", "reason": "policy 90 days"}
OLD = datetime(2020, 1, 1, tzinfo=UTC)
LIMIT = datetime(2021, 1, 1, tzinfo=UTC)
TEXT = "Everyone has 20 days of leave."


class Archive:
    """Old conversations of ann and bob, a new one of ann, an old one of another tenant."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.log = store.audit
        self.holds = SqlHolds(store.database, self.log)
        self.retention = SqlRetention(store.database, self.log)
        self.sessions: dict[str, str] = {}

    async def age(self, *names: str) -> None:
        ids = [self.sessions[name] for name in names]
        async with self.store.database.write() as connection:
            await connection.execute(update(conversations).where(conversations.c.id.in_(ids)).values(updated_at=OLD))

    async def left(self) -> set[str]:
        async with self.store.database.read() as connection:
            ids = set(await connection.scalars(select(conversations.c.id)))
        return {name for name, id_ in self.sessions.items() if id_ in ids}

    async def apply(
        self, *, collection: str | None = None, sealed: bool = False, dry_run: bool = False
    ) -> RetentionReport:
        return await self.retention.retention(
            "acme", LIMIT, **WHY, collection=collection, sealed=sealed, dry_run=dry_run
        )

    async def prune(self, before: datetime | None = None, *, dry_run: bool = False) -> int:
        before = before or datetime.now(UTC) + timedelta(hours=1)
        return (await self.retention.prune_versions("acme", before, **WHY, dry_run=dry_run)).versions

    async def rows(self) -> dict[str, list[str]]:
        found = {}
        async with self.store.database.read() as connection:
            for table in metadata.sorted_tables:
                found[table.name] = sorted(repr(tuple(row)) for row in await connection.execute(select(table)))
        return found


@pytest_asyncio.fixture
async def archive(store: Store) -> AsyncIterator[Archive]:
    for tenant in ("acme", "rival"):
        await put(store, draft(TEXT), tenant=tenant)
    archive = Archive(store)
    people = {"ann": (ANN, "t1"), "bob": (BOB, "t2"), "new": (ANN, "t3"), "eve": (EVE, "t4")}
    for name, (caller, turn) in people.items():
        archive.sessions[name] = await ask(store, caller, turn, f"secret of {name}")
    await archive.age("ann", "bob", "eve")
    yield archive


async def test_old_conversations_go_with_all_that_hangs_on_them(archive: Archive) -> None:
    report = await archive.apply()
    assert await archive.left() == {"new", "eve"}
    assert (report.text.conversations, report.text.turns, report.text.messages) == (2, 2, 4)
    rows = await archive.rows()
    audit = {name for name in rows if name.startswith("audit_")}
    plain = "\n".join(line for name, lines in rows.items() if name not in audit for line in lines)
    assert "secret of ann" not in plain
    assert "secret of bob" not in plain
    assert "secret of new" in plain
    assert not any("'t1'" in line for name, lines in rows.items() if name not in audit for line in lines)
    with pytest.raises(NotFound):
        await archive.store.conversations.messages(ANN, archive.sessions["ann"])


async def test_what_went_is_on_the_record_and_the_chain_valid(archive: Archive) -> None:
    report = await archive.apply()
    records = await all_records(archive.log)
    check_chain(records)
    assert [record.seq for record in records if record.kind is AuditKind.RETENTION] == list(report.records)
    told = records[-1]
    assert sorted(told.body["conversations"]) == sorted([archive.sessions["ann"], archive.sessions["bob"]])
    assert (told.actor, told.body["before"], told.body["reason"]) == ("upolicy", stamp(LIMIT), "policy 90 days")
    assert await archive.log.open_sealed(records[0]) is not None  # kept for auditors
    again = await archive.apply()
    assert (again.text.conversations, again.records) == (0, ())


async def test_a_dry_run_changes_nothing_and_says_the_same(archive: Archive) -> None:
    before = await archive.rows()
    dry = await archive.apply(sealed=True, dry_run=True)
    assert await archive.rows() == before
    done = await archive.apply(sealed=True)
    assert (dry.text, dry.held, dry.running, dry.records) == (done.text, done.held, done.running, ())
    assert dry.sealed == done.sealed == 0


async def test_batches_cover_everything(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "BATCH", 1)
    await archive.holds.place("acme", HoldScope.SESSION, archive.sessions["bob"], by="ulaw", reason="case")
    await archive.age("new")
    dry = await archive.apply(dry_run=True)
    report = await archive.apply()
    assert dry.text == report.text
    assert (report.text.conversations, len(report.records), report.held) == (2, 2, 1)
    assert await archive.left() == {"bob", "eve"}
    check_chain(await all_records(archive.log))


@pytest.mark.parametrize(
    ("scope", "value", "left"),
    [
        ("person", ANNS, {"ann"}),
        ("person", pseudonym(BOB), {"bob"}),
        ("session", "ann", {"ann"}),
        ("document", LEAVE, {"ann", "bob"}),
        ("collection", "handbook", {"ann", "bob"}),
        ("collection", "other", set()),
    ],
)
async def test_a_hold_wins_over_a_policy(archive: Archive, scope: str, value: str, left: set[str]) -> None:
    held = archive.sessions.get(value, value)
    hold = await archive.holds.place("acme", HoldScope(scope), held, by="ulaw", reason="case")
    report = await archive.apply()
    assert await archive.left() == left | {"new", "eve"}
    assert report.held == len(left)
    await archive.holds.lift("acme", hold.id, by="ulaw", reason="over")
    await archive.apply()
    assert await archive.left() == {"new", "eve"}


async def test_a_policy_of_a_collection_takes_what_was_shown_of_it(archive: Archive) -> None:
    assert (await archive.apply(collection="other")).text.conversations == 0
    assert (await archive.apply(collection="handbook")).text.conversations == 2
    for hostile in ("\x00", "\ud800"):
        with pytest.raises(BadInput):
            await archive.apply(collection=hostile)


async def test_a_running_turn_stays(archive: Archive) -> None:
    session = archive.sessions["ann"]
    await archive.store.conversations.begin_turn(ANN, session, turn="t9", client_id="c", text="?", mode="auto", limit=9)
    await archive.age("ann")
    report = await archive.apply()
    assert (report.running, report.text.conversations) == (1, 1)
    assert await archive.left() == {"ann", "new", "eve"}


async def test_the_sealed_text_of_old_records_goes_when_the_policy_says_so(archive: Archive) -> None:
    await archive.holds.place("acme", HoldScope.PERSON, pseudonym(BOB), by="ulaw", reason="case")
    after = datetime.now(UTC) + timedelta(days=1)
    policy: dict[str, Any] = {"by": "upolicy", "reason": "seven years"}
    dry = await archive.retention.retention("acme", after, **policy, sealed=True, dry_run=True)
    report = await archive.retention.retention("acme", after, **policy, sealed=True)
    assert dry.sealed == report.sealed == 4  # two answers of ann and what she said of them
    records = await all_records(archive.log)
    check_chain(records)
    opened = [record.turn for record in records if await archive.log.open_sealed(record) is not None]
    assert opened == ["t2", "t2"]
    assert await archive.log.open_sealed((await archive.log.records("rival"))[0]) is not None


async def test_versions_live_as_long_as_an_answer_that_cites_them(archive: Archive) -> None:
    await put(archive.store, draft("Everyone has 25 days of leave."))
    await put(archive.store, draft("Everyone has 30 days of leave."))
    assert await archive.prune(dry_run=True) == 1  # the second, which nobody was shown
    assert await archive.prune() == 1
    await archive.age("new")
    await archive.apply()
    assert await archive.prune() == 0  # auditors can still open the answers
    await _erase_everybody(archive)
    assert await archive.prune() == 1
    assert await archive.store.documents.version_text(LEAVE, 3)
    for gone in (1, 2):
        with pytest.raises(NotFound):
            await archive.store.documents.version_text(LEAVE, gone)
    check_chain(await all_records(archive.log))


async def _erase_everybody(archive: Archive) -> None:
    for subject in (ANNS, pseudonym(BOB)):
        await SqlErasure(archive.store.database, archive.log).erase("acme", subject, by="u", reason="r", rebuild=False)


async def test_versions_of_a_deleted_document_go_and_it_can_come_back(archive: Archive) -> None:
    await put(archive.store, draft("Canteen opens at noon.", "canteen.md"))
    await archive.store.documents.delete("acme", "handbook", "canteen.md")
    assert await archive.prune(OLD) == 0
    assert await archive.prune() == 1
    assert await put(archive.store, draft("Canteen opens at noon.", "canteen.md")) == 2
    assert await archive.prune() == 0


async def test_a_hold_keeps_versions(archive: Archive) -> None:
    await put(archive.store, draft("Canteen opens at noon.", "canteen.md"))
    canteen = document_id("acme", "handbook", "canteen.md")
    await archive.store.documents.delete("acme", "handbook", "canteen.md")
    for scope, value in ((HoldScope.DOCUMENT, canteen), (HoldScope.COLLECTION, "handbook")):
        hold = await archive.holds.place("acme", scope, value, by="ulaw", reason="case")
        before = datetime.now(UTC) + timedelta(hours=1)
        report = await archive.retention.prune_versions("acme", before, **WHY)
        assert (report.versions, report.held) == (0, 1)
        await archive.holds.lift("acme", hold.id, by="ulaw", reason="over")
    assert await archive.prune() == 1


async def test_the_same_version_of_another_tenant_stays(archive: Archive) -> None:
    await put(archive.store, draft("New."), tenant="rival")
    assert await archive.prune() == 0
    async with archive.store.database.read() as connection:
        assert len((await connection.execute(select(documents))).all()) == 2
