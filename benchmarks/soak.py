"""Minutes of ordinary use of one worker; memory, tasks, threads, connections and files at intervals must stay flat.

Every socket asks, reads, and now and then cancels, drops its connection and resumes, or begins a new session. A line every
`--every` seconds: turns so far, memory of the worker (USS), tasks of its event loop (from its own /metrics), threads, open files
and sockets. At the end all sockets are closed, and what is left beside the state after the warm-up is said, with the memory that
the second half took. More than `--allowed` MiB, or tasks, threads or files beyond what a pool that fills up takes, is a failure
(exit status 1).
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
from dataclasses import dataclass
from statistics import linear_regression
from time import monotonic

import httpx
from tokens import named, provider, text_of
from worker import Page, Worker, open_page, worker

FILES, THREADS, TASKS = 32, 16, 8
"""Files, threads and tasks that may be more at the end than after the warm-up: the pool of connections to the database fills up,
and a job of the background may run. A turn that leaves one behind shows: there are hundreds of turns a minute."""
TOKEN = "soak"


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
    tasks: int
    threads: int
    files: int
    connections: int

    def line(self) -> str:
        return (
            f"{self.memory:7.1f} MiB {self.tasks:5} tasks {self.threads:4} threads {self.files:5} files "
            f"{self.connections:5} connections"
        )


async def state(running: Worker) -> State:
    process = running.process
    memory, threads, files = running.memory() / 2**20, process.num_threads(), running.files()
    connections = len(process.net_connections(kind="tcp"))
    return State(memory, await tasks(running), threads, files, connections)


async def tasks(running: Worker) -> int:
    """Tasks of the worker's event loop; the one that answers this is among them."""
    async with httpx.AsyncClient(trust_env=False, timeout=60) as http:
        told = await http.get(f"{running.url}/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    lines = told.raise_for_status().text.splitlines()
    return int(float(next(line for line in lines if line.startswith("assistant_tasks ")).split()[1]))


async def watch(running: Worker, until: float, every: float, count: Count) -> list[tuple[int, float]]:
    """A line at every interval; turns and memory at each."""
    begun, seen = monotonic(), []
    while monotonic() < until:
        now = await state(running)
        done = f"{count.turns:6} turns {count.cancelled:4} cancelled {count.resumed:4} resumed"
        print(f"{monotonic() - begun:6.0f} s {done} {now.line()}", flush=True)
        seen.append((count.turns, now.memory))
        await asyncio.sleep(min(every, max(0.1, until - monotonic())))
    return seen


def slope(seen: list[tuple[int, float]]) -> float:
    """KiB a turn over the second half of the lines, by least squares; nan with fewer than three."""
    half = seen[len(seen) // 2 :]
    if len(half) < 3:
        return float("nan")
    return linear_regression([turns for turns, _ in half], [memory * 1024 for _, memory in half]).slope


async def settled(running: Worker) -> State:
    """The state when nothing has changed for a moment: closed sockets take one to go."""
    last = await state(running)
    for _ in range(20):
        await asyncio.sleep(1)
        now = await state(running)
        if (now.tasks, now.files, now.connections) == (last.tasks, last.files, last.connections):
            return now
        last = now
    return last


async def soak(chosen: argparse.Namespace) -> bool:
    with provider() as url:
        settings = {
            "model__kind": "openai", "model__name": named(chosen.tokens, 50), "model__base_url": url,
            "model__window": "8192", "model__summaries": "false", "server__metrics_token": TOKEN,
        }  # fmt: skip
        with worker(**settings) as running:
            return await _soaked(chosen, running)


async def _soaked(chosen: argparse.Namespace, running: Worker) -> bool:
    dice, expected = random.Random(7), text_of(chosen.tokens)
    await crowd(running, chosen, min(30.0, chosen.minutes * 12), Count(), expected, dice)
    start = await settled(running)
    print(f"warm     {start.line()}", flush=True)
    count = Count()
    seen = await crowd(running, chosen, chosen.minutes * 60, count, expected, dice)
    end = await settled(running)
    print(f"end      {end.line()} after {count.turns} turns")
    return grown(start, end, count.turns, slope(seen), chosen.allowed)


def grown(start: State, end: State, turns: int, late: float, allowed: float) -> bool:
    """Say what is more at the end; whether it is no more than may be."""
    memory, tasks = end.memory - start.memory, end.tasks - start.tasks
    threads, files = end.threads - start.threads, end.files - start.files
    each = memory * 1024 / max(1, turns)
    print(
        f"grown    {memory:+.1f} MiB ({each:+.2f} KiB a turn, {late:+.2f} in the second half), {tasks:+} tasks, "
        f"{threads:+} threads, {files:+} files, {end.connections - start.connections:+} connections"
    )
    return memory <= allowed and tasks <= TASKS and threads <= THREADS and files <= FILES


async def crowd(
    running: Worker, chosen: argparse.Namespace, seconds: float, count: Count, expected: str, dice: random.Random
) -> list[tuple[int, float]]:
    """Everybody for so long; what was seen meanwhile."""
    until = monotonic() + seconds
    lives = [live(running, until, count, expected, random.Random(dice.random())) for _ in range(chosen.sockets)]
    watching = asyncio.create_task(watch(running, until, chosen.every, count))
    await asyncio.gather(*lives)
    return await watching


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
