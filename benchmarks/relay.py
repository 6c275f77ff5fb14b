"""From the model's socket to a hundred websockets: tokens per CPU second of one worker, beside litellm's own streaming loop.

All rows read from the same provider (`tokens.py`: one token an event, `--rate` a second and stream) in the same run.

worker, streaming   the whole worker between the first words of all streams and the first end: HTTP from the model, the turn, the
                    commit of every event to SQLite, JSON, websockets; every frame is checked by its reader
worker, whole turn  the same from the question to turn.done of all: with what a turn costs however short its answer is
direct stream       the product's reader of OpenAI's form alone, without a turn and without a websocket
Chainlit, ...       with --peer PYTHON, an interpreter that has Chainlit: the same two parts of as many answers through one server of
                    its own to as many socket.io clients (`relay_peer.py`); it stores nothing
Open WebUI, ...     the same with an interpreter that has Open WebUI; it stores each answer at its end. --peer may be given twice
litellm             `async for chunk in await litellm.acompletion(stream=True)`, nothing done with the chunks

The CPU time is that of the process that reads from the model, user and system. The ratio is that of the row to litellm's.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from time import monotonic, process_time
from typing import Any

from tokens import named, provider, text_of
from worker import Page, Worker, pages, worker

from assistant.core.messages import Message, ModelDelta, Role
from assistant.core.prompt import ModelRequest, Sampling
from assistant.llm.openai_stream import OpenAICompatibleModel
from assistant.llm.tokens import NaiveCounter

TOKEN = len(text_of(1200)) / 1200
"""Characters of a token, on average."""


@dataclass(frozen=True, slots=True)
class Row:
    """What one side has done: tokens, CPU seconds, seconds, frames (0: none)."""

    name: str
    tokens: float
    cpu: float
    wall: float
    frames: int = 0

    @property
    def rate(self) -> float:
        return self.tokens / self.cpu


async def through_worker(running: Worker, streams: int) -> list[Row]:
    """A hundred turns at once, read to their ends."""
    async with pages(running.url, streams) as opened:
        await asyncio.gather(*(answered(page) for page in opened[:5]))  # a first turn warms up
        before = _seen(running, opened)
        for page in opened:
            await page.start("hello")
        await asyncio.gather(*(page.until("answer.delta") for page in opened))
        first = _seen(running, opened)
        ends = [asyncio.create_task(page.until("answer.done")) for page in opened]
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        streamed = _seen(running, opened)
        await asyncio.gather(*ends)
        await asyncio.gather(*(page.until("turn.done") for page in opened))
        whole = _seen(running, opened)
    return [_row("worker, streaming", first, streamed), _row("worker, whole turn", before, whole)]


async def answered(page: Page) -> None:
    await page.start("hello")
    await page.until("turn.done")


def _seen(running: Worker, opened: list[Page]) -> tuple[float, float, float, int]:
    characters = sum(page.characters for page in opened)
    return monotonic(), running.cpu(), characters / TOKEN, sum(page.deltas for page in opened)


def _row(name: str, one: tuple[float, float, float, int], other: tuple[float, float, float, int]) -> Row:
    return Row(name, other[2] - one[2], other[1] - one[1], other[0] - one[0], other[3] - one[3])


async def direct(reader: OpenAICompatibleModel) -> AsyncIterator[int]:
    """The product's reader: the characters of each delta."""
    request = ModelRequest((Message(Role.USER, "hello"),), Sampling(max_tokens=2048), "hello", (), (), "en")
    async for chunk in reader.stream(request):
        if isinstance(chunk, ModelDelta):
            yield len(chunk.text)


async def by_litellm(url: str, model: str) -> AsyncIterator[int]:
    """litellm's own loop: the characters of each chunk."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm

    litellm.suppress_debug_info, litellm.telemetry = True, False
    messages = [{"role": "user", "content": "hello"}]
    options: dict[str, Any] = {"api_base": url, "api_key": "none", "stream": True, "max_tokens": 2048}
    async for chunk in await litellm.acompletion(model=f"openai/{model}", messages=messages, **options):
        if chunk.choices:
            yield len(chunk.choices[0].delta.content or "")


async def alone(name: str, streams: int, read: Callable[[], AsyncIterator[int]]) -> Row:
    """So many streams of one reader in this process."""

    async def one() -> int:
        return sum([size async for size in read()])

    await one()
    cpu, wall = process_time(), monotonic()
    sizes = await asyncio.gather(*(one() for _ in range(streams)))
    return Row(name, sum(sizes) / TOKEN, process_time() - cpu, monotonic() - wall)


async def by_peer(url: str, python: str, chosen: argparse.Namespace) -> list[Row]:
    """The rows of the peer's server, measured by the peer's interpreter."""
    command = [python, str(Path(__file__).with_name("relay_peer.py")), "--url", url]
    command += [f"--{name}={getattr(chosen, name)}" for name in ("streams", "tokens", "rate")]
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    out, _ = await process.communicate()
    if process.returncode:
        raise SystemExit(f"the peer ended with {process.returncode}")
    told = json.loads(out.splitlines()[-1])
    print(f"peer: {told['versions']}", file=sys.stderr)
    return [_peer_row(told["name"], **part) for part in told["parts"]]


def _peer_row(peer: str, name: str, wall: float, cpu: float, characters: int, frames: int) -> Row:
    return Row(f"{peer}, {name}", characters / TOKEN, cpu, wall, frames)


async def measure(chosen: argparse.Namespace) -> list[Row]:
    with provider() as url:
        name = named(chosen.tokens, chosen.rate)
        short = named(chosen.baseline_tokens, chosen.rate)
        with worker(
            model__kind="openai", model__name=name, model__base_url=url, model__window="8192", model__summaries="false"
        ) as running:
            rows = await through_worker(running, chosen.streams)
        reader = OpenAICompatibleModel(url, name, window=8192, counter=NaiveCounter())
        rows.append(await alone("direct stream", chosen.streams, lambda: direct(reader)))
        await reader.aclose()
        for python in chosen.peer:
            rows += await by_peer(url, python, chosen)
        rows.append(await alone("litellm", chosen.streams, lambda: by_litellm(url, short)))
        return rows


def show(rows: list[Row]) -> None:
    base = rows[-1].rate
    print(
        f"{'':22} {'tokens':>8} {'CPU s':>7} {'wall s':>7} {'tokens/CPU s':>13} {'us/token':>9} {'a frame':>8} {'ratio':>6}"
    )
    for row in rows:
        held = f"{row.tokens / row.frames:8.1f}" if row.frames else " " * 8
        cost = 1e6 / row.rate
        print(
            f"{row.name:22} {row.tokens:8.0f} {row.cpu:7.2f} {row.wall:7.1f} {row.rate:13.0f} {cost:9.1f} {held} {row.rate / base:6.1f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, default=100)
    parser.add_argument("--tokens", type=int, default=600)
    parser.add_argument("--rate", type=float, default=50, help="tokens a second of each stream")
    parser.add_argument("--baseline-tokens", type=int, default=100, help="tokens of each of litellm's streams")
    parser.add_argument(
        "--peer", action="append", default=[], metavar="PYTHON", help="one that has Chainlit or Open WebUI"
    )
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    rows = asyncio.run(measure(chosen))
    if chosen.json:
        print(json.dumps([asdict(row) for row in rows]))
        return
    print(f"{chosen.streams} streams, {chosen.rate:g} tokens/s each; litellm {version('litellm')}")
    show(rows)


if __name__ == "__main__":
    main()
