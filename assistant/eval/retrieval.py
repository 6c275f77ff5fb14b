"""Suites retrieval and retrieval-zh: the whole path of a turn's search, from history to ranked documents."""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Final

from assistant.app import embed_all, make_embedder
from assistant.config import RetrievalSettings, Settings
from assistant.conversation.rewriting import make_standalone
from assistant.core.access import Caller
from assistant.eval.data import Item, read_items
from assistant.eval.making import pairs_of
from assistant.eval.metrics import mean, mrr_at, ndcg_at, recall_at
from assistant.interfaces import DocumentDraft, Retriever
from assistant.knowledge.drafts import draft
from assistant.knowledge.metadata import Properties
from assistant.knowledge.reading import Sources
from assistant.retrieval.hybrid import HybridRetriever
from assistant.store import Store
from assistant.store.migrations import migrate

TENANT: Final = "eval"
CALLER: Final = Caller(TENANT, "eval")
ENGLISH: Final = ("retrieval_corpus_clapnq", "retrieval_corpus_cloud", "retrieval_corpus_govt")
CHINESE: Final = ("retrieval_corpus_zh",)
FETCHED: Final = 40
"""Passages fetched for ten documents: a document may be found by several of its chunks."""


def english(folder: Path, index: Path | None, embedder: str | None) -> tuple[int, dict[str, float]]:
    """Multi-turn questions in English; each domain is a collection and searched on its own."""
    return asyncio.run(_measure(folder, "retrieval_multiturn", ENGLISH, index, embedder, by_domain=True))


def chinese(folder: Path, index: Path | None, embedder: str | None) -> tuple[int, dict[str, float]]:
    """Multi-turn questions in Chinese; all domains are searched."""
    return asyncio.run(_measure(folder, "retrieval_multiturn_zh", CHINESE, index, embedder, by_domain=False))


async def _measure(
    folder: Path, questions: str, corpora: Sequence[str], index: Path | None, embedder: str | None, *, by_domain: bool
) -> tuple[int, dict[str, float]]:
    settings = Settings(retrieval=RetrievalSettings(**({"embedder": embedder} if embedder else {})))
    used = make_embedder(settings)
    with tempfile.TemporaryDirectory() if index is None else nullcontext(str(index)) as place:
        url = f"sqlite+aiosqlite:///{Path(place) / f'{corpora[0]}.db'}"
        await migrate(url)
        async with Store(url) as store:
            for corpus in corpora:
                await _fill(store, read_items(folder, corpus))
            if used is not None:
                await embed_all(store.documents, used)
            items = read_items(folder, questions)
            retriever = HybridRetriever(store.index, used)
            ranked = [await _search(retriever, item, by_domain) for item in items]
    return len(items), _figures(items, ranked)


async def _fill(store: Store, documents: Sequence[Item]) -> None:
    known = {}
    for domain in {item["domain"] for item in documents}:
        known[domain] = await store.documents.fingerprints(TENANT, domain)
    for item in documents:
        print_ = hashlib.sha256(item["text"].encode()).hexdigest()
        if known[item["domain"]].get(item["id"]) != print_:
            await store.documents.put(TENANT, item["domain"], _draft(item), fingerprint=print_)


def _draft(item: Item) -> DocumentDraft:
    """The passage as an ingest would store it: read, cut into chunks, with index terms."""
    known = Sources(options=Properties(title=item["title"] or None))
    return replace(draft(item["text"].encode(), "passage.txt", sources=known), uri=item["id"], title=item["title"])


async def _search(retriever: Retriever, item: Item, by_domain: bool) -> list[str]:
    standalone = await make_standalone(item["question"], pairs_of(item["history"]), None)
    collections = frozenset({item["domain"]}) if by_domain else None
    passages = await retriever.search(standalone.searches, CALLER, collections=collections, limit=FETCHED)
    return list(dict.fromkeys(passage.source.uri for passage in passages))


def _figures(items: Sequence[Item], ranked: Sequence[Sequence[str]]) -> dict[str, float]:
    judged = [(found, item["relevant_ids"]) for found, item in zip(ranked, items, strict=True) if item["relevant_ids"]]
    return {
        "recall@5": mean([recall_at(found, gold, 5) for found, gold in judged]),
        "recall@10": mean([recall_at(found, gold, 10) for found, gold in judged]),
        "ndcg@10": mean([ndcg_at(found, gold, 10) for found, gold in judged]),
        "mrr@10": mean([mrr_at(found, gold, 10) for found, gold in judged]),
    }
