from __future__ import annotations

import asyncio
import json

import httpx
import pytest
from ulid import ULID
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from tests.e2e.serving import Client, Server, client, of

pytestmark = pytest.mark.e2e
QUESTION = "How many hours must be billable in a week?"


async def closed(server: Server, *frames: str, origin: str | None = None, subprotocol: str = "assistant.v1") -> int:
    """The close code after sending these frames."""
    socket = await connect(
        server.url.replace("http", "ws") + "/v1/ws",
        subprotocols=[Subprotocol(subprotocol)],
        origin=origin,  # type: ignore[arg-type]
    )
    with pytest.raises(ConnectionClosed) as ended:
        for frame in frames:
            await socket.send(frame)
        async with asyncio.timeout(10):
            while True:
                await socket.recv()
    assert ended.value.rcvd is not None
    return ended.value.rcvd.code


async def test_a_real_question_gets_an_answer_citations_and_its_conflict(server: Server) -> None:
    async with client(server) as page:
        frames = await page.ask(QUESTION)
    answer = page.texts[frames[0]["turn"]]
    assert "32" in answer
    assert "36" in answer
    cited = of(frames, "citations")["items"]
    assert {item["source"]["date"] for item in cited} == {"2025-02-27", "2021-12-31"}
    for item in cited:
        assert item["verdict"] in ("supported", "partial")
    conflicts = of(frames, "conflicts")["items"]
    assert all(conflict["resolution"] == "newer" for conflict in conflicts)
    preferred = [side["date"] for conflict in conflicts for side in conflict["sides"] if side["preferred"]]
    assert set(preferred) == {"2025-02-27"}
    assert of(frames, "turn.done")["status"] == "completed"


async def test_a_question_that_the_documents_do_not_answer_is_refused_plainly(server: Server) -> None:
    async with client(server) as page:
        frames = await page.ask("What is the boiling point of tungsten?")
        assert of(frames, "answer.done")["finish"] == "no_answer"
        assert page.texts[frames[0]["turn"]] == "The documents do not answer this."
        frames = await page.ask("钨的沸点是多少？")
        assert page.texts[frames[0]["turn"]] == "根据现有信息无法回答。"


async def test_closing_and_coming_back_finds_everything(server: Server) -> None:
    page = Client(server.url)
    await page.open()
    frames = await page.ask(QUESTION)
    await page.close()
    again = Client(server.url, session=page.session)
    ready = await again.open(resume=False)
    assert ready["d"]["recovered"] is False
    snapshot = httpx.get(f"{server.url}/api/sessions/{page.session}").json()
    assert snapshot["as_of_seq"] == page.seq
    (turn,) = snapshot["turns"]
    assert turn["message"]["text"] == page.texts[turn["turn"]]
    assert turn["message"]["citations"] == of(frames, "citations")
    listed = httpx.get(f"{server.url}/api/sessions").json()["sessions"]
    assert page.session in [item["session_id"] for item in listed]
    await again.close()


async def test_a_follow_up_in_the_same_session(server: Server) -> None:
    async with client(server) as page:
        await page.ask(QUESTION)
        frames = await page.ask("And for a four day week?")
    assert "bill" in of(frames, "turn.plan")["standalone"].lower()


async def test_a_cut_socket_resumes_where_it_was(server: Server) -> None:
    page = Client(server.url)
    await page.open()
    await page.send("turn.start", {"text": QUESTION})
    await page.until("turn.plan")
    assert page.socket is not None
    page.socket.transport.abort()
    ready = await page.open()
    assert ready["d"]["recovered"] is True
    await page.until("turn.done")
    assert page.seq == len(page.frames)
    await page.close()


async def test_two_tabs_see_the_same(server: Server) -> None:
    async with client(server) as one:
        two = Client(server.url, session=one.session, epoch=one.epoch)
        await two.open()
        frames = await one.ask(QUESTION)
        await two.until("turn.done")
        assert two.frames == frames
        await two.close()


async def test_the_cited_passage_opens_with_its_surroundings(server: Server) -> None:
    async with client(server) as page:
        frames = await page.ask(QUESTION)
    item = of(frames, "citations")["items"][0]
    url = f"{server.url}/api/sessions/{page.session}/turns/{frames[0]['turn']}/citations/{item['n']}"
    opened = httpx.get(url, params={"start": item["source"]["start"]}).json()
    assert opened["exact"] == item["source"]["exact"]
    assert opened["before"] or opened["after"]
    assert opened["state"] == "unchanged"
    assert httpx.get(url.rsplit("/", 1)[0] + "/99").status_code == 404


async def test_the_same_start_is_acknowledged_as_a_duplicate(server: Server) -> None:
    async with client(server) as page:
        key = str(ULID())
        await page.send("turn.start", {"text": QUESTION}, key)
        first = await page.until("ack")
        await page.send("turn.start", {"text": QUESTION}, key)
        second = await page.until("ack")
        assert (first["d"]["duplicate"], second["d"]["duplicate"]) == (False, True)
        assert first["d"]["turn"] == second["d"]["turn"]
        await page.send("turn.start", {"text": "Something else"}, key)
        assert (await page.until("error"))["d"]["code"] == "idempotency_mismatch"


async def test_feedback_is_acknowledged_when_stored_and_only_for_own_turns(server: Server) -> None:
    async with client(server) as page, client(server) as other:
        frames = await page.ask(QUESTION)
        given = {"turn": frames[0]["turn"], "rating": "down", "correction": "32 hours, 80 %."}
        await page.send("feedback.add", given)
        assert (await page.until("ack", "error"))["type"] == "ack"
        await page.send("feedback.add", given | {"rating": "sideways"})
        assert (await page.until("ack", "error"))["d"]["code"] == "bad_input"
        await other.send("feedback.add", given)
        assert (await other.until("ack", "error"))["d"]["code"] == "not_found"


async def test_pings_are_answered_and_unknown_frames_ignored(server: Server) -> None:
    async with client(server) as page:
        await page.send("hologram", {"x": 1})
        await page.send("ping", {"seq": 0})
        assert (await page.until("pong", "error"))["type"] == "pong"


@pytest.mark.parametrize(
    ("d", "code"),
    [
        ({"text": "   "}, "bad_input"),
        ({"text": "Hi", "mode": "warp"}, "bad_input"),
        ({}, "bad_input"),
        ({"text": "a\u0000b"}, "bad_input"),
    ],
)
async def test_bad_starts_are_refused_and_the_socket_stays(server: Server, d: dict[str, str], code: str) -> None:
    async with client(server) as page:
        await page.send("turn.start", d)
        refused = await page.until("error", "turn.done")
        assert refused["d"]["code"] == code
        assert refused["d"]["incident"]
        await page.send("ping", {"seq": 0})
        await page.until("pong")


async def test_close_codes(server: Server) -> None:
    opening = json.dumps({"v": 1, "type": "session.open", "id": str(ULID()), "d": {}})
    stranger = json.dumps({"v": 1, "type": "session.open", "id": str(ULID()), "d": {"session_id": "nobody-knows"}})
    assert await closed(server, "{not json") == 4500
    assert await closed(server, "x" * 70000) == 4500
    assert await closed(server, opening, "{not json") == 4500
    assert await closed(server, stranger) == 4504
    assert await closed(server, json.dumps({"v": 1, "type": "ping", "id": str(ULID()), "d": {}})) == 4502
    assert await closed(server, opening.replace('"v": 1', '"v": 2')) == 4505
    assert await closed(server, origin="https://evil.example") == 4503
    assert await closed(server, origin="null") == 4503
    assert await closed(server, origin="http://[") == 4503
    assert await closed(server, subprotocol="assistant.v9") == 4505


async def test_a_silent_newcomer_is_closed(server: Server) -> None:
    assert await closed(server) == 4502
