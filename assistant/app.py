"""The composition root: the only module that names concrete adapters."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import structlog
from ulid import ULID

from assistant import __version__
from assistant.config import Settings
from assistant.conversation.manager import ConversationManager, TurnPolicy
from assistant.conversation.running import LiveTurns
from assistant.core.budget import BudgetPolicy
from assistant.core.selection import SelectionPolicy
from assistant.interfaces import ChatModel, DocumentStore, Embedder, Retriever
from assistant.llm.litellm_embedder import LiteLLMEmbedder
from assistant.llm.models import choose_model
from assistant.llm.openai_stream import OpenAICompatibleModel
from assistant.prompts import LANGUAGES, load_prompts
from assistant.retrieval.embedders import choose_embedder
from assistant.retrieval.hybrid import HybridRetriever
from assistant.store import Store
from assistant.synthesis.registry import available_modes
from assistant.transport.auth import Authenticator, DevelopmentAuthenticator, RefusingAuthenticator
from assistant.transport.doors import Doors, StartLimiter
from assistant.transport.protocol import Limits
from assistant.transport.server import Ready, make_app

log = structlog.get_logger(__name__)

PAGE = Path(__file__).parent / "web"
LITELLM = "litellm/"
"""Names of embedders that begin like this are reached through litellm."""
EMBED_BATCH = 64
DRAIN_S = 10.0
"""How long running turns may go on while the server stops."""


def new_id() -> str:
    """A new ULID: sortable by time, 26 characters."""
    return str(ULID())


def now() -> datetime:
    """The present, in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Parts:
    """Everything a running assistant is made of."""

    settings: Settings
    store: Store
    model: ChatModel
    embedder: Embedder | None
    retriever: Retriever
    manager: ConversationManager
    live: LiveTurns


def make_model(settings: Settings) -> ChatModel:
    """The model that the settings name."""
    chosen = settings.model
    return choose_model(
        chosen.kind,
        chosen.name,
        base_url=chosen.base_url,
        api_key=chosen.api_key.get_secret_value(),
        window=chosen.window or None,
        timeout=chosen.timeout_s,
    )


def make_embedder(settings: Settings) -> Embedder | None:
    """The embedder that the settings name; None when search is by words only."""
    name = settings.retrieval.embedder
    if name.startswith(LITELLM):
        chosen = settings.retrieval
        key, base = chosen.api_key.get_secret_value() or None, chosen.base_url or None
        return LiteLLMEmbedder(name.removeprefix(LITELLM), chosen.dimension, api_key=key, api_base=base)
    return choose_embedder(name)


def turn_policy(settings: Settings) -> TurnPolicy:
    """The settings that steer a turn, as core values."""
    budget, model = settings.budget, settings.model
    return TurnPolicy(
        selection=SelectionPolicy(floor=settings.retrieval.floor, limit=settings.retrieval.evidence),
        budget=BudgetPolicy(
            min_output=budget.min_output,
            max_output=budget.max_output,
            output_share=budget.output_share,
            margin_share=budget.margin_share,
            history_share=budget.history_share,
        ),
        window_days=budget.conflict_window_days,
        search_limit=settings.retrieval.limit,
        temperature=model.temperature,
        top_p=model.top_p,
        frequency_penalty=model.frequency_penalty,
        presence_penalty=model.presence_penalty,
    )


@asynccontextmanager
async def assemble(settings: Settings) -> AsyncIterator[Parts]:
    """Open the store and put the parts together; everything is closed at the end."""
    prompts = partial(load_prompts, override=settings.prompts)
    for language in LANGUAGES:
        await asyncio.to_thread(prompts, language)  # read once, before any turn
    async with Store(settings.database.url) as store:
        model, embedder = await asyncio.to_thread(make_model, settings), make_embedder(settings)
        retriever = HybridRetriever(store.index, embedder)
        manager = ConversationManager(
            store=store.conversations,
            retriever=retriever,
            model=model,
            prompts=prompts,
            clock=time.monotonic,
            policy=turn_policy(settings),
            rewriter=model if settings.model.rewrite else None,
        )
        live = LiveTurns(
            manager,
            store.conversations,
            store.events,
            new_id,
            per_user=settings.server.running_turns_per_user,
        )
        try:
            yield Parts(settings, store, model, embedder, retriever, manager, live)
        finally:
            if isinstance(model, OpenAICompatibleModel):
                await model.aclose()


def create_app(settings: Settings, *, authenticator: Authenticator | None = None) -> Any:
    """The ASGI application of these settings; its lifespan opens and closes everything."""
    return make_app(partial(_opened, settings, authenticator), PAGE)


@asynccontextmanager
async def _opened(settings: Settings, authenticator: Authenticator | None) -> AsyncIterator[tuple[Doors, Ready]]:
    async with assemble(settings) as parts:
        interrupted = await parts.live.recover()
        if interrupted:
            log.info("turns ended after a crash", turns=interrupted)
        embedding = asyncio.create_task(embed_waiting(parts))
        try:
            yield make_doors(parts, authenticator or make_authenticator(settings)), partial(_ready, parts)
        finally:
            embedding.cancel()
            with suppress(asyncio.CancelledError):
                await embedding
            await parts.live.drain(DRAIN_S)


def make_doors(parts: Parts, authenticator: Authenticator) -> Doors:
    """The insides that all doors share."""
    server = parts.settings.server
    return Doors(
        authenticator=authenticator,
        store=parts.store.conversations,
        events=parts.store.events,
        live=parts.live,
        limiter=StartLimiter(server.starts_per_minute, time.monotonic),
        limits=Limits(running_turns=server.running_turns_per_user, starts_per_minute=server.starts_per_minute),
        heartbeat_s=server.heartbeat_s,
        origins=tuple(parts.settings.auth.origins),
        now=now,
        new_id=new_id,
        page={
            "title": parts.settings.widget.title,
            "model": parts.model.name,
            "examples": parts.settings.widget.examples,
            "languages": ["en", "zh"],
            "modes": ["auto", *available_modes()],
            "version": __version__,
        },
    )


def make_authenticator(settings: Settings) -> Authenticator:
    """Who may come in, by the settings; nobody when nothing is set."""
    auth = settings.auth
    if not auth.development_user:
        return RefusingAuthenticator()
    log.warning("development identity: everyone who reaches this server is one person", user=auth.development_user)
    return DevelopmentAuthenticator(settings.tenant, auth.development_user, auth.development_groups)


async def _ready(parts: Parts) -> dict[str, Any]:
    return {"model": parts.model.name, **await parts.store.state()}


async def embed_waiting(parts: Parts, *, batch: int = 32, pause: float = 2.0) -> None:
    """Give vectors to chunks that have none, for ever, in small batches; search by words works meanwhile."""
    embedder = parts.embedder
    if embedder is None:
        return
    while True:
        try:
            done = await embed_batch(parts.store.documents, embedder, batch)
        except Exception:
            log.exception("embedding failed")
            done = 0
        await asyncio.sleep(0.01 if done else pause)


async def embed_batch(documents: DocumentStore, embedder: Embedder, batch: int) -> int:
    """Give vectors to at most `batch` chunks that have none; the number done."""
    chunks = await documents.chunks_without_vectors(embedder.name, batch)
    if chunks:
        vectors = await embedder.embed_passages([chunk.text for chunk in chunks])
        await documents.put_vectors(embedder.name, [chunk.id for chunk in chunks], vectors)
    return len(chunks)


async def embed_all(
    documents: DocumentStore, embedder: Embedder, on_done: Callable[[int], None] = lambda _: None
) -> None:
    """Give a vector to every chunk that has none; `on_done` hears how many each batch did."""
    while done := await embed_batch(documents, embedder, EMBED_BATCH):
        on_done(done)
