"""From chunks to passages, and from search terms to what the word indexes hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Row, select, text
from sqlalchemy.sql.expression import func

from assistant.core.access import Caller
from assistant.core.evidence import Authority, Passage, SourceVersion, evidence_id
from assistant.core.text import Span
from assistant.store.engine import Database
from assistant.store.rights import read_access, readable, rights
from assistant.store.tables import chunks, document_versions, documents
from assistant.store.types import token

MOST_TERMS: Final = 64
"""Distinct terms of one search; the rest of a very long question is not searched."""


def search_terms(terms: Sequence[str]) -> list[str]:
    """The distinct terms of a search as the index holds them, at most MOST_TERMS."""
    return list(dict.fromkeys(filter(None, map(token, terms))))[:MOST_TERMS]


async def read_passages(database: Database, ids: Sequence[int], caller: Caller) -> dict[int, Passage]:
    """The passages of these chunks that the caller may read, with score 0."""
    dialect = database.dialect
    may_read = documents.c.id.in_(text(readable(dialect)))
    query = _PASSAGES.where(chunks.c.id.in_(ids), may_read)
    async with database.read() as connection:
        rows = (await connection.execute(query, rights(dialect, caller, None))).all()
        access = await read_access(connection, {row.id for row in rows})
    return {row.chunk: _passage(row, access[row.id]) for row in rows}


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


def _passage(row: Row[*tuple[Any, ...]], access: frozenset[str]) -> Passage:
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
    return Passage(evidence_id(source, span), row.exact, source, span, row.section, row.page)
