"""The law of replay: wherever a socket is cut, in whatever order tabs come back, each sees the turn once and whole."""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from assistant.config import ModelSettings, ServerSettings
from assistant.llm.scripted_http import Behaviour, Provider, running_provider
from assistant.store import Store
from tests.e2e.serving import Client, Frame, of
from tests.store.filling import draft, put
from tests.transport.house import House, at_home

pytestmark = [pytest.mark.e2e]
LEAVE = "Employees get 20 days of annual leave. Unused days may be carried over until March."
ANSWER = "Employees get 20 days of annual leave. Ünüsed days 🏝 may be carried over until March. " * 2
QUESTION = "How many days of annual leave do employees get?"
TABS = 2


@pytest.fixture
def provider() -> Iterator[Provider]:
    with running_provider() as running:
        running.behave(Behaviour(text=ANSWER, piece=11, delay=0.02))
        yield running


@asynccontextmanager
async def opened(folder: Path, provider: Provider) -> AsyncIterator[House]:
    model = ModelSettings(
        kind="openai",
        name="test-model",
        base_url=provider.url,
        api_key="k",
        rewrite=False,
    )
    server = ServerSettings(running_turns_per_user=50, starts_per_minute=1000)
    async with at_home(folder, model=model, server=server) as house:
        async with Store(f"sqlite:///{folder / 'a.db'}") as store:
            await put(store, draft(LEAVE, "leave.md"))
            await put(store, draft(LEAVE.replace("20", "15"), "old.md", title="Leave 2020"))
        yield house


def state(client: Client) -> dict[str, Any]:
    """What a page shows: the text of each turn and the last frame of each other kind."""
    last: dict[str, Any] = {frame["turn"] + frame["type"]: frame["d"] for frame in client.frames}
    texts = {turn: (text, hashlib.sha256(text.encode()).hexdigest()) for turn, text in client.texts.items()}
    return {"seq": client.seq, "texts": texts, "last": {key: d for key, d in last.items() if "answer.delta" not in key}}


def tab_of(house: House, other: Client, *, seq: int = 0) -> Client:
    """Another tab of the session that has everything up to `seq`."""
    tab = Client(house.url, other.session, other.epoch)
    for frame in other.frames[:seq]:
        tab._apply(frame)
    return tab


def cut(client: Client) -> None:
    """Take the socket away without a word."""
    assert client.socket is not None
    client.socket.transport.abort()


async def resume(client: Client) -> Frame:
    ready = await client.open(Origin=client.url)
    assert ready["type"] == "session.ready"
    assert ready["d"]["recovered"] is True
    assert ready["d"]["replay_count"] == ready["d"]["head_seq"] - client.seq
    return ready


async def finish(client: Client, turns: int) -> None:
    """Read until so many turns have ended."""
    while [frame["type"] for frame in client.frames].count("turn.done") < turns:
        await client.receive()


async def compare_with_snapshot(house: House, client: Client) -> None:
    """The session as a page loads it anew says the same as the frames."""
    async with httpx.AsyncClient(base_url=house.url) as http:
        snapshot = (await http.get(f"/api/sessions/{client.session}")).json()
    assert (snapshot["as_of_seq"], snapshot["epoch"]) == (client.seq, client.epoch)
    answers = {item["turn"]: item["message"] for item in snapshot["turns"]}
    for turn, text in client.texts.items():
        assert (answers[turn]["text"], answers[turn]["sha256"]) == state(client)["texts"][turn]
        frames = [frame for frame in client.frames if frame["turn"] == turn]
        assert of(frames, "answer.done")["sha256"] == hashlib.sha256(text.encode()).hexdigest()


async def test_a_socket_cut_at_every_frame(tmp_path: Path, provider: Provider) -> None:
    async with opened(tmp_path, provider) as house:
        first = Client(house.url)
        await first.open(Origin=house.url)
        await first.ask(QUESTION)
        await first.close()
        kinds = [frame["type"] for frame in first.frames]
        assert kinds.count("answer.delta") > 3
        assert {"citations", "conflicts", "turn.usage", "turn.done"} <= set(kinds)
        for seq in range(first.seq + 1):
            tab = tab_of(house, first, seq=seq)
            await resume(tab)
            await finish(tab, 1)
            assert state(tab) == state(first), f"cut after {seq}"
            assert tab.frames == first.frames
            cut(tab)
        assert first.texts == {first.frames[0]["turn"]: ANSWER}
        await compare_with_snapshot(house, first)


async def test_a_number_or_an_epoch_that_is_not_of_this_log(tmp_path: Path, provider: Provider) -> None:
    async with opened(tmp_path, provider) as house:
        first = Client(house.url)
        await first.open(Origin=house.url)
        await first.ask(QUESTION)
        for epoch, seq in ((first.epoch, first.seq + 1), ("another", 3), ("", first.seq)):
            tab = Client(house.url, first.session, epoch, seq)
            ready = await tab.open(Origin=house.url)
            assert ready["d"]["recovered"] is False
            assert ready["d"]["replay_count"] == 0
            cut(tab)
        cut(first)


async def test_two_tabs_in_any_order_while_the_turn_runs(tmp_path: Path, provider: Provider) -> None:
    async with opened(tmp_path, provider) as house:
        for seed in range(8):
            await one_schedule(house, random.Random(seed))


async def one_schedule(house: House, chance: random.Random) -> None:
    """A tab asks; both are cut and come back after random numbers of frames; one may come only after the end."""
    asking = Client(house.url)
    await asking.open(Origin=house.url)
    await asking.send("turn.start", {"text": QUESTION})
    await asking.until("turn.accepted")
    tabs = [asking, tab_of(house, asking)]
    await resume(tabs[1])
    ends = asyncio.create_task(end_of(house, asking))

    async def live(tab: Client) -> None:
        while not done(tab):
            for _ in range(chance.randrange(1, 6)):
                if not done(tab):
                    await tab.receive()
            cut(tab)
            if chance.random() < 0.2:
                await ends
            await resume(tab)

    async with asyncio.timeout(60):
        await asyncio.gather(*map(live, tabs))
        fresh = tab_of(house, asking)
        await resume(fresh)
        await finish(fresh, 1)
    assert state(tabs[0]) == state(tabs[1]) == state(fresh)
    assert list(fresh.texts.values()) == [ANSWER]
    await compare_with_snapshot(house, fresh)
    for tab in (*tabs, fresh):
        cut(tab)


def done(tab: Client) -> bool:
    return bool(tab.frames) and tab.frames[-1]["type"] == "turn.done"


async def end_of(house: House, asking: Client) -> None:
    watcher = tab_of(house, asking)
    await resume(watcher)
    await finish(watcher, 1)
    await watcher.close()
