"""What an answer rested on, read back as it was, with the rights of today."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import orjson
from sqlalchemy import Select, func, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from assistant.codec import storable
from assistant.core.access import Caller
from assistant.core.conflicts import Conflict
from assistant.core.evidence import Evidence, Passage
from assistant.core.text import Span
from assistant.errors import NotFound
from assistant.store.rights import read_access
from assistant.store.rows import AnyRow, conflict_of_row, evidence_of_row, images_of_row, source_of_row
from assistant.store.tables import conflicts, document_versions, documents, evidence

_HIGHEST: Final = 2**31 - 1  # of an integer column

QUOTED: Final = func.coalesce(
    evidence.c.exact,
    func.substr(document_versions.c.text, evidence.c.span_start + 1, evidence.c.span_end - evidence.c.span_start),
).label("quoted")
"""The text of an evidence row, from the stored version where that holds it."""


def _shown(turn: str) -> Select[*tuple[Any, ...]]:
    """The evidence rows of a turn in prompt order, each with its text."""
    version = (document_versions.c.document == evidence.c.document) & (document_versions.c.number == evidence.c.version)
    return (
        select(evidence, QUOTED)
        .outerjoin(document_versions, version)
        .where(evidence.c.turn == turn)
        .order_by(evidence.c.position)
    )


async def read_evidence(connection: AsyncConnection, turn: str) -> list[Evidence]:
    """The evidence of a turn, as it was shown, in prompt order."""
    return [evidence_of_row(row, row.quoted) for row in await connection.execute(_shown(turn))]


async def read_conflicts(connection: AsyncConnection, turn: str) -> list[Conflict]:
    """The conflicts among the evidence of a turn, as they were found."""
    query = select(conflicts).where(conflicts.c.turn == turn).order_by(conflicts.c.position)
    return [conflict_of_row(row) for row in await connection.execute(query)]


async def stored_evidence(connection: AsyncConnection, shown: Sequence[Evidence]) -> set[int]:
    """The positions of the evidence whose text the store holds already, in the version it names.

    Raises BadInput for text that cannot be stored.
    """
    pieces = [
        {
            "position": position,
            "document": storable(piece.source.document),
            "number": piece.source.number,
            "span_start": piece.span.start,
            "size": len(piece.span),
            "exact": storable(piece.exact),
        }
        for position, piece in enumerate(shown)
    ]
    query = _STORED[connection.dialect.name]
    return set((await connection.scalars(query, {"shown": orjson.dumps(pieces).decode()})).all())


_STORED: Final = {
    "sqlite": text("""
        SELECT json_extract(s.value, '$.position') FROM json_each(:shown) s
        JOIN document_versions v ON v.document = json_extract(s.value, '$.document')
            AND v.number = json_extract(s.value, '$.number')
        WHERE json_extract(s.value, '$.exact') =
            substr(v.text, json_extract(s.value, '$.span_start') + 1, json_extract(s.value, '$.size'))
    """),
    "postgresql": text("""
        SELECT s.position FROM json_to_recordset(CAST(:shown AS json))
            AS s(position int, document text, number int, span_start int, size int, exact text)
        JOIN document_versions v ON v.document = s.document AND v.number = s.number
        WHERE s.exact = substr(v.text, s.span_start + 1, s.size)
    """),
}


async def read_past_passage(connection: AsyncConnection, caller: Caller, turn: str, n: int) -> tuple[Passage, str]:
    """The passage with display number n of a turn, and whether its source is unchanged, changed or deleted.

    Raises NotFound when there is none or the caller may no longer read its document. The groups of the document as they
    are now decide; for a source outside the knowledge base, those it was found with.
    """
    found = _shown(turn).where(evidence.c.n == n).limit(1)
    row = (await connection.execute(found)).one_or_none() if 0 < n <= _HIGHEST else None
    if row is None:
        raise NotFound("no such citation")
    document = (await connection.execute(select(documents).where(documents.c.id == row.document))).one_or_none()
    state = _state(row, document)
    if document is None:
        access = frozenset(row.access)
    else:
        access = (await read_access(connection, [row.document]))[row.document]
    if (document is not None and document.tenant != caller.tenant) or not caller.may_read(access):
        raise NotFound("no such citation")
    passage = Passage(
        id=row.evidence_id,
        text=row.quoted,
        source=source_of_row(row),
        span=Span(row.span_start, row.span_end),
        section=row.section,
        page=row.page,
        score=row.score,
        images=images_of_row(row),
    )
    return passage, state


def _state(row: AnyRow, document: AnyRow | None) -> str:
    if document is None:
        return "unchanged"
    if document.deleted_at is not None:
        return "deleted"
    return "unchanged" if document.current_version == row.version else "changed"
