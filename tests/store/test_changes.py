"""source.changed: told once per change, to those who may know, in the log for good."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

from assistant.core.events import AnswerDelta, SourceChanged
from assistant.core.turn import fold
from assistant.interfaces import NumberedEvent
from assistant.store import Store
from assistant.store.changes import notify_changes, notify_since
from assistant.store.documents import document_id
from tests.store.filling import draft, put
from tests.store.test_shown import NEW, OLD, answered

DOCUMENT = document_id("acme", "handbook", "leave.md")


def now() -> datetime:
    return datetime.now(UTC)


async def notify(store: Store, document: str = DOCUMENT, tenant: str = "acme") -> list[SourceChanged]:
    return changes(await notify_changes(store.database, tenant, document, at=now()))


def changes(events: list[NumberedEvent]) -> list[SourceChanged]:
    return [item.event for item in events if isinstance(item.event, SourceChanged)]


async def told(store: Store, conversation: str) -> list[SourceChanged]:
    return changes(await store.events.read(conversation))


async def test_an_update_is_told_once_to_every_answer_that_cites_the_old_version(store: Store) -> None:
    await put(store, draft(OLD))
    first, second = await answered(store, turn="t1"), await answered(store, turn="t2")
    assert await notify(store) == []
    await put(store, draft(NEW))
    assert await notify(store) == [SourceChanged("t1", 1, "updated"), SourceChanged("t2", 1, "updated")]
    assert await notify(store) == []
    assert await told(store, first) == [SourceChanged("t1", 1, "updated")]
    assert await told(store, second) == [SourceChanged("t2", 1, "updated")]
    third = await answered(store, turn="t3")
    assert await notify(store) == []
    assert await told(store, third) == []


async def test_every_further_change_is_told(store: Store) -> None:
    await put(store, draft(OLD))
    conversation = await answered(store)
    for text in (NEW, NEW + " Again.", NEW + " And again."):
        await put(store, draft(text))
        assert await notify(store) == [SourceChanged("t1", 1, "updated")]
    await store.documents.delete("acme", "handbook", "leave.md")
    assert await notify(store) == [SourceChanged("t1", 1, "deleted")]
    assert await notify(store) == []
    await put(store, draft(NEW))
    assert await notify(store) == [SourceChanged("t1", 1, "updated")]
    assert await notify(store) == []
    assert len(await told(store, conversation)) == 5


async def test_lost_access_is_told_once_and_then_nothing_more(store: Store) -> None:
    await put(store, draft(OLD))
    conversation = await answered(store)
    await put(store, draft(OLD, access=["hr"]))
    assert await notify(store) == [SourceChanged("t1", 1, "access_revoked")]
    await put(store, draft(NEW, access=["hr"]))
    assert await notify(store) == []
    await store.documents.delete("acme", "handbook", "leave.md")
    assert await notify(store) == []
    assert await told(store, conversation) == [SourceChanged("t1", 1, "access_revoked")]


async def test_events_are_numbered_in_the_log_and_fold_into_the_turn(store: Store) -> None:
    await put(store, draft(OLD))
    conversation = await answered(store)
    await store.events.append(conversation, "t1", [AnswerDelta(0, "x")])
    await put(store, draft(NEW))
    (event,) = await notify_changes(store.database, "acme", DOCUMENT, at=now())
    assert (event.seq, event.turn) == (3, "t1")
    (after,) = await store.events.append(conversation, "t1", [AnswerDelta(1, "y")])
    assert after.seq == 4
    message = fold(item.event for item in await store.events.read(conversation, turn="t1"))
    assert (message.text, message.changes) == ("xy", (SourceChanged("t1", 1, "updated"),))


async def test_two_processes_that_tell_at_the_same_time_tell_once(store: Store, database_url: str) -> None:
    await put(store, draft(OLD))
    conversation = await answered(store)
    await put(store, draft(NEW))
    async with Store(database_url) as other:
        found = await asyncio.gather(*(notify(each) for each in (store, other, store, other)))
        deltas = await asyncio.gather(
            *(store.events.append(conversation, "t1", [AnswerDelta(0, "x")]) for _ in range(3))
        )
    assert sum(map(len, found)) == 1
    assert [item.seq for item in await store.events.read(conversation)] == [1, 2, 3, 4, 5]
    assert len(deltas) == 3


async def test_unknown_documents_and_other_tenants_hear_nothing(store: Store) -> None:
    await put(store, draft(OLD))
    conversation = await answered(store)
    await put(store, draft(NEW))
    assert await notify(store, tenant="rival") == []
    for hostile in ("", "d0", "a\x00b", "\ud800", "' OR 1=1 --"):
        assert await notify(store, hostile) == []
        assert await notify(store, tenant=hostile) == []
    assert await told(store, conversation) == []


async def test_what_was_missed_is_told_later(store: Store) -> None:
    start = now()
    await put(store, draft(OLD))
    conversation = await answered(store)
    assert await notify_since(store.database, start, at=now()) == []
    await put(store, draft(NEW))
    assert await notify_since(store.database, now() + timedelta(days=1), at=now()) == []
    assert changes(await notify_since(store.database, start, at=now())) == [SourceChanged("t1", 1, "updated")]
    await store.documents.delete("acme", "handbook", "leave.md")
    await notify_since(store.database, start, at=now())
    assert [change.change for change in await told(store, conversation)] == ["updated", "deleted"]


async def test_many_answers_hear_of_one_document(store: Store) -> None:
    await put(store, draft(OLD))
    conversations = [await answered(store, turn=f"t{at:03}") for at in range(7)]
    await put(store, draft(NEW))
    from assistant.store import changes as room

    pages, room._TURNS = room._TURNS, 3  # type: ignore[misc]
    try:
        assert [event.turn for event in await notify(store)] == [f"t{at:03}" for at in range(7)]
    finally:
        room._TURNS = pages  # type: ignore[misc]
    for conversation in conversations:
        assert len(await told(store, conversation)) == 1
