"""Vectors as jobs: several make them at once and none twice, in pieces, and what was killed or came late is found again."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from assistant.app import embedding
from assistant.app.embedding import EMBED, Embed
from assistant.interfaces import Vectors
from assistant.interfaces.jobs import Payload, Schedule
from assistant.jobs.late import LateQueue
from assistant.retrieval.embedders import HashingEmbedder
from assistant.store import Store
from tests.jobs.queues import fresh, queue, running, until, until_listed
from tests.store.filling import draft, put


class Noting(HashingEmbedder):
    """Notes each text that it is given, and how many are at it at once; holds on where it is told to."""

    def __init__(self) -> None:
        super().__init__(8)
        self.texts: Counter[str] = Counter()
        self.now = self.most = 0
        self.go = asyncio.Event()
        self.go.set()

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            await self.go.wait()
            self.texts.update(texts)
            return await super().embed_passages(texts)
        finally:
            self.now -= 1


class Kept:
    """A queue that keeps what is put into it."""

    def __init__(self) -> None:
        self.jobs: list[tuple[Payload, str]] = []

    async def enqueue(self, name: str, payload: Payload | None = None, *, key: str = "", when: object = None) -> bool:
        assert (name, when) == (EMBED, None)
        self.jobs.append((payload or {}, key))
        return True


async def fill(store: Store, count: int, uri: str = "leave.md") -> None:
    await put(store, draft(" ".join(f"Rule {n} of {uri} is here." for n in range(count)), uri))


async def missing(store: Store, embedder: Noting) -> int:
    return len(await store.documents.missing_vectors(embedder.name, 10_000))


async def test_each_lane_that_lacks_vectors_gets_a_job(store: Store) -> None:
    embedder, kept = Noting(), Kept()
    embed = Embed(store.documents, embedder, kept, lanes=3)
    await embed({})
    assert kept.jobs == []
    await fill(store, 2)
    await embed({})
    ids = await store.documents.missing_vectors(embedder.name, 9)
    first, second = (id_ % 3 for id_ in ids)
    job = {"of": 3, "after": ids[0] - 1}
    assert kept.jobs == [(job | {"lane": n}, f"embed:{n}/3") for n in sorted((first, second))]
    await embed(job | {"lane": first})
    assert await missing(store, embedder) == 1
    kept.jobs.clear()
    await embed({})
    assert [payload["lane"] for payload, _ in kept.jobs] == [second]


async def test_a_job_does_a_piece_and_leaves_the_rest_to_another(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "PIECE", 64)
    embedder, kept = Noting(), Kept()
    embed = Embed(store.documents, embedder, kept, lanes=1)
    await fill(store, 70)
    ids = await store.documents.missing_vectors(embedder.name, 99)
    await embed({"lane": 0, "of": 1, "after": 0})
    assert await store.documents.missing_vectors(embedder.name, 99) == ids[64:]
    ((rest, key),) = kept.jobs
    assert (rest, key) == ({"lane": 0, "of": 1, "after": ids[63]}, "embed:0/1")
    kept.jobs.clear()
    await embed(rest)
    assert (await missing(store, embedder), kept.jobs) == (0, [])


async def test_new_chunks_are_found_at_once_and_those_out_of_turn_within_a_minute(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [datetime(2026, 1, 1, tzinfo=UTC)]
    monkeypatch.setattr(embedding, "now", lambda: clock[0])
    embedder, kept = Noting(), Kept()
    embed = Embed(store.documents, embedder, kept, lanes=1)
    await fill(store, 3)
    ids = await store.documents.missing_vectors(embedder.name, 9)
    await store.documents.put_vectors(embedder.name, ids, await embedder.embed_passages(["x", "y", "z"]))
    await embed({})
    monkeypatch.setattr(embedder, "_dimension", 16)  # another embedder, so to say: all chunks lack its vectors
    await embed({})
    assert kept.jobs == []
    clock[0] += timedelta(minutes=1)
    await embed({})
    assert len(kept.jobs) == 1
    kept.jobs.clear()
    await fill(store, 1, "travel.md")
    await embed({})
    assert len(kept.jobs) == 1


async def test_without_an_embedder_nothing_is_done(store: Store) -> None:
    kept = Kept()
    await fill(store, 2)
    embed = Embed(store.documents, None, kept, lanes=1)
    await embed({})
    await embed({"lane": 0, "of": 1, "after": 0})
    assert kept.jobs == []


async def test_two_processes_make_vectors_at_once_and_none_twice(postgresql_url: str) -> None:
    await fresh(postgresql_url)
    embedders, lates = (Noting(), Noting()), (LateQueue(), LateQueue())
    async with Store(postgresql_url) as store, Store(postgresql_url) as other:
        embeds = [
            Embed(each.documents, embedder, late, lanes=8)
            for each, embedder, late in zip((store, other), embedders, lates, strict=True)
        ]
        await fill(store, 300)
        for embedder in embedders:
            embedder.go.clear()
        async with (
            queue(postgresql_url, {EMBED: embeds[0]}) as one,
            queue(postgresql_url, {EMBED: embeds[1]}) as two,
        ):
            with lates[0].over(one), lates[1].over(two):
                async with running(one, two):
                    await one.enqueue(EMBED, key=EMBED)
                    await until(lambda: embedders[0].now and embedders[1].now)
                    for embedder in embedders:
                        embedder.go.set()
                    await until_listed(one, None, 0)
        assert await missing(store, embedders[0]) == 0
    assert all(embedder.texts for embedder in embedders)
    texts = embedders[0].texts + embedders[1].texts
    assert (len(texts), set(texts.values())) == (300, {1})


async def test_one_process_makes_all_vectors_by_its_schedule(store: Store) -> None:
    embedder, late = Noting(), LateQueue()
    await fill(store, 100)
    embed = Embed(store.documents, embedder, late, lanes=1)
    async with queue("", {EMBED: embed}, [Schedule(EMBED, timedelta(milliseconds=50))]) as jobs:
        with late.over(jobs):
            async with running(jobs):
                await until(lambda: len(embedder.texts) == 100)
                await fill(store, 30, "travel.md")
                await until(lambda: len(embedder.texts) == 130)
    assert set(embedder.texts.values()) == {1}
    assert embedder.most == 1
