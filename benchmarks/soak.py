"""Minutes of ordinary use of one worker; memory, tasks, threads, connections and files at intervals must stay flat.

Every socket asks, reads, and now and then cancels, drops its connection and resumes, or begins a new session. A line every
`--every` seconds: turns so far, memory of the worker (USS), its threads, open files and sockets, and the rows in its log. At the end
all sockets are closed, and what is left beside the start is said; more than `--allowed` MiB or any file or thread that grew
with the turns is a failure (exit status 1).
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
from dataclasses import dataclass
from time import monotonic

from tokens import named, provider, text_of
from worker import Page, Worker, open_page, worker

FILES, THREADS = 32, 16
"""Files and threads that may be more at the end than after the warm-up: the pool of connections to the database fills up."""


@dataclass(slots=True)
class Count:
    """What the sockets have done."""

    turns: int = 0
    cancelled: int = 0
    resumed: int = 0


async def live(running: Worker, until: float, count: Count, expected: str, dice: random.Random) -> None:
    """One person at one socket."""
    page = await open_page(running.url)
    while monotonic() < until:
        await page.start("hello")
        turn = (await page.until("answer.delta"))["turn"]
        match dice.random():
            case chance if chance < 0.1:
                await page.send("turn.cancel", {"turn": turn})
                count.cancelled += 1
                expected_here = ""
            case chance if chance < 0.2:
                page = await resumed(running, page)
                count.resumed += 1
                expected_here = expected
            case _:
                expected_here = expected
        await page.until("turn.done")
        if expected_here and page.texts[turn] != expected_here:
            raise SystemExit("the text is not what the provider said")
        count.turns += 1
        page.texts.clear()
        if dice.random() < 0.1:
            await page.socket.close()
            page = await open_page(running.url)
    await page.socket.close()


async def resumed(running: Worker, page: Page) -> Page:
    """The same session on a new socket; the old one is cut."""
    page.socket.transport.abort()
    back = await open_page(running.url, page.session, page.epoch, page.seq)
    back.texts = page.texts
    return back


@dataclass(frozen=True, slots=True)
class State:
    """What a worker holds."""

    memory: float
    threads: int
    files: int
    connections: int

    def line(self) -> str:
        return f"{self.memory:7.1f} MiB {self.threads:4} threads {self.files:5} files {self.connections:5} connections"


def state(running: Worker) -> State:
    process = running.process
    return State(
        running.memory() / 2**20, process.num_threads(), running.files(), len(process.net_connections(kind="tcp"))
    )


async def watch(running: Worker, until: float, every: float, count: Count) -> None:
    begun = monotonic()
    while monotonic() < until:
        done = f"{count.turns:6} turns {count.cancelled:4} cancelled {count.resumed:4} resumed"
        print(f"{monotonic() - begun:6.0f} s {done} {state(running).line()}", flush=True)
        await asyncio.sleep(min(every, max(0.1, until - monotonic())))


async def settled(running: Worker) -> State:
    """The state when nothing has changed for a moment: closed sockets take one to go."""
    last = state(running)
    for _ in range(20):
        await asyncio.sleep(1)
        now = state(running)
        if (now.files, now.connections) == (last.files, last.connections):
            return now
        last = now
    return last


async def soak(chosen: argparse.Namespace) -> bool:
    with provider() as url:
        settings = {
            "model__kind": "openai", "model__name": named(chosen.tokens, 50), "model__base_url": url,
            "model__window": "8192", "model__summaries": "false",
        }  # fmt: skip
        with worker(**settings) as running:
            return await _soaked(chosen, running)


async def _soaked(chosen: argparse.Namespace, running: Worker) -> bool:
    dice, expected = random.Random(7), text_of(chosen.tokens)
    await crowd(running, chosen, min(30.0, chosen.minutes * 12), Count(), expected, dice)
    start = await settled(running)
    print(f"warm     {start.line()}", flush=True)
    count = Count()
    await crowd(running, chosen, chosen.minutes * 60, count, expected, dice)
    end = await settled(running)
    print(f"end      {end.line()} after {count.turns} turns")
    grown = end.memory - start.memory
    per_turn = grown * 1024 / max(1, count.turns)
    print(f"grown    {grown:+.1f} MiB ({per_turn:+.2f} KiB a turn), {end.files - start.files:+} files, "
          f"{end.threads - start.threads:+} threads, {end.connections - start.connections:+} connections")  # fmt: skip
    return grown <= chosen.allowed and end.files - start.files <= FILES and end.threads - start.threads <= THREADS


async def crowd(
    running: Worker, chosen: argparse.Namespace, seconds: float, count: Count, expected: str, dice: random.Random
) -> None:
    until = monotonic() + seconds
    lives = [live(running, until, count, expected, random.Random(dice.random())) for _ in range(chosen.sockets)]
    await asyncio.gather(watch(running, until, chosen.every, count), *lives)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--sockets", type=int, default=20)
    parser.add_argument("--tokens", type=int, default=60)
    parser.add_argument("--every", type=float, default=60, help="seconds between two lines")
    parser.add_argument("--allowed", type=float, default=32, help="MiB that may be more at the end")
    sys.exit(0 if asyncio.run(soak(parser.parse_args())) else 1)


if __name__ == "__main__":
    main()
