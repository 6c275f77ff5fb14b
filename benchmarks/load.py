"""A thousand sockets and a hundred streaming turns on one worker; a storm of sockets that come back; a reader that does not read.

sockets     `--sockets` sessions are opened; the memory of the worker before and after gives that of an idle socket
turns       `--turns` of them ask at once and stream; every frame is checked: a hole, a wrong offset, a wrong hash or an error
            ends the benchmark. `late` is how long after its commit a frame was read, 50th and 99th percentile, in ms
slow        the same number of turns, but one is of a reader with a log of 15 MB before it, more than the buffers of the kernel
            hold, who reads two frames a second: the worker is held up all the time, and the 99th percentile of the others must not
            move. Both kinds of round take turns, `--repeats` times, and take turns in coming first, so that a busy moment of the
            machine and the history that grows hit both; behind the percentiles of all rounds are the 99th of each
storm       `--turns` sockets in the middle of turns and idle ones, `--storm` in all, are cut, come back at once and resume: nothing
            may be missing

The readers share the machine with the worker, so `late` holds their own waiting, too.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import sqlite3
import tempfile
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from statistics import quantiles
from time import monotonic, time

from tokens import named, provider, text_of
from worker import Page, Worker, open_page, pages, worker

LOG_ROWS, LOG_TEXT = 1500, 10_000
"""Events in the log of the slow reader, and characters of each."""
GONE_S = 5.0
"""Closed sockets take a moment to go."""
PAUSE_S = 0.5
"""Between two frames that the slow reader reads."""


@dataclass(slots=True)
class Seen:
    """Frames of answers that were read, by rounds, and how late each was, in milliseconds."""

    rounds: list[list[float]] = field(default_factory=list)

    def line(self) -> str:
        late = [each for one in self.rounds for each in one]
        cuts, each = quantiles(late, n=100), (f"{quantiles(one, n=100)[98]:.0f}" for one in self.rounds)
        return f"{len(late)} frames, late by {cuts[49]:.0f} ms (50th), {cuts[98]:.0f} ms (99th percentile; {', '.join(each)})"


async def answered(page: Page, expected: str, late: list[float]) -> None:
    """Ask and read to the end; the text must be what the provider said. Adds how late each frame was."""
    await page.start("hello")
    frame = await page.receive()
    while frame["type"] != "turn.done":
        if frame["type"] == "error":
            raise SystemExit(f"refused: {frame['d']}")
        if frame["type"] == "answer.delta":
            late.append((time() - datetime.fromisoformat(frame["ts"]).timestamp()) * 1000)
        frame = await page.receive()
    check(page, frame["turn"], frame["d"]["status"], expected)


def check(page: Page, turn: str, status: str, expected: str) -> None:
    if status != "completed" or page.texts[turn] != expected:
        raise SystemExit(f"a turn ended {status} with {len(page.texts.get(turn, ''))} of {len(expected)} characters")


async def all_answered(asking: list[Page], expected: str) -> list[float]:
    """All ask at once and read to the end; how late each frame was."""
    late: list[float] = []
    await asyncio.gather(*(answered(page, expected, late) for page in asking))
    return late


@dataclass(frozen=True, slots=True)
class Backlog:
    """A session with a log that no buffer holds: where it is, and its last number."""

    url: str
    session: str
    epoch: str
    head: int

    async def reading(self) -> None:
        """Ask, and read so slowly that the worker is held up, until it is cancelled."""
        page = await open_page(self.url, self.session, self.epoch, 0, buffer=4096)
        await page.start("hello")
        try:
            while True:
                await page.receive()
                if page.seq >= self.head:
                    raise SystemExit("the slow reader has read all, it was not slow")
                await asyncio.sleep(PAUSE_S)
        finally:
            page.socket.transport.abort()

    async def ended(self, expected: str) -> Backlog:
        """Wait for the end of the turn that was asked, and look at its text; the session with what was added to its log."""
        page = await open_page(self.url, self.session, self.epoch, self.head)
        done = await page.until("turn.done")
        check(page, done["turn"], done["d"]["status"], expected)
        await page.socket.close()
        return replace(self, head=page.seq)


async def backlog(running: Worker, database: Path, expected: str) -> Backlog:
    """A session with one turn, and a log that is made larger than any buffer."""
    page = await open_page(running.url)
    await answered(page, expected, [])
    (turn,) = page.texts
    await page.socket.close()
    await asyncio.to_thread(_lengthen, database, page, turn, len(expected))
    return Backlog(running.url, page.session, page.epoch, page.seq + LOG_ROWS)


def _lengthen(database: Path, page: Page, turn: str, start: int) -> None:
    rows = [
        (page.session, page.seq + 1 + n, turn, "answer.delta", "2025-01-01 00:00:00.000000",
         json.dumps({"off": start + n * LOG_TEXT, "text": "x" * LOG_TEXT}))
        for n in range(LOG_ROWS)
    ]  # fmt: skip
    with closing(sqlite3.connect(database, timeout=60)) as connection, connection:
        connection.executemany(
            "INSERT INTO events (conversation, seq, turn, type, at, d) VALUES (?, ?, ?, ?, ?, ?)", rows
        )
        moved = (page.seq + LOG_ROWS, page.session)
        connection.execute("UPDATE conversations SET head_seq = ? WHERE id = ?", moved)


async def beside(slow: Backlog, asking: list[Page], expected: str) -> list[float]:
    """The turns of all of these while the slow reader asks and reads."""
    reading = asyncio.create_task(slow.reading())
    late = await all_answered(asking, expected)
    if reading.done():
        reading.result()
        raise SystemExit("the slow reader was cut off")
    reading.cancel()
    await asyncio.gather(reading, return_exceptions=True)
    return late


async def storm(running: Worker, asking: list[Page], idle: list[Page], expected: str) -> float:
    """Cut sockets in the middle of turns and open them again at once; seconds until all are back. Then each turn must be whole."""
    await asyncio.gather(*(page.start("hello") for page in asking))
    turns = [frame["turn"] for frame in await asyncio.gather(*(page.until("answer.delta") for page in asking))]
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
        with tempfile.TemporaryDirectory() as home, worker(Path(home), **settings) as running:
            await _measured(chosen, running, Path(home) / "var" / "assistant.db", text_of(chosen.tokens))


async def _measured(chosen: argparse.Namespace, running: Worker, database: Path, expected: str) -> None:
    async with pages(running.url, 20) as warm:
        await all_answered(warm, expected)
    await asyncio.sleep(GONE_S)
    before, files = running.memory(), running.files()
    async with pages(running.url, chosen.sockets) as opened:
        used = (running.memory() - before) / chosen.sockets
        print(f"sockets  {running.files() - files} open, {used / 1024:.1f} KiB each, idle", flush=True)
        asking, idle = opened[: chosen.turns], opened[chosen.turns : chosen.storm]
        await rounds(chosen, running, await backlog(running, database, expected), asking, expected)
        seconds = await storm(running, asking, idle, expected)
        cut = len(asking) + len(idle)
        print(f"storm    {cut} sockets back in {seconds:.1f} s, {len(asking)} turns whole", flush=True)
    await asyncio.sleep(GONE_S)
    print(f"after    {running.files() - files} sockets open, {(running.memory() - before) / 2**20:+.1f} MiB")


async def rounds(chosen: argparse.Namespace, running: Worker, slow: Backlog, asking: list[Page], expected: str) -> None:
    """Rounds with and without the slow reader."""
    cpu, plain, beside_slow = 0.0, Seen(), Seen()
    for number in range(chosen.repeats):
        for kind in ("plain", "slow") if number % 2 == 0 else ("slow", "plain"):
            if kind == "slow":
                beside_slow.rounds.append(await beside(slow, asking[:-1], expected))
                slow = await slow.ended(expected)
            else:
                before = running.cpu()
                plain.rounds.append(await all_answered(asking, expected))
                cpu += running.cpu() - before
    spent = f"{cpu / chosen.repeats:.1f} CPU s a round"
    print(f"turns    {len(asking)} streaming at once: {plain.line()}; {spent}; no error, nothing lost", flush=True)
    print(f"slow     {beside_slow.line()}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sockets", type=int, default=1000)
    parser.add_argument("--turns", type=int, default=100)
    parser.add_argument("--storm", type=int, default=500, help="sockets that are cut and come back")
    parser.add_argument(
        "--repeats", type=int, default=4, help="rounds of each kind; even, so that each comes first as often"
    )
    parser.add_argument("--tokens", type=int, default=400)
    parser.add_argument("--rate", type=float, default=20, help="tokens a second of each stream")
    chosen = parser.parse_args()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 16_384)), hard))
    asyncio.run(measure(chosen))


if __name__ == "__main__":
    main()
