"""From chunks to passages, and from search terms to what the word indexes hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, Row, and_, or_, select, text
from sqlalchemy.sql.expression import func

from assistant.core.access import Caller
from assistant.core.evidence import Authority, ImageRef, Passage, Place, SourceVersion, evidence_id
from assistant.core.text import Span, without_unstorable
from assistant.store.engine import Database
from assistant.store.images import read_image_refs
from assistant.store.rights import read_access, readable, rights
from assistant.store.tables import chunks, document_versions, documents
from assistant.store.types import token
from assistant.store.unreachable import patient

MOST_TERMS: Final = 64
"""Distinct terms of one search; the rest of a very long question is not searched."""
MOST_PLACES: Final = 64
"""Places that are looked up at once; the rest is left out."""
_LARGEST: Final = 2**31 - 1
"""What an integer column holds in every database."""


def search_terms(terms: Sequence[str]) -> list[str]:
    """The distinct terms of a search as the index holds them, at most MOST_TERMS."""
    return list(dict.fromkeys(filter(None, map(token, terms))))[:MOST_TERMS]


@patient
async def read_passages(database: Database, ids: Sequence[int], caller: Caller) -> dict[int, Passage]:
    """The passages of these chunks that the caller may read, with score 0."""
    dialect = database.dialect
    may_read = documents.c.id.in_(text(readable(dialect)))
    query = _PASSAGES.where(chunks.c.id.in_(ids), may_read)
    async with database.read() as connection:
        rows = (await connection.execute(query, rights(dialect, caller, None, everywhere=True))).all()
        access = await read_access(connection, {row.id for row in rows})
        images = await read_image_refs(connection, [row.chunk for row in rows])
    return {row.chunk: _passage(row, access[row.id], images[row.chunk]) for row in rows}


@patient
async def read_chunks_at(
    database: Database, places: Sequence[Place], caller: Caller, collections: frozenset[str] | None, limit: int
) -> list[int]:
    """The chunks that overlap these places and that the caller may find, at most `limit`, in the order of the places."""
    known = [place for place in places if _can_be(place)][:MOST_PLACES]
    if not known or limit < 1:
        return []
    dialect = database.dialect
    may_read = chunks.c.document.in_(text(readable(dialect)))
    query = _WHERE.where(may_read, or_(*map(_overlaps, known))).order_by(chunks.c.id).limit(limit)
    async with database.read() as connection:
        rows = (await connection.execute(query, rights(dialect, caller, collections))).all()
    return [row.id for row in sorted(rows, key=lambda row: (_first(row, known), row.id))]


_WHERE: Final = select(chunks.c.id, chunks.c.document, chunks.c.version, chunks.c.span_start, chunks.c.span_end)


def _can_be(place: Place) -> bool:
    """Whether a database could hold this place at all; what it could not would be an error instead of no row."""
    storable = without_unstorable(place.document) == place.document
    return storable and 0 < place.version <= _LARGEST and place.span.start <= _LARGEST


def _overlaps(place: Place) -> ColumnElement[bool]:
    return and_(
        chunks.c.document == place.document,
        chunks.c.version == place.version,
        chunks.c.span_start < min(place.span.end, _LARGEST),
        chunks.c.span_end > place.span.start,
    )


def _first(row: Row[*tuple[Any, ...]], places: Sequence[Place]) -> int:
    """The first place that the chunk overlaps."""
    span = Span(row.span_start, row.span_end)
    here = (row.document, row.version)
    return next(
        n for n, place in enumerate(places) if (place.document, place.version) == here and place.span.overlaps(span)
    )


_PASSAGES: Final = (
    select(
        chunks.c.id.label("chunk"),
        chunks.c.span_start,
        chunks.c.span_end,
        chunks.c.section,
        chunks.c.page,
        chunks.c.version,
        documents.c.id,
        documents.c.title,
        documents.c.uri,
        documents.c.collection,
        documents.c.date,
        documents.c.authority,
        documents.c.language,
        documents.c.family,
        document_versions.c.sha256,
        func.substr(document_versions.c.text, chunks.c.span_start + 1, chunks.c.span_end - chunks.c.span_start).label(
            "exact"
        ),
    )
    .join(documents, documents.c.id == chunks.c.document)
    .join(
        document_versions,
        (document_versions.c.document == chunks.c.document) & (document_versions.c.number == chunks.c.version),
    )
)


def _passage(row: Row[*tuple[Any, ...]], access: frozenset[str], images: tuple[ImageRef, ...]) -> Passage:
    source = SourceVersion(
        document=row.id,
        number=row.version,
        sha256=row.sha256,
        title=row.title,
        uri=row.uri,
        collection=row.collection,
        date=row.date,
        authority=Authority(row.authority),
        language=row.language,
        family=row.family,
        access=access,
    )
    span = Span(row.span_start, row.span_end)
    return Passage(evidence_id(source, span), row.exact, source, span, row.section, row.page, images=images)
