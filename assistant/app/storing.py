"""The store of the settings: its database brought to the newest form, and opened with the secret of the installation."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from assistant.app.policies import day_limits, reach_of
from assistant.app.values import now
from assistant.audit.secrets import secret_at
from assistant.config import Settings
from assistant.store import Store
from assistant.store.migrations import migrate
from assistant.store.partitions import prepare_at


async def bring_up(settings: Settings) -> str:
    """Bring the database to the newest form, with the partitions of the months to come; its URL, past a pooler where there is one."""
    url = settings.database.direct_url or settings.database.url
    await migrate(url)
    await prepare_at(url, now())
    return url


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
