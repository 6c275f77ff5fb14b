"""What a server does while nobody waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta

import structlog

from assistant.app.assembling import Parts
from assistant.app.values import now
from assistant.interfaces import DocumentStore, Embedder

log = structlog.get_logger(__name__)

EMBED_BATCH = 64


async def tell_changes(parts: Parts, *, pause: float = 60.0) -> None:
    """Tell those who asked when a cited document changed, for ever; at first of what happened in the last day.

    It finds what another process read in, and answers that were still being written when their source changed.
    """
    since = now() - timedelta(days=1)
    while True:
        started = now()
        try:
            if await parts.store.tell_changes(since):
                parts.live.stir()
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
