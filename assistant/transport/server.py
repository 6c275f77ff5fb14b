"""The ASGI application: routes, page, error responses."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from fastapi import FastAPI

from assistant import __version__
from assistant.errors import AssistantError
from assistant.transport.doors import Doors
from assistant.transport.http import make_router, refuse
from assistant.transport.page import add_page

Ready = Callable[[], Awaitable[dict[str, Any]]]
Open = Callable[[], AbstractAsyncContextManager[tuple[Doors, Ready]]]


def make_app(opening: Open, page: Path) -> FastAPI:
    """The application; `opening` is entered at start-up and left at shut-down, after the sockets are closed."""

    class Lifespan:
        def __init__(self, app: FastAPI) -> None:
            self._app, self._opened = app, opening()

        async def __aenter__(self) -> None:
            doors, ready = await self._opened.__aenter__()
            self._app.include_router(make_router(doors, ready))
            add_page(self._app, page)

        async def __aexit__(self, *failure: Any) -> None:
            await self._opened.__aexit__(*failure)

    app = FastAPI(title="Assistant", version=__version__, lifespan=Lifespan, docs_url=None, redoc_url=None)
    app.add_exception_handler(AssistantError, refuse)
    return app
