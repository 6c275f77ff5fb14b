"""Searching for a turn: files of the session beside the knowledge base, attached ones first, nobody else's ever."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from assistant.conversation.searching import search_for
from assistant.conversation.turns import StartedTurn
from assistant.core.access import Caller
from assistant.errors import NotFound
from assistant.interfaces import FileView, Noted
from assistant.retrieval.hybrid import HybridRetriever
from assistant.store import Store
from tests.store.filling import ANN, BOB, draft, put

CANARY = "The zebra code is 4711."
TRAVEL = "Travel is approved by the head of travel."


@pytest_asyncio.fixture
async def opened(sqlite_url: str) -> AsyncIterator[Store]:
    async with Store(sqlite_url) as store:
        await put(store, draft(TRAVEL, "travel.md"))
        await put(store, draft("A zebra is an animal.", "zoo.md"), collection="zoo")
        yield store


async def attach(store: Store, session: str, text: str = CANARY, name: str = "mine.md") -> FileView:
    given = draft(text, name, access=[ANN.private_group])
    return await store.files.put_file(ANN, session, given, fingerprint="f", most=9, noted=Noted("u"))


async def texts(
    store: Store,
    session: str,
    question: str,
    attachments: tuple[str, ...] = (),
    collections: frozenset[str] | None = None,
    caller: Caller = ANN,
) -> list[str]:
    start = StartedTurn(caller, session, "t1", question, collections=collections, attachments=attachments)
    found = await search_for(start, [question], HybridRetriever(store.index), store.files, limit=12)
    return [passage.text for passage in found]


async def test_files_take_part_in_every_turn_of_their_session_and_in_no_other(opened: Store) -> None:
    session, other = [(await opened.conversations.open(ANN, None)).id for _ in range(2)]
    await attach(opened, session)
    assert set(await texts(opened, session, "zebra")) == {CANARY, "A zebra is an animal."}
    assert await texts(opened, session, "zebra", collections=frozenset({"handbook"})) == [CANARY]
    assert await texts(opened, other, "zebra") == ["A zebra is an animal."]
    assert await texts(opened, other, "zebra", collections=frozenset({f"files:{session}"})) == []
    assert await texts(opened, session, "zebra", caller=BOB) == ["A zebra is an animal."]


async def test_an_attached_file_stands_first_and_does_not_stand_alone(opened: Store) -> None:
    session = (await opened.conversations.open(ANN, None)).id
    mine = await attach(opened, session)
    await attach(opened, session, "Nothing of the kind.", "other.md")
    assert (await texts(opened, session, "Who approves travel?")) == [TRAVEL]
    assert await texts(opened, session, "Who approves travel?", (mine.id,)) == [CANARY, TRAVEL]
    assert await texts(opened, session, "What does this say?", (mine.id,)) == [CANARY]
    start = StartedTurn(ANN, session, "t1", "Hello!", attachments=(mine.id,))
    found = await search_for(start, [], HybridRetriever(opened.index), opened.files, limit=12)
    assert [passage.text for passage in found] == [CANARY]


async def test_what_is_not_ones_own_cannot_be_attached(opened: Store) -> None:
    session, other = [(await opened.conversations.open(ANN, None)).id for _ in range(2)]
    bobs = (await opened.conversations.open(BOB, None)).id
    mine = await attach(opened, session)
    for caller, where in ((ANN, other), (BOB, bobs), (BOB, session)):
        with pytest.raises(NotFound):
            await texts(opened, where, "zebra", (mine.id,), caller=caller)
    await opened.files.delete_file(ANN, session, mine.id, Noted("u"))
    with pytest.raises(NotFound):
        await texts(opened, session, "zebra", (mine.id,))
