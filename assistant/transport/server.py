"""The ASGI application: routes, page, error responses."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Final

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.middleware.cors import CORSMiddleware

from assistant import __version__
from assistant.errors import AssistantError
from assistant.telemetry.figures import count_tasks
from assistant.transport.admin import router as admin_router
from assistant.transport.audit import router as audit_router
from assistant.transport.auth.exchange import router as exchange_router
from assistant.transport.auth.oidc import router as oidc_router
from assistant.transport.contracts.openapi import describe
from assistant.transport.doors import Doors
from assistant.transport.files import router as files_router
from assistant.transport.http import refuse, refuse_request, router
from assistant.transport.jobs import router as jobs_router
from assistant.transport.limits import BodyLimit
from assistant.transport.metrics import Observed, add_metrics
from assistant.transport.openai_api import router as openai_router
from assistant.transport.page import SecurityHeaders, add_page
from assistant.transport.people import router as people_router
from assistant.transport.sessions import router as sessions_router
from assistant.transport.sources import router as sources_router
from assistant.transport.stream import router as stream_router

_METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE")
_HEADERS: Final = (
    "Authorization",
    "Content-Type",
    "Idempotency-Key",
    "Last-Event-ID",
    "X-Audit-Reason",
    "X-File-Name",
    "X-Metadata",
)
Ready = Callable[[], Awaitable[dict[str, Any]]]
Open = Callable[[], AbstractAsyncContextManager[tuple[Doors, Ready]]]


def make_app(
    opening: Open, page: Path, *, origins: Sequence[str] = (), portals: Sequence[str] = (), metrics_token: str = ""
) -> FastAPI:
    """The application; `opening` is entered at start-up and left at shut-down, after the sockets are closed.

    Pages of the `origins`, exactly those, may call it from a browser; no cookie ever speaks for anybody. Pages of the `portals`
    may show the page for frames in a frame. Who has the `metrics_token` may read the figures; without one nobody may.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        count_tasks(asyncio.get_running_loop())
        async with opening() as (doors, ready):
            app.state.doors, app.state.ready = doors, ready
            yield

    app = FastAPI(title="Assistant", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None)
    app.add_middleware(BodyLimit)
    app.add_middleware(SecurityHeaders, portals=tuple(portals))
    if origins:
        app.add_middleware(CORSMiddleware, allow_origins=list(origins), allow_methods=_METHODS, allow_headers=_HEADERS)
    app.add_middleware(Observed)  # the outermost: what the others refuse is told as well
    app.add_exception_handler(AssistantError, refuse)
    app.add_exception_handler(RequestValidationError, refuse_request)
    app.include_router(router)
    app.include_router(sessions_router)
    app.include_router(sources_router)
    app.include_router(stream_router)
    app.include_router(openai_router)
    app.include_router(audit_router)
    app.include_router(exchange_router)
    app.include_router(oidc_router)
    app.include_router(admin_router)
    app.include_router(people_router)
    app.include_router(jobs_router)
    app.include_router(files_router)
    add_metrics(app, metrics_token)
    add_page(app, page)
    describe(app)
    return app
