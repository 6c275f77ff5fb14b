"""The server: parts, doors, and what runs beside them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import structlog

from assistant import __version__
from assistant.app.assembling import Parts, assemble
from assistant.app.auditing import make_desk, make_retainer, open_notary
from assistant.app.desks import make_document_desk, make_people_desk
from assistant.app.values import new_id, now
from assistant.app.working import in_server, open_working
from assistant.audit.desk import Notary
from assistant.config import Settings
from assistant.interfaces.jobs import Jobs
from assistant.knowledge.pool import ReaderPool
from assistant.llm.reliable import ReliableModel
from assistant.synthesis.registry import available_modes
from assistant.transport.auth import Authenticator
from assistant.transport.auth.entrance import Entrance, open_entrance
from assistant.transport.auth.watching import PeopleWatch
from assistant.transport.doors import Doors, StartLimiter
from assistant.transport.presence import Presence
from assistant.transport.protocol import Limits
from assistant.transport.server import Ready, make_app

log = structlog.get_logger(__name__)

PAGE = Path(__file__).parents[1] / "web"
READERS = 2
"""Processes that read documents which are sent in."""
DRAIN_S = 10.0
"""How long running turns may go on while the server stops."""


def create_app(settings: Settings, *, authenticator: Authenticator | None = None) -> Any:
    """The ASGI application of these settings; its lifespan opens and closes everything."""
    return make_app(
        partial(_opened, settings, authenticator),
        PAGE,
        origins=settings.auth.origins,
        portals=settings.widget.portals,
        metrics_token=settings.server.metrics_token.get_secret_value(),
    )


@asynccontextmanager
async def _opened(settings: Settings, authenticator: Authenticator | None) -> AsyncIterator[tuple[Doors, Ready]]:
    notary = await asyncio.to_thread(open_notary, settings.audit)
    async with assemble(settings, serves=True) as parts, ReaderPool(READERS) as readers, open_working(parts) as jobs:
        interrupted = await parts.live.recover()
        if interrupted:
            log.info("turns ended after a crash", turns=interrupted)
        entrance = Entrance(authenticator) if authenticator else await _entrance(settings, parts)
        doors = make_doors(parts, entrance, notary, readers, jobs)
        background = [asyncio.create_task(work) for work in _works(parts, doors, notary)]
        try:
            yield doors, partial(_ready, parts)
        finally:
            for task in background:
                task.cancel()
            await asyncio.gather(*background, return_exceptions=True)
            await parts.live.drain(DRAIN_S)
            if notary.checkpointer is not None:
                await notary.checkpointer.finish(parts.store.audit)


def _works(parts: Parts, doors: Doors, notary: Notary) -> Iterator[Coroutine[Any, Any, None]]:
    """What runs beside the doors until the server stops."""
    if in_server(parts.settings):
        yield doors.jobs.run()
    yield PeopleWatch(parts.store.identity, doors.presence.ring, now).run()
    if notary.checkpointer is not None:
        yield notary.checkpointer.run(parts.store.audit)


async def _entrance(settings: Settings, parts: Parts) -> Entrance:
    return await open_entrance(settings, parts.store.identity, now=now, new_id=new_id)


def make_doors(parts: Parts, entrance: Entrance, notary: Notary, readers: ReaderPool, jobs: Jobs) -> Doors:
    """The insides that all doors share."""
    server = parts.settings.server
    return Doors(
        authenticator=entrance.authenticator,
        sign_in=entrance.sign_in,
        store=parts.store.conversations,
        events=parts.store.events,
        images=parts.store.documents,
        sources=parts.store.sources,
        audit=make_desk(parts.settings, parts.store, notary, make_retainer(parts.settings, parts.store)),
        library=parts.store.library,
        files=parts.store.files,
        desk=make_document_desk(parts.store, readers, parts.settings.limits),
        people=make_people_desk(parts.store),
        upload_bytes=parts.settings.limits.upload_bytes,
        sessions=parts.store.sessions,
        usage=parts.store.usage,
        jobs=jobs,
        live=parts.live,
        rights=parts.store.rights,
        presence=Presence(),
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
            "portals": parts.settings.widget.portals,
            "sign_in": "/auth/login" if entrance.sign_in is not None else "",
            "files": parts.settings.limits.files_per_session,
        },
    )


async def _ready(parts: Parts) -> dict[str, Any]:
    seen = parts.model.last_seen() if isinstance(parts.model, ReliableModel) else "answers"
    return {"model": parts.model.name, "model_seen": seen, **await parts.store.state()}
