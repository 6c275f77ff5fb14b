"""The composition root: the only module that names concrete adapters."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import structlog
from ulid import ULID

from assistant import __version__
from assistant.audit.checkpointing import Checkpointer
from assistant.audit.desk import AuditDesk, Notary
from assistant.audit.signing import known_keys, signer_at
from assistant.audit.targets import Targets, target_at
from assistant.config import AuditSettings, Settings
from assistant.conversation.answering import Answering, Route, TurnPolicy
from assistant.conversation.judging import ConflictJudge
from assistant.conversation.manager import ConversationManager
from assistant.conversation.memory import Memory
from assistant.conversation.rewriting import Rewriter
from assistant.conversation.running import LiveTurns
from assistant.core.budget import BudgetPolicy
from assistant.core.modes import Mode, mode_named
from assistant.core.preparation import Preparation
from assistant.core.selection import SelectionPolicy
from assistant.errors import BadInput, BadSetting
from assistant.interfaces import ChatModel, DocumentStore, Embedder, Retriever
from assistant.llm.learning import TokenFactor
from assistant.llm.litellm_embedder import LiteLLMEmbedder
from assistant.llm.models import choose_model
from assistant.llm.tokens import price_for, sees_images
from assistant.prompts import LANGUAGES, load_prompts
from assistant.retrieval.embedders import choose_embedder
from assistant.retrieval.floors import floor_for, load_floors
from assistant.retrieval.hybrid import HybridRetriever
from assistant.store import Store
from assistant.store.factors import ModelFactors
from assistant.store.pseudonyms import pseudonym
from assistant.synthesis.registry import available_modes, custom_rules, get_preparation
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


async def open_model(settings: Settings, name: str, factors: ModelFactors) -> tuple[ChatModel, FactorKeeper]:
    """A model by its name, with what earlier runs learnt of its tokenizer."""
    chosen = settings.model
    known = await factors.get(name)
    factor = TokenFactor(*known) if known else TokenFactor()
    keeper = FactorKeeper(name, factors, factor.value)
    model = await asyncio.to_thread(
        choose_model,
        chosen.kind,
        name,
        base_url=chosen.base_url,
        api_key=chosen.api_key.get_secret_value(),
        window=chosen.window or None,
        timeout=chosen.timeout_s,
        factor=factor,
        learnt=keeper.keep,
    )
    return model, keeper


class FactorKeeper:
    """Stores what is learnt of a model's tokenizer, in the background, when it has changed by a hundredth."""

    def __init__(self, model: str, factors: ModelFactors, stored: float) -> None:
        self._model = model
        self._factors = factors
        self._stored = stored
        self._tasks: set[asyncio.Task[None]] = set()

    def keep(self, factor: TokenFactor) -> None:
        """Begin to store the factor; a failure to store is only logged, the factor is used all the same."""
        if abs(factor.value - self._stored) < 0.01 * self._stored and factor.samples > 1:
            return
        self._stored = factor.value
        task = asyncio.create_task(self._put(factor.value, factor.samples))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _put(self, value: float, samples: int) -> None:
        try:
            await self._factors.put(self._model, value, samples)
        except Exception:
            log.exception("a token factor could not be stored", model=self._model)

    async def aclose(self) -> None:
        """Return when everything is stored."""
        await asyncio.gather(*self._tasks)


async def open_routes(settings: Settings, factors: ModelFactors, stack: AsyncExitStack) -> tuple[Route, Route | None]:
    """The model of the settings, and the cheaper one where one is named; both are closed with the stack."""
    names = [settings.model.name, *([settings.model.simple] if settings.model.simple else [])]
    routes = []
    for name in names:
        model, keeper = await open_model(settings, name, factors)
        stack.push_async_callback(keeper.aclose)
        stack.push_async_callback(model.aclose)
        vision = settings.model.vision
        sees = sees_images(name) if vision is None else vision
        routes.append(Route(model, price_for(name) if name else None, sees))
    return routes[0], (routes[1] if len(routes) > 1 else None)


def make_embedder(settings: Settings) -> Embedder | None:
    """The embedder that the settings name; None when search is by words only."""
    name = settings.retrieval.embedder
    if name.startswith(LITELLM):
        chosen = settings.retrieval
        key, base = chosen.api_key.get_secret_value() or None, chosen.base_url or None
        return LiteLLMEmbedder(name.removeprefix(LITELLM), chosen.dimension, api_key=key, api_base=base)
    return choose_embedder(name)


def chosen_floor(settings: Settings, embedder: Embedder | None, *, complete: bool) -> float:
    """The least score of evidence, as a share of the best: the setting, or what was calibrated for the embedder in use.

    While vectors are still to be made (not `complete`) the ranking is that of the words, for some or all passages, so the
    lower of the two floors holds.
    """
    chosen = settings.retrieval
    if chosen.floor is not None:
        return chosen.floor
    floors = load_floors(chosen.floors)
    floor = floor_for(embedder.name if embedder else None, floors)
    return floor if complete else min(floor, floor_for(None, floors))


async def has_all_vectors(store: Store, embedder: Embedder | None) -> bool:
    """Whether there are chunks and each has its vector; nothing is missing where search is by words only."""
    if embedder is None:
        return True
    waiting = await store.documents.chunks_without_vectors(embedder.name, 1)
    return not waiting and (await store.state())["chunks"] > 0


def turn_policy(settings: Settings, embedder: Embedder | None = None, *, complete: bool = True) -> TurnPolicy:
    """The settings that steer a turn, as core values. Reads the file of floors."""
    budget, model, answers = settings.budget, settings.model, settings.answers
    return TurnPolicy(
        selection=SelectionPolicy(
            floor=chosen_floor(settings, embedder, complete=complete), limit=settings.retrieval.evidence
        ),
        budget=BudgetPolicy(
            min_output=budget.min_output,
            max_output=budget.max_output,
            output_share=budget.output_share,
            margin_share=budget.margin_share,
            history_share=budget.history_share,
        ),
        window_days=budget.conflict_window_days,
        mode=None if answers.mode == "auto" else known_mode(answers.mode),
        modes={collection: known_mode(name) for collection, name in answers.modes.items()},
        filtered=answers.filter,
        judged=answers.judge,
        most_calls=answers.most_calls,
        most_cost=answers.most_cost or None,
        deadline_s=answers.deadline_s,
        preparations=tuple(known_preparation(name) for name in answers.prepare),
        search_limit=settings.retrieval.limit,
        temperature=model.temperature,
        top_p=model.top_p,
        frequency_penalty=model.frequency_penalty,
        presence_penalty=model.presence_penalty,
    )


def known_mode(name: str) -> Mode | str:
    """The mode of this name; BadSetting when there is none."""
    if name not in available_modes():
        raise BadSetting("there is no such mode", mode=name, known=available_modes())
    return mode_named(name)


def known_preparation(name: str) -> Preparation:
    """The preparation step of this name; BadSetting when there is none."""
    try:
        return get_preparation(name)
    except BadInput as error:
        raise BadSetting(error.detail, **error.data) from None


@asynccontextmanager
async def assemble(settings: Settings) -> AsyncIterator[Parts]:
    """Open the store and put the parts together; everything is closed at the end."""
    prompts = partial(load_prompts, override=settings.prompts, form=settings.answers.form)
    for language in LANGUAGES:
        await asyncio.to_thread(prompts, language)  # read once, before any turn
    async with Store(settings.database.url) as store, AsyncExitStack() as stack:
        main, simple = await open_routes(settings, store.factors, stack)
        embedder = make_embedder(settings)
        complete = await has_all_vectors(store, embedder)
        retriever = HybridRetriever(store.index, embedder)
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
        )
        writes_notes = settings.model.summaries and settings.model.kind != "extractive"
        memory = Memory(store.conversations, prompts, model if writes_notes else None)
        live = LiveTurns(
            manager,
            store.conversations,
            store.events,
            new_id,
            per_user=settings.server.running_turns_per_user,
            after_turn=memory.refresh,
        )
        yield Parts(settings, store, model, embedder, retriever, manager, live)


def create_app(settings: Settings, *, authenticator: Authenticator | None = None) -> Any:
    """The ASGI application of these settings; its lifespan opens and closes everything."""
    return make_app(partial(_opened, settings, authenticator), PAGE)


@asynccontextmanager
async def _opened(settings: Settings, authenticator: Authenticator | None) -> AsyncIterator[tuple[Doors, Ready]]:
    notary = await asyncio.to_thread(open_notary, settings.audit)
    async with assemble(settings) as parts:
        interrupted = await parts.live.recover()
        if interrupted:
            log.info("turns ended after a crash", turns=interrupted)
        background = [asyncio.create_task(embed_waiting(parts)), asyncio.create_task(tell_changes(parts))]
        if notary.checkpointer is not None:
            background.append(asyncio.create_task(notary.checkpointer.run(parts.store.audit)))
        try:
            yield make_doors(parts, authenticator or make_authenticator(settings), notary), partial(_ready, parts)
        finally:
            for task in background:
                task.cancel()
            await asyncio.gather(*background, return_exceptions=True)
            await parts.live.drain(DRAIN_S)


def open_notary(chosen: AuditSettings, *, signs: bool = True) -> Notary:
    """Who signs the audit log, and where its checkpoints go. Reads files: call it in a thread.

    When `signs`, a key is made where there is none; else nothing is made and nothing signed. Raises BadSetting for a key
    that cannot be used and for a target that nothing serves.
    """
    targets = Targets([target_at(where) for where in chosen.targets])
    if not signs:
        return Notary(targets, known_keys(chosen.key.parent))
    signer = signer_at(chosen.key)
    checkpointer = Checkpointer(
        signer, now, targets, every_records=chosen.every_records, every_minutes=chosen.every_minutes
    )
    return Notary(targets, known_keys(chosen.key.parent, signer), signer, checkpointer)


def make_desk(store: Store, notary: Notary) -> AuditDesk:
    """The desk of the auditors of a store."""
    return AuditDesk(store.audit, store.audited, notary, pseudonym=pseudonym, clock=now)


def make_doors(parts: Parts, authenticator: Authenticator, notary: Notary) -> Doors:
    """The insides that all doors share."""
    server = parts.settings.server
    return Doors(
        authenticator=authenticator,
        store=parts.store.conversations,
        events=parts.store.events,
        images=parts.store.documents,
        sources=parts.store.sources,
        audit=make_desk(parts.store, notary),
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
    return DevelopmentAuthenticator(
        settings.tenant, auth.development_user, auth.development_groups, auth.development_roles
    )


async def _ready(parts: Parts) -> dict[str, Any]:
    return {"model": parts.model.name, **await parts.store.state()}


async def tell_changes(parts: Parts, *, pause: float = 60.0) -> None:
    """Tell those who asked when a cited document changed, for ever; at first of what happened in the last day.

    It finds what another process read in, and answers that were still being written when their source changed.
    """
    since = now() - timedelta(days=1)
    while True:
        started = now()
        try:
            await parts.store.tell_changes(since)
            since = started
        except Exception:
            log.exception("changes of sources could not be told")
        await asyncio.sleep(pause)


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
