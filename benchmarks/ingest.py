"""Reading in: pages per second, peak memory, a kill -9 in the middle, and vectors on a sample.

PYTHONPATH=. .venv/bin/python benchmarks/ingest.py [--pages 10000] [--workers 2] [--vectors 500] [--peer PYTHON] [--json]

The pages are made from the two editions of the handbook in assistant/demo: each copy has its number in the title and other figures
in the text, so that no two are the same. They are read into SQLite as `assistant ingest` does it, words only, in a process of
its own. Then once more into a new database, where the process and its readers are killed with SIGKILL when half of the pages are
stored; what the second run reads must be exactly the other half, with as many chunks in the end as without the kill.

`mb` and `reader_mb` are the peaks of the process and of its largest reader, `all_mb` that of all processes together, looked at four
times a second, where a page that several share counts once (PSS). The peer is one process, which then reads all again: its `mb` is
that of the first time.
With --peer PYTHON, an interpreter that has llama-index-core, its IngestionPipeline reads the same files (SimpleDirectoryReader,
SentenceSplitter, a document store that finds what was read before), without vectors, kept as JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import re
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil

DEMO = Path(__file__).parents[1] / "assistant" / "demo"
EVERY_S = 0.25
EDITIONS = ("18f-handbook", "18f-handbook-2021")


def make_pages(folder: Path, count: int) -> int:
    """Write so many pages, a hundred in each folder; the characters of all."""
    texts = [path.read_text("utf-8") for name in EDITIONS for path in sorted((DEMO / name).rglob("*.md"))]
    total = 0
    for n in range(count):
        text = varied(texts[n % len(texts)], n)
        path = folder / f"{n // 100:03}" / f"{n:05}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
        total += len(text)
    return total


def varied(text: str, n: int) -> str:
    """The page with its number in the first heading, and with other figures."""
    turn = n // 50 + 1
    other = re.sub(r"\b\d{1,3}\b", lambda found: str(int(found.group()) + turn), text)
    return re.sub(r"(?m)^(#.*|title:.*)$", lambda found: f"{found.group()} ({n})", other, count=1)


async def read(folder: Path, database: Path, workers: int) -> dict[str, Any]:
    """Read a folder in, in this process."""
    from assistant.knowledge.sync import IngestOptions, ingest
    from assistant.store import Store
    from assistant.store.migrations import migrate

    url = f"sqlite:///{database}"
    await migrate(url)
    cpu = time.process_time()
    async with Store(url) as store:
        report = await ingest(
            folder, store=store.documents, tenant="t", collection="pages", options=IngestOptions(workers=workers)
        )
        chunks = (await store.state())["chunks"]
    found = {"added": report.added, "unchanged": report.unchanged, "skipped": len(report.skipped), "chunks": chunks}
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = time.process_time() - cpu + children.ru_utime + children.ru_stime
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    memory = {"mb": round(own / 1024), "reader_mb": round(children.ru_maxrss / 1024)}
    return {**found, **memory, "seconds": round(report.seconds, 1), "cpu_s": round(cpu, 1)}


async def embed(database: Path, count: int) -> dict[str, Any]:
    """Give vectors to so many chunks with the built-in embedder."""
    from assistant.app.background import EMBED_BATCH, embed_batch
    from assistant.retrieval.embedders import choose_embedder
    from assistant.store import Store

    embedder = choose_embedder("use")
    assert embedder is not None
    async with Store(f"sqlite:///{database}") as store:
        await embedder.embed_query("warm")
        done, began = 0, time.perf_counter()
        while done < count and (batch := await embed_batch(store.documents, embedder, min(EMBED_BATCH, count - done))):
            done += batch
        spent = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"chunks": done, "seconds": round(spent, 1), "mb": round(peak / 1024)}


def child(what: str, *arguments: object) -> subprocess.Popen[str]:
    """One step as a process with a group of its own."""
    command = [sys.executable, __file__, "--step", what, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)


def result(process: subprocess.Popen[str]) -> dict[str, Any]:
    """What a step printed last, and the peak memory of all its processes."""
    peak = 0
    while process.poll() is None:
        peak = max(peak, held(process.pid))
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(EVERY_S)
    out, _ = process.communicate()
    if process.returncode:
        raise SystemExit(f"a step ended with {process.returncode}")
    found: dict[str, Any] = json.loads(out.strip().splitlines()[-1])
    return found | {"all_mb": round(peak / 2**20)}


def held(process: int) -> int:
    """Bytes that a process and all that it started hold now."""
    total = 0
    with contextlib.suppress(psutil.NoSuchProcess):
        parent = psutil.Process(process)
        for each in (parent, *parent.children(recursive=True)):
            with contextlib.suppress(psutil.NoSuchProcess):
                total += int(each.memory_full_info().pss)
    return total


def stored(database: Path) -> int:
    """Documents that are in the file now."""
    try:
        with sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=1) as connection:
            return int(connection.execute("SELECT count(*) FROM documents").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def killed(folder: Path, database: Path, pages: int, workers: int, chunks: int) -> dict[str, Any]:
    """Kill a run in the middle, run again, and look for work that was done twice or is missing."""
    process = child("read", folder, database, workers)
    while stored(database) < pages // 2 and process.poll() is None:
        time.sleep(0.05)
    if process.poll() is not None:
        raise SystemExit("it ended before it could be killed")
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()  # until the last reader is gone, which holds the pipe
    before = stored(database)
    again = result(child("read", folder, database, workers))
    with sqlite3.connect(database) as connection:
        versions = connection.execute("SELECT count(*), count(DISTINCT document) FROM document_versions").fetchone()
    whole = again["unchanged"] == before and again["added"] == pages - before and versions == (pages, pages)
    whole = whole and again["chunks"] == chunks
    return {"stored_at_kill": before, **again, "nothing_twice": whole}


def main() -> None:
    parser = argparse.ArgumentParser(description="Reading in, measured.")
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--vectors", type=int, default=500)
    parser.add_argument("--peer", default="")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--step", nargs="+", default=[])
    given = parser.parse_args()
    if given.step:
        what, *rest = given.step
        work = (
            read(Path(rest[0]), Path(rest[1]), int(rest[2])) if what == "read" else embed(Path(rest[0]), int(rest[1]))
        )
        print(json.dumps(asyncio.run(work)))
        return
    with tempfile.TemporaryDirectory(prefix="assistant-ingest-", ignore_cleanup_errors=True) as name:
        found = measure(Path(name), given)
    print(json.dumps(found) if given.json else "\n".join(f"{key}: {value}" for key, value in found.items()))
    if not found["killed"]["nothing_twice"]:
        raise SystemExit("work was done twice, or lost")


def measure(place: Path, given: argparse.Namespace) -> dict[str, Any]:
    folder = place / "pages"
    folder.mkdir()
    found: dict[str, Any] = {"pages": given.pages, "characters": make_pages(folder, given.pages)}
    whole = found["read"] = result(child("read", folder, place / "whole.db", given.workers))
    found["pages_per_s"] = round(given.pages / whole["seconds"], 1)
    found["again"] = result(child("read", folder, place / "whole.db", given.workers))
    found["killed"] = killed(folder, place / "killed.db", given.pages, given.workers, whole["chunks"])
    if given.vectors:
        found["vectors"] = result(child("embed", place / "whole.db", given.vectors))
    if given.peer:
        peer = [given.peer, str(Path(__file__).with_name("ingest_peer.py")), str(folder), str(place / "peer")]
        found["peer"] = result(subprocess.Popen(peer, stdout=subprocess.PIPE, text=True))
    return found


if __name__ == "__main__":
    main()
