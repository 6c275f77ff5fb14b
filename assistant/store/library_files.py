"""Files that people attach to their sessions: documents in a collection of the session, for its owner alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, delete, func, literal, select
from sqlalchemy.ext.asyncio import AsyncConnection

from assistant.core.access import Caller
from assistant.core.attachments import FILES, files_of
from assistant.core.audit import AuditDraft, AuditKind
from assistant.core.evidence import Place
from assistant.core.text import Span
from assistant.errors import BadInput, NotFound
from assistant.interfaces import DocumentDraft, FileView, Noted
from assistant.store.audit import SqlAuditLog
from assistant.store.changes import notify_changes
from assistant.store.documents import check_draft, count_change, document_id, mark_deleted, write_document
from assistant.store.engine import Database
from assistant.store.images import image_rows
from assistant.store.library_views import known
from assistant.store.rows import AnyRow
from assistant.store.starting import owned_by
from assistant.store.tables import (
    chunks,
    citations,
    conversations,
    document_versions,
    documents,
    evidence,
    images,
    originals,
)

Ids = Select[*tuple[Any, ...]]
"""A query for the ids of conversations."""


class SqlSessionFiles:
    """The SessionFiles in SQL. Access is that of any document: the private group of the owner of the session."""

    def __init__(
        self, database: Database, audit: SqlAuditLog, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._database = database
        self._audit = audit
        self._clock = clock

    async def files(self, caller: Caller, session: str) -> list[FileView]:
        """The files of a session by name. Raises NotFound when the session is not the caller's."""
        async with self._database.read() as connection:
            await _check_owner(connection, caller, session)
            rows = await connection.execute(_FILES.where(_of(caller, session)).order_by(documents.c.uri))
            return [_view(row) for row in rows]

    async def attached(self, caller: Caller, session: str, ids: Sequence[str]) -> list[FileView]:
        """These files of a session in this order, each once. Raises NotFound when one of them is not there."""
        found = {file.id: file for file in await self.files(caller, session)} if ids else {}
        if not found.keys() >= set(ids):
            raise NotFound("no such file")
        return [found[id_] for id_ in dict.fromkeys(ids)]

    async def put_file(
        self, caller: Caller, session: str, draft: DocumentDraft, *, fingerprint: str, most: int, noted: Noted
    ) -> FileView:
        """Store a file; one of the same name is replaced. Raises NotFound when the session is not the caller's, BadInput
        with `reason` "too_many_files" when there are `most` others already, and for a draft that others could read.
        """
        if draft.access != {caller.private_group}:
            raise BadInput("a file of a session is for its owner alone", reason="access")
        collection = files_of(known(session))
        check_draft(draft, caller.tenant, collection, fingerprint)
        pictures = await asyncio.to_thread(image_rows, draft.images)
        id_, now = document_id(caller.tenant, collection, draft.uri), self._clock()
        async with self._database.write() as connection:
            await _check_owner(connection, caller, session, lock=True)
            others = select(func.count()).where(_of(caller, session), documents.c.id != id_)
            if int(await connection.scalar(others) or 0) >= most:
                raise BadInput("too many files in this session", reason="too_many_files", limit=most)
            await write_document(connection, caller.tenant, collection, draft, pictures, fingerprint, now)
            view = _view((await connection.execute(_FILES.where(documents.c.id == id_))).one())
            told = {"version": view.place.version, "sha256": draft.sha256}
            await self._note(connection, caller, session, noted, {"what": "attached", "document": id_, **told})
        await notify_changes(self._database, caller.tenant, id_, at=now)
        return view

    async def delete_file(self, caller: Caller, session: str, id_: str, noted: Noted) -> None:
        """Delete a file: it is found no more. Raises NotFound when it is not there.

        Its text stays with the session, as old answers do, until retention or erasure take both.
        """
        async with self._database.write() as connection:
            await _check_owner(connection, caller, session, lock=True)
            here = select(documents.c.id).where(_of(caller, session), documents.c.id == known(id_))
            if await connection.scalar(here) is None or not await mark_deleted(connection, id_, self._clock()):
                raise NotFound("no such file")
            await self._note(connection, caller, session, noted, {"what": "detached", "document": id_})
        await notify_changes(self._database, caller.tenant, id_, at=self._clock())

    async def _note(
        self, connection: AsyncConnection, caller: Caller, session: str, noted: Noted, body: dict[str, Any]
    ) -> None:
        """On the record without the name of the file: it is the person's."""
        about = (noted.actor, session)
        draft = AuditDraft(caller.tenant, AuditKind.DOCUMENT, noted.actor, self._clock(), *about, body=body)
        await self._audit.append(connection, draft)


async def remove_files(connection: AsyncConnection, within: Ids) -> int:
    """Remove the files of these conversations with all that was quoted from them; how many documents went.

    For erasure and retention, inside their transaction, before the conversations themselves go.
    """
    theirs = select(literal(FILES) + within.subquery().c[0])
    ids = select(documents.c.id).where(documents.c.collection.in_(theirs))
    for table in (citations, evidence, chunks, images, originals, document_versions):
        await connection.execute(delete(table).where(table.c.document.in_(ids)))
    await count_change(connection, "removed")
    return (await connection.execute(delete(documents).where(documents.c.collection.in_(theirs)))).rowcount


async def private_of(connection: AsyncConnection, turn: str) -> tuple[frozenset[str], frozenset[str]]:
    """The files of sessions that a turn was shown, and the pieces of evidence that are theirs, by their ids."""
    query = select(evidence.c.document, evidence.c.evidence_id).where(
        evidence.c.turn == turn, evidence.c.collection.startswith(FILES, autoescape=True)
    )
    rows = (await connection.execute(query)).all()
    return frozenset(row.document for row in rows), frozenset(row.evidence_id for row in rows)


def _of(caller: Caller, session: str) -> ColumnElement[bool]:
    """Whether a document is a live file of this session."""
    of_session = (documents.c.tenant == caller.tenant) & (documents.c.collection == files_of(session))
    return of_session & documents.c.deleted_at.is_(None)


_FILES: Final = select(documents, func.length(document_versions.c.text).label("length")).join(
    document_versions,
    (document_versions.c.document == documents.c.id) & (document_versions.c.number == documents.c.current_version),
)


def _view(row: AnyRow) -> FileView:
    return FileView(
        id=row.id,
        title=row.title,
        name=row.uri,
        media_type=row.media_type,
        chunks=row.chunk_count,
        place=Place(row.id, row.current_version, Span(0, row.length)),
        updated_at=row.updated_at,
    )


async def _check_owner(connection: AsyncConnection, caller: Caller, session: str, *, lock: bool = False) -> None:
    query = select(conversations.c.id).where(conversations.c.id == known(session), owned_by(caller))
    if await connection.scalar(query.with_for_update() if lock else query) is None:
        raise NotFound("no such conversation")
