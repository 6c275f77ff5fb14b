"""Sockets and streams whose person's standing changes: tokens that end, people sent away, sources withdrawn, a server that stops."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from ulid import ULID
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from assistant.app import now
from assistant.core.access import EVERYONE
from tests.store.filling import draft, put
from tests.transport.house import BOARD, Frame, House, at_home, close_code, read_stream, receive, send

SECRET = "The board met in secret in May about leave."


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with at_home(tmp_path) as opened:
        yield opened


async def put_secret(house: House, access: str) -> None:
    store = house.doors.store
    from assistant.store import Store

    async with Store(store._database.engine.url.render_as_string()) as other:  # type: ignore[attr-defined]
        await put(other, draft(SECRET, "board.md", title="Board minutes", access=(access,)))
        await other.tell_changes(now() - timedelta(minutes=1))
    house.doors.live.stir()


async def ask(socket: ClientConnection, text: str = "What did the board meet about in May?") -> str:
    await send(socket, "turn.start", {"text": text})
    done = await receive(socket, "turn.done", "error")
    assert done["type"] == "turn.done", done
    return str(done["turn"])


async def test_a_token_that_ends_is_announced_and_then_closes(house: House) -> None:
    house.portal.minutes = 0.6 / 60
    socket, ready = await house.socket()
    assert ready["d"]["auth_expires_at"]
    assert (await receive(socket))["type"] in ("auth.expiring", "replay.done")
    assert await close_code(socket) == 4003


async def test_a_newer_token_keeps_the_socket(house: House) -> None:
    house.portal.minutes = 0.6 / 60
    socket, _ = await house.socket()
    await receive(socket, "auth.expiring")
    house.portal.minutes = 60
    await send(socket, "auth.refresh", {"token": "newer"})
    await receive(socket, "ack")
    await asyncio.sleep(0.8)
    await send(socket, "ping", {"seq": 0})
    assert (await receive(socket, "pong"))["d"] == {"head_seq": 0}
    await socket.close()


async def test_a_token_of_another_person_closes_and_a_bad_one_is_only_refused(house: House) -> None:
    socket, _ = await house.socket()
    await send(socket, "auth.refresh", {"token": "bad"})
    assert (await receive(socket, "error"))["d"]["code"] == "not_authenticated"
    await send(socket, "auth.refresh", {"token": "of-bob"})
    assert await close_code(socket) == 4504


@pytest.mark.parametrize(("token", "code"), [("bad", 4501), ("expired", 4003)])
async def test_who_has_no_good_token_does_not_come_in(house: House, token: str, code: int) -> None:
    made = await house.connect()
    await send(made, "session.open", {"token": token})
    assert await close_code(made) == code


async def test_who_is_sent_away_goes_at_once(house: House) -> None:
    socket, _ = await house.socket()
    house.portal.revoked = True
    house.doors.presence.ring([("acme", "bob")])
    await send(socket, "ping", {"seq": 0})
    await receive(socket, "pong")
    house.doors.presence.ring([("acme", "ann")])
    assert await close_code(socket) == 4501


async def test_rights_are_looked_up_at_every_turn(house: House) -> None:
    await put_secret(house, "board")
    socket, _ = await house.socket()
    await ask(socket)
    house.portal.caller = replace(BOARD, groups=frozenset({EVERYONE}))
    await ask(socket)
    async with httpx.AsyncClient(base_url=house.url) as http:
        listed = (await http.get("/api/sessions")).json()["sessions"]
        said = (await http.get(f"/api/sessions/{listed[0]['session_id']}")).text
    assert "secret" not in said
    await socket.close()


async def test_a_source_that_is_withdrawn_is_withheld_on_every_path(house: House) -> None:
    await put_secret(house, "board")
    socket, ready = await house.socket()
    turn = await ask(socket)
    session, epoch = ready["d"]["session_id"], ready["d"]["epoch"]
    async with httpx.AsyncClient(base_url=house.url) as http:
        before = await http.get(f"/api/sessions/{session}")
        assert "secret" in before.text
        await put_secret(house, "chair")
        assert await close_code(socket) == 4005
        after = (await http.get(f"/api/sessions/{session}")).json()
        (shown,) = after["turns"]
        assert (shown["turn"], shown["message"]["withheld"], shown["message"]["text"]) == (turn, True, "")
        events = (await http.get(f"/api/sessions/{session}/events")).json()["events"]
        assert [event["seq"] for event in events] == list(range(1, after["as_of_seq"] + 1))
        kinds = {event["type"] for event in events}
        assert kinds == {"turn.accepted", "turn.withheld", "turn.usage", "turn.done"}
        assert "secret" not in json.dumps([after, events])
    again, back = await house.socket(session_id=session, resume={"epoch": epoch, "seq": 3})
    assert back["d"]["recovered"] is False
    await again.close()


async def test_a_server_that_stops_sends_its_clients_elsewhere(house: House) -> None:
    socket, _ = await house.socket()
    draining = asyncio.create_task(house.doors.presence.drain(5))
    assert (await receive(socket, "server.draining"))["d"]["reconnect_after_ms"] > 0
    assert await close_code(socket) == 4002
    await draining
    late = await house.connect()
    assert await close_code(late) == 4002
    async with httpx.AsyncClient(base_url=house.url) as http:
        assert (await http.get("/readyz")).json() == {"status": "draining"}


async def test_the_stream_has_the_frames_of_the_socket_and_goes_on_where_it_was_cut(house: House) -> None:
    await put_secret(house, "board")
    socket, ready = await house.socket()
    session = ready["d"]["session_id"]
    await send(socket, "turn.start", {"text": "What did the board meet about in May?"})
    frames: list[Frame] = []
    while not frames or frames[-1]["type"] != "turn.done":
        frame = await receive(socket)
        frames += [frame] if "seq" in frame else []
    path = f"/api/sessions/{session}/stream"
    async with httpx.AsyncClient(base_url=house.url) as http:
        ids: list[str] = []
        got: list[Frame] = []
        async for id_, frame in read_stream(http, path + "?after_seq=0"):
            if "seq" in frame:
                ids.append(id_)
                got.append(frame)
            if frame["type"] == "replay.done":
                break
        assert got == frames
        rest = [frame async for _, frame in _until_replayed(read_stream(http, path, **{"Last-Event-ID": ids[2]}))]
        assert rest[0]["d"]["recovered"] is True
        assert rest[1:-1] == frames[3:]
        other = [frame async for _, frame in _until_replayed(read_stream(http, path, **{"Last-Event-ID": "else:2"}))]
        assert (other[0]["d"]["recovered"], len(other)) == (False, 2)
        refused = await http.get(path, headers={"Last-Event-ID": "nonsense"})
        assert (refused.status_code, refused.json()["error"]["reason"]) == (422, "last_event_id")
    await socket.close()


async def _until_replayed(frames: AsyncIterator[tuple[str, Frame]]) -> AsyncIterator[tuple[str, Frame]]:
    async for id_, frame in frames:
        yield id_, frame
        if frame["type"] == "replay.done":
            return


async def test_a_turn_can_be_asked_and_read_in_one_request(house: House) -> None:
    await put_secret(house, "board")
    async with httpx.AsyncClient(base_url=house.url) as http:
        session = (await http.post("/api/sessions")).json()["session_id"]
        path, key = f"/api/sessions/{session}/turns/stream", {"Idempotency-Key": str(ULID())}
        body = {"text": "What did the board meet about in May?"}
        for _ in range(2):  # the same key reads the same turn again
            async with http.stream("POST", path, json=body, headers=key) as response:
                lines = [line async for line in response.aiter_lines() if line.startswith("data: ")]
            frames = [json.loads(line[6:]) for line in lines]
            assert [frame["seq"] for frame in frames] == list(range(1, len(frames) + 1))
            assert (frames[0]["type"], frames[-1]["type"]) == ("turn.accepted", "turn.done")


async def test_a_stream_ends_when_the_person_is_sent_away(house: House) -> None:
    async with httpx.AsyncClient(base_url=house.url) as http:
        session = (await http.post("/api/sessions")).json()["session_id"]
        frames = read_stream(http, f"/api/sessions/{session}/stream")
        assert (await anext(frames))[1]["type"] == "session.ready"
        assert (await anext(frames))[1]["type"] == "replay.done"
        house.portal.revoked = True
        house.doors.presence.ring([("acme", "ann")])
        with pytest.raises(StopAsyncIteration):
            await anext(frames)


@pytest.mark.parametrize("origin", ["null", "https://portal.example", "http://127.0.0.1:1", "http://x.127.0.0.1", None])
async def test_sockets_of_other_origins_are_refused(house: House, origin: str | None) -> None:
    made = await house.connect(origin)
    with suppress(ConnectionClosed):  # most are gone before they can say anything
        await send(made, "session.open", {"token": "t"})
    assert await close_code(made) == 4503
