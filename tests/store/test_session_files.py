"""Files of sessions: found in their session by their owner and nowhere else, by nobody else."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from sqlalchemy import select

from assistant.core.access import EVERYONE, Caller
from assistant.core.attachments import files_of, preferring, search_scope, without_private
from assistant.core.audit import AuditKind
from assistant.core.evidence import admit
from assistant.core.text import index_terms
from assistant.errors import BadInput, NotFound
from assistant.interfaces import DocumentDraft, FileView, Noted
from assistant.retrieval.hybrid import HybridRetriever
from assistant.store import Store
from assistant.store.documents import document_id
from assistant.store.library_files import private_of, remove_files
from assistant.store.tables import conversations, document_versions, documents
from tests.store.filling import ANN, BOB, answer_of, draft, find, put
from tests.store.test_shown import answered

CANARY = "The zebra code is 4711."
WHO = Noted("uann")


def file(text: str, name: str = "mine.md", owner: Caller = ANN) -> DocumentDraft:
    return draft(text, name, title=name, access=[owner.private_group])


async def session_of(store: Store, caller: Caller = ANN) -> str:
    return (await store.conversations.open(caller, None)).id


async def attach(
    store: Store, session: str, text: str = CANARY, name: str = "mine.md", caller: Caller = ANN, most: int = 3
) -> FileView:
    given = file(text, name, caller)
    return await store.files.put_file(caller, session, given, fingerprint=given.sha256, most=most, noted=WHO)


async def search(store: Store, caller: Caller, session: str, question: str = "zebra code") -> list[str]:
    found = await HybridRetriever(store.index).search([question], caller, collections=search_scope(session, None))
    return [passage.text for passage in found]


async def test_a_file_is_found_in_its_session_by_its_owner_only(store: Store) -> None:
    mine, other = await session_of(store), await session_of(store)
    bobs = await session_of(store, BOB)
    await put(store, draft("A zebra is an animal."))
    view = await attach(store, mine)
    assert (view.name, view.chunks, len(view.place.span)) == ("mine.md", 1, len(CANARY))
    assert set(await search(store, ANN, mine)) == {CANARY, "A zebra is an animal."}
    assert await search(store, ANN, other) == ["A zebra is an animal."]
    assert await search(store, BOB, bobs) == ["A zebra is an animal."]
    assert await search(store, BOB, mine) == ["A zebra is an animal."]  # even one who knows the session
    thief = Caller("acme", "bob", frozenset({EVERYONE, ANN.private_group}))
    assert await search(store, thief, mine) == ["A zebra is an animal."]
    assert await search(store, Caller("rival", "ann"), mine) == []
    assert await find(store, "zebra code", ANN) == ["A zebra is an animal."]
    assert await find(store, "zebra code", BOB, [files_of(mine)]) == []


async def test_what_others_find_says_nothing_about_files(store: Store) -> None:
    await put(store, draft("A zebra is an animal."))
    terms = index_terms("zebra")
    before = [hit.score for hit in await store.index.search_words(terms, BOB, None, 9)]
    session = await session_of(store)
    await attach(store, session, "Zebra zebra zebra. Zebra again.")
    assert [hit.score for hit in await store.index.search_words(terms, BOB, None, 9)] == before
    assert [hit.score for hit in await store.index.search_words(terms, ANN, None, 9)] == before


async def test_attached_files_are_among_the_candidates_whatever_is_asked(store: Store) -> None:
    session = await session_of(store)
    for number in range(30):
        await put(store, draft(f"Summaries of paper {number} say this.", f"{number}.md"))
    view = await attach(store, session)
    await attach(store, session, "Nothing about that.", "other.md")
    retriever = HybridRetriever(store.index)
    question = ["What do the summaries say?"]
    scope = search_scope(session, None)
    found = await retriever.search(question, ANN, collections=scope, limit=12)
    (attached,) = await store.files.attached(ANN, session, [view.id, view.id])
    own = await retriever.search(
        question, ANN, collections=frozenset({files_of(session)}), limit=12, earlier=[attached.place]
    )
    fused = preferring(found, own, frozenset({attached.id}), 12)
    assert len(fused) == 12
    assert [one.text for one in fused].index(CANARY) == 0
    assert sum(one.source.collection == "handbook" for one in fused) == 11


async def test_lists_deletion_and_names(store: Store) -> None:
    session = await session_of(store)
    first, second = await attach(store, session), await attach(store, session, "Two.", "b.md")
    assert [one.name for one in await store.files.files(ANN, session)] == ["b.md", "mine.md"]
    again = await attach(store, session, "Another text.")
    assert (again.id, again.place.version) == (first.id, 2)
    await store.files.delete_file(ANN, session, first.id, WHO)
    assert [one.id for one in await store.files.files(ANN, session)] == [second.id]
    assert await search(store, ANN, session, "another text") == []
    with pytest.raises(NotFound):
        await store.files.delete_file(ANN, session, first.id, WHO)
    assert await store.files.attached(ANN, session, []) == []
    for ids in ([first.id], [second.id, "d0"], ["\0"]):
        with pytest.raises(NotFound):
            await store.files.attached(ANN, session, ids)


async def test_nothing_of_a_session_is_there_for_anybody_else(store: Store) -> None:
    session, bobs = await session_of(store), await session_of(store, BOB)
    view = await attach(store, session)
    for caller, where in ((BOB, session), (BOB, bobs), (Caller("rival", "ann"), session), (ANN, "none"), (ANN, "\0")):
        with pytest.raises(NotFound):
            await store.files.attached(caller, where, [view.id])
        with pytest.raises(NotFound):
            await store.files.delete_file(caller, where, view.id, WHO)
    for where in (session, "none", "\0"):
        with pytest.raises(NotFound):
            await attach(store, where, caller=BOB)
    assert [one.id for one in await store.files.files(ANN, session)] == [view.id]


async def test_a_file_for_others_is_refused(store: Store) -> None:
    session = await session_of(store)
    for access in ([EVERYONE], [ANN.private_group, EVERYONE], [BOB.private_group]):
        given = draft("Text.", access=access)
        with pytest.raises(BadInput):
            await store.files.put_file(ANN, session, given, fingerprint="f", most=3, noted=WHO)


async def test_a_session_holds_so_many_files_also_when_they_come_at_once(store: Store) -> None:
    session = await session_of(store)
    given = (attach(store, session, f"Text {number}.", f"{number}.md") for number in range(6))
    outcomes = await asyncio.gather(*given, return_exceptions=True)
    refused = [one for one in outcomes if isinstance(one, BadInput)]
    assert [one.data["reason"] for one in refused] == ["too_many_files"] * 3
    assert len(await store.files.files(ANN, session)) == 3
    kept = (await store.files.files(ANN, session))[0]
    await attach(store, session, "Another text.", kept.name)  # a newer one of the same name is no further file


async def test_the_record_does_not_name_the_file(store: Store) -> None:
    session = await session_of(store)
    view = await attach(store, session, name="diagnosis-of-ann.md")
    await store.files.delete_file(ANN, session, view.id, WHO)
    records = [record for record in await store.audit.records("acme") if record.kind is AuditKind.DOCUMENT]
    assert [(one.body["what"], one.actor, one.conversation) for one in records] == [
        ("attached", "uann", session), ("detached", "uann", session),
    ]  # fmt: skip
    assert "diagnosis" not in str(records)
    assert "zebra" not in str(records)


async def test_files_go_with_their_sessions(store: Store) -> None:
    session, other = await session_of(store), await session_of(store)
    view = await attach(store, session)
    kept = await attach(store, other)
    await put(store, draft("Stays."))
    async with store.database.write() as connection:
        assert await remove_files(connection, select(conversations.c.id).where(conversations.c.id == session)) == 1
        left = set(await connection.scalars(select(documents.c.id)))
        versions = set(await connection.scalars(select(document_versions.c.document)))
    assert view.id not in left | versions
    assert kept.id in left & versions
    assert len(left) == 2


async def test_what_is_kept_for_good_quotes_nothing_of_a_file(store: Store) -> None:
    session = await session_of(store)
    await put(store, draft("A zebra is an animal."))
    await attach(store, session, name="diagnosis.md")
    found = await HybridRetriever(store.index).search(["zebra code"], ANN, collections=search_scope(session, None))
    shown = [admit(passage) for passage in found]
    await answered(store, shown)
    message = answer_of(shown)
    assert message.conflicts is not None
    (conflict,) = message.conflicts.items
    side = replace(conflict.sides[0], evidence=shown[0].id, claim="zebra 4711", title="diagnosis.md")
    conflicts = replace(message.conflicts, items=(replace(conflict, sides=(side, conflict.sides[1])), conflict))
    message = replace(message, conflicts=conflicts)
    async with store.database.read() as connection:
        private = await private_of(connection, "t1")
    assert private == (frozenset({file_id(session, "diagnosis.md")}), frozenset({shown[0].id}))
    kept = without_private(message, *private)
    assert kept.citations is not None
    assert kept.conflicts is not None
    told = f"{kept.citations} {kept.conflicts}"
    assert "diagnosis" not in told
    assert "4711" not in told
    assert kept.conflicts.items[1] == conflict
    assert "A zebra is an animal." in [item.source.exact for item in kept.citations.items]
    assert [item.source.sha256 for item in kept.citations.items] == [one.source.sha256 for one in shown]
    assert without_private(message, frozenset(), frozenset()) is message


def file_id(session: str, name: str) -> str:
    return document_id("acme", files_of(session), name)
