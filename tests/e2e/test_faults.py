"""A bad network between the server and its model, and between the server and PostgreSQL: nothing is torn, nothing is lost.

One server lives through all of it: every test begins with an answer that is whole, so that the one before left nothing behind.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from sqlalchemy.engine import make_url

from assistant.llm.scripted_http import Behaviour, Provider, running_provider
from tests.databases import _EMPTY, _run
from tests.e2e.proxy import Proxy, proxying
from tests.e2e.serving import Client, Frame, Server, client, of, serving

pytestmark = pytest.mark.e2e

TEXT = "年假🙂 is carried over, up to the accrual limit. " * 10
SHORT = "It is."


@dataclass(slots=True)
class House:
    """A server, its provider, and the proxies before the provider and before PostgreSQL."""

    server: Server
    provider: Provider
    to_model: Proxy
    to_database: Proxy


@pytest.fixture(scope="module")
def opened(migrated_database: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    asyncio.run(_run(migrated_database, _EMPTY))
    url = make_url(migrated_database)
    place = str(Path(str(url.query["host"])) / ".s.PGSQL.5432")
    with running_provider() as provider, proxying(place) as to_database:
        port = make_url(provider.url).port
        assert port is not None
        with proxying(port) as to_model:
            settings = {
                "database__url": f"postgresql://{url.username}@127.0.0.1:{to_database.port}/{url.database}",
                "model__kind": "openai", "model__name": "m", "model__window": "8192", "model__summaries": "false",
                "model__base_url": f"http://127.0.0.1:{to_model.port}/v1", "model__timeout_s": "2",
                "model__first_s": "2", "model__failures": "1000", "server__starts_per_minute": "1000",
                "server__running_turns_per_user": "50", "auth__development_roles": '["user", "admin"]',
            }  # fmt: skip
            with serving(tmp_path_factory.mktemp("faults"), **settings) as server:
                yield House(server, provider, to_model, to_database)


@pytest.fixture
async def house(opened: House) -> AsyncIterator[House]:
    opened.provider.behave(Behaviour(text=TEXT, piece=7, delay=0.002))
    yield opened
    opened.to_model.turn()
    opened.to_database.turn()


@contextlib.asynccontextmanager
async def asking(house: House, seconds: float = 20) -> AsyncIterator[Client]:
    """A client that has had a whole answer; so many seconds are enough for everything that is asked of it."""
    async with asyncio.timeout(seconds), client(house.server) as made:
        await whole(made, SHORT, house)
        house.provider.behave(Behaviour(text=TEXT, piece=7, delay=0.002))
        yield made


async def whole(made: Client, text: str, house: House) -> None:
    """An answer comes, and it is this text."""
    house.provider.behave(Behaviour(text=text))
    frames = await made.ask("hello", mode="generation")
    assert of(frames, "turn.done")["status"] == "completed", frames[-1]
    assert made.texts[frames[-1]["turn"]] == text


async def ask(made: Client) -> tuple[str, Frame]:
    """The text that came and the end of the turn."""
    frames = await made.ask("hello", mode="generation")
    return made.texts.get(frames[-1]["turn"], ""), of(frames, "turn.done")


@pytest.mark.parametrize("weather", [{"latency": 0.15}, {"rate": 100_000}, {"linger": 60.0}])
async def test_a_slow_way_to_the_model_tears_nothing(house: House, weather: dict[str, float]) -> None:
    async with asking(house) as made:
        house.to_model.cut()
        house.to_model.turn(**weather)
        text, done = await ask(made)
    assert (text, done["status"]) == (TEXT, "completed")


async def test_a_model_that_is_cut_off_ends_the_turn_and_its_text_is_kept(house: House) -> None:
    async with asking(house) as made:
        house.to_model.cut()
        house.to_model.turn(cut_after=3_000)
        text, done = await ask(made)
        assert (done["status"], done["error"]) == ("failed", "model_unavailable")
        assert 0 < len(text) < len(TEXT)
        assert TEXT.startswith(text)
        house.to_model.turn()
        await whole(made, SHORT, house)


async def test_a_model_that_falls_silent_ends_the_turn_in_time(house: House) -> None:
    async with asking(house) as made:
        house.provider.behave(Behaviour(text=TEXT, piece=7, delay=0.1))
        await made.send("turn.start", {"text": "hello", "mode": "generation"})
        await made.until("answer.delta")
        house.to_model.turn(silent=True)
        done = (await made.until("turn.done"))["d"]
        assert (done["status"], done["error"]) == ("failed", "model_unavailable")
        house.to_model.cut()
        house.to_model.turn()
        await whole(made, SHORT, house)


async def test_a_model_that_is_gone_is_said_and_is_found_again(house: House) -> None:
    async with asking(house) as made:
        house.to_model.turn(refused=True)
        house.to_model.cut()
        text, done = await ask(made)
        assert (text, done["status"], done["error"]) == ("", "failed", "model_unavailable")
        house.to_model.turn()
        await whole(made, SHORT, house)


@pytest.mark.parametrize("weather", [{"latency": 0.01}, {"rate": 200_000}, {"linger": 60.0}])
async def test_a_slow_way_to_the_database_tears_nothing(house: House, weather: dict[str, float]) -> None:
    async with asking(house) as made:
        house.to_database.cut()
        house.to_database.turn(**weather)
        text, done = await ask(made)
    assert (text, done["status"]) == (TEXT, "completed")


async def test_cut_database_connections_lose_no_event(house: House) -> None:
    async with asking(house) as made:
        house.provider.behave(Behaviour(text=TEXT, piece=7, delay=0.01))
        await made.send("turn.start", {"text": "hello", "mode": "generation"})
        turn = (await made.until("answer.delta"))["turn"]
        house.to_database.cut()
        done = (await made.until("turn.done"))["d"]
        assert (made.texts[turn], done["status"]) == (TEXT, "completed")
        assert kept(house, made, turn) == (made.texts[turn], 1)
        await whole(made, SHORT, house)


async def test_a_database_that_is_gone_for_a_while_is_found_again_in_the_same_turn(house: House) -> None:
    async with asking(house) as made:
        house.provider.behave(Behaviour(text=TEXT, piece=7, delay=0.01))
        await made.send("turn.start", {"text": "hello", "mode": "generation"})
        turn = (await made.until("answer.delta"))["turn"]
        tried = house.to_database.connections
        house.to_database.turn(refused=True)
        house.to_database.cut()
        while house.to_database.connections < tried + 3:
            await asyncio.sleep(0.02)
        house.to_database.turn()
        done = (await made.until("turn.done"))["d"]
        assert (made.texts[turn], done["status"]) == (TEXT, "completed")
        assert kept(house, made, turn) == (made.texts[turn], 1)
        await whole(made, SHORT, house)


async def test_a_database_that_falls_silent_for_a_while_holds_up_and_loses_nothing(house: House) -> None:
    async with asking(house) as made:
        house.provider.behave(Behaviour(text=TEXT, piece=7, delay=0.01))
        await made.send("turn.start", {"text": "hello", "mode": "generation"})
        turn = (await made.until("answer.delta"))["turn"]
        house.to_database.turn(silent=True)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1.0):
                await made.until("turn.done")
        house.to_database.turn()
        done = (await made.until("turn.done"))["d"]
        assert (made.texts[turn], done["status"]) == (TEXT, "completed")
        assert kept(house, made, turn) == (TEXT, 1)


@pytest.mark.parametrize("heard", [True, False])
async def test_no_commit_of_a_turn_whose_answer_is_lost_is_lost_or_made_twice(house: House, heard: bool) -> None:
    """One COMMIT after the other of a turn gets no answer; `heard` says whether the server got it before the reset."""
    before = len(house.server.log())
    async with asking(house, 60) as made:
        number = 0
        while number % 12 or not hit(house, before) >= WORKS:  # two commits may change their places
            assert number < 60, hit(house, before)
            house.provider.behave(Behaviour(text=SHORT))
            house.to_database.turn(lost=1 + number % 12, heard=heard)
            text, done = await ask(made)
            house.to_database.turn()
            assert (text, done["status"]) == (SHORT, "completed"), number
            assert kept(house, made, made.frames[-1]["turn"]) == (SHORT, 1), number
            number += 1
        ended = [frame["d"]["audit_id"] for frame in made.frames if frame["type"] == "turn.done"]
        assert sum(frame["type"] == "turn.accepted" for frame in made.frames) == len(ended) == number + 1
        assert len(set(ended)) == number + 1


WORKS = {"begin_turn", "save_plan", "finish_turn", "appends"}


def hit(house: House, before: int) -> set[str]:
    """What was done again, as the log of the server says behind this place."""
    log = house.server.log()[before:]
    return {work for work in WORKS if f"what={work}" in log or f"{work} wait" in log}


def kept(house: House, made: Client, turn: str) -> tuple[str, int]:
    """What the log holds of a turn: its text, and how often it ended."""
    url = f"{house.server.url}/api/sessions/{made.session}/events?after_seq=0"
    events = [event for event in httpx.get(url, timeout=10).json()["events"] if event["turn"] == turn]
    text = "".join(event["d"]["text"] for event in events if event["type"] == "answer.delta")
    return text, sum(event["type"] == "turn.done" for event in events)
