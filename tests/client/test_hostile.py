"""The client against servers that do not keep their promises."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from assistant.client import Asked, OriginRefused, Reloaded, Session, SocketRefused, Unreachable, WrongVersion, connect
from assistant.codec import encode
from assistant.core.events import AnswerDelta, AnswerFinished, AnswerStarted, TurnAccepted, TurnEvent, TurnFinished
from assistant.core.turn import fold
from assistant.errors import BadInput, NotFound
from assistant.transport.http import encode_message

TEXT = "It is 20 days."
READY = {
    "session_id": "s",
    "epoch": "e",
    "recovered": True,
    "replay_count": 0,
    "heartbeat_ms": 20_000,
    "limits": {"running_turns": 2, "starts_per_minute": 30},
}


def turn_of(client_id: str) -> list[TurnEvent]:
    done = AnswerFinished(len(TEXT), hashlib.sha256(TEXT.encode()).hexdigest(), "stop")
    deltas = [AnswerDelta(0, TEXT[:6]), AnswerDelta(6, TEXT[6:])]
    return [TurnAccepted("t1", client_id, "q", "u"), AnswerStarted("m", "p"), *deltas, done, TurnFinished("completed")]


def frame(type_: str, d: Any, **more: Any) -> str:
    return json.dumps({"v": 1, "type": type_, "sid": "s", "ts": "2026-11-30T12:00:00Z", "d": d, **more})


def numbered(client_id: str) -> list[str]:
    events = enumerate(turn_of(client_id), start=1)
    return [frame(event.type, encode(event), seq=seq, turn="t1") for seq, event in events]


Answer = Callable[["Line"], Awaitable[None]]


class Line:
    """One socket as a server sees it: what was asked to be opened, and the id of the question."""

    def __init__(self, socket: ServerConnection, opening: dict[str, Any], number: int) -> None:
        self.socket = socket
        self.opening = opening
        self.number = number
        self.client_id = ""

    async def send(self, *frames: str) -> None:
        for each in frames:
            await self.socket.send(each)

    async def asked(self) -> list[str]:
        """The frames of the turn that is asked for now."""
        self.client_id = json.loads(await self.socket.recv())["id"]
        return numbered(self.client_id)


@asynccontextmanager
async def serving(answer: Answer, *, ready: dict[str, Any] | None = None) -> AsyncIterator[tuple[str, list[Line]]]:
    """A server that opens every session and then does what `answer` says; its snapshot is the whole turn."""
    lines: list[Line] = []

    async def handle(socket: ServerConnection) -> None:
        opening = json.loads(await socket.recv())["d"]
        line = Line(socket, opening, len(lines))
        lines.append(line)
        resume = opening.get("resume")
        head = {
            "head_seq": resume["seq"] if resume else 6 * bool(line.number),
            "recovered": bool(resume) or not line.number,
        }
        await line.send(frame("session.ready", {**READY, **head, **(ready or {})}))
        await answer(line)

    def rest(_: ServerConnection, request: Request) -> Response | None:
        if not request.path.startswith("/api/"):
            return None
        known = next((line.client_id for line in reversed(lines) if line.client_id), "c")
        message = encode_message(fold(turn_of(known)))
        turns = [{"turn": "t1", "message": message}]
        body = json.dumps({"session_id": "s", "epoch": "e", "as_of_seq": 6, "turns": turns}).encode()
        headers = Headers({"Content-Length": str(len(body)), "Content-Type": "application/json"})
        return Response(HTTPStatus.OK, "OK", headers, body)

    async with serve(
        handle, "127.0.0.1", 0, subprotocols=[Subprotocol("assistant.v1")], process_request=rest, close_timeout=1
    ) as server:
        yield f"http://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}", lines


@asynccontextmanager
async def to(url: str) -> AsyncIterator[Session]:
    async with asyncio.timeout(30), connect(url, token="t", wait=lambda _: 0.0) as session:
        yield session


async def told(asked: Asked) -> list[str]:
    return [item.type async for item in asked]


WHOLE = ["turn.accepted", "answer.start", "answer.delta", "answer.delta", "answer.done", "turn.done"]


async def test_repetitions_unknown_types_and_stray_frames_are_passed_by() -> None:
    async def answer(line: Line) -> None:
        frames = await line.asked()
        await line.send(frame("ack", {"id": line.client_id, "turn": "t1"}), frame("news", {"x": 1}))
        await line.send(frame("ack", {"id": "of somebody else"}), frame("error", SHOWN))
        for each in frames:
            await line.send(each, each, frames[0])
        await line.socket.wait_closed()

    async with serving(answer) as (url, _), to(url) as session:
        assert await told(session.ask("q")) == WHOLE
        assert session.turns["t1"].text == TEXT


SHOWN = {"code": "busy", "message_key": "error.busy", "retryable": True, "ref_id": "of somebody else", "incident": "i"}


async def test_after_a_hole_it_is_asked_again_from_before_it() -> None:
    async def answer(line: Line) -> None:
        if line.number == 0:
            frames = await line.asked()
            await line.send(frames[0], frames[1], frames[3])
        else:
            await line.send(*numbered("c")[2:])
        await line.socket.wait_closed()

    async with serving(answer) as (url, lines), to(url) as session:
        assert await told(session.ask("q")) == WHOLE
        assert lines[1].opening["resume"] == {"epoch": "e", "seq": 2}


async def test_a_hole_that_stays_and_a_text_that_does_not_fit_are_loaded_anew() -> None:
    async def holes(line: Line) -> None:
        frames = await line.asked() if line.number == 0 else numbered("c")
        await line.send(*(frames[:1] if line.number == 0 else ()), frames[3])
        await line.socket.wait_closed()

    async def spoils(line: Line) -> None:
        frames = await line.asked()
        await line.send(*frames[:3], frame("answer.delta", {"off": 3, "text": "x"}, seq=4, turn="t1"))
        await line.socket.wait_closed()

    async def lies(line: Line) -> None:
        frames = await line.asked()
        done = {"length": len(TEXT), "sha256": "0" * 64, "finish": "stop"}
        await line.send(*frames[:4], frame("answer.done", done, seq=5, turn="t1"))
        await line.socket.wait_closed()

    for answer in (holes, spoils, lies):
        async with serving(answer) as (url, _), to(url) as session:
            items = [item async for item in session.ask("q")]
            assert isinstance(items[-1], Reloaded)
            assert items[-1].message == session.turns["t1"]
            assert (session.turns["t1"].text, session.turns["t1"].status) == (TEXT, "completed")


@pytest.mark.parametrize("junk", ["no", "[]", '{"v":2,"type":"x","d":{}}', '{"v":1,"type":"pong","d":{}}', "x" * 100])
async def test_what_is_no_frame_ends_the_client_instead_of_being_asked_for_for_ever(junk: str) -> None:
    async def answer(line: Line) -> None:
        await line.asked()
        await line.send(junk)
        await line.socket.wait_closed()

    async with serving(answer) as (url, lines), to(url) as session:
        with pytest.raises(BadInput):
            await session.answer("q")
        assert len(lines) == 1


async def test_a_server_that_falls_silent_is_left() -> None:
    async def answer(line: Line) -> None:
        if line.number == 0:
            await line.asked()
            async for _ in line.socket:
                pass  # pings, and nothing said to them
        else:
            await line.send(*numbered(json.loads(await line.socket.recv())["id"]))
            await line.socket.wait_closed()

    async with serving(answer, ready={"heartbeat_ms": 50}) as (url, lines), to(url) as session:
        assert await told(session.ask("q")) == WHOLE
        assert len(lines) == 2


async def test_what_was_lost_without_a_trace_is_noticed_by_the_pongs() -> None:
    async def answer(line: Line) -> None:
        if line.number == 0:
            frames = await line.asked()
            await line.send(*frames[:2])
            async for data in line.socket:
                if json.loads(data)["type"] == "ping":
                    await line.send(frame("pong", {"head_seq": 6}))
        else:
            await line.send(*numbered("c")[2:])
            await line.socket.wait_closed()

    async with serving(answer, ready={"heartbeat_ms": 50}) as (url, lines), to(url) as session:
        assert await told(session.ask("q")) == WHOLE
        assert lines[1].opening["resume"]["seq"] == 2


async def test_a_turn_that_a_restored_server_does_not_know_is_not_waited_for() -> None:
    async def answer(line: Line) -> None:
        if line.number == 0:
            await line.send((await line.asked())[0])
            await line.socket.close(4005)
        else:
            await line.socket.wait_closed()

    async with serving(answer, ready={"head_seq": 0, "recovered": True}) as (url, _), to(url) as session:
        with pytest.raises(NotFound):
            await session.answer("q")


@pytest.mark.parametrize(("code", "error"), [(4505, WrongVersion), (4503, OriginRefused), (4500, SocketRefused)])
async def test_a_server_that_wants_no_such_client_is_believed(code: int, error: type[Exception]) -> None:
    async def refuse(socket: ServerConnection) -> None:
        await socket.close(code, "no")

    async with serve(refuse, "127.0.0.1", 0, subprotocols=[Subprotocol("assistant.v1")]) as server:
        with pytest.raises(error):
            async with connect(f"http://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}", token="t"):
                pass


async def test_what_speaks_another_protocol_is_no_server() -> None:
    async def other(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example ready\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(other, "127.0.0.1", 0)
    async with server:
        with pytest.raises(Unreachable):
            async with connect(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", token="t"):
                pass
