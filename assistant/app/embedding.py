"""Vectors as jobs: who looks for chunks that have none, and the lanes in which they are made, side by side and in small pieces."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

import structlog

from assistant.app.background import EMBED_BATCH, embed_some
from assistant.app.values import now
from assistant.interfaces import DocumentStore, Embedder, Lane
from assistant.interfaces.jobs import JobQueue, Payload

log = structlog.get_logger(__name__)

EMBED: Final = "embed"
SHARED_LANES: Final = 8
"""As many processes may make vectors at once, where several may."""
PIECE: Final = 8 * EMBED_BATCH
"""Chunks of one job; those that are left get another, behind what waits already."""
_LOOKED_AT: Final = 1024
_WHOLE: Final = timedelta(minutes=1)


class Embed:
    """Does the jobs of vectors: without a lane, one looks for chunks to be done; with one, it does some of that lane.

    A chunk is in one lane, and of a lane one job runs and one waits: nobody does what another one does. Every batch is stored at
    once, so one that is stopped anywhere goes on there.
    """

    def __init__(self, documents: DocumentStore, embedder: Embedder | None, queue: JobQueue, lanes: int) -> None:
        self._documents = documents
        self._embedder = embedder
        self._queue = queue
        self._lanes = lanes
        self._through = 0
        self._whole_at: datetime | None = None

    async def __call__(self, payload: Payload) -> None:
        """Look for what is to be done, or do a piece of it."""
        if self._embedder is None:
            return
        if "lane" in payload:
            await self._make(self._embedder, Lane(int(payload["lane"]), int(payload["of"]), int(payload["after"])))
        else:
            await self._look(self._embedder)

    async def _look(self, embedder: Embedder) -> None:
        """Give a job to each lane that lacks vectors.

        New chunks have higher ids, so most looks begin where all was done; once a minute one begins at the first chunk, for
        those that were stored out of turn.
        """
        whole = self._whole_at is None or now() >= self._whole_at
        newest = await self._documents.newest_chunk()
        missing = await self._documents.missing_vectors(embedder.name, _LOOKED_AT, 0 if whole else self._through)
        for number in sorted({id_ % self._lanes for id_ in missing}):
            await self._go_on(Lane(number, self._lanes, missing[0] - 1))
        if not missing:
            self._through = newest
        if whole:
            self._whole_at = now() + _WHOLE

    async def _make(self, embedder: Embedder, lane: Lane) -> None:
        done = 0
        while done < PIECE and (ids := await embed_some(self._documents, embedder, EMBED_BATCH, lane)):
            done, lane = done + len(ids), replace(lane, after=ids[-1])
        if done:
            log.info("embedded", chunks=done, lane=lane.number, lanes=lane.of)
        if done >= PIECE:
            await self._go_on(lane)

    async def _go_on(self, lane: Lane) -> None:
        payload = {"lane": lane.number, "of": lane.of, "after": lane.after}
        await self._queue.enqueue(EMBED, payload, key=f"{EMBED}:{lane.number}/{lane.of}")
