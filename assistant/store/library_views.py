"""The library as it is read: collections, documents, versions and their text. Files of sessions are not in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, exists, func, select, text, tuple_
from sqlalchemy.ext.asyncio import AsyncConnection

from assistant.core.evidence import Authority
from assistant.core.text import without_unstorable
from assistant.errors import NotFound
from assistant.interfaces import CollectionView, DocumentView, TextPage, VersionView
from assistant.store.rights import read_access
from assistant.store.rows import AnyRow
from assistant.store.tables import citations, document_settings, document_versions, documents, originals

HIGHEST: Final = 2**31 - 1  # of an integer column

LISTED: Final[ColumnElement[bool]] = text(  # type: ignore[assignment]
    "documents.deleted_at IS NULL AND substr(documents.collection, 1, 6) <> 'files:'"
)
"""Whether a document is in lists; spelt as in the index that lists are read from."""


async def read_collections(connection: AsyncConnection, tenant: str) -> list[CollectionView]:
    """All collections of a tenant by name."""
    query = (
        select(
            documents.c.collection,
            func.count().label("documents"),
            func.sum(documents.c.chunk_count).label("chunks"),
            func.max(documents.c.updated_at, type_=documents.c.updated_at.type).label("updated_at"),
        )
        .where(documents.c.tenant == tenant, LISTED)
        .group_by(documents.c.collection)
        .order_by(documents.c.collection)
    )
    rows = await connection.execute(query)
    return [CollectionView(row.collection, row.documents, int(row.chunks or 0), row.updated_at) for row in rows]


def page_of(
    tenant: str, collection: str | None, query: str, after: tuple[str, str] | None, limit: int
) -> Select[*tuple[Any, ...]]:
    """A page of live documents in the order of (collection, uri); every page costs the same, as the index is in that order."""
    page = _DOCUMENTS.where(documents.c.tenant == tenant, LISTED)
    if collection is not None:
        page = page.where(documents.c.collection == collection)
    if query:
        named = documents.c.title.icontains(query, autoescape=True)
        page = page.where(named | documents.c.uri.icontains(query, autoescape=True))
    if after is not None and collection is not None:  # SQLite would read the collection from its beginning
        page = page.where(documents.c.uri > after[1])
    elif after is not None:
        page = page.where(tuple_(documents.c.collection, documents.c.uri) > tuple_(*after))
    return page.order_by(documents.c.collection, documents.c.uri).limit(limit)


_UPLOADED: Final = exists().where(
    originals.c.document == documents.c.id, originals.c.version == documents.c.current_version
)

_DOCUMENTS: Final = select(documents, document_settings.c.said, _UPLOADED.label("uploaded")).outerjoin(
    document_settings, document_settings.c.document == documents.c.id
)


async def read_document(connection: AsyncConnection, tenant: str, id_: str) -> DocumentView:
    """A live document. Raises NotFound."""
    query = _DOCUMENTS.where(documents.c.id == known(id_), documents.c.tenant == tenant, LISTED)
    row = (await connection.execute(query)).one_or_none()
    if row is None:
        raise NotFound("no such document")
    return view_of(row, (await read_access(connection, [row.id]))[row.id])


def view_of(row: AnyRow, access: frozenset[str]) -> DocumentView:
    """The document of a row of a page."""
    said: Mapping[str, Any] = row.said or {}
    return DocumentView(
        id=row.id,
        collection=row.collection,
        uri=row.uri,
        title=row.title,
        authority=Authority(row.authority),
        owner=row.owner,
        date=row.date,
        language=row.language,
        media_type=row.media_type,
        version=row.current_version,
        chunks=row.chunk_count,
        created_at=row.created_at,
        updated_at=row.updated_at,
        access=access,
        settings=frozenset(said),
        uploaded=bool(row.uploaded),
    )


async def read_versions(connection: AsyncConnection, tenant: str, id_: str) -> list[VersionView]:
    """The kept versions of a live document, the latest first. Raises NotFound."""
    document = await read_document(connection, tenant, id_)
    query = select(*(document_versions.c[name] for name in ("number", "sha256", "title", "date", "created_at"))).where(
        document_versions.c.document == document.id
    )
    cited = select(citations.c.version, func.count(citations.c.turn.distinct()).label("answers"))
    cited = cited.where(citations.c.document == document.id).group_by(citations.c.version)
    answers = {row.version: row.answers for row in await connection.execute(cited)}
    rows = await connection.execute(query.order_by(document_versions.c.number.desc()))
    return [
        VersionView(row.number, row.sha256, row.title, row.date, row.created_at, answers.get(row.number, 0))
        for row in rows
    ]


async def read_text(
    connection: AsyncConnection, tenant: str, id_: str, number: int, offset: int, limit: int
) -> TextPage:
    """A part of the text of a version of a live document. Raises NotFound."""
    document = await read_document(connection, tenant, id_)
    offset = min(max(offset, 0), HIGHEST - 1)
    piece = func.substr(document_versions.c.text, offset + 1, limit).label("piece")
    query = select(piece, func.length(document_versions.c.text).label("length")).where(
        document_versions.c.document == document.id, document_versions.c.number == min(max(number, 0), HIGHEST)
    )
    row = (await connection.execute(query)).one_or_none()
    if row is None:
        raise NotFound("no such version")
    return TextPage(row.piece, offset, row.length)


def known(id_: str) -> str:
    """An id from outside; what no database can hold is not there."""
    if without_unstorable(id_) != id_:
        raise NotFound("no such id")
    return id_
