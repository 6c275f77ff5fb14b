"""PostgreSQL is away, or is restarted under everybody: every door says the same, and all goes on by itself when it is back."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy.engine import make_url
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from assistant.llm.scripted_http import Behaviour, running_provider
from tests.databases import _EMPTY, _run
from tests.e2e.proxy import proxying
from tests.e2e.serving import Client, Frame, environment, serving
from tests.e2e.test_faults import SHORT, House, asking, whole
from tests.e2e.test_many_workers import restart

pytestmark = pytest.mark.e2e

TEXT = "Employees get 20 days of annual leave. " * 4
SOCKETS = 20


@pytest.fixture(scope="module")
def house(migrated_database: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    asyncio.run(_run(migrated_database, _EMPTY))
    url = make_url(migrated_database)
    place = str(Path(str(url.query["host"])) / ".s.PGSQL.5432")
    with running_provider() as provider, proxying(place) as to_database:
        settings = {
            "database__url": f"postgresql://{url.username}@127.0.0.1:{to_database.port}/{url.database}",
            "model__kind": "openai", "model__name": "m", "model__window": "8192", "model__summaries": "false",
            "model__base_url": provider.url, "server__starts_per_minute": "1000",
            "server__running_turns_per_user": "50", "auth__development_roles": '["user", "admin"]',
        }  # fmt: skip
        with serving(tmp_path_factory.mktemp("outage"), **settings) as server:
            yield House(server, provider, to_database, to_database)


async def test_every_door_says_that_the_database_is_away_and_when_to_come_back(house: House) -> None:
    async with asking(house, 90) as made:
        house.to_database.turn(refused=True)
        house.to_database.cut()
        told, closed, answers, command = await asyncio.gather(
            over_the_socket(made), at_the_handshake(house), over_http(house, str(made.session)), by_command(house)
        )
        for frame in (told, closed):
            assert (frame["d"]["code"], frame["d"]["retryable"]) == ("unavailable", True)
            assert frame["d"]["retry_after_ms"] > 0
        for route, answer in answers.items():
            assert answer.status_code == 503, (route, answer.text)
            assert answer.json()["error"]["code"] == "unavailable", route
            assert int(answer.headers["Retry-After"]) > 0, route
        code, said = command
        assert code == 2
        assert said.strip().splitlines()[-1].startswith("unavailable: the database cannot be reached"), said
        assert "Traceback" not in said
        house.to_database.turn()
        await whole(made, SHORT, house)


async def over_the_socket(made: Client) -> Frame:
    await made.send("turn.start", {"text": "hello", "mode": "generation"})
    return await made.until("error")


async def at_the_handshake(house: House) -> Frame:
    place = house.server.url.replace("http", "ws") + "/v1/ws"
    async with connect(place, subprotocols=[Subprotocol("assistant.v1")]) as socket:
        opening = {"client": {"name": "test", "version": "1"}, "locale": "en"}
        await socket.send(
            json.dumps({"v": 1, "type": "session.open", "id": "01K00000000000000000000001", "d": opening})
        )
        frame: Frame = json.loads(await socket.recv())
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4007
    return frame


async def over_http(house: House, session: str) -> dict[str, httpx.Response]:
    async with httpx.AsyncClient(base_url=house.server.url, timeout=60) as http:
        asked: dict[str, Any] = {"json": {"text": "hello"}, "headers": {"Idempotency-Key": "k1"}}
        ways = {
            "open": http.post("/api/sessions"),
            "snapshot": http.get(f"/api/sessions/{session}"),
            "turn": http.post(f"/api/sessions/{session}/turns", **asked),
            "stream": http.get(f"/api/sessions/{session}/stream"),
            "turn as a stream": http.post(f"/api/sessions/{session}/turns/stream", **asked),
            "openai": http.post("/v1/chat/completions", json={"messages": [{"role": "user", "content": "hello"}]}),
            "jobs": http.get("/api/admin/jobs"),
        }
        return dict(zip(ways, await asyncio.gather(*ways.values()), strict=True))


async def by_command(house: House) -> tuple[int | None, str]:
    url = house.server.environment["ASSISTANT_DATABASE__URL"]
    env = environment(auth__development_user="ann", retrieval__embedder="none", database__url=url)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "assistant", "ask", "hello", env=env, cwd=house.server.folder,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    output, _ = await process.communicate()
    return process.returncode, output.decode()


async def test_twenty_sockets_outlive_a_crash_of_postgresql(house: House, migrated_database: str) -> None:
    house.to_database.turn()
    house.provider.behave(Behaviour(text=TEXT, piece=4, delay=0.05))
    tabs = [Client(house.server.url) for _ in range(SOCKETS)]
    async with asyncio.timeout(120):
        for each in tabs:
            await each.open()
        for each in tabs:
            await each.send("turn.start", {"text": "hello", "mode": "generation"})
        turns = [(await each.until("answer.delta"))["turn"] for each in tabs]
        await restart(migrated_database, "immediate")
        for each, turn in zip(tabs, turns, strict=True):
            done = (await each.until("turn.done"))["d"]
            assert (each.texts[turn], done["status"], done["error"]) == (TEXT, "completed", None)
        house.provider.behave(Behaviour(text=SHORT))
        for each in tabs:  # the same sockets of the same server go on
            assert (await each.ask("hello", mode="generation"))[-1]["d"]["status"] == "completed"
        for each in tabs:
            await replays(house, each)
            await each.close()


async def replays(house: House, each: Client) -> None:
    """Whoever comes anew is told what this client saw: the same events, each turn with one end."""
    anew = Client(house.server.url, each.session, each.epoch)
    await anew.open()
    while anew.seq < each.seq:
        await anew.receive()
    await anew.close()
    assert anew.frames == each.frames
    assert sum(frame["type"] == "turn.done" for frame in each.frames) == 2
