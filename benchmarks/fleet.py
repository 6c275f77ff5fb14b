"""Some workers of the assistant on one new PostgreSQL, people who may come in at each, and who used how much of the processors."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from statistics import fmean
from time import monotonic, time

import asyncpg
import psutil
from first_token import database
from joserfc import jwt
from joserfc.jwk import OctKey
from ulid import ULID
from worker import Worker, worker

SECRET = "of a benchmark, and of nothing else"
LIFE_S = 590
"""Seconds that a token is good for; the server takes no more than ten minutes."""

EVERY_S = 0.1
"""Seconds between two looks at who waits for a lock."""


def token(user: str) -> str:
    """A token of the portal for this person, good for one use."""
    now = int(time())
    claims = {"sub": user, "aud": "assistant", "iat": now, "exp": now + LIFE_S, "jti": str(ULID())}
    return jwt.encode({"alg": "HS256"}, claims, OctKey.import_key(SECRET))


@dataclass(frozen=True, slots=True)
class Fleet:
    """Running workers, the URL of their database, and its first process."""

    workers: list[Worker]
    database: str
    postmaster: psutil.Process

    async def ends(self) -> list[int]:
        """How many ends each turn has in the log of events, for all turns that were ever started."""
        query = """
            SELECT count(e.seq) FROM turns t LEFT JOIN events e ON e.turn = t.id AND e.type = 'turn.done' GROUP BY t.id
        """
        connection = await asyncpg.connect(self.database)
        try:
            return [int(row[0]) for row in await connection.fetch(query)]
        finally:
            await connection.close()

    async def waiting(self, seconds: float) -> float:
        """How many sessions of the database wait for a lock, on average over so long from now."""
        query = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        connection, until, seen = await asyncpg.connect(self.database), monotonic() + seconds, []
        try:
            while monotonic() < until:
                seen.append(int(await connection.fetchval(query)))
                await asyncio.sleep(EVERY_S)
        finally:
            await connection.close()
        return fmean(seen)

    def spent(self) -> Spent:
        """What was used so far."""
        ours, machine = psutil.Process(), psutil.cpu_times()
        providers = [child for child in ours.children() if any("tokens.py" in part for part in child.cmdline())]
        return Spent(
            monotonic(),
            sum(each.cpu() for each in self.workers),
            _of_tree(self.postmaster),
            _own(ours),
            sum(_own(each) for each in providers),
            sum(machine) - machine.idle - machine.iowait - machine.guest - machine.guest_nice,
        )


@dataclass(frozen=True, slots=True)
class Spent:
    """CPU seconds by who used them, and when this was; `machine` is everybody's."""

    at: float
    workers: float
    postgresql: float
    generator: float
    provider: float
    machine: float

    def since(self, before: Spent) -> Spent:
        """What was used from `before` until this; `at` is the seconds between."""
        return Spent(*(getattr(self, each.name) - getattr(before, each.name) for each in fields(self)))

    def cores(self) -> dict[str, float]:
        """Cores that each kept busy; `others` is what runs beside the benchmark."""
        known = {name: getattr(self, name) for name in ("workers", "postgresql", "generator", "provider")}
        others = max(0.0, self.machine - sum(known.values()))
        return {name: used / self.at for name, used in (known | {"others": others}).items()}


def _own(process: psutil.Process) -> float:
    """Of a process alone; one that has just ended counts among those of its parent."""
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return float(times.user + times.system)


def _of_tree(process: psutil.Process) -> float:
    """Of a process, of the children that it has, and of those that have ended."""
    times = process.cpu_times()
    living = sum(_own(child) for child in process.children(recursive=True))
    return float(times.user + times.system + times.children_user + times.children_system + living)


@asynccontextmanager
async def fleet(count: int, **settings: str) -> AsyncIterator[Fleet]:
    """So many workers with these settings on a new database, until the block ends; people come in by `token`."""
    async with database("postgresql") as url:
        postmaster = await _postmaster(url)
        given = {"auth__development_user": "", "auth__portal_secret": SECRET, "cache__enabled": "false"}
        with _home() as home, ExitStack() as stack:
            workers = [stack.enter_context(worker(home, database__url=url, **given, **settings)) for _ in range(count)]
            yield Fleet(workers, url, postmaster)


@contextmanager
def _home() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="fleet-") as name:
        yield Path(name)


async def _postmaster(url: str) -> psutil.Process:
    connection = await asyncpg.connect(url)
    try:
        folder = str(await connection.fetchval("SHOW data_directory"))
    finally:
        await connection.close()
    return psutil.Process(int((Path(folder) / "postmaster.pid").read_text().split()[0]))


def model(url: str, name: str) -> dict[str, str]:
    """Settings of workers that ask this model and do nothing else."""
    return {
        "model__kind": "openai", "model__base_url": url, "model__name": name, "model__api_key": "k",
        "model__window": "8192", "model__summaries": "false", "model__rewrite": "false",
    }  # fmt: skip


async def one_end_each(running: Fleet) -> None:
    """Raise SystemExit unless every turn has exactly one end in the log."""
    ends = Counter(await running.ends())
    if set(ends) != {1}:
        raise SystemExit(f"turns by the number of their ends: {dict(ends)}")


def load() -> str:
    """How busy the machine is, for the reader of the figures."""
    return f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
