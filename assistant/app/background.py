"""Vectors for chunks that have none, made while nobody waits for them."""

from __future__ import annotations

from collections.abc import Callable

import structlog

from assistant.interfaces import ALL_CHUNKS, DocumentStore, Embedder, Lane

log = structlog.get_logger(__name__)

EMBED_BATCH = 64


async def embed_batch(documents: DocumentStore, embedder: Embedder, batch: int) -> int:
    """Give vectors to at most `batch` chunks that have none; the number done."""
    return len(await embed_some(documents, embedder, batch, ALL_CHUNKS))


async def embed_some(documents: DocumentStore, embedder: Embedder, batch: int, lane: Lane) -> list[int]:
    """Give vectors to at most `batch` chunks of the lane that have none; their ids, ascending."""
    chunks = await documents.chunks_without_vectors(embedder.name, batch, lane)
    if chunks:
        vectors = await embedder.embed_passages([chunk.text for chunk in chunks])
        await documents.put_vectors(embedder.name, [chunk.id for chunk in chunks], vectors)
    return [chunk.id for chunk in chunks]


async def embed_all(
    documents: DocumentStore, embedder: Embedder, on_done: Callable[[int], None] = lambda _: None
) -> None:
    """Give a vector to every chunk that has none; `on_done` hears how many each batch did."""
    while done := await embed_batch(documents, embedder, EMBED_BATCH):
        on_done(done)
