"""Rights that go while a model writes: within five seconds nothing more is said, on any door, and every door learns of it."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import httpx
import pytest
import pytest_asyncio
from ulid import ULID
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from assistant.llm.scripted_http import Behaviour, Provider, running_provider
from tests.e2e.canaries import LAMPS, PEOPLE, Company, Person, a_server, fill, frames_until, met, send
from tests.e2e.serving import Frame

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="module")]

PROMISED_S: Final = 5.0
REASON: Final = {"X-Audit-Reason": "sent away"}


@dataclass(slots=True)
class Heard:
    """What came over one door, each frame with its time, and how it ended."""

    frames: list[tuple[float, Frame]] = field(default_factory=list)
    ended: float = 0.0
    code: int | None = None
    began: asyncio.Event = field(default_factory=asyncio.Event)

    def add(self, frame: Frame) -> None:
        self.frames.append((time.monotonic(), frame))
        if _text(frame):
            self.began.set()

    def said_after(self, moment: float) -> list[Frame]:
        """Text that came later."""
        return [frame for at, frame in self.frames if at > moment and _text(frame)]


def _text(frame: Frame) -> str:
    """Text of an answer in a frame of ours, or in a chunk of the OpenAI-compatible door."""
    if frame.get("type") == "answer.delta":
        return str(frame["d"]["text"])
    return "".join(choice["delta"].get("content") or "" for choice in frame.get("choices", ()))


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with running_provider() as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def company(tmp_path_factory: pytest.TempPathFactory, provider: Provider) -> AsyncIterator[Company]:
    chosen = {
        "model__kind": "openai",
        "model__name": "test-model",
        "model__base_url": provider.url,
        "model__api_key": "k",
        "cache__enabled": "false",
    }
    made = Company(a_server(tmp_path_factory.mktemp("mid_turn"), **chosen))
    try:
        await asyncio.to_thread(made.server.start)
        for person in PEOPLE.values():
            await made.sign_in(person)
        await fill(made)
        yield made
    finally:
        if made.server.process is not None and made.server.process.poll() is None:
            await asyncio.to_thread(made.server.kill)  # endless turns would be waited for


@pytest_asyncio.fixture(loop_scope="module")
async def endless(provider: Provider) -> Provider:
    provider.behave(Behaviour(text="The harbour lamps are tested every 9 weeks. ", endless=True, delay=0.02))
    return provider


async def over_socket(socket: ClientConnection, heard: Heard) -> None:
    try:
        while True:
            heard.add(json.loads(await socket.recv()))
    except ConnectionClosed as closed:
        heard.code, heard.ended = closed.rcvd.code if closed.rcvd else 1006, time.monotonic()


async def over_events(http: httpx.AsyncClient, heard: Heard, method: str, path: str, **more: Any) -> None:
    async with http.stream(method, path, **more) as response:
        heard.code = response.status_code
        async for line in response.aiter_lines():
            if line.startswith("data: {"):
                heard.add(json.loads(line[6:]))
    heard.ended = time.monotonic()


async def everywhere(company: Company, name: str, http: httpx.AsyncClient) -> tuple[str, str, dict[str, Heard], Any]:
    """Ask over a socket, read over every door, and wait until all of them say something."""
    socket = await company.socket(name)
    ready = (await frames_until(socket, "replay.done"))[0]["d"]
    session, epoch = ready["session_id"], ready["epoch"]
    second = await company.socket(name, session_id=session)
    heard = {door: Heard() for door in ("socket", "tab", "stream", "model")}
    body = {"model": "assistant", "stream": True, "messages": [{"role": "user", "content": LAMPS}]}
    tasks = [
        asyncio.create_task(over_socket(socket, heard["socket"])),
        asyncio.create_task(over_socket(second, heard["tab"])),
        asyncio.create_task(over_events(http, heard["stream"], "GET", f"/api/sessions/{session}/stream")),
        asyncio.create_task(over_events(http, heard["model"], "POST", "/v1/chat/completions", json=body)),
    ]
    await send(socket, "turn.start", {"text": LAMPS})
    async with asyncio.timeout(20):
        await asyncio.gather(*(one.began.wait() for one in heard.values()))
    return session, epoch, heard, asyncio.gather(*tasks)


async def test_a_group_that_is_taken_away_ends_what_rests_on_it(company: Company, endless: Provider) -> None:
    async with company.http("rita") as http, company.http("ada") as admin:
        session, epoch, heard, ends = await everywhere(company, "rita", http)
        endless.cancelled.clear()
        asked = time.monotonic()
        changed = await admin.put("/api/admin/people/rita/groups", headers=REASON, json={"groups": []})
        assert changed.status_code == 204
        async with asyncio.timeout(20):
            await ends
        for door, one in heard.items():
            assert one.ended - asked <= PROMISED_S, door
            assert one.said_after(asked + PROMISED_S) == []
        assert {heard["socket"].code, heard["tab"].code} == {4005}, "load the session anew"
        assert await asyncio.to_thread(endless.cancelled.wait, 5), "the model is not asked any longer"

        socket = await company.socket("rita", session_id=session, resume={"epoch": epoch, "seq": 1})
        frames = await frames_until(socket, "replay.done")
        assert frames[0]["d"]["recovered"] is False
        await socket.close()
        (turn,) = (await http.get(f"/api/sessions/{session}")).json()["turns"]
        assert (turn["message"]["withheld"], turn["message"]["text"]) == (True, "")
        assert turn["message"]["status"] == "failed"
        assert met(json.dumps([frames, turn])) == set()
        key = {"Idempotency-Key": str(ULID())}
        endless.behave(Behaviour(text="Every 3 weeks."))
        again = await http.post(f"/api/sessions/{session}/turns", json={"text": LAMPS}, headers=key)
        assert met(again.text) == {"open"}
        assert met(json.dumps(endless.bodies)) == {"open"}, (
            "what was withdrawn is not in the prompt either, nor is the old answer"
        )
        assert "9 weeks" not in json.dumps(endless.bodies)


async def test_a_person_who_is_revoked_is_gone_from_every_door(company: Company, endless: Provider) -> None:
    async with company.http("hanna") as http, company.http("ada") as admin:
        session, _, heard, ends = await everywhere(company, "hanna", http)
        asked = time.monotonic()
        assert (await admin.post("/api/admin/people/hanna/revoke", headers=REASON)).status_code == 204
        async with asyncio.timeout(20):
            await ends
        for door, one in heard.items():
            assert one.ended - asked <= PROMISED_S, door
        assert {heard["socket"].code, heard["tab"].code} == {4501}
        assert (await http.get(f"/api/sessions/{session}")).status_code == 401
        again = await company.socket("hanna", session_id=session)
        assert (await frames_until(again, "replay.done"))[-1] == {
            "type": "closed",
            "d": {"code": 4501, "text": "not authenticated"},
        }


async def test_who_waits_for_a_whole_answer_gets_none_of_what_they_lost(company: Company, provider: Provider) -> None:
    """The requests came in while the right was there; their answers go out when it is gone."""
    provider.behave(Behaviour(text="The harbour lamps are tested every 9 weeks. " * 10, piece=3, delay=0.03))
    await company.sign_in(Person("hugo", ("hr",)))
    await company.sign_in(Person("hilda", ("hr",)))
    async with company.http("hugo") as http, company.http("hilda") as other, company.http("ada") as admin:
        waiting = []
        for client in (http, other):
            session = (await client.post("/api/sessions")).json()["session_id"]
            key, body = (
                {"Idempotency-Key": str(ULID())},
                {"model": "assistant", "messages": [{"role": "user", "content": LAMPS}]},
            )
            waiting.append(client.post(f"/api/sessions/{session}/turns", json={"text": LAMPS}, headers=key))
            waiting.append(client.post("/v1/chat/completions", json=body))
        answers = asyncio.gather(*waiting)
        async with asyncio.timeout(20):
            while provider.sent < 20:
                await asyncio.sleep(0.01)
        revoked = await admin.post("/api/admin/people/hugo/revoke", headers=REASON)
        changed = await admin.put("/api/admin/people/hilda/groups", headers=REASON, json={"groups": []})
        assert (revoked.status_code, changed.status_code) == (204, 204)
        async with asyncio.timeout(30):
            rest, model, rest_without_group, model_without_group = await answers
        assert (rest.status_code, model.status_code, model_without_group.status_code) == (401, 401, 502)
        message = rest_without_group.json()["message"]
        assert (message["withheld"], message["text"], message["status"]) == (True, "", "failed")
        everything = "".join(one.text for one in (rest, model, rest_without_group, model_without_group))
        assert met(everything) == set()
        assert "9 weeks" not in everything


async def test_the_log_has_no_prompt_and_no_answer(company: Company) -> None:
    log = company.server.log()
    assert met(log) == set()
    assert not [text for text in (LAMPS, "9 weeks", *company.tokens.values()) if text in log]
    assert "Traceback" not in log
