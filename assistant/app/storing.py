"""The store of the settings, opened with the secret of the installation."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from assistant.app.policies import day_limits, reach_of
from assistant.audit.secrets import secret_at
from assistant.config import Settings
from assistant.store import Store


@asynccontextmanager
async def open_store(settings: Settings, worker: str | None = None) -> AsyncIterator[Store]:
    """The store, whose keys are wrapped by the secret; a `worker` is a process that runs turns, by its id.

    Makes the file of the secret where there is none. Raises BadSetting for a secret that is not the one of the database.
    """
    secret = await asyncio.to_thread(secret_at, settings.audit.secret)
    async with Store(
        settings.database.url,
        worker=worker,
        secret=secret,
        reach=reach_of(settings.database),
        limits=day_limits(settings.limits),
        lease_s=settings.server.lease_s,
    ) as store:
        await store.audit.prepare()
        yield store
