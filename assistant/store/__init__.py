"""Everything that is kept: conversations, events, documents and the search indexes, in SQLite or PostgreSQL."""

from __future__ import annotations

from datetime import UTC, datetime
from types import TracebackType
from typing import Any

from sqlalchemy import func, select

from assistant.store.audit import SqlAuditLog
from assistant.store.audited import SqlAudited
from assistant.store.changes import notify_since
from assistant.store.conversations import SqlConversationStore
from assistant.store.documents import SqlDocumentStore
from assistant.store.engine import Database, open_database
from assistant.store.erasure import SqlErasure
from assistant.store.events import GroupCommitLog
from assistant.store.factors import ModelFactors
from assistant.store.holds import SqlHolds
from assistant.store.past_sources import SqlPastSources
from assistant.store.retention import SqlRetention
from assistant.store.search import passage_index
from assistant.store.tables import documents

__all__ = ["Store"]


class Store:
    """The database of a process with all that is kept in it; use it as an async context manager.

    Expects a migrated database (`assistant.store.migrations.migrate`). Raises BadSetting for a URL that cannot be used.
    """

    def __init__(self, url: str, *, pool_size: int = 8) -> None:
        self.database: Database = open_database(url, pool_size=pool_size)
        self.audit = SqlAuditLog(self.database)
        self.conversations = SqlConversationStore(self.database, audit=self.audit)
        self.documents = SqlDocumentStore(self.database)
        self.events = GroupCommitLog(self.database)
        self.factors = ModelFactors(self.database)
        self.sources = SqlPastSources(self.database)
        self.audited = SqlAudited(self.database, self.sources)
        self.holds = SqlHolds(self.database, self.audit)
        self.erasure = SqlErasure(self.database, self.audit)
        self.retention = SqlRetention(self.database, self.audit)
        self.index = passage_index(self.database)

    async def __aenter__(self) -> Store:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Commit what waits and close all connections."""
        await self.events.close()
        await self.index.close()
        await self.database.close()

    async def tell_changes(self, since: datetime) -> int:
        """Tell those who asked of every cited document that was written or deleted since then; how many were told."""
        return len(await notify_since(self.database, since, at=datetime.now(UTC)))

    async def state(self) -> dict[str, Any]:
        """How much can be found: live documents and their chunks. Fails when the database does."""
        live = select(func.count().label("documents"), func.sum(documents.c.chunk_count).label("chunks"))
        async with self.database.read() as connection:
            row = (await connection.execute(live.where(documents.c.deleted_at.is_(None)))).one()
        return {"database": self.database.dialect, "documents": row.documents, "chunks": int(row.chunks or 0)}
