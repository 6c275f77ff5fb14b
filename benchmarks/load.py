"""A thousand sockets and a hundred streaming turns on one worker; a storm of sockets that come back; a reader that does not read.

sockets     `--sockets` sessions are opened; the memory of the worker before and after gives that of an idle socket
turns       `--turns` of them ask at once and stream; every frame is checked: a hole, a wrong offset, a wrong hash or an error
            ends the benchmark. `late` is how long after its commit a frame was read, 50th and 99th percentile, in ms
slow        the same turns while one more socket streams and is not read: the 99th percentile must not move. Both take turns,
            `--repeats` times, so that a busy moment of the machine hits both
storm       `--storm` sockets are cut in the middle of turns, come back at once and resume: nothing may be missing

The readers share the machine with the worker, so `late` holds their own waiting, too.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
from dataclasses import dataclass, field
from datetime import datetime
from statistics import quantiles
from time import monotonic, time

from tokens import named, provider, text_of
from worker import Page, Worker, open_page, pages, worker


@dataclass(slots=True)
class Seen:
    """Frames of answers that were read, and how late each was, in milliseconds."""

    late: list[float] = field(default_factory=list)

    def line(self) -> str:
        cuts = quantiles(self.late, n=100)
        return f"{len(self.late)} frames, late by {cuts[49]:.0f} ms (50th), {cuts[98]:.0f} ms (99th percentile)"


async def answered(page: Page, expected: str, seen: Seen | None = None) -> None:
    """Ask and read to the end; the text must be what the provider said."""
    await page.start("hello")
    frame = await page.receive()
    while frame["type"] != "turn.done":
        if frame["type"] == "error":
            raise SystemExit(f"refused: {frame['d']}")
        if seen is not None and frame["type"] == "answer.delta":
            seen.late.append((time() - datetime.fromisoformat(frame["ts"]).timestamp()) * 1000)
        frame = await page.receive()
    check(page, frame["turn"], frame["d"]["status"], expected)


def check(page: Page, turn: str, status: str, expected: str) -> None:
    if status != "completed" or page.texts[turn] != expected:
        raise SystemExit(f"a turn ended {status} with {len(page.texts.get(turn, ''))} of {len(expected)} characters")


async def all_answered(asking: list[Page], expected: str) -> Seen:
    seen = Seen()
    await asyncio.gather(*(answered(page, expected, seen) for page in asking))
    return seen


async def beside_a_slow_reader(running: Worker, asking: list[Page], expected: str) -> Seen:
    """The same turns while one socket has asked and does not read."""
    slow = await open_page(running.url, buffer=4096)
    await slow.start("hello")
    slow.socket.transport.pause_reading()
    try:
        return await all_answered(asking, expected)
    finally:
        slow.socket.transport.abort()


async def storm(running: Worker, asking: list[Page], idle: list[Page], expected: str) -> float:
    """Cut sockets in the middle of turns and open them again at once; seconds until all are back and whole."""
    turns = []
    for page in asking:
        await page.start("hello")
        turns.append((await page.until("answer.delta"))["turn"])
    cut = [*asking, *idle]
    for page in cut:
        page.socket.transport.abort()
    begun = monotonic()
    back = await asyncio.gather(*(open_page(running.url, page.session, page.epoch, page.seq) for page in cut))
    spent = monotonic() - begun
    for page, old in zip(back, cut, strict=True):
        page.texts = old.texts
    for page, turn in zip(back[: len(asking)], turns, strict=True):
        done = await page.until("turn.done")
        check(page, turn, done["d"]["status"], expected)
    await asyncio.gather(*(page.socket.close() for page in back))
    return spent


async def measure(chosen: argparse.Namespace) -> None:
    with provider() as url:
        settings = {
            "model__kind": "openai", "model__name": named(chosen.tokens, chosen.rate), "model__base_url": url,
            "model__window": "8192", "model__summaries": "false", "server__heartbeat_s": "300",
        }  # fmt: skip
        with worker(**settings) as running:
            await _measured(chosen, running, text_of(chosen.tokens))


async def _measured(chosen: argparse.Namespace, running: Worker, expected: str) -> None:
    async with pages(running.url, 20) as warm:
        await all_answered(warm, expected)
    await asyncio.sleep(5)  # closed sockets take a moment to go
    before, files = running.memory(), running.files()
    async with pages(running.url, chosen.sockets) as opened:
        used = (running.memory() - before) / chosen.sockets
        print(f"sockets  {running.files() - files} open, {used / 1024:.1f} KiB each, idle", flush=True)
        asking, idle = opened[: chosen.turns], opened[chosen.turns : chosen.storm]
        cpu, plain, slow = 0.0, Seen(), Seen()
        for _ in range(chosen.repeats):
            before_turns = running.cpu()
            plain.late += (await all_answered(asking, expected)).late
            cpu += running.cpu() - before_turns
            slow.late += (await beside_a_slow_reader(running, asking[:-1], expected)).late
        spent = f"{cpu / chosen.repeats:.1f} CPU s a round"
        print(f"turns    {len(asking)} streaming at once: {plain.line()}; {spent}; no error, nothing lost", flush=True)
        print(f"slow     {slow.line()}", flush=True)
        seconds = await storm(running, asking, idle, expected)
        print(f"storm    {chosen.storm} sockets back in {seconds:.1f} s, {len(asking)} turns whole", flush=True)
    print(f"after    {running.files() - files} sockets open, {(running.memory() - before) / 2**20:+.1f} MiB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sockets", type=int, default=1000)
    parser.add_argument("--turns", type=int, default=100)
    parser.add_argument("--storm", type=int, default=500, help="sockets that are cut and come back")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--tokens", type=int, default=400)
    parser.add_argument("--rate", type=float, default=20, help="tokens a second of each stream")
    chosen = parser.parse_args()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 16_384)), hard))
    asyncio.run(measure(chosen))


if __name__ == "__main__":
    main()
