"""A large audit log in a real SQLite file: how long `assistant audit verify` takes and with how much memory, and what a page of a list costs.

Pages are read at the newest record, in the middle and near the oldest, from the store and over REST. They are flat where the three cost the same.
The file is filled by rows, not by asking: records of answers with sealed text, six citations of two documents, views and ratings between them.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from time import perf_counter
from types import SimpleNamespace
from typing import Any

import httpx
from fastapi import FastAPI

from assistant.app import make_desk
from assistant.audit.checkpointing import Checkpointer
from assistant.audit.desk import Notary
from assistant.audit.signing import signer_at
from assistant.audit.targets import Targets
from assistant.config import Settings
from assistant.core.access import Caller
from assistant.core.audit import AuditKind, AuditRecord, StoredBody, canonical, genesis, hash_of, stamp
from assistant.core.audit_columns import cited_rows, facet_columns
from assistant.core.audit_filter import AuditFilter
from assistant.core.citations import Verdict
from assistant.store import Store
from assistant.store.migrations import migrate
from assistant.store.tables import audit_documents, audit_records
from assistant.transport.audit import router
from benchmarks.audit import draft, text

TENANT = "default"
START = datetime(2025, 1, 1, tzinfo=UTC)
BATCH = 5000
DOCUMENTS = 97
FILTERS: dict[str, tuple[AuditFilter, str]] = {
    "none": (AuditFilter(), ""),
    "person": (AuditFilter(person="p7"), "person=p7"),
    "mode": (AuditFilter(mode="refine"), "mode=refine"),
    "model": (AuditFilter(model="model-1"), "model=model-1"),
    "verdict": (AuditFilter(verdict=Verdict.PARTIAL), "verdict=partial"),
    "conflict": (AuditFilter(conflict=True), "conflict=true"),
    "rated down": (AuditFilter(feedback="down"), "feedback=down"),
    "document": (AuditFilter(document="d11-0"), "document=d11-0"),
    "person and mode": (AuditFilter(person="p7", mode="refine"), "person=p7&mode=refine"),
}


def body(seq: int) -> dict[str, Any]:
    """The body of an answer: that of benchmarks/audit.py with facets that filters find."""
    made = dict(draft(seq).body or {})
    sources = [{"document": f"d{seq % DOCUMENTS}-{n}", "version": 1} for n in range(2)]
    verdict = "partial" if seq % 7 == 0 else "supported"
    cited = [{**each, "verdict": verdict, "source": sources[n % 2]} for n, each in enumerate(made["citations"])]
    return made | {
        "timings_ms": {"search": 12.5, "first_token": 180},  # whole numbers are written as such
        "mode": ("compact", "refine", "simple_summarize")[seq % 3],
        "model": f"model-{seq % 2}",
        "status": "completed",
        "finish": "stop",
        "citations": {"items": cited, "unsupported": []},
        "conflicts": {"items": [{"topic": "hours"}] if seq % 11 == 0 else []},
    }


def told(seq: int) -> tuple[AuditKind, str, dict[str, Any], str | None]:
    """Kind, turn, body and the rating in the end of the record `seq`: each 20th is a look, each 50th rates the answer before."""
    if seq % 50 == 0:
        return AuditKind.FEEDBACK, f"t{seq - 1}", {"rating": "down", "citation": None}, "down"
    if seq % 20 == 0:
        return AuditKind.VIEW, f"t{seq - 1}", {"reason": "yearly review"}, None
    return AuditKind.TURN, f"t{seq}", body(seq), "down" if seq % 50 == 49 else None


def rows(count: int) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """The rows of each record."""
    previous = genesis(TENANT)
    for seq in range(1, count + 1):
        kind, turn, held, rating = told(seq)
        written = json.dumps(held, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
        if seq < 100:
            assert written.encode() == canonical(held)
        sealed = text(seq) if kind is not AuditKind.VIEW else None
        digest = None if sealed is None else hashlib.sha256(sealed).hexdigest()
        who, at = f"p{seq % 50}", stamp(START + timedelta(seconds=seq))
        record = AuditRecord(
            TENANT, seq, f"{seq:026d}", at, kind, who, who, f"c{seq % 9999}", turn,
            StoredBody.read(written, held), digest, previous, "",
        )  # fmt: skip
        record = replace(record, hash=hash_of(record))
        previous = record.hash
        row = {name: getattr(record, name) for name in AuditRecord.__slots__}
        row |= {"kind": kind.value, "body": written, "sealed": sealed} | facet_columns(held) | {"rating": rating}
        cited = [{"tenant": TENANT, "seq": seq, "document": d, "version": v, "at": a} for d, v, a in cited_rows(record)]
        yield row, cited


def fill(path: Path, count: int) -> None:
    """Write the log into a migrated file."""
    connection = sqlite3.connect(path)
    connection.executescript("PRAGMA cache_size=-1000000; PRAGMA synchronous=OFF")
    records, cited = (
        f"INSERT INTO {table.name} ({', '.join(names)}) VALUES (:{', :'.join(names)})"
        for table, names in ((each, list(each.c.keys())) for each in (audit_records, audit_documents))
    )
    batch: list[dict[str, Any]] = []
    documents: list[dict[str, Any]] = []
    for row, listed in rows(count):
        batch.append(row)
        documents += listed
        if len(batch) == BATCH or row["seq"] == count:
            with connection:
                connection.executemany(records, batch)
                connection.executemany(cited, documents)
            batch, documents = [], []
    with connection:
        last = (row["seq"], row["hash"])
        connection.execute("INSERT INTO audit_chains (tenant, seq, hash) VALUES (?, ?, ?)", (TENANT, *last))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


async def sign(store: Store, key: Path, count: int, every: int) -> None:
    """Checkpoints as a server would have made them: one every so many records."""
    whole = store.audit

    class UpTo:
        """The log as it was when it had `size` records."""

        size = 0

        async def hashes(self, tenant: str, after: int, limit: int) -> list[tuple[int, str]]:
            return await whole.hashes(tenant, after, min(limit, self.size - after)) if after < self.size else []

        save_checkpoint = staticmethod(whole.save_checkpoint)
        checkpoints = staticmethod(whole.checkpoints)

    source = UpTo()
    maker = Checkpointer(signer_at(key), lambda: datetime.now(UTC), every_records=every)
    for size in range(every, count + 1, every):
        source.size = size
        await maker.make(TENANT, source)


async def timed(work: Callable[[], Awaitable[Any]], times: int = 7) -> float:
    """The median time of a piece of work in milliseconds."""
    spent = []
    for _ in range(times):
        begun = perf_counter()
        await work()
        spent.append((perf_counter() - begun) * 1000)
    return median(spent)


class _Auditor:
    async def authenticate(self, token: str | None) -> Any:
        return SimpleNamespace(caller=Caller(TENANT, "auditor", roles=frozenset({"auditor"})))


async def pages(store: Store, key: Path, count: int) -> list[tuple[str, str, list[float]]]:
    """Milliseconds of a page of 50 with each filter at the newest, middle and oldest records, from the store and over REST."""
    app = FastAPI()
    desk = make_desk(Settings(), store, Notary(Targets(), {}, signer_at(key)))
    app.state.doors = SimpleNamespace(authenticator=_Auditor(), audit=desk)
    app.include_router(router)
    places = {"first": None, "middle": count // 2, "last": min(count, 3000)}
    found: list[tuple[str, str, list[float]]] = []
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://benchmark") as client:

        async def over_rest(query: str, before: int | None) -> None:
            more = "" if before is None else f"&before={before}"
            (await client.get(f"/api/audit/records?{query}{more}")).raise_for_status()

        for name, (filters, query) in FILTERS.items():
            kept = [await timed(lambda f=filters, b=b: store.audit.search(TENANT, f, b, 50)) for b in places.values()]  # type: ignore[misc]
            found.append((name, "store", kept))
            rest = [await timed(lambda q=query, b=b: over_rest(q, b)) for b in places.values()]  # type: ignore[misc]
            found.append((name, "REST", rest))
    return found


def verified(folder: Path) -> dict[str, float]:
    """Run `assistant audit verify`; its time and the most memory that it had."""
    environment = os.environ | {
        "ASSISTANT_DATABASE__URL": f"sqlite+aiosqlite:///{folder / 'audit.db'}",
        "ASSISTANT_AUDIT__KEY": str(folder / "audit.pem"),
        "ASSISTANT_AUDIT__SECRET": str(folder / "audit.secret"),
    }
    begun = perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "assistant", "audit", "verify"], env=environment)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit("the log does not verify")
    wall, scale = perf_counter() - begun, 2**20 if sys.platform == "darwin" else 2**10
    return {"wall_s": wall, "cpu_s": used.ru_utime + used.ru_stime, "peak_mb": used.ru_maxrss / scale}


async def measured(folder: Path, count: int, every: int) -> None:
    """Fill, sign, list and verify; print what each took."""
    path, key = folder / "audit.db", folder / "audit.pem"
    url = f"sqlite+aiosqlite:///{path}"
    if not path.exists():
        await migrate(url)
        begun = perf_counter()
        await asyncio.to_thread(fill, path, count)
        print(
            f"filled {count} records in {perf_counter() - begun:.0f} s: {path.stat().st_size / 2**30:.2f} GiB",
            flush=True,
        )
        async with Store(url) as store:
            await sign(store, key, count, every)
    async with Store(url) as store:
        for name, where, (first, middle, last) in await pages(store, key, count):
            print(
                f"{name:16} {where:5} first {first:7.1f} ms, middle {middle:7.1f} ms, last {last:7.1f} ms", flush=True
            )
    spent = await asyncio.to_thread(verified, folder)
    print(
        f"verify {spent['wall_s']:.0f} s, {spent['cpu_s']:.0f} s of CPU, {count / spent['wall_s']:,.0f} records/s, peak {spent['peak_mb']:.0f} MB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Verify and list a large audit log in SQLite.")
    parser.add_argument("folder", type=Path, help="Where the file is kept, to be used again.")
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--checkpoint-every", type=int, default=1000)
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    asyncio.run(measured(asked.folder, asked.records, asked.checkpoint_every))


if __name__ == "__main__":
    main()
