"""Suites retrieval and retrieval-zh: the whole path of a turn's search, from history to ranked documents."""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from assistant.app import embed_all, make_embedder
from assistant.config import load_settings
from assistant.conversation.rewriting import make_standalone
from assistant.core.access import Caller
from assistant.core.evidence import Passage, Place
from assistant.errors import BadInput
from assistant.eval.data import Item, read_items
from assistant.eval.making import pairs_of
from assistant.eval.metrics import mean, mrr_at, ndcg_at, recall_at
from assistant.interfaces import DocumentDraft, Embedder, Retriever
from assistant.knowledge.drafts import draft
from assistant.knowledge.metadata import Properties
from assistant.knowledge.reading import Sources
from assistant.retrieval.hybrid import HybridRetriever
from assistant.store import Store
from assistant.store.migrations import migrate

TENANT: Final = "eval"
CALLER: Final = Caller(TENANT, "eval")
FETCHED: Final = 40
"""Passages fetched for ten documents: a document may be found by several of its chunks."""
CITED: Final = 3
"""Documents that an earlier answer is taken to have cited: the first ones found for its question."""

QUESTION: Final = ("question", "domain", "history", "relevant_ids")
DOCUMENT: Final = ("id", "domain", "title", "text")
PLACES: Final = 48
"""Places that are kept of a conversation; a search looks at the latest."""

Pairs = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Suite:
    """A file of questions with the corpora they are asked of; `by_domain`: each question searches only its domain."""

    name: str
    questions: str
    by_domain: bool

    def corpora(self, folder: Path) -> list[str]:
        """The names of the corpus files in the folder; BadInput when there is none."""
        names = sorted(path.stem for path in folder.glob("retrieval_corpus_*.jsonl"))
        found = [name for name in names if name.endswith("_zh") != self.by_domain]
        if not found:
            raise BadInput("there is no corpus file for the questions", reason="missing_file", file=self.questions)
        return found


ENGLISH: Final = Suite("retrieval", "retrieval_multiturn", by_domain=True)
CHINESE: Final = Suite("retrieval-zh", "retrieval_multiturn_zh", by_domain=False)


@dataclass(frozen=True, slots=True)
class Searched:
    """A question with what was found for it, best first."""

    relevant: frozenset[str]
    passages: tuple[Passage, ...]


def english(folder: Path, index: Path | None, embedder: str | None) -> tuple[int, dict[str, float]]:
    """Multi-turn questions in English; each domain is a collection and searched on its own."""
    return _measure(ENGLISH, folder, index, embedder)


def chinese(folder: Path, index: Path | None, embedder: str | None) -> tuple[int, dict[str, float]]:
    """Multi-turn questions in Chinese; all domains are searched."""
    return _measure(CHINESE, folder, index, embedder)


def _measure(suite: Suite, folder: Path, index: Path | None, embedder: str | None) -> tuple[int, dict[str, float]]:
    searched = search_suite(suite, folder, index, chosen_embedder(embedder), FETCHED)
    return len(searched), _figures(searched)


def chosen_embedder(name: str | None) -> Embedder | None:
    """The embedder of this name, or that of the settings; None when search is by words only."""
    settings = load_settings()
    if name:
        settings = settings.model_copy(update={"retrieval": settings.retrieval.model_copy(update={"embedder": name})})
    return make_embedder(settings)


def search_suite(
    suite: Suite, folder: Path, index: Path | None, embedder: Embedder | None, limit: int
) -> list[Searched]:
    """Every question of the suite searched as its turn would be; the index stays in the folder `index`, if given.

    Earlier turns are played: what they would have cited is handed to the search as a conversation does it. Raises BadInput
    for files that are missing or not in the form of the suites.
    """
    questions = _checked(read_items(folder, suite.questions), suite.questions, QUESTION)
    corpora = suite.corpora(folder)
    documents = [item for name in corpora for item in _checked(read_items(folder, name), name, DOCUMENT)]
    with tempfile.TemporaryDirectory() if index is None else nullcontext(str(index)) as place:
        url = f"sqlite+aiosqlite:///{Path(place) / f'{corpora[0]}.db'}"
        return asyncio.run(_search_suite(suite, questions, documents, url, embedder, limit))


async def _search_suite(
    suite: Suite, questions: Sequence[Item], documents: Sequence[Item], url: str, embedder: Embedder | None, limit: int
) -> list[Searched]:
    await migrate(url)
    async with Store(url) as store:
        await _fill(store, documents)
        if embedder is not None:
            await embed_all(store.documents, embedder)
        talk = _Talk(HybridRetriever(store.index, embedder), limit)
        return [await _searched(talk, item, suite) for item in questions]


def _checked(items: Sequence[Item], name: str, fields: Sequence[str]) -> Sequence[Item]:
    """The items; BadInput for the first that lacks one of the fields or has something else in it."""
    for number, item in enumerate(items, start=1):
        wrong = [field for field in fields if not _FORMS.get(field, _is_text)(item.get(field))]
        if wrong:
            detail = f"{name}.jsonl item {number} lacks {', '.join(wrong)}"
            raise BadInput(detail, reason="missing_field", item=number, fields=wrong)
    return items


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _are_ids(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _are_messages(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(each, dict) and _is_text(each.get("role")) and _is_text(each.get("text")) for each in value
    )


_FORMS: Final[Mapping[str, Callable[[object], bool]]] = {"relevant_ids": _are_ids, "history": _are_messages}


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


class _Talk:
    """Searches the questions of conversations one after the other; conversations that begin alike are played once."""

    def __init__(self, retriever: Retriever, limit: int) -> None:
        self._retriever = retriever
        self._limit = limit
        self._cited: dict[tuple[frozenset[str] | None, tuple[tuple[str, str], ...]], tuple[Place, ...]] = {}

    async def ask(self, question: str, past: Pairs, collections: frozenset[str] | None) -> list[Passage]:
        """What the turn of this question finds after the past turns."""
        return await self._find(question, past, collections, await self._cited_in(past, collections))

    async def _find(
        self, question: str, past: Pairs, collections: frozenset[str] | None, cited: Sequence[Place]
    ) -> list[Passage]:
        standalone = await make_standalone(question, past, None)
        earlier = () if standalone.topic_change else cited
        return await self._retriever.search(
            standalone.searches, CALLER, collections=collections, limit=self._limit, earlier=earlier
        )

    async def _cited_in(self, past: Pairs, collections: frozenset[str] | None) -> tuple[Place, ...]:
        """The places that the answers of the past turns would have cited, the latest first."""
        cited: tuple[Place, ...] = ()
        for n, (question, _) in enumerate(past):
            key = (collections, tuple(past[: n + 1]))
            if key not in self._cited:
                found = await self._find(question, past[:n], collections, cited) if question else []
                self._cited[key] = (*_places(found), *cited)[:PLACES]
            cited = self._cited[key]
        return cited


def _places(found: Sequence[Passage]) -> list[Place]:
    cited = list(dict.fromkeys(passage.source.document for passage in found))[:CITED]
    return [
        Place(passage.source.document, passage.source.number, passage.span)
        for passage in found
        if passage.source.document in cited
    ]


async def _searched(talk: _Talk, item: Item, suite: Suite) -> Searched:
    collections = frozenset({item["domain"]}) if suite.by_domain else None
    found = await talk.ask(item["question"], pairs_of(item["history"]), collections)
    return Searched(frozenset(item["relevant_ids"]), tuple(found))


def documents_of(passages: Sequence[Passage]) -> list[str]:
    """The ids of the documents of these passages as the labels name them, each once."""
    return list(dict.fromkeys(passage.source.uri for passage in passages))


def _figures(searched: Sequence[Searched]) -> dict[str, float]:
    judged = [(documents_of(each.passages), sorted(each.relevant)) for each in searched if each.relevant]
    return {
        "recall@5": mean([recall_at(found, gold, 5) for found, gold in judged]),
        "recall@10": mean([recall_at(found, gold, 10) for found, gold in judged]),
        "ndcg@10": mean([ndcg_at(found, gold, 10) for found, gold in judged]),
        "mrr@10": mean([mrr_at(found, gold, 10) for found, gold in judged]),
    }
