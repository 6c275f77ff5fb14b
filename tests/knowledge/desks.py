"""A desk for tests: a real store, documents read in a thread instead of a process."""

from __future__ import annotations

import asyncio

from assistant.core.access import Caller
from assistant.interfaces import DocumentDraft
from assistant.knowledge.desk import DeskPolicy, KnowledgeDesk
from assistant.knowledge.drafts import draft
from assistant.knowledge.worker import Job
from assistant.store import Store


class Here:
    """Reads in this process; where a gate is given, only when it opens."""

    def __init__(self, gate: asyncio.Event | None = None) -> None:
        self.gate = gate
        self.jobs: list[Job] = []

    async def read(self, job: Job, data: bytes) -> DocumentDraft:
        self.jobs.append(job)
        if self.gate is not None:
            await self.gate.wait()
        return await asyncio.to_thread(draft, data, job.uri, sources=job.sources, limits=job.limits, size=job.size)


def alias(caller: Caller) -> str:
    return f"u-{caller.user}"


def desk_of(store: Store, readers: Here | None = None, policy: DeskPolicy | None = None) -> KnowledgeDesk:
    return KnowledgeDesk(store.library, store.files, readers or Here(), pseudonym=alias, policy=policy)
