"""A peer's relay of the same streams, for `relay.py --peer`: one server process, a hundred socket.io clients.

    PYTHON relay_peer.py --url http://127.0.0.1:PORT/v1 --tokens 600 --rate 50 [--streams 100]

PYTHON is an interpreter that has Chainlit or Open WebUI (README.md says how to install them); its server is the one that is
measured. The clients are those of python-socketio in this process, over websockets without compression; they say what the peer's
own page says, and each answer must be the whole text at its end. The CPU time is that of the server and its children. Prints one
line of JSON.

streaming   from the first words of all answers to the first end; left out where less than half of the tokens came then (a short time
            says little: what the clients read late was paid before)
whole turn  from the question to the end of the last turn
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from time import monotonic

from relay_peer_chat import Chat, Peer
from tokens import named, text_of


@dataclass(frozen=True, slots=True)
class Part:
    """What was done between two moments: seconds, CPU seconds, characters and frames that the clients got."""

    name: str
    wall: float
    cpu: float
    characters: int
    frames: int


@asynccontextmanager
async def chats(peer: Peer, count: int, expected: str) -> AsyncIterator[list[Chat]]:
    """So many connected clients."""
    opened = [peer.chat(expected) for _ in range(count)]
    for some in range(0, count, 20):
        await asyncio.gather(*(chat.open() for chat in opened[some : some + 20]))
    try:
        yield opened
    finally:
        await asyncio.gather(*(chat.socket.disconnect() for chat in opened), return_exceptions=True)


async def answered(chat: Chat) -> None:
    await chat.ask()
    await chat.until(chat.idle)


async def measure(peer: Peer, count: int, expected: str) -> list[Part]:
    """So many answers at once, read to their ends."""

    def seen() -> Part:
        characters = sum(chat.characters for chat in opened)
        return Part("", monotonic(), peer.cpu(), characters, sum(chat.frames for chat in opened))

    async with chats(peer, count, expected) as opened:
        await asyncio.gather(*(answered(chat) for chat in opened[:5]))  # a first turn warms up
        before = seen()
        for chat in opened:
            chat.reset()
        ends = [asyncio.create_task(chat.until(chat.ended)) for chat in opened]
        turns = [asyncio.create_task(answered(chat)) for chat in opened]
        await asyncio.gather(*(chat.until(chat.begun) for chat in opened))
        first = seen()
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        streamed = seen()
        await asyncio.gather(*ends, *turns)
        parts = [_between("streaming", first, streamed), _between("whole turn", before, seen())]
    return parts if 2 * parts[0].characters >= parts[1].characters else parts[1:]


def _between(name: str, one: Part, other: Part) -> Part:
    return Part(
        name,
        other.wall - one.wall,
        other.cpu - one.cpu,
        other.characters - one.characters,
        other.frames - one.frames,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", required=True, help="the provider")
    parser.add_argument("--streams", type=int, default=100)
    parser.add_argument("--tokens", type=int, default=600)
    parser.add_argument("--rate", type=float, default=50)
    given = parser.parse_args()
    side = import_module("relay_webui" if find_spec("open_webui") else "relay_chainlit")
    with side.served(given.url, named(given.tokens, given.rate), given.streams) as peer:
        parts = asyncio.run(measure(peer, given.streams, text_of(given.tokens)))
    versions = ", ".join(f"{name} {version(name)}" for name in side.PARTS)
    print(json.dumps({"name": side.NAME, "versions": versions, "parts": [asdict(part) for part in parts]}))


if __name__ == "__main__":
    main()
