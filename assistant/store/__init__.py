"""Everything that is kept: conversations, events, documents and the search indexes, in SQLite or PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

from sqlalchemy import func, select

from assistant.core.allowance import DayLimits
from assistant.store.answers_of_record import SqlAnswersOfRecord
from assistant.store.audit import SqlAuditLog
from assistant.store.audited import SqlAudited
from assistant.store.changes import notify_since
from assistant.store.conversations import SqlConversationStore
from assistant.store.conversations_list import SqlSessions
from assistant.store.documents import SqlDocumentStore
from assistant.store.engine import Database, Reach, open_database
from assistant.store.erasure import SqlErasure
from assistant.store.events import GroupCommitLog
from assistant.store.factors import ModelFactors
from assistant.store.holds import SqlHolds
from assistant.store.identity import SqlIdentity
from assistant.store.library import SqlLibrary
from assistant.store.library_files import SqlSessionFiles
from assistant.store.library_people import SqlKnownPeople
from assistant.store.past_sources import SqlPastSources
from assistant.store.retention import SqlRetention
from assistant.store.search import passage_index
from assistant.store.signals import PostgresqlSignals, SqliteSignals, signals_of
from assistant.store.tables import documents
from assistant.store.usage import NO_LIMITS, SqlUsage
from assistant.store.withholding import SqlRights
from assistant.store.workers import LEASE_S, SqlWorkers

__all__ = ["Store"]


class Store:
    """The database of a process with all that is kept in it; use it as an async context manager.

    Expects a migrated database (`assistant.store.migrations.migrate`). A `worker` is a process that runs turns, by its id;
    `secret` is that of the installation, which keys pseudonyms and wraps the keys of people. Raises BadSetting for a URL that cannot be used.
    """

    def __init__(
        self,
        url: str,
        *,
        pool_size: int = 8,
        worker: str | None = None,
        secret: bytes | None = None,
        limits: DayLimits = NO_LIMITS,
        reach: Reach | None = None,
        lease_s: float = LEASE_S,
    ) -> None:
        self.database: Database = open_database(url, pool_size=pool_size, reach=reach)
        self.audit = SqlAuditLog(self.database, secret=secret)
        self.conversations = SqlConversationStore(self.database, audit=self.audit, worker=worker, limits=limits)
        self.documents = SqlDocumentStore(self.database)
        self.events = GroupCommitLog(self.database, worker=worker)
        self.workers = SqlWorkers(self.database, worker or "", lease_s=lease_s)
        self.rights = SqlRights(self.database)
        self.identity = SqlIdentity(self.database)
        self.sessions = SqlSessions(self.database)
        self.usage = SqlUsage(self.database, self.conversations.meter)
        self.factors = ModelFactors(self.database)
        self.sources = SqlPastSources(self.database)
        self.audited = SqlAudited(self.database, self.sources)
        self.holds = SqlHolds(self.database, self.audit)
        self.erasure = SqlErasure(self.database, self.audit)
        self.retention = SqlRetention(self.database, self.audit)
        self.library = SqlLibrary(self.database, self.audit)
        self.files = SqlSessionFiles(self.database, self.audit)
        self.people = SqlKnownPeople(self.database)
        self.records_of_answer = SqlAnswersOfRecord(self.database, self.audit)
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

    def signals(self, others: Callable[[], bool]) -> PostgresqlSignals | SqliteSignals:
        """What other processes tell; `others` says whether there are any."""
        return signals_of(self.database, self.workers.id, others)

    async def tell_changes(self, since: datetime) -> int:
        """Tell those who asked of every cited document that was written or deleted since then; how many were told."""
        return len(await notify_since(self.database, since, at=datetime.now(UTC)))

    async def state(self) -> dict[str, Any]:
        """How much can be found: live documents and their chunks. Fails when the database does."""
        live = select(func.count().label("documents"), func.sum(documents.c.chunk_count).label("chunks"))
        async with self.database.read() as connection:
            row = (await connection.execute(live.where(documents.c.deleted_at.is_(None)))).one()
        return {"database": self.database.dialect, "documents": row.documents, "chunks": int(row.chunks or 0)}
