"""One, two and four workers on one PostgreSQL: what they answer together, and what one does for the turns of another.

free        `--sockets` people, spread over the workers, ask as fast as they may for `--seconds`; the provider streams 40 tokens
            in .2 s. Turns a second, the time of a whole turn (50th and 99th percentile), CPU of the workers for a turn, and the
            cores that workers, PostgreSQL, this generator and the provider keep busy: where they reach the cores of the
            machine, more workers cannot bring more. `waiting` is how many sessions of PostgreSQL wait for a lock, on average:
            where it is high, they wait for each other
gated       the same with a model that takes 1 s, and no more than `--gate` turns at each worker: what grows here grows by
            workers and not by cores
across      a turn is begun at one worker and read at another (how much later a delta comes there), cancelled from a third (until
            the call of the model is closed, and until the first knows), and the worker that runs one is killed with SIGKILL (until
            another has ended it)

Every person has a token of their own and begins a new conversation after `--turns` turns. Every frame is checked, every text must
be what the provider said, and at the end every turn must have exactly one end in the log; anything else ends the benchmark.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from dataclasses import dataclass, field
from itertools import count
from statistics import quantiles
from time import monotonic
from typing import Any

from across import across
from fleet import Fleet, Spent, fleet, load, model, one_end_each, token
from tokens import named, provider, text_of
from worker import open_page

TOKENS = 40
FAST, SLOW = 200.0, 40.0
"""Tokens a second of the model in `free` and in `gated`."""
WARM_S = 5.0
Row = dict[str, Any]
_people = count()


@dataclass(slots=True)
class Asked:
    """Turns that were over while it was open: their seconds."""

    open: bool = False
    seconds: list[float] = field(default_factory=list)


async def conversation(url: str, turns: int, until: float, asked: Asked) -> None:
    """One person asks so many questions, or fewer when the time is over."""
    page = await open_page(url, token=token(f"person-{next(_people)}"))
    for _ in range(turns):
        if monotonic() >= until:
            break
        begun = monotonic()
        await page.start("hello")
        done = await page.until("turn.done")
        if (done["d"]["status"], page.texts[done["turn"]]) != ("completed", text_of(TOKENS)):
            raise SystemExit(f"a turn ended {done['d']}")
        if asked.open:
            asked.seconds.append(monotonic() - begun)
    await page.socket.close()


async def person(url: str, turns: int, until: float, asked: Asked) -> None:
    """Conversations, one after the other, until the time is over."""
    while monotonic() < until:
        await conversation(url, turns, until, asked)


async def throughput(running: Fleet, sockets: int, chosen: argparse.Namespace) -> Row:
    """Ask for so long; what was answered."""
    asked, until = Asked(), monotonic() + WARM_S + chosen.seconds
    urls = [running.workers[n % len(running.workers)].url for n in range(sockets)]
    everybody = asyncio.gather(*(person(url, chosen.turns, until, asked) for url in urls))
    await asyncio.sleep(WARM_S)
    before, asked.open = running.spent(), True
    waiting = await running.waiting(chosen.seconds)
    spent, asked.open = running.spent().since(before), False
    await everybody
    await one_end_each(running)
    return figures(len(running.workers), sockets, asked.seconds, spent) | {"waiting": round(waiting, 1)}


def figures(workers: int, sockets: int, seconds: list[float], spent: Spent) -> Row:
    """Of one round: turns a second, milliseconds of a turn, and what it took."""
    if len(seconds) < 2:
        raise SystemExit("too few turns ended in this time")
    cuts, turns = quantiles(seconds, n=100), len(seconds)
    row: Row = {"workers": workers, "sockets": sockets, "turns": turns, "per_s": round(turns / spent.at, 1)}
    row |= {"p50_ms": round(1000 * cuts[49]), "p99_ms": round(1000 * cuts[98])}
    row |= {"cpu_ms": round(1000 * spent.workers / turns), "postgresql_ms": round(1000 * spent.postgresql / turns)}
    return row | {"cores": {who: round(used, 2) for who, used in spent.cores().items()}}


async def round_of(name: str, workers: int, chosen: argparse.Namespace) -> Row:
    """One row: so many workers, free or gated."""
    gated = name == "gated"
    with provider() as url:
        settings = model(url, named(TOKENS, SLOW if gated else FAST))
        settings |= {"model__most_open": str(chosen.gate)} if gated else {}
        async with fleet(workers, **settings) as running:
            row = await throughput(running, chosen.gate * workers if gated else chosen.sockets, chosen)
    print(line(name, row), file=sys.stderr, flush=True)
    return row


def line(name: str, row: Row) -> str:
    """A row for people."""
    cores = ", ".join(f"{who} {used:.2f}" for who, used in row["cores"].items())
    return (
        f"{name:6} {row['workers']} workers {row['sockets']:3} sockets {row['turns']:5} turns {row['per_s']:6.1f}/s "
        f"p50 {row['p50_ms']:5} p99 {row['p99_ms']:5} ms  CPU a turn {row['cpu_ms']:4} ms, "
        f"PostgreSQL {row['postgresql_ms']:4} ms  waiting for a lock {row['waiting']:4}  cores: {cores}"
    )


def growth(rows: list[Row]) -> list[float]:
    """Turns a second beside those of the first row."""
    return [round(row["per_s"] / rows[0]["per_s"], 2) for row in rows]


async def measure(chosen: argparse.Namespace) -> Row:
    found: Row = {"machine": load()}
    numbers = [int(number) for number in chosen.workers.split(",") if number]
    for name in [name for name in chosen.rows.split(",") if name in ("free", "gated")]:
        rows = [await round_of(name, number, chosen) for number in numbers]
        found[name] = {"rows": rows, "growth": growth(rows)}
        print(f"{name:6} growth {found[name]['growth']}", file=sys.stderr, flush=True)
    if "across" in chosen.rows.split(","):
        found["across"] = await across(4, chosen.stops)
        print(f"across {found['across']}", file=sys.stderr, flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", default="1,2,4")
    parser.add_argument("--rows", default="free,gated,across")
    parser.add_argument("--sockets", type=int, default=48)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--gate", type=int, default=2, help="turns at once at each worker in `gated`")
    parser.add_argument("--turns", type=int, default=5, help="turns of a conversation")
    parser.add_argument("--stops", type=int, default=5, help="turns that are read elsewhere and cancelled from a third")
    chosen = parser.parse_args()
    print(json.dumps(asyncio.run(measure(chosen))))


if __name__ == "__main__":
    main()
