"""What a kept answer saves: the same turn without a cache, with a hit, and what a miss costs; and how often a paraphrase hits.

PYTHONPATH=. .venv/bin/python benchmarks/cache.py [--repeats 10] [--embedder use|hashing|none] [--json]
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

from making import pages

from assistant.conversation.answering import Answering, Route, TurnPolicy
from assistant.conversation.caching import AnswerCache
from assistant.conversation.manager import ConversationManager
from assistant.conversation.running import LiveTurns
from assistant.conversation.turns import Question
from assistant.core.access import Caller
from assistant.core.events import AnswerDelta, TurnFinished
from assistant.core.prompt import ModelRequest
from assistant.core.text import sentences
from assistant.core.turn import TurnMessage, fold
from assistant.interfaces import Embedder
from assistant.llm.scripted import ScriptedModel
from assistant.prompts import LANGUAGES, load_prompts
from assistant.retrieval.embedders import choose_embedder
from assistant.retrieval.hybrid import HybridRetriever
from assistant.store import Store
from assistant.store.answer_cache import SqlAnswerCache
from assistant.store.migrations import migrate

EDITION = "18f-handbook"
ASKED = "What is the policy on gifts?"
OTHER_WORDS = "What is the gift policy?"
PARAPHRASES = (
    ("How many days of annual leave do employees get?", "How many annual leave days do employees receive?"),
    ("How do I request leave?", "How can I request leave?"),
    ("How do I request leave?", "What is the process for requesting leave?"),
    ("Who approves travel?", "Can you tell me who approves the travel?"),
    ("Can employees work from home?", "Are employees allowed to work from home?"),
    ("Must I use the travel card?", "Do I have to use the travel card?"),
    ("What is the deadline for expense reports?", "What is the due date for expense reports?"),
    ("What is the policy on gifts?", "What is the gift policy?"),
    ("How often are laptops replaced?", "How frequently are laptops replaced?"),
    ("Who is responsible for onboarding?", "Who is in charge of onboarding?"),
    ("What is the cost of parking?", "How much does parking cost?"),
    ("Where can I find the travel form?", "Where is the travel form?"),
    ("Can I buy a laptop?", "Can I purchase a laptop?"),
    ("For travel to Chicago, who approves expenses?", "Who approves expenses for travel to Chicago?"),
    ("What are the core hours?", "Hi, what are the core hours please?"),
    ("What is the dress code?", "I would like to know what the dress code is"),
)
"""Questions to the handbook that the rules take for the same."""

_numbers = itertools.count()


def later() -> datetime:
    """Some minutes ahead: the library that was just read in is at rest then."""
    return datetime.now(UTC) + timedelta(minutes=5)


def quoting(request: ModelRequest) -> str:
    """Four sentences of the best evidence: an answer that is supported throughout."""
    text = max(request.evidence, key=lambda item: item.score).text
    plain = [text[span.start : span.end] for span in sentences(text)]
    return " ".join([line for line in plain if line.endswith(".") and len(line) > 40][:4])


class Office:
    """A store with one edition of the handbook, and desks with and without a cache."""

    def __init__(self, store: Store, embedder: Embedder | None, delay: float) -> None:
        self.store = store
        self.embedder = embedder
        self.model = ScriptedModel(quoting, piece=16, delay=delay)  # pieces of about four tokens
        self.answering = Answering(main=Route(self.model), prompts=load_prompts, policy=TurnPolicy())
        self.retriever = HybridRetriever(store.index, embedder)
        self.cache = AnswerCache(SqlAnswerCache(store.database, clock=later), self.answering, embedder)

    def live(self, *, cached: bool) -> LiveTurns:
        manager = ConversationManager(
            store=self.store.conversations,
            retriever=self.retriever,
            answering=self.answering,
            clock=time.monotonic,
            cache=self.cache if cached else None,
        )
        return LiveTurns(manager, self.store.conversations, self.store.events, lambda: f"t{next(_numbers)}")

    async def ask(self, question: str, *, cached: bool) -> tuple[dict[str, float], TurnMessage]:
        """Milliseconds to the first word and to the end of a turn in a new conversation, its CPU time, and the turn."""
        live, caller = self.live(cached=cached), Caller("acme", "ann")
        opened = await self.store.conversations.open(caller, None)
        begin, spent, first, events = time.perf_counter(), time.process_time(), 0.0, []
        begun = await live.start(caller, opened.id, Question(f"c{next(_numbers)}", question))
        async for item in live.follow(opened.id, 0):
            events.append(item.event)
            if isinstance(item.event, AnswerDelta) and not first:
                first = time.perf_counter() - begin
            if isinstance(item.event, TurnFinished):
                break
        end = time.perf_counter() - begin
        await live.wait(begun.turn)
        spent = time.process_time() - spent
        return {"first_ms": first * 1e3, "end_ms": end * 1e3, "cpu_ms": spent * 1e3}, fold(events)


async def fill(store: Store, embedder: Embedder | None) -> None:
    """Read one edition of the handbook in."""
    for source, draft in pages():
        if source.collection == EDITION:
            await store.documents.put("acme", EDITION, replace(draft, uri=source.uri), fingerprint=draft.sha256)
    while embedder and (chunks := await store.documents.chunks_without_vectors(embedder.name, 64)):
        vectors = await embedder.embed_passages([chunk.text for chunk in chunks])
        await store.documents.put_vectors(embedder.name, [chunk.id for chunk in chunks], vectors)


async def speed(office: Office, repeats: int) -> dict[str, dict[str, float]]:
    """Medians of first word, end and CPU, in milliseconds; the cases take turns."""
    await office.ask(ASKED, cached=True)
    cases = {
        "without the cache": (ASKED, False),
        "hit, same words": (ASKED, True),
        "hit, other words": (OTHER_WORDS, True),
    }
    taken: dict[str, list[dict[str, float]]] = {name: [] for name in cases}
    for _ in range(repeats):
        for name, (question, cached) in cases.items():
            times, message = await office.ask(question, cached=cached)
            if cached and not message.from_cache:
                print(f"no hit: {question}")
            taken[name].append(times)
    return {
        name: {what: round(median(row[what] for row in rows), 1) for what in rows[0]} for name, rows in taken.items()
    }


async def hits(office: Office, pairs: Sequence[tuple[str, str]]) -> dict[str, object]:
    """How many second wordings were answered from the cache after the first was asked, and which first were kept."""
    kept, found, missed = 0, 0, []
    for one, other in pairs:
        await office.ask(one, cached=True)
        _, again = await office.ask(one, cached=True)
        if not again.from_cache:
            continue
        kept += 1
        _, message = await office.ask(other, cached=True)
        found += bool(message.from_cache)
        missed += [] if message.from_cache else [other]
    return {"pairs": len(pairs), "kept": kept, "found": found, "missed": missed}


async def run(embedder_name: str, repeats: int) -> dict[str, object]:
    embedder = choose_embedder(embedder_name)
    for language in LANGUAGES:
        load_prompts(language)
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'bench.db'}"
        await migrate(url)
        async with Store(url) as store:
            await fill(store, embedder)
            office = Office(store, embedder, delay=0.06)
            timed = await speed(office, repeats)
            office.model.delay = 0.0
            return {"embedder": embedder_name, "speed": timed, "paraphrases": await hits(office, PARAPHRASES)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--embedder", default="use")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    result = asyncio.run(run(chosen.embedder, chosen.repeats))
    print(json.dumps(result, indent=None if chosen.json else 2, ensure_ascii=False))


if __name__ == "__main__":
    main()
