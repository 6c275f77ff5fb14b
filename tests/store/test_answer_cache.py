"""Answers that may be given again: kept whole, for a while, in bounds, and no longer than their turn and their documents."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from sqlalchemy import func, select, update

from assistant.core.access import Caller
from assistant.core.caching import CachedAnswer, CacheKey
from assistant.core.citations import Alignment, CitationStatus
from assistant.errors import BadInput
from assistant.interfaces import QuestionVector
from assistant.store import Store
from assistant.store.answer_cache import MOST_CANDIDATES, SqlAnswerCache, forget_document, forget_turns
from assistant.store.documents import document_id
from assistant.store.scrubbing import remove
from assistant.store.tables import answer_cache, answer_cache_documents, conversations, documents, turns
from tests.store.filling import ANN, citation_of, draft, found_evidence, put

LEAVE = document_id("acme", "handbook", "leave.md")
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
VECTOR = QuestionVector("e-1", np.array([0.6, 0.8], dtype=np.float32))


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


async def asked(store: Store, turn: str = "t1", caller: Caller = ANN) -> str:
    """A stored question; the id of its turn."""
    opened = await store.conversations.open(caller, None)
    await store.conversations.begin_turn(
        caller, opened.id, turn=turn, client_id=turn, text="How many days?", mode="auto", limit=99
    )
    return turn


async def filled(store: Store, *names: str) -> None:
    await put(store, draft("Employees get 20 days of leave."))
    for name in names or ("t1",):
        await asked(store, name)


def key(question: str = "how many days", frame: str = "k1", tenant: str = "acme", meaning: str = "m1", documents: Sequence[tuple[str, int]] = ((LEAVE, 1),)) -> CacheKey:  # fmt: skip
    return CacheKey(tenant, frame, "d1", meaning, question, tuple(documents), "monday")


async def answer(store: Store, origin: str = "t1", text: str = "20 days. 二十天 😀") -> CachedAnswer:
    item = (await found_evidence(store, "days leave"))[0]
    cited = replace(
        citation_of(item, 3), source=replace(citation_of(item, 3).source, page=7, region=(0.0, 0.1, 1.0, 0.5))
    )
    return CachedAnswer(origin, "m", "p", (("top_p", 0.9),), text, Alignment(CitationStatus.COMPLETE, (cited,), (), 5))


async def rows(store: Store) -> int:
    async with store.database.read() as connection:
        entries = await connection.scalar(select(func.count()).select_from(answer_cache))
        used = await connection.scalar(select(func.count()).select_from(answer_cache_documents))
    assert (entries == 0) == (used == 0)
    return int(entries or 0)


async def test_an_answer_comes_back_as_it_was_kept(store: Store) -> None:
    await filled(store)
    cache, given = SqlAnswerCache(store.database), await answer(store)
    assert await cache.candidates(key()) == []
    assert await cache.keep(key(), given, VECTOR)
    (kept,) = await cache.candidates(key())
    assert (kept.key, kept.answer) == (key(documents=()), given)
    assert kept.vector is not None
    assert kept.vector.embedder == "e-1"
    assert kept.vector.values.tobytes() == VECTOR.values.tobytes()


async def test_no_other_tenant_frame_or_meaning_finds_it(store: Store) -> None:
    await filled(store)
    cache = SqlAnswerCache(store.database)
    await cache.keep(key(), await answer(store), None)
    assert await cache.candidates(key(tenant="rival")) == []
    assert await cache.candidates(key(frame="k2")) == []
    assert await cache.candidates(key(meaning="m2")) == []
    assert [kept.vector for kept in await cache.candidates(key("quite another question"))] == [None]


async def test_a_later_answer_to_the_same_question_replaces_the_earlier_one(store: Store) -> None:
    await filled(store, "t1", "t2")
    cache = SqlAnswerCache(store.database)
    await cache.keep(key(), await answer(store), VECTOR)
    later = await answer(store, "t2", "Twenty days.")
    await cache.keep(key(), later, None)
    (kept,) = await cache.candidates(key())
    assert (kept.answer, kept.vector) == (later, None)
    assert await rows(store) == 1


async def test_candidates_are_few_and_the_newest_come_first(store: Store) -> None:
    await filled(store)
    cache, given = SqlAnswerCache(store.database, clock=Clock()), await answer(store)
    for n in range(MOST_CANDIDATES + 4):
        await cache.keep(key(f"question {n}"), given, None)
    found = [kept.key.question for kept in await cache.candidates(key())]
    assert found == [f"question {n}" for n in range(MOST_CANDIDATES + 3, 3, -1)]


async def test_an_answer_lives_for_its_hours_and_is_swept_then(store: Store) -> None:
    await filled(store)
    clock = Clock()
    cache = SqlAnswerCache(store.database, hours=2, entries=10, clock=clock)
    await cache.keep(key(), await answer(store), None)
    clock.now = NOON + timedelta(hours=1, minutes=59)
    assert len(await cache.candidates(key())) == 1
    clock.now = NOON + timedelta(hours=2, minutes=1)
    assert await cache.candidates(key()) == []
    await cache.keep(key("another", "k2"), await answer(store), None)
    assert await rows(store) == 1


async def test_the_oldest_leave_when_there_are_too_many_and_other_tenants_lose_nothing(store: Store) -> None:
    await filled(store)
    cache = SqlAnswerCache(store.database, entries=3, clock=Clock())
    await cache.keep(key(tenant="rival"), await answer(store), None)
    for n in range(7):
        await cache.keep(key(frame=f"k{n}"), await answer(store), None)
    left = [n for n in range(7) if await cache.candidates(key(frame=f"k{n}"))]
    assert left == [4, 5, 6]
    assert await cache.candidates(key(tenant="rival"))


async def test_a_sweep_takes_what_expired_of_all_tenants(store: Store) -> None:
    await filled(store)
    clock = Clock()
    cache = SqlAnswerCache(store.database, hours=2, clock=clock)
    for tenant in ("acme", "rival"):
        await cache.keep(key(tenant=tenant), await answer(store), None)
    clock.now += timedelta(hours=1, minutes=59)
    assert await cache.sweep() == 0
    await cache.keep(key("younger"), await answer(store), None)
    clock.now += timedelta(minutes=1)
    assert await cache.sweep() == 2
    assert [kept.key.question for kept in await cache.candidates(key())] == ["younger"]


async def test_a_sweep_takes_the_oldest_of_too_many_for_each_tenant(store: Store) -> None:
    await filled(store)
    clock, few = Clock(), 100
    cache = SqlAnswerCache(store.database, clock=clock)
    for n in range(few + 70):
        await cache.keep(key(frame=f"k{n}"), await answer(store), None)
    await cache.keep(key(tenant="rival"), await answer(store), None)
    assert await SqlAnswerCache(store.database, entries=few, clock=clock).sweep() == 70
    assert await rows(store) == few + 1
    assert not await cache.candidates(key(frame="k69"))
    assert await cache.candidates(key(frame="k70"))


async def test_a_sweep_takes_what_was_made_from_versions_that_are_gone(store: Store) -> None:
    await filled(store)
    cache = SqlAnswerCache(store.database)
    await cache.keep(key(), await answer(store), None)
    await cache.keep(key(frame="k2"), await answer(store), None)
    assert await cache.sweep() == 0
    async with store.database.write() as connection:  # as an older program, or a restore, may leave it
        await connection.execute(update(documents).where(documents.c.id == LEAVE).values(current_version=2))
    assert await cache.sweep() == 2
    assert await rows(store) == 0


async def test_a_sweep_leaves_what_somebody_else_holds(postgresql_url: str) -> None:
    async with Store(postgresql_url) as store:
        await filled(store)
        clock = Clock()
        cache = SqlAnswerCache(store.database, hours=1, clock=clock)
        await cache.keep(key(), await answer(store), None)
        await cache.keep(key(frame="k2"), await answer(store), None)
        clock.now += timedelta(hours=2)
        async with store.database.write() as connection:
            held = select(answer_cache.c.id).where(answer_cache.c.frame == "k1").with_for_update()
            await connection.execute(held)
            assert await asyncio.wait_for(cache.sweep(), 10) == 1
        assert await cache.sweep() == 1


async def test_any_change_of_a_used_document_ends_the_answer(store: Store) -> None:
    await filled(store)
    await put(store, draft("Travel is approved.", "travel.md"))
    travel = document_id("acme", "handbook", "travel.md")
    cache = SqlAnswerCache(store.database)
    await cache.keep(key(documents=[(LEAVE, 1), (travel, 1)]), await answer(store), None)
    await cache.keep(key(frame="k2"), await answer(store), None)
    async with store.database.write() as connection:
        assert await forget_document(connection, travel) == 1
        assert await forget_document(connection, "dunknown") == 0
    assert await cache.candidates(key()) == []
    assert await cache.candidates(key(frame="k2"))


async def test_nothing_is_kept_from_a_document_that_changed_while_the_answer_was_written(store: Store) -> None:
    await filled(store)
    cache, given = SqlAnswerCache(store.database), await answer(store)
    await put(store, draft("Employees get 25 days of leave."))
    assert not await cache.keep(key(), given, None)
    assert await cache.keep(key(documents=[(LEAVE, 2)]), given, None)
    await store.documents.delete("acme", "handbook", "leave.md")
    assert not await cache.keep(key(frame="k2", documents=[(LEAVE, 2)]), given, None)
    assert not await cache.keep(key(frame="k3", documents=[("dunknown", 1)]), given, None)


async def test_nothing_is_kept_of_a_turn_that_is_unknown_or_erased(store: Store) -> None:
    await filled(store)
    cache = SqlAnswerCache(store.database)
    assert not await cache.keep(key(), await answer(store, "t-unknown"), None)
    async with store.database.write() as connection:
        await connection.execute(update(turns).values(question=""))
    assert not await cache.keep(key(), await answer(store), None)
    assert await rows(store) == 0


async def test_forgetting_a_turn_ends_its_answers_alone(store: Store) -> None:
    await filled(store, "t1", "t2", "t3")
    cache = SqlAnswerCache(store.database)
    for n in (1, 2, 3):
        await cache.keep(key(frame=f"k{n}"), await answer(store, f"t{n}"), None)
    for gone in ("t1", "t2"):
        async with store.database.write() as connection:
            assert await forget_turns(connection, select(turns.c.id).where(turns.c.id == gone)) == 1
    assert [len(await cache.candidates(key(frame=f"k{n}"))) for n in (1, 2, 3)] == [0, 0, 1]


async def test_an_answer_goes_with_its_conversation(store: Store) -> None:
    await filled(store)
    cache = SqlAnswerCache(store.database)
    await cache.keep(key(), await answer(store), None)
    async with store.database.write() as connection:
        await remove(connection, select(conversations.c.id))
    assert await rows(store) == 0


async def test_the_state_of_the_library_has_another_name_after_every_change_and_none_shortly_after(
    store: Store,
) -> None:
    clock = Clock()
    cache = SqlAnswerCache(store.database, clock=clock)
    clock.now = datetime.now(UTC) + timedelta(hours=1)
    empty = await cache.library("acme")
    names = [empty]
    await filled(store)
    names.append(await cache.library("acme"))
    await put(store, draft("Employees get 25 days of leave."))
    names.append(await cache.library("acme"))
    await store.documents.delete("acme", "handbook", "leave.md")
    names.append(await cache.library("acme"))
    assert None not in names
    assert len(set(names)) == len(names)
    await put(store, draft("A private note."), collection="files:s1")
    assert await cache.library("acme") == names[-1]
    assert await cache.library("rival") == empty
    await put(store, draft("A page of the rival."), tenant="rival")
    assert await cache.library("acme") == names[-1]
    clock.now = datetime.now(UTC) + timedelta(seconds=30)
    assert await cache.library("acme") is None


@pytest.mark.parametrize("bad", ["a\x00b", "a\ud800b"])
async def test_what_no_database_holds_is_refused_and_nothing_is_kept(store: Store, bad: str) -> None:
    await filled(store)
    cache, given = SqlAnswerCache(store.database), await answer(store)
    for broken in ((key(bad), given), (key(), replace(given, text=bad))):
        with pytest.raises(BadInput):
            await cache.keep(*broken, None)
    assert await rows(store) == 0


@pytest.mark.parametrize("question", ["'; DROP TABLE turns; --", "%", "年假\u202e几天", "x" * 5000])
async def test_any_question_is_kept_as_it_is(store: Store, question: str) -> None:
    await filled(store)
    cache = SqlAnswerCache(store.database)
    await cache.keep(key(question), await answer(store), None)
    assert [kept.key.question for kept in await cache.candidates(key())] == [question]


async def test_many_may_keep_and_read_in_at_once(store: Store) -> None:
    await filled(store, "t1", "t2")
    caches = [SqlAnswerCache(store.database, entries=4) for _ in range(3)]
    given = [await answer(store, origin) for origin in ("t1", "t2")]
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        for n in range(24):
            group.create_task(caches[n % 3].keep(key(frame=f"k{n % 5}"), given[n % 2], VECTOR))
            if n % 8 == 0:
                group.create_task(put(store, draft("Employees get 20 days of leave.", title=f"Leave {n}")))
    assert await rows(store) <= 5
    await caches[0].keep(key(), given[0], VECTOR)  # the documents may have been the last to come
    assert await rows(store) > 0
