"""Documents, their versions and the chunks under which they are found."""

from __future__ import annotations

import asyncio
import hashlib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np
from sqlalchemy import delete, func, insert, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection

from assistant.codec import storable
from assistant.core.access import Caller
from assistant.core.messages import Image
from assistant.core.text import clean_for_display
from assistant.errors import BadInput, NotFound
from assistant.interfaces import ALL_CHUNKS, ChunkDraft, DocumentDraft, Lane, StoredChunk, Vectors
from assistant.store.answer_cache import forget_document
from assistant.store.engine import Database
from assistant.store.images import check_images, image_rows, read_images, same_images
from assistant.store.library_settings import read_settings, with_settings, write_access
from assistant.store.tables import (
    chunks,
    document_versions,
    documents,
    images,
    index_changes,
    vectors,
)
from assistant.store.unreachable import patient
from assistant.store.upsert import insert_or_ignore, upsert

_WITHOUT_VECTOR: Final = text("""
    SELECT c.id, d.title, c.section, substr(v.text, c.span_start + 1, c.span_end - c.span_start) AS exact
    FROM chunks c JOIN documents d ON d.id = c.document
    JOIN document_versions v ON v.document = c.document AND v.number = c.version
    WHERE c.id >= :start AND c.id % :of = :number
    AND NOT EXISTS (SELECT 1 FROM vectors x WHERE x.embedder = :embedder AND x.chunk >= :start AND x.chunk = c.id)
    ORDER BY c.id LIMIT :limit
""")
_MISSING: Final = text("""
    SELECT c.id FROM chunks c
    WHERE c.id > :after
    AND NOT EXISTS (SELECT 1 FROM vectors x WHERE x.embedder = :embedder AND x.chunk > :after AND x.chunk = c.id)
    ORDER BY c.id LIMIT :limit
""")


class SqlDocumentStore:
    """The DocumentStore in SQL. A chunk whose words did not change keeps its id and its vector in the next version."""

    def __init__(self, database: Database, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._database = database
        self._clock = clock
        self._first_missing: dict[str, int] = {}

    async def fingerprints(self, tenant: str, collection: str) -> Mapping[str, str]:
        """uri -> fingerprint of every live document of the collection."""
        query = select(documents.c.uri, documents.c.fingerprint).where(
            documents.c.tenant == tenant, documents.c.collection == collection, documents.c.deleted_at.is_(None)
        )
        async with self._database.read() as connection:
            return {row.uri: row.fingerprint for row in await connection.execute(query)}

    async def put(self, tenant: str, collection: str, draft: DocumentDraft, *, fingerprint: str) -> int:
        """Store the draft as the current version and return its number; older versions stay, their chunks leave.

        Same text and images and other metadata: the metadata is updated and the number stays. What people set about the
        document wins over the draft. One transaction. Raises BadInput for text that cannot be stored, spans outside the text and
        an empty set of access groups.
        """
        check_draft(draft, tenant, collection, fingerprint)
        pictures = await asyncio.to_thread(image_rows, draft.images)
        async with self._database.write() as connection:
            return await write_document(connection, tenant, collection, draft, pictures, fingerprint, self._clock())

    async def delete(self, tenant: str, collection: str, uri: str) -> bool:
        """Mark a document deleted and take its chunks out of the index; its versions stay for old answers.

        False when there is no such live document.
        """
        async with self._database.write() as connection:
            return await mark_deleted(connection, document_id(tenant, collection, uri), self._clock())

    @patient
    async def version_text(self, document: str, number: int) -> str:
        """The stored text of a version; NotFound when there is none."""
        query = select(document_versions.c.text).where(
            document_versions.c.document == document, document_versions.c.number == number
        )
        async with self._database.read() as connection:
            found = await connection.scalar(query)
        if found is None:
            raise NotFound("no such version")
        return str(found)

    @patient
    async def images(self, caller: Caller, document: str, number: int, ids: Sequence[str]) -> dict[str, Image]:
        """The images of a version by id, those that are there; none when the caller may not read the document now."""
        async with self._database.read() as connection:
            return await read_images(connection, caller, document, number, ids)

    async def chunks_without_vectors(self, embedder: str, limit: int, lane: Lane = ALL_CHUNKS) -> list[StoredChunk]:
        """Chunks of the lane that still lack a vector of this embedder, oldest first."""
        if lane != ALL_CHUNKS:
            return await self._missing(embedder, lane, lane.after + 1, limit)
        # What lies below the last find has vectors: start there, and look at everything only when little is left
        # (a chunk with a lower id may have been committed later).
        start = self._first_missing.get(embedder, 0)
        found = await self._missing(embedder, lane, start, limit)
        if start and len(found) < limit:
            found = await self._missing(embedder, lane, 0, limit)
        if found:
            self._first_missing[embedder] = found[0].id
        return found

    async def missing_vectors(self, embedder: str, limit: int, after: int = 0) -> list[int]:
        """Ids of chunks above `after` that lack a vector of this embedder, ascending."""
        values = {"embedder": embedder, "limit": limit, "after": after}
        async with self._database.read() as connection:
            return list((await connection.scalars(_MISSING, values)).all())

    async def newest_chunk(self) -> int:
        """The highest id of all chunks; 0 where there are none."""
        async with self._database.read() as connection:
            return int(await connection.scalar(select(func.max(chunks.c.id))) or 0)

    async def _missing(self, embedder: str, lane: Lane, start: int, limit: int) -> list[StoredChunk]:
        values = {"embedder": embedder, "start": start, "limit": limit, "number": lane.number, "of": lane.of}
        async with self._database.read() as connection:
            rows = (await connection.execute(_WITHOUT_VECTOR, values)).all()
        return [StoredChunk(row.id, embedding_text(row.title, row.section, row.exact)) for row in rows]

    async def put_vectors(self, embedder: str, ids: Sequence[int], vectors: Vectors) -> None:
        """Store vectors, one row per id; ids that are gone are ignored. Raises BadInput for a wrong shape or NaN."""
        if vectors.ndim != 2 or len(vectors) != len(ids) or not np.isfinite(vectors).all():
            raise BadInput("one finite vector per id is needed", reason="vectors")
        async with self._database.write() as connection:
            await _put_vectors(connection, embedder, dict(zip(ids, vectors, strict=True)))


def document_id(tenant: str, collection: str, uri: str) -> str:
    """The id of a document: the same whenever the same uri is read into the same collection."""
    return "d" + hashlib.sha256(f"{tenant}\0{collection}\0{uri}".encode(errors="surrogatepass")).hexdigest()[:20]


def embedding_text(title: str, section: str, exact: str) -> str:
    """What an embedder sees of a chunk: title, heading path and text as a reader would see it."""
    return "\n".join(part for part in (title, section, clean_for_display(exact)) if part)


async def write_document(
    connection: AsyncConnection,
    tenant: str,
    collection: str,
    draft: DocumentDraft,
    pictures: Sequence[dict[str, Any]],
    fingerprint: str,
    now: datetime,
) -> int:
    """Write a checked draft as the current version, inside the caller's transaction for writing; the number of the version.

    `pictures` are the `image_rows` of the draft.
    """
    id_ = document_id(tenant, collection, draft.uri)
    await insert_or_ignore(connection, documents, [_new_row(id_, tenant, collection, draft, now)])
    number = await _put_version(connection, id_, draft, pictures, now)
    draft = with_settings(draft, await read_settings(connection, id_))
    await write_access(connection, id_, draft.access)
    await _put_chunks(connection, id_, number, draft)
    values = _metadata(draft) | {"current_version": number, "fingerprint": fingerprint, "updated_at": now}
    await connection.execute(update(documents).where(documents.c.id == id_).values(**values, deleted_at=None))
    await forget_document(connection, id_)
    return number


async def mark_deleted(connection: AsyncConnection, id_: str, now: datetime) -> bool:
    """Delete a document inside the caller's transaction for writing; False when there is no such live document."""
    change = (
        update(documents)
        .where(documents.c.id == id_, documents.c.deleted_at.is_(None))
        .values(deleted_at=now, chunk_count=0, term_count=0)
    )
    if (await connection.execute(change)).rowcount == 0:
        return False
    await forget_document(connection, id_)
    await connection.execute(delete(chunks).where(chunks.c.document == id_))
    await count_change(connection, "removed")
    return True


def check_draft(draft: DocumentDraft, tenant: str, collection: str, fingerprint: str) -> None:
    """Raises BadInput for text that cannot be stored, spans outside the text and an empty set of access groups."""
    given = (tenant, collection, fingerprint, draft.uri, draft.title, draft.text, draft.sha256, draft.media_type)
    for part in (*given, draft.language, draft.family or "", draft.owner or "", *draft.access):
        storable(part)
    if not draft.access:
        raise BadInput("a document needs at least one access group", reason="access")
    for chunk in draft.chunks:
        storable(chunk.section)
        if chunk.span.end > len(draft.text):
            raise BadInput("a chunk lies outside the text", reason="span")
    check_images(draft)


def _metadata(draft: DocumentDraft) -> dict[str, Any]:
    return {
        "title": draft.title,
        "family": draft.family,
        "authority": draft.authority.value,
        "owner": draft.owner,
        "date": draft.date,
        "language": draft.language,
        "media_type": draft.media_type,
        "chunk_count": len(draft.chunks),
        "term_count": sum(len(chunk.terms) for chunk in draft.chunks),
    }


def _new_row(id_: str, tenant: str, collection: str, draft: DocumentDraft, now: datetime) -> dict[str, Any]:
    key = {"id": id_, "tenant": tenant, "collection": collection, "uri": draft.uri}
    return key | _metadata(draft) | {"current_version": 0, "fingerprint": "", "created_at": now, "updated_at": now}


async def _put_version(
    connection: AsyncConnection, id_: str, draft: DocumentDraft, pictures: Sequence[dict[str, Any]], now: datetime
) -> int:
    """The number of the version with this text and these images: the current one, or a new one."""
    query = select(documents.c.current_version).where(documents.c.id == id_).with_for_update()
    current = int(await connection.scalar(query) or 0)
    same = select(func.count()).where(
        document_versions.c.document == id_,
        document_versions.c.number == current,
        document_versions.c.text == draft.text,
    )
    if await connection.scalar(same) and await same_images(connection, id_, current, pictures):
        return current
    row = {"document": id_, "number": current + 1, "sha256": draft.sha256, "text": draft.text}
    row |= {"title": draft.title, "date": draft.date, "created_at": now}
    await connection.execute(insert(document_versions), [row])
    if pictures:
        place = {"document": id_, "version": current + 1}
        await connection.execute(insert(images), [place | picture for picture in pictures])
    return current + 1


async def _put_chunks(connection: AsyncConnection, id_: str, number: int, draft: DocumentDraft) -> None:
    """Make the chunks of the document those of the draft; equal ones stay, moved to their new place."""
    rows = await connection.execute(select(chunks.c.id, chunks.c.digest).where(chunks.c.document == id_))
    old: defaultdict[str, list[int]] = defaultdict(list)
    for row in rows:
        old[row.digest].append(row.id)
    new: list[dict[str, Any]] = []
    for position, chunk in enumerate(draft.chunks):
        digest = _digest(draft, chunk)
        place = _place(number, position, chunk)
        if old[digest]:
            await connection.execute(update(chunks).where(chunks.c.id == old[digest].pop()).values(**place))
        else:
            index = {"length": len(chunk.terms), "section": chunk.section, "terms": chunk.terms}
            new.append({"document": id_, "digest": digest} | place | index)
    gone = [chunk for ids in old.values() for chunk in ids]
    if gone:
        await connection.execute(delete(chunks).where(chunks.c.id.in_(gone)))
        await count_change(connection, "removed")
    if new:
        await connection.execute(insert(chunks), new)


def _place(number: int, position: int, chunk: ChunkDraft) -> dict[str, Any]:
    span = chunk.span
    return {
        "version": number,
        "position": position,
        "span_start": span.start,
        "span_end": span.end,
        "page": chunk.page,
    }


def _digest(draft: DocumentDraft, chunk: ChunkDraft) -> str:
    """Equal for chunks that read and index the same, wherever they stand."""
    exact = draft.text[chunk.span.start : chunk.span.end]
    parts = "\0".join((draft.title, chunk.section, exact, *chunk.terms))
    return hashlib.sha256(parts.encode(errors="surrogatepass")).hexdigest()


async def _put_vectors(connection: AsyncConnection, embedder: str, given: dict[int, Vectors]) -> None:
    query = select(chunks.c.id).where(chunks.c.id.in_(given)).order_by(chunks.c.id)
    alive = (await connection.scalars(query.with_for_update(read=True, key_share=True))).all()
    if not alive:
        return
    one = await connection.scalar(select(vectors.c.vector).where(vectors.c.embedder == embedder).limit(1))
    if one is not None and len(one) != len(given[alive[0]]):
        raise BadInput("the vectors of one embedder have one length", reason="dimension")
    change = await count_change(connection, "added")
    rows = [{"embedder": embedder, "chunk": id_, "change": change, "vector": given[id_]} for id_ in alive]
    await upsert(connection, vectors, rows)


async def count_change(connection: AsyncConnection, column: str) -> int:
    """Tell the vector caches of all processes; PostgreSQL searches in place and has none."""
    if connection.dialect.name == "postgresql":
        return 0
    counter = index_changes.c[column]
    change = update(index_changes).where(index_changes.c.name == "vectors").values({counter: counter + 1})
    return int(await connection.scalar(change.returning(counter)) or 0)
