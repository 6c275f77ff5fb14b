"""The parts of a running assistant, put together."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial

import structlog

from assistant.app.models import make_cache, make_embedder, open_routes
from assistant.app.noting import NotesAfterTurns
from assistant.app.policies import has_all_vectors, judges_citations, turn_policy
from assistant.app.storing import open_store
from assistant.app.values import new_id
from assistant.config import Settings
from assistant.conversation.aligning import CitationJudge, SecondLook
from assistant.conversation.answering import Answering
from assistant.conversation.judging import ConflictJudge
from assistant.conversation.manager import ConversationManager
from assistant.conversation.memory import Memory
from assistant.conversation.rewriting import Rewriter
from assistant.conversation.running import LiveTurns
from assistant.conversation.watching import BEATS, Watch
from assistant.interfaces import ChatModel, Embedder, Retriever
from assistant.jobs.late import LateQueue
from assistant.llm.reliable import ReliableModel
from assistant.prompts import LANGUAGES, load_prompts
from assistant.retrieval.hybrid import HybridRetriever
from assistant.retrieval.opening import open_retriever
from assistant.store import Store
from assistant.synthesis.registry import available_modes, custom_rules

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Parts:
    """Everything a running assistant is made of. `queue` is open while its jobs are (`open_working`)."""

    settings: Settings
    store: Store
    model: ChatModel
    embedder: Embedder | None
    retriever: Retriever
    manager: ConversationManager
    live: LiveTurns
    watch: Watch
    memory: Memory
    queue: LateQueue


@asynccontextmanager
async def assemble(settings: Settings, *, serves: bool = False) -> AsyncIterator[Parts]:
    """Open the store and put the parts together; everything is closed at the end.

    One that `serves` also ends the turns that lost workers left open.
    """
    prompts = partial(load_prompts, override=settings.prompts, form=settings.answers.form)
    for language in LANGUAGES:
        await asyncio.to_thread(prompts, language)  # read once, before any turn
    await asyncio.to_thread(available_modes)  # as are the registered ones
    async with open_store(settings, new_id()) as store, AsyncExitStack() as stack:
        main, simple = await open_routes(settings, store.factors, stack)
        embedder = make_embedder(settings)
        complete = await has_all_vectors(store, embedder)
        own = HybridRetriever(store.index, embedder)
        retriever = await stack.enter_async_context(open_retriever(settings.retrieval, own, store.audit.names.of))
        answering = Answering(
            main=main,
            simple=simple,
            prompts=prompts,
            policy=await asyncio.to_thread(turn_policy, settings, embedder, complete=complete),  # both read files
            rules=await asyncio.to_thread(custom_rules),
            gate=asyncio.Semaphore(settings.answers.parallel),
        )
        model = main.model
        manager = ConversationManager(
            store=store.conversations,
            retriever=retriever,
            answering=answering,
            clock=time.monotonic,
            images=store.documents,
            rewriter=Rewriter(model, prompts) if settings.model.rewrite else None,
            judge=ConflictJudge(model, prompts) if settings.model.conflicts else None,
            rights=store.rights,
            cache=make_cache(settings, store, answering, embedder),
            files=store.files,
            adopted=store.records_of_answer,
            second=SecondLook(embedder, CitationJudge(model, prompts) if judges_citations(settings) else None),
        )
        writes_notes = settings.model.summaries and settings.model.kind != "extractive"
        memory = Memory(store.conversations, prompts, model if writes_notes else None)
        queue = LateQueue()
        live = LiveTurns(
            manager,
            store.conversations,
            store.events,
            new_id,
            per_user=settings.server.running_turns_per_user,
            after_turn=NotesAfterTurns(memory, queue),
            workers=store.workers,
            admit=model.admit if isinstance(model, ReliableModel) else lambda: None,
        )
        watch = await stack.enter_async_context(watching(store, live, recovers=serves))
        yield Parts(settings, store, model, embedder, retriever, manager, live, watch, memory, queue)


@asynccontextmanager
async def watching(store: Store, live: LiveTurns, *, recovers: bool) -> AsyncIterator[Watch]:
    """Be one of the workers of the store for as long as this is open."""
    await store.workers.enter()
    beat_s = store.workers.lease_s / BEATS
    watch = Watch(live, store.workers, store.signals(lambda: watch.others), recovers=recovers, beat_s=beat_s)
    task = asyncio.create_task(watch.run())
    try:
        yield watch
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        try:
            await store.workers.leave()
        except Exception:  # the others see it by the lease
            log.exception("this worker could not take its leave")
