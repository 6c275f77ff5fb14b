"""A scripted provider of OpenAI's chat completions in a process of its own: its work is not that of whom it serves.

It says the same to every request, and keeps what a benchmark asks for at `/script`: how many calls came and when the
first, their prompts, and how many were open at once. Run as a program it prints its port and serves until it is ended.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

import httpx
import uvicorn

from assistant.llm.tokens import load_encoding

REPLY = (
    "Staff are expected to book most of the week to projects, and the rest to work for the team, to training and to leave. "
    "The share is looked at by quarter and not by week, so that a week without a project does not count against anybody. "
    "Whoever expects to fall short for longer tells the supervisor and the staffing team early."
)
PIECE = 24
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


@dataclass(slots=True)
class Script:
    """What the provider does and what it saw since it was told so.

    A call takes `delay` seconds: the first piece of a stream comes after half of it, the last at its end.
    """

    delay: float = 0.0
    prompts: list[str] = field(default_factory=list)
    first: float = 0.0
    open: int = 0
    most_open: int = 0

    def begin(self, body: dict[str, Any]) -> None:
        """A call has come."""
        self.first = self.first or monotonic()
        self.prompts.append("\n".join(message["content"] for message in body["messages"]))
        self.open += 1
        self.most_open = max(self.most_open, self.open)

    def report(self) -> dict[str, Any]:
        """Calls, tokens of all prompts (o200k_base), the clock (monotonic) at the first, most calls open at once."""
        encoding = load_encoding("o200k_base")
        tokens = [len(encoding.encode_ordinary(prompt)) for prompt in self.prompts]
        return {
            "calls": len(tokens),
            "tokens": sum(tokens),
            "longest": max(tokens, default=0),
            "first": self.first,
            "open": self.most_open,
        }


@dataclass(slots=True)
class Provider:
    """The application: `/script` sets and reads the script, everything else is a call of the model."""

    script: Script = field(default_factory=Script)

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        body = json.loads(await _body(receive) or b"{}")
        if scope["path"] != "/script":
            await self._answer(body, send)
        elif scope["method"] == "GET":
            await _whole(send, self.script.report())
        else:
            self.script = Script(**body)
            await _whole(send, {})

    async def _answer(self, body: dict[str, Any], send: Send) -> None:
        script = self.script
        script.begin(body)
        try:
            if body.get("stream"):
                await _stream(send, script.delay)
            else:
                await asyncio.sleep(script.delay)
                await _whole(send, _completion())
        finally:
            script.open -= 1


async def _body(receive: Receive) -> bytes:
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    return body


async def _start(send: Send, kind: str) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", kind.encode())]})


async def _whole(send: Send, body: dict[str, Any]) -> None:
    await _start(send, "application/json")
    await send({"type": "http.response.body", "body": json.dumps(body).encode()})


async def _stream(send: Send, delay: float) -> None:
    await _start(send, "text/event-stream")
    async for chunk in _chunks(delay):
        text = chunk if isinstance(chunk, str) else json.dumps(chunk)
        await send({"type": "http.response.body", "body": f"data: {text}\n\n".encode(), "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def _chunks(delay: float) -> AsyncIterator[dict[str, Any] | str]:
    pieces = [REPLY[start : start + PIECE] for start in range(0, len(REPLY), PIECE)]
    begun = monotonic()
    for number, piece in enumerate(pieces):
        due = delay * (1 + number / (len(pieces) - 1)) / 2
        await asyncio.sleep(max(0.0, begun + due - monotonic()))
        yield _named({"choices": [{"index": 0, "delta": {"role": "assistant", "content": piece}}]})
    yield _named({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    yield _named({"choices": [], "usage": _usage()})
    yield "[DONE]"


def _completion() -> dict[str, Any]:
    message = {"role": "assistant", "content": REPLY}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {**_named({"choices": [choice], "usage": _usage()}), "object": "chat.completion"}


def _named(body: dict[str, Any]) -> dict[str, Any]:
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "scripted", **body}


def _usage() -> dict[str, int]:
    return {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


@dataclass(frozen=True, slots=True)
class Serving:
    """A provider that runs: the address of its API, and its script."""

    url: str
    door: httpx.Client

    def script(self, delay: float) -> None:
        """Take so many seconds for each call from now on, and forget what was seen."""
        self.door.post("/script", json={"delay": delay}).raise_for_status()

    def report(self) -> dict[str, Any]:
        """What was seen since the script was set."""
        seen: dict[str, Any] = self.door.get("/script").raise_for_status().json()
        return seen


@contextmanager
def serving() -> Iterator[Serving]:
    """Run a provider in a process of its own until the block ends."""
    process = subprocess.Popen([sys.executable, str(Path(__file__))], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        base = f"http://127.0.0.1:{int(process.stdout.readline())}"
        with httpx.Client(base_url=base, timeout=60, trust_env=False) as door:
            yield Serving(f"{base}/v1", door)
    finally:
        process.terminate()
        process.wait(10)


def main() -> None:
    load_encoding("o200k_base")
    config = uvicorn.Config(Provider(), host="127.0.0.1", port=0, log_level="error", lifespan="off")
    listener = config.bind_socket()
    listener.listen()
    print(listener.getsockname()[1], flush=True)
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
