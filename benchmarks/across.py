"""What workers of one database do for the turns of each other: show them, stop them, and end those of one that was killed."""

from __future__ import annotations

import asyncio
from itertools import count
from statistics import median, quantiles
from time import monotonic
from typing import Any

from fleet import fleet, model, one_end_each, token
from worker import Page, Worker, open_page

from assistant.llm.scripted_http import Behaviour, Provider, running_provider

ENDLESS = Behaviour(text="Employees get 20 days of annual leave. ", endless=True, delay=0.03)
DELTAS = 60
FIRST = 5
"""Deltas that are not counted: those that were there before the reader came."""
_people = count()


async def across(workers: int, repeats: int) -> dict[str, Any]:
    """Begin at one worker, read at another, cancel from a third; then kill all but the last, each while it runs a turn.

    Milliseconds that a delta comes later at the other worker, from the cancel until the call of the model is closed and until the
    first worker tells of the end, and seconds from SIGKILL until another worker has ended the turn. Raises SystemExit where a turn
    ends otherwise, or has not exactly one end in the log.
    """
    with running_provider() as scripted:
        async with fleet(workers, **model(scripted.url, "endless")) as running:
            stops = [await read_and_stopped(running.workers, scripted) for _ in range(repeats)]
            ended = [await ended_by_another(running.workers[victim:], scripted) for victim in range(workers - 1)]
            await one_end_each(running)
    cuts = quantiles([late for stop in stops for late in stop["late"]], n=100)
    closed, told = ([stop[name][0] for stop in stops] for name in ("closed", "told"))
    return {
        "workers": workers, "deltas": sum(len(stop["late"]) for stop in stops),
        "late_p50_ms": round(cuts[49], 1), "late_p99_ms": round(cuts[98], 1),
        "closed_ms": round(median(closed)), "closed_most_ms": round(max(closed)),
        "told_ms": round(median(told)), "told_most_ms": round(max(told)),
        "ended_s": [round(seconds, 2) for seconds in ended],
    }  # fmt: skip


class Visitor:
    """One person, who begins a turn at a worker and looks at it from others."""

    def __init__(self) -> None:
        self._name = f"visitor-{next(_people)}"
        self.pages: list[Page] = []

    async def begin(self, worker: Worker) -> str:
        """Ask, and read until the answer is under way; the turn."""
        page = await open_page(worker.url, token=token(self._name))
        self.pages.append(page)
        await page.start("hello")
        return str((await page.until("answer.delta"))["turn"])

    async def look(self, worker: Worker) -> Page:
        """The same session from its beginning at another worker."""
        first = self.pages[0]
        page = await open_page(worker.url, first.session, first.epoch, 0, token=token(self._name))
        self.pages.append(page)
        return page

    async def leave(self) -> None:
        """Close what is open."""
        await asyncio.gather(*(page.socket.close() for page in self.pages), return_exceptions=True)


async def read_and_stopped(workers: list[Worker], scripted: Provider) -> dict[str, list[float]]:
    """Milliseconds: each delta later at the second worker, the cancel from the third until the call closes and until it is told."""
    scripted.behave(ENDLESS)
    visitor = Visitor()
    turn = await visitor.begin(workers[0])
    reading, third = await visitor.look(workers[1]), await visitor.look(workers[2])
    here, there = await asyncio.gather(arrivals(visitor.pages[0], DELTAS), arrivals(reading, DELTAS))
    late = [1000 * (there[seq] - here[seq]) for seq in sorted(here.keys() & there.keys())[FIRST:]]
    begun = monotonic()
    await third.send("turn.cancel", {"turn": turn})
    closed, told = await asyncio.gather(closing(scripted), ending(visitor.pages[0], "cancelled"))
    await asyncio.gather(*(ending(page, "cancelled") for page in (reading, third)))
    await visitor.leave()
    return {"late": late, "closed": [1000 * (closed - begun)], "told": [1000 * (told - begun)]}


async def ended_by_another(workers: list[Worker], scripted: Provider) -> float:
    """Kill the first worker while it runs a turn; seconds until the last tells that another worker has ended it."""
    scripted.behave(ENDLESS)
    visitor = Visitor()
    await visitor.begin(workers[0])
    reading = await visitor.look(workers[-1])
    await reading.until("answer.delta")
    workers[0].process.kill()
    killed = monotonic()
    ended = await ending(reading, "failed")
    await visitor.leave()
    return ended - killed


async def arrivals(page: Page, number: int) -> dict[int, float]:
    """When each of so many deltas came, by its number."""
    times: dict[int, float] = {}
    while len(times) < number:
        frame = await page.until("answer.delta")
        times[frame["seq"]] = monotonic()
    return times


async def closing(scripted: Provider) -> float:
    """When the worker hung up in the middle of the answer. Raises SystemExit when it did not within 30 seconds."""
    if not await asyncio.to_thread(scripted.cancelled.wait, 30):
        raise SystemExit("the model was not stopped")
    return monotonic()


async def ending(page: Page, status: str) -> float:
    """When the page was told of the end. Raises SystemExit when it is another one."""
    async with asyncio.timeout(120):
        done = await page.until("turn.done")
    if done["d"]["status"] != status:
        raise SystemExit(f"a turn ended {done['d']['status']} instead of {status}")
    return monotonic()
