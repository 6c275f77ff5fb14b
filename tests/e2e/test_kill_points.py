"""kill -9 at every commit of a turn: nothing that was committed is lost, the turn gets one end, and the record of it holds."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed

from assistant.app import Parts, assemble
from assistant.codec import encode
from assistant.commands.auditing import verify_log
from assistant.commands.ingest import ingest_here
from assistant.config import AuditSettings, AuthSettings, DatabaseSettings, ModelSettings, RetrievalSettings, Settings
from assistant.conversation.turns import Question
from assistant.core.access import Caller
from assistant.core.events import AnswerFinished, CitationsAdded, TurnAccepted, TurnFinished
from assistant.core.turn import fold
from assistant.interfaces import NumberedEvent
from assistant.llm.scripted_http import Behaviour, Provider, running_provider
from assistant.store.migrations import migrate
from tests.e2e.conftest import copy_pages
from tests.e2e.serving import Client, Frame
from tests.e2e.workers import COMMITS, KILL, Forked, Stable, until

pytestmark = pytest.mark.e2e
ANSWER = "You are expected to bill at least 32 hours to project work. The rest of the week is yours."
QUESTION = "How many hours must be billable in a week?"
SECOND = "How many hours of project work are expected in a week?"
AT_ONCE = 3
GOOD = Behaviour(text=ANSWER, piece=30, delay=0.05)
BREAKS = Behaviour(text=ANSWER, piece=30, delay=0.05, break_after=2)
ANN = Caller("default", "ann")


@pytest.fixture
def provider() -> Iterator[Provider]:
    with running_provider() as running:
        running.behave(GOOD)
        yield running


@dataclass(frozen=True, slots=True)
class Place:
    """A database, the folder of its server, and the model it asks."""

    folder: Path
    url: str
    provider: Provider

    def server(self, servers: Stable) -> Forked:
        model = {"model__kind": "openai", "model__name": "test-model", "model__base_url": self.provider.url}
        return servers.server(
            self.folder,
            **model,
            model__api_key="k",
            model__rewrite="false",
            cache__enabled="false",
            database__url=self.url,
        )

    def settings(self) -> Settings:
        return Settings(
            database=DatabaseSettings(url=self.url),
            model=ModelSettings(
                kind="openai", name="test-model", base_url=self.provider.url, api_key="k", rewrite=False
            ),
            auth=AuthSettings(development_user="ann"),
            retrieval=RetrievalSettings(embedder="none"),
            audit=AuditSettings(key=self.folder / "var" / "audit.pem", secret=self.folder / "var" / "audit.secret"),
        )


@dataclass(frozen=True, slots=True)
class Seen:
    """What a client had when its server died."""

    session: str
    frames: list[Frame]


async def ask_until_death(server: Forked) -> Seen:
    page = Client(server.url)
    await page.open()
    with suppress(ConnectionClosed):
        await page.send("turn.start", {"text": QUESTION})
        await page.until("turn.done")
    if (
        page.frames and page.frames[-1]["type"] == "turn.done"
    ):  # fewer commits than the trap waits for, or one after the end
        await asyncio.sleep(0.3)
        server.kill()
    assert page.session is not None
    await asyncio.to_thread(until, lambda: not server.lives())
    return Seen(page.session, page.frames)


async def die_at(place: Place, servers: Stable, point: str) -> Seen:
    server = place.server(servers)
    await asyncio.to_thread(server.start, **{KILL: point})
    return await ask_until_death(server)


@asynccontextmanager
async def started_again(place: Place) -> AsyncIterator[Parts]:
    """The parts of a server after its start: the same steps as its own."""
    async with assemble(place.settings(), serves=True) as parts:
        yield parts


def as_shown(events: list[NumberedEvent]) -> list[tuple[int, str, Frame]]:
    return [(item.seq, item.event.type, json.loads(json.dumps(encode(item.event)))) for item in events]


async def check(place: Place, seen: Seen) -> None:
    """All that must hold after the crash, whatever its moment was."""
    async with started_again(place) as parts:
        before = await parts.store.events.read(seen.session)
        await parts.live.recover()
        events = await parts.store.events.read(seen.session)
        assert events[: len(before)] == before
        assert [item.seq for item in events] == list(range(1, len(events) + 1))
        assert [frame["seq"] for frame in seen.frames] == list(range(1, len(seen.frames) + 1))
        assert len(before) >= len(seen.frames), "a client was shown what is not in the log"
        for frame, (seq, kind, d) in zip(seen.frames, as_shown(events), strict=False):
            assert (frame["seq"], frame["type"]) == (seq, kind)
            assert kind != "answer.delta" or (frame["d"]["off"], frame["d"]["text"]) == (d["off"], d["text"])
        if events:
            check_turn(before, events)
        await check_stored(parts, seen.session, events)
        await check_numbers(parts, seen.session)
    async with started_again(place) as parts:  # and another start finds nothing to do
        assert await parts.live.recover() == 0
    assert await verify_log(place.settings(), ())


def check_turn(before: list[NumberedEvent], events: list[NumberedEvent]) -> None:
    kinds = [item.event.type for item in events]
    assert kinds[0] == "turn.accepted"
    assert kinds[-1] == "turn.done"
    for once in ("turn.done", "answer.done", "citations", "turn.usage"):
        assert kinds.count(once) == 1, f"{kinds.count(once)} of {once}"
    assert kinds.count("turn.plan") <= 1
    message = fold(item.event for item in events)
    assert ANSWER.startswith(message.text)
    complete = any(isinstance(item.event, AnswerFinished) for item in before)
    if complete:
        assert message.status == ("completed" if message.finish == "stop" else "failed")
    elif message.status == "failed":
        assert message.error == "interrupted"
    if message.text.startswith(ANSWER[:60]):
        assert message.citations is not None
        assert message.citations.items
        assert kinds.count("conflicts") == 1
    assert message.audit_id
    assert message.record_hash


async def check_stored(parts: Parts, session: str, events: list[NumberedEvent]) -> None:
    stored = await parts.store.conversations.messages(ANN, session)
    answers = [view.answer for view in stored if view.answer is not None]
    assert answers == ([fold(item.event for item in events)] if events else [])


async def check_numbers(parts: Parts, session: str) -> None:
    """A later turn gives the same passages the same numbers, and no number to two."""
    begun = await parts.live.start(ANN, session, Question("again", SECOND))
    message = await parts.live.finished(session, begun.turn)
    assert message.status == "completed", message.error
    events = [item.event for item in await parts.store.events.read(session)]
    cited = {(item.n, item.evidence) for event in events if isinstance(event, CitationsAdded) for item in event.items}
    assert cited
    assert len({n for n, _ in cited}) == len({evidence for _, evidence in cited}) == len(cited)
    assert sum(isinstance(event, TurnFinished) for event in events) == sum(
        isinstance(event, TurnAccepted) for event in events
    )


async def count_commits(place: Place, servers: Stable) -> list[str]:
    """What a turn commits, by the function that does it."""
    server = place.server(servers)
    file = place.folder / "commits"
    await asyncio.to_thread(server.start, **{COMMITS: str(file)})
    await ask_until_death(server)
    return [line.split()[1] for line in file.read_text().splitlines()]


async def test_at_every_commit_of_a_turn(filled: Path, tmp_path: Path, servers: Stable, provider: Provider) -> None:
    def place(name: str) -> Place:
        folder = tmp_path / name.replace(" ", "-")
        shutil.copytree(filled, folder)
        return Place(folder, f"sqlite:///{folder}/var/assistant.db", provider)

    commits = await count_commits(place("all"), servers)
    assert {"begin_turn", "save_plan", "number_evidence", "save_calls", "finish_turn"} <= set(commits)
    points = [f"{when} {n}" for n in range(1, len(commits) + 2) for when in ("before", "after")]
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(point: str) -> bool:
        async with gate:
            here = place(point)
            seen = await die_at(here, servers, point)
            try:
                await check(here, seen)
            except Exception as error:
                error.add_note(f"killed {point} of {commits}")
                raise
            shutil.rmtree(here.folder)
            return not seen.frames or seen.frames[-1]["type"] != "turn.done"

    outcomes = await asyncio.gather(*(one(point) for point in points), return_exceptions=True)
    if wrong := [outcome for outcome in outcomes if isinstance(outcome, Exception)]:
        raise ExceptionGroup(f"{len(wrong)} of {len(points)} moments", wrong)
    assert sum(map(bool, outcomes)) >= len(points) - 8, "most moments are before the end of the turn"


async def test_around_the_end_of_a_turn_whose_model_broke_off(
    filled: Path, tmp_path: Path, servers: Stable, provider: Provider
) -> None:
    provider.behave(BREAKS)
    shutil.copytree(filled, tmp_path / "here")
    here = Place(tmp_path / "here", f"sqlite:///{tmp_path}/here/var/assistant.db", provider)
    commits = await count_commits(here, servers)
    stored = commits.index("finish_turn") + 1
    for point in (f"after {stored - 1}", f"before {stored}", f"after {stored}", f"before {stored + 1}"):
        provider.behave(BREAKS)
        seen = await die_at(here, servers, point)
        provider.behave(GOOD)
        await check(here, seen)


async def test_some_moments_on_postgresql(
    new_postgresql_url: str, tmp_path: Path, servers: Stable, provider: Provider
) -> None:
    await asyncio.to_thread(lambda: asyncio.run(migrate(new_postgresql_url)))
    here = Place(tmp_path, new_postgresql_url, provider)
    await asyncio.to_thread(copy_pages, tmp_path)
    for collection in ("18f-handbook", "18f-handbook-2021"):
        await ingest_here(here.settings(), tmp_path / collection, collection, quiet=True)
    commits = await count_commits(here, servers)
    stored, planned = commits.index("finish_turn") + 1, commits.index("save_plan") + 1
    for point in (
        "before 1",
        "after 1",
        f"after {planned}",
        f"after {planned + 2}",
        f"before {stored}",
        f"after {stored}",
    ):
        await check(here, await die_at(here, servers, point))
