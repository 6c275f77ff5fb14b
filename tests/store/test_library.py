"""The library: lists, versions, settings that outlive a sync, originals, and that every change is on the record and told."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import pytest

from assistant.core.access import EVERYONE
from assistant.core.audit import AuditKind
from assistant.core.events import SourceChanged
from assistant.core.evidence import Authority
from assistant.errors import BadInput, NotFound
from assistant.interfaces import DocumentChange, DocumentDraft, Noted, Original
from assistant.store import Store
from assistant.store.documents import document_id
from tests.store.filling import ANN, BOB, draft, find, put
from tests.store.test_shown import NEW, OLD, answered

WHO = Noted("uadmin", "ticket 9")
LEAVE = document_id("acme", "handbook", "leave.md")
ORIGINAL = Original("leave.md", "text/markdown", b"bytes", {"owner": "HR"})


async def send(store: Store, document: DocumentDraft, **more: Any) -> str:
    given: dict[str, Any] = {"fingerprint": "upload:1", "original": ORIGINAL, "noted": WHO, "what": "added"} | more
    return (await store.library.put("acme", "handbook", document, **given)).id


async def bodies(store: Store, kind: AuditKind = AuditKind.DOCUMENT) -> list[dict[str, Any]]:
    records = await store.audit.records("acme")
    return [dict(record.body) for record in records if record.kind is kind]


def changing(**values: Any) -> DocumentChange:
    return DocumentChange(given=frozenset(values), **values)


async def test_collections_and_pages(store: Store) -> None:
    for number in range(5):
        await put(store, draft("One. Two.", f"p/{number}.md", title=f"Paper {number}"))
    await put(store, draft("One.", "x.md", title="100% 员工手册"), collection="other")
    await put(store, draft("Hidden.", "s.md"), collection="files:s1")
    await put(store, draft("Gone.", "gone.md"))
    await store.documents.delete("acme", "handbook", "gone.md")
    shown = [(one.name, one.documents, one.chunks) for one in await store.library.collections("acme")]
    assert shown == [("handbook", 5, 10), ("other", 1, 1)]
    assert (await store.library.collections("acme"))[0].updated_at.tzinfo is not None
    seen: list[str] = []
    after = None
    while page := await store.library.documents("acme", after=after, limit=2):
        seen += [one.uri for one in page]
        after = (page[-1].collection, page[-1].uri)
    assert seen == ["p/0.md", "p/1.md", "p/2.md", "p/3.md", "p/4.md", "x.md"]
    for query, uris in {"PAPER 3": ["p/3.md"], "手册": ["x.md"], "%": ["x.md"], "_": [], "\\": []}.items():
        assert [one.uri for one in await store.library.documents("acme", query=query)] == uris, query
    assert [one.uri for one in await store.library.documents("acme", collection="other")] == ["x.md"]
    within = await store.library.documents("acme", collection="handbook", after=("handbook", "p/2.md"), limit=1)
    assert [one.uri for one in within] == ["p/3.md"]
    assert await store.library.documents("acme", collection="files:s1") == []
    assert await store.library.documents("rival") == []
    with pytest.raises(BadInput):
        await store.library.documents("acme", query="\0")


async def test_a_document_with_versions_and_text(store: Store) -> None:
    await put(store, draft(OLD))
    await answered(store, turn="t1")
    await put(store, draft(NEW))
    view = await store.library.document("acme", LEAVE)
    assert (view.version, view.access, view.settings, view.uploaded) == (
        2,
        frozenset({EVERYONE}),
        frozenset[str](),
        False,
    )
    found = [(one.number, one.answers) for one in await store.library.versions("acme", LEAVE)]
    assert found == [(2, 0), (1, 1)]
    page = await store.library.text("acme", LEAVE, 1, 3, 5)
    assert (page.text, page.offset, page.length) == (OLD[3:8], 3, len(OLD))
    assert (await store.library.text("acme", LEAVE, 1, 10**12, 5)).text == ""
    for tenant, id_, number in (("rival", LEAVE, 1), ("acme", LEAVE, 3), ("acme", "\0", 1), ("acme", LEAVE, 10**12)):
        with pytest.raises(NotFound):
            await store.library.text(tenant, id_, number, 0, 5)


async def test_files_of_sessions_are_not_in_the_library(store: Store) -> None:
    await put(store, draft("Private."), collection="files:s1")
    hidden = document_id("acme", "files:s1", "leave.md")
    for call in (
        store.library.document("acme", hidden),
        store.library.versions("acme", hidden),
        store.library.text("acme", hidden, 1, 0, 9),
        store.library.original("acme", hidden),
        store.library.delete("acme", hidden, WHO),
        store.library.change("acme", hidden, changing(access=frozenset({EVERYONE})), WHO),
    ):
        with pytest.raises(NotFound):
            await call
    assert await bodies(store) == []


async def test_a_change_of_access_holds_at_once_and_through_a_sync(store: Store) -> None:
    await put(store, draft("Salaries of all employees."))
    assert await find(store, "salaries", ANN) == ["Salaries of all employees."]
    changed = await store.library.change("acme", LEAVE, changing(access=frozenset({"hr"})), WHO)
    assert (changed.access, changed.settings) == (frozenset({"hr"}), frozenset({"access"}))
    assert await find(store, "salaries", ANN) == []
    assert await find(store, "salaries", BOB) == ["Salaries of all employees."]
    await put(store, draft("Salaries of all employees rise."))  # the folder still says that everyone may read
    assert await find(store, "salaries", ANN) == []
    assert await find(store, "salaries", BOB) == ["Salaries of all employees rise."]
    await store.documents.delete("acme", "handbook", "leave.md")
    await put(store, draft("Salaries of all employees fall."))
    assert await find(store, "salaries", ANN) == []


async def test_settings_add_up_and_an_upload_that_speaks_releases_them(store: Store) -> None:
    id_ = await send(store, draft("Text."))
    await store.library.change("acme", id_, changing(authority=Authority.HIGH, date=date(2025, 1, 2)), WHO)
    await store.library.change("acme", id_, changing(owner="Ida"), WHO)
    await store.library.change("acme", id_, changing(date=None, access=frozenset({"hr"})), WHO)
    view = await store.library.document("acme", id_)
    assert (view.authority, view.date, view.owner, view.access) == (Authority.HIGH, None, "Ida", frozenset({"hr"}))
    await send(store, draft("Text two.", access=["board"]), released=frozenset({"access"}))
    view = await store.library.document("acme", id_)
    assert (view.authority, view.owner, view.access) == (Authority.HIGH, "Ida", frozenset({"board"}))
    assert view.settings == {"authority", "date", "owner"}


@pytest.mark.parametrize(
    "change", [changing(access=frozenset()), changing(owner="\0"), changing(access=frozenset({"\ud800"}))]
)
async def test_a_change_that_cannot_be_changes_nothing(store: Store, change: DocumentChange) -> None:
    id_ = await send(store, draft("Text."))
    before = await store.library.document("acme", id_)
    with pytest.raises(BadInput):
        await store.library.change("acme", id_, change, WHO)
    assert await store.library.document("acme", id_) == before
    assert len(await bodies(store)) == 1


async def test_originals_belong_to_the_current_version_and_go_with_the_document(store: Store) -> None:
    id_ = await send(store, draft("Text."))
    kept = await store.library.original("acme", id_)
    assert (kept.uri, kept.version, kept.original) == ("leave.md", 1, ORIGINAL)
    await send(store, draft("Text."), original=replace(ORIGINAL, content=b"other"))
    assert (await store.library.original("acme", id_)).original.content == b"other"
    await put(store, draft("Text of the folder."))
    with pytest.raises(BadInput) as refused:
        await store.library.original("acme", id_)
    assert refused.value.data["reason"] == "no_original"
    await store.library.delete("acme", id_, WHO)
    with pytest.raises(NotFound):
        await store.library.original("acme", id_)
    async with store.database.read() as connection:
        assert (await connection.exec_driver_sql("SELECT count(*) FROM originals")).scalar() == 0


async def test_versions_with_originals_can_be_pruned(store: Store) -> None:
    id_ = await send(store, draft("Text."))
    await send(store, draft("Text two."))
    pruned = await store.retention.prune_versions("acme", datetime(2999, 1, 1, tzinfo=UTC), by="a", reason="r")
    assert pruned.versions == 1
    assert [one.number for one in await store.library.versions("acme", id_)] == [2]


async def test_every_change_is_on_the_record_with_who_and_why(store: Store) -> None:
    id_ = await send(store, draft("Text.", access=["hr"]))
    await store.library.change("acme", id_, changing(access=frozenset({"board"}), date=date(2025, 1, 2)), WHO)
    await store.library.delete("acme", id_, WHO)
    added, changed, deleted = await bodies(store)
    assert (added["what"], added["document"], added["version"], added["access"]) == ("added", id_, 1, ["hr"])
    assert changed["set"] == {"access": ["board"], "date": "2025-01-02"}
    assert changed["access_before"] == ["hr"]
    assert (deleted["what"], deleted["reason"]) == ("deleted", "ticket 9")
    assert {record.actor for record in await store.audit.records("acme")} == {"uadmin"}


async def test_those_whose_answers_cite_a_document_are_told(store: Store) -> None:
    await put(store, draft(OLD))
    conversation = await answered(store, turn="t1")

    async def told() -> list[str]:
        events = await store.events.read(conversation)
        return [item.event.change for item in events if isinstance(item.event, SourceChanged)]

    await store.library.change("acme", LEAVE, changing(authority=Authority.HIGH), WHO)
    assert await told() == []
    await store.library.change("acme", LEAVE, changing(access=frozenset({"board"})), WHO)
    assert await told() == ["access_revoked"]
    await store.library.change("acme", LEAVE, changing(access=frozenset({EVERYONE})), WHO)
    await store.library.delete("acme", LEAVE, WHO)
    assert (await told())[-1] == "deleted"


async def test_people_are_found_by_name(store: Store) -> None:
    for name in ("ann", "Bob_1", "bob%2"):
        await store.conversations.open(replace(ANN, user=name), None)
    await store.conversations.open(replace(ANN, tenant="rival", user="eve"), None)

    async def names(query: str = "", after: str | None = None, limit: int = 9) -> set[str]:
        return {person.user for person in await store.people.find("acme", query, after, limit)}

    assert await names() == {"ann", "Bob_1", "bob%2"}
    assert await names("BOB") == {"Bob_1", "bob%2"}
    assert await names("b%") == {"bob%2"}
    assert await names("_") == {"Bob_1"}
    first = await store.people.find("acme", "", None, 2)
    rest = await store.people.find("acme", "", first[-1].user, 2)
    assert len({person.user for person in [*first, *rest]}) == 3
