"""Frames of every kind against the socket of a real server: it answers with a typed error or a documented close code, whatever comes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ulid import ULID
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from assistant.transport.errors import HTTP_STATUS, Close
from tests.e2e.serving import Frame, Server

pytestmark = pytest.mark.e2e

ANSWERS: Final = {"session.ready", "replay.done", "ack", "pong", "error"}
"""Control frames that may come; frames with a number are events of turns."""
CODES: Final = {"bad_input", "busy", "idempotency_mismatch", "not_found", "not_authenticated", "question_too_long"}
"""What a client can do wrong; never `internal`, which is the server's own fault."""
PROTOCOL: Final = {1009: "more than the server reads at all"}
"""Closed by the websocket itself, before the assistant sees anything."""
OPENING: Final = {"v": 1, "type": "session.open", "id": str(ULID()), "d": {}}

ids = st.just(None).map(lambda _: str(ULID()))
turns = st.sampled_from(["", "x", "0" * 26, str(ULID()), "a\x00b", "../..", "' OR 1=1 --", "\ud800"])
texts = st.sampled_from(
    ["Hi?", "billable", " ", "", "\x00", "\ud800", "\U0001f600" * 50, "x" * 8001, "\u202e\ufeff", "{}"]
)
hostile = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([-1, 0, 2**31, 2**53, 2**63, 2**64, -(2**63), 1e308, -0.0, 5e-324, 10**25]),
    texts,
    st.text(max_size=8),
    st.sampled_from([[], {}, [[]], {"": None}, {"$ref": "#"}, [None] * 200, {"__proto__": {"x": 1}}]),
    st.integers(1, 1100).map(lambda depth: _nested(depth)),  # noqa: PLW0108 - defined below,
)
schemas = st.sampled_from([None, {}, {"type": "object"}, {"type": "x"}, {"pattern": "(a+)+$"}, {"$ref": "file:///etc"}])
valid = st.one_of(
    st.just(
        {"type": "session.open", "d": {"resume": {"epoch": "e", "seq": 3}, "client": {"name": "x"}, "locale": "zz"}}
    ),
    st.builds(lambda one: {"type": "session.open", "d": {"session_id": one}}, turns),
    st.builds(
        lambda text, mode, schema, scope: {
            "type": "turn.start",
            "d": {"text": text, "mode": mode, "schema": schema, "scope": {"collections": scope}},
        },
        texts,
        st.sampled_from(["auto", "context_only", "refine", "warp", "\x00"]),
        schemas,
        st.lists(turns, max_size=3),
    ),
    st.builds(lambda turn: {"type": "turn.cancel", "d": {"turn": turn}}, turns),
    st.builds(
        lambda turn, text: {"type": "feedback.add", "d": {"turn": turn, "rating": "up", "correction": text}},
        turns,
        texts,
    ),
    st.builds(lambda token: {"type": "auth.refresh", "d": {"token": token}}, texts),
    st.builds(lambda seq: {"type": "ping", "d": {"seq": seq}}, st.integers(-1, 2**53 + 1)),
)


def _nested(depth: int) -> Any:
    value: Any = 0
    for level in range(depth):
        value = [value] if level % 2 else {"d": value}
    return value


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    for key, inner in value.items() if isinstance(value, dict) else ():
        yield from _places(inner, (*path, key))


@st.composite
def mutated(draw: st.DrawFn) -> Frame:
    """A valid frame in which something was replaced, taken away or added."""
    frame: Frame = deepcopy({"v": 1, "id": draw(ids), **draw(valid)})
    for _ in range(draw(st.integers(0, 2))):
        *where, last = draw(st.sampled_from(list(_places(frame)) or [("v",)]))
        at = frame
        for key in where:
            at = at[key]
        what = draw(st.sampled_from(["replace", "drop", "add"]))
        if what == "replace":
            at[last] = draw(hostile)
        elif what == "drop":
            del at[last]
        else:
            at[draw(st.text(max_size=4))] = draw(hostile)
    return frame


def _written(frame: Frame) -> str:
    return json.dumps(frame)


@st.composite
def spoilt(draw: st.DrawFn) -> bytes:
    """A frame as bytes with a few of them changed."""
    data = bytearray(_written(draw(mutated())).encode())[:2000]
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(data) - 1))
        data[place : place + draw(st.integers(0, 3))] = draw(st.binary(max_size=3))
    return bytes(data)


raw = st.sampled_from(
    [
        b"",
        b"[" * 3000,
        b'{"d":' * 2000,
        b'{"v":1,"type":"ping","id":"\xff"}',
        b'{"type":"ping","type":"session.open","v":1}',
        b'{"v":1,"type":"ping","d":{"seq":1' + b"0" * 400 + b"}}",
        b'{"v":1e999,"type":"ping"}',
        b'{"v":NaN,"type":"ping"}',
        b'{"v":1,"type":"turn.start","id":"\\ud800","d":{"text":"\\ud800"}}',
        b"\xef\xbb\xbf{}",
        b"null",
        b'"x"',
        b"x" * 70_000,
        b" " * 300_000,
    ]
)
messages = st.one_of(
    mutated().map(_written),
    mutated().map(lambda frame: _written(frame).encode()),
    spoilt().map(lambda data: data.decode("utf-8", "replace")),
    spoilt(),
    raw,
    st.binary(max_size=40),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
)
"""Text is sent as text, bytes as a binary frame."""


class Talk:
    """One socket: what came back, and how it ended."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []
        self.code: int | None = None

    async def run(self, server: Server, sent: Sequence[str | bytes], *, opened: bool, as_text: bool = False) -> None:
        """Send all, then a ping, and read until its pong or the end of the socket."""
        mark = str(ULID())
        async with asyncio.timeout(20):
            socket = await connect(
                server.url.replace("http", "ws") + "/v1/ws", subprotocols=[Subprotocol("assistant.v1")]
            )
            try:
                if opened:
                    await socket.send(_written({**OPENING, "id": str(ULID())}))
                for message in sent:
                    await socket.send(message, text=as_text or None)
                last = {"v": 1, "type": "feedback.add", "id": mark, "d": {"turn": "nobody", "rating": "up"}}
                await socket.send(_written(last))
                await self._read(socket, mark)
            except ConnectionClosed as closed:
                self.code = closed.rcvd.code if closed.rcvd else 1006
            finally:
                await socket.close()

    async def _read(self, socket: ClientConnection, mark: str) -> None:
        while True:
            frame = json.loads(await socket.recv())
            if "seq" not in frame:
                self.frames.append(frame)
            if frame["d"].get("ref_id") == mark:
                return

    def check(self) -> None:
        """Nothing but what the protocol promises."""
        assert self.code is None or self.code in set(Close) or self.code in PROTOCOL, self.code
        assert {frame["type"] for frame in self.frames} <= ANSWERS
        for frame in self.frames:
            if frame["type"] == "error":
                assert frame["d"]["code"] in CODES, frame
                assert frame["d"]["incident"]


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as made:
        yield made


@pytest.fixture(scope="module")
def attacked(server: Server) -> Iterator[Server]:
    """The shared server; at the end nothing was logged since that looks like a stack trace."""
    before = len(server.log())
    yield server
    since = server.log()[before:]
    assert "Traceback" not in since
    assert "Exception" not in since
    assert server.process is not None
    assert server.process.poll() is None


quick = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


@quick
@given(sent=st.lists(messages, min_size=1, max_size=4), opened=st.booleans())
def test_any_frames(attacked: Server, runner: asyncio.Runner, sent: list[str | bytes], opened: bool) -> None:
    talk = Talk()
    runner.run(talk.run(attacked, sent, opened=opened))
    talk.check()


@quick
@given(sent=st.lists(valid, min_size=2, max_size=8), opened=st.booleans())
def test_good_frames_in_any_order(attacked: Server, runner: asyncio.Runner, sent: list[Frame], opened: bool) -> None:
    talk = Talk()
    frames = [_written({"v": 1, "id": str(ULID()), **frame}) for frame in sent]
    runner.run(talk.run(attacked, frames, opened=opened))
    talk.check()
    if not opened and sent[0]["type"] != "session.open":
        assert talk.code in (Close.NO_OPEN, Close.BAD_FRAME)


@pytest.mark.parametrize("data", [b"\xff\xfe", b'{"v":1,"type":"ping","id":"\xc3\x28"}', b"\xed\xa0\x80"])
def test_text_that_is_no_utf_8(attacked: Server, runner: asyncio.Runner, data: bytes) -> None:
    talk = Talk()
    runner.run(talk.run(attacked, [data], opened=True, as_text=True))
    assert talk.code == Close.BAD_FRAME


def test_the_table_of_codes_is_of_this_server() -> None:
    assert set(HTTP_STATUS) >= CODES
