"""The library in SQL: documents as those who look after them see and change them, every change on the record."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import structlog
from sqlalchemy import delete, select, update
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection

from assistant.codec import storable
from assistant.core.audit import AuditDraft, AuditKind
from assistant.errors import BadInput, NotFound
from assistant.interfaces import (
    CollectionView,
    DocumentChange,
    DocumentDraft,
    DocumentView,
    KeptOriginal,
    KnownDocument,
    Noted,
    Original,
    TextPage,
    VersionView,
)
from assistant.store.answer_cache import forget_document
from assistant.store.audit import SqlAuditLog
from assistant.store.changes import notify_changes
from assistant.store.documents import check_draft, document_id, mark_deleted, write_document
from assistant.store.engine import Database
from assistant.store.images import image_rows
from assistant.store.library_settings import plain, read_settings, write_access, write_settings
from assistant.store.library_views import (
    page_of,
    read_collections,
    read_document,
    read_text,
    read_versions,
    view_of,
)
from assistant.store.rights import read_access
from assistant.store.tables import documents, originals
from assistant.store.upsert import upsert

log = structlog.get_logger(__name__)


class SqlLibrary:
    """The Library in SQL."""

    def __init__(
        self, database: Database, audit: SqlAuditLog, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._database = database
        self._audit = audit
        self._clock = clock

    async def collections(self, tenant: str) -> list[CollectionView]:
        """All collections by name."""
        async with self._database.read() as connection:
            return await read_collections(connection, tenant)

    async def documents(
        self,
        tenant: str,
        *,
        collection: str | None = None,
        query: str = "",
        after: tuple[str, str] | None = None,
        limit: int = 50,
    ) -> list[DocumentView]:
        """Live documents by collection and uri, from behind `after`, whose title or uri holds `query` in any case.

        Raises BadInput for what no database can hold.
        """
        for given in (collection or "", query, *(after or ())):
            storable(given)
        async with self._database.read() as connection:
            rows = (await connection.execute(page_of(tenant, collection, query, after, limit))).all()
            access = await read_access(connection, [row.id for row in rows])
        return [view_of(row, access[row.id]) for row in rows]

    async def document(self, tenant: str, id_: str) -> DocumentView:
        """A live document; NotFound when there is none."""
        async with self._database.read() as connection:
            return await read_document(connection, tenant, id_)

    async def versions(self, tenant: str, id_: str) -> list[VersionView]:
        """The kept versions of a live document, the latest first. Raises NotFound."""
        async with self._database.read() as connection:
            return await read_versions(connection, tenant, id_)

    async def text(self, tenant: str, id_: str, number: int, offset: int, limit: int) -> TextPage:
        """At most `limit` code points of a version from `offset`. Raises NotFound."""
        async with self._database.read() as connection:
            return await read_text(connection, tenant, id_, number, offset, limit)

    async def known(self, tenant: str, collection: str, uri: str) -> KnownDocument | None:
        """What is known of the live document with this uri; None when there is none."""
        async with self._database.read() as connection:
            return await read_known(connection, document_id(tenant, collection, uri))

    async def original(self, tenant: str, id_: str) -> KeptOriginal:
        """The original of the current version. Raises NotFound, BadInput with `reason` "no_original" where none is kept."""
        async with self._database.read() as connection:
            document = await read_document(connection, tenant, id_)
            here = (originals.c.document == document.id) & (originals.c.version == document.version)
            row = (await connection.execute(select(originals).where(here))).one_or_none()
        if row is None:
            raise BadInput("the document was not sent in: its file is elsewhere", reason="no_original")
        kept = Original(row.name, row.media_type, bytes(row.content), row.said)
        return KeptOriginal(document.id, document.collection, document.uri, document.version, kept)

    async def put(
        self,
        tenant: str,
        collection: str,
        draft: DocumentDraft,
        *,
        fingerprint: str,
        original: Original,
        noted: Noted,
        what: str,
        released: frozenset[str] = frozenset(),
    ) -> KnownDocument:
        """Store a draft as `DocumentStore.put` does, with its original; fields `released` are no longer as a person set them."""
        check_draft(draft, tenant, collection, fingerprint)
        pictures = await asyncio.to_thread(image_rows, draft.images)
        now, id_ = self._clock(), document_id(tenant, collection, draft.uri)
        async with self._database.write() as connection:
            await _release(connection, id_, released, now)
            number = await write_document(connection, tenant, collection, draft, pictures, fingerprint, now)
            row = {"document": id_, "version": number, "name": original.name, "media_type": original.media_type}
            row |= {"said": dict(original.said), "content": original.content, "made_at": now}
            await upsert(connection, originals, [row])
            access = sorted((await read_access(connection, [id_]))[id_])
            told = {"collection": collection, "uri": draft.uri, "version": number, "sha256": draft.sha256}
            await self._note(connection, tenant, noted, id_, what, told | {"access": access})
        await self._tell(tenant, id_)
        return KnownDocument(id_, number, fingerprint)

    async def change(self, tenant: str, id_: str, change: DocumentChange, noted: Noted) -> DocumentView:
        """Set fields of a live document, at once and for every later reading. Raises NotFound, BadInput without a group."""
        fresh, now = plain(change), self._clock()
        for name in (*change.access, change.owner or ""):
            storable(name)
        if "access" in fresh and not fresh["access"]:
            raise BadInput("a document needs at least one access group", reason="access")
        async with self._database.write() as connection:
            before = await read_document(connection, tenant, id_)
            values: dict[str, Any] = {name: getattr(change, name) for name in fresh if name != "access"}
            values |= {"authority": change.authority.value} if "authority" in fresh else {}
            here = documents.c.id == id_
            await connection.execute(update(documents).where(here).values(**values, updated_at=now))
            await forget_document(connection, id_)
            if "access" in fresh:
                await write_access(connection, id_, change.access)
            await write_settings(connection, id_, {**await read_settings(connection, id_), **fresh}, now)
            told = {"set": fresh, "access_before": sorted(before.access)} if "access" in fresh else {"set": fresh}
            await self._note(connection, tenant, noted, id_, "changed", told)
        await self._tell(tenant, id_)
        return await self.document(tenant, id_)

    async def delete(self, tenant: str, id_: str, noted: Noted) -> None:
        """Delete a live document with its originals; its versions stay for old answers. Raises NotFound."""
        async with self._database.write() as connection:
            document = await read_document(connection, tenant, id_)
            if not await mark_deleted(connection, id_, self._clock()):
                raise NotFound("no such document")
            await connection.execute(delete(originals).where(originals.c.document == id_))
            told = {"collection": document.collection, "uri": document.uri, "version": document.version}
            await self._note(connection, tenant, noted, id_, "deleted", told)
        await self._tell(tenant, id_)

    async def _note(
        self, connection: AsyncConnection, tenant: str, noted: Noted, id_: str, what: str, told: dict[str, Any]
    ) -> None:
        body = {"what": what, "document": id_, "reason": noted.reason, **told}
        await self._audit.append(
            connection, AuditDraft(tenant, AuditKind.DOCUMENT, noted.actor, self._clock(), body=body)
        )

    async def _tell(self, tenant: str, id_: str) -> None:
        """Tell those whose answers cite the document. The change stands whether or not this succeeds: it is told later then."""
        try:
            await notify_changes(self._database, tenant, id_, at=self._clock())
        except SQLAlchemyError:
            log.exception("a change of a document could not be told yet", document=id_)


async def _release(connection: AsyncConnection, id_: str, released: frozenset[str], now: datetime) -> None:
    """Forget what people set in these fields; the document is locked, so that nothing set meanwhile is lost."""
    await connection.execute(select(documents.c.id).where(documents.c.id == id_).with_for_update())
    said = await read_settings(connection, id_)
    if said.keys() & released:
        left = {name: value for name, value in said.items() if name not in released}
        await write_settings(connection, id_, left, now)


async def read_known(connection: AsyncConnection, id_: str) -> KnownDocument | None:
    """What is known of a live document; None when there is none."""
    query = select(documents.c.current_version, documents.c.fingerprint)
    row = (await connection.execute(query.where(documents.c.id == id_, documents.c.deleted_at.is_(None)))).one_or_none()
    if row is None:
        return None
    return KnownDocument(id_, row.current_version, row.fingerprint, frozenset(await read_settings(connection, id_)))
