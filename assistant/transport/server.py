"""The ASGI application: routes, page, error responses."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError

from assistant import __version__
from assistant.errors import AssistantError
from assistant.transport.audit import router as audit_router
from assistant.transport.doors import Doors
from assistant.transport.http import refuse, refuse_request, router
from assistant.transport.limits import BodyLimit
from assistant.transport.openai_api import router as openai_router
from assistant.transport.page import SecurityHeaders, add_page
from assistant.transport.sources import router as sources_router

Ready = Callable[[], Awaitable[dict[str, Any]]]
Open = Callable[[], AbstractAsyncContextManager[tuple[Doors, Ready]]]


def make_app(opening: Open, page: Path) -> FastAPI:
    """The application; `opening` is entered at start-up and left at shut-down, after the sockets are closed."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with opening() as (doors, ready):
            app.state.doors, app.state.ready = doors, ready
            yield

    app = FastAPI(title="Assistant", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None)
    app.add_middleware(BodyLimit)
    app.add_middleware(SecurityHeaders)
    app.add_exception_handler(AssistantError, refuse)
    app.add_exception_handler(RequestValidationError, refuse_request)
    app.include_router(router)
    app.include_router(sources_router)
    app.include_router(openai_router)
    app.include_router(audit_router)
    add_page(app, page)
    return app
