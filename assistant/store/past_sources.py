"""The sources of old answers as they were, and what became of them, with the rights of today."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, and_, case, exists, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from assistant.core.access import Caller
from assistant.core.past_sources import PastSource, Quoted, SourceState, compared
from assistant.core.text import without_unstorable
from assistant.errors import NotFound
from assistant.store.engine import Database
from assistant.store.rows import AnyRow
from assistant.store.shown import QUOTED
from assistant.store.starting import owned_by
from assistant.store.tables import (
    citations,
    conversations,
    document_access,
    document_versions,
    documents,
    evidence,
    turns,
)

_HIGHEST: Final = 2**31 - 1  # of an integer column
_CURRENT: Final = document_versions.alias("current_versions")
_CITED_BY: Final = and_(evidence.c.turn == citations.c.turn, evidence.c.evidence_id == citations.c.evidence_id)
_READ_TODAY: Final = and_(_CURRENT.c.document == documents.c.id, _CURRENT.c.number == documents.c.current_version)


class SqlPastSources:
    """What the citations of a person's old answers rested on. Every read checks the owner and the rights of today."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def source(
        self, caller: Caller, conversation: str, turn: str, n: int, start: int | None = None
    ) -> PastSource:
        """The passage behind citation n of a turn, in its version, and beside it what stands there today.

        One number can stand for several places of a passage: `start` (code points in the version) picks one, else it is the
        first in the answer. Raises NotFound when there is none, when the conversation is not the caller's, and when the
        document may not be read now; nothing tells these apart.
        """
        _check_ids(conversation, turn)
        if not 0 < n <= _HIGHEST:
            raise NotFound("no such citation")
        query = _one(caller, conversation, turn, n)
        async with self._database.read() as connection:
            rows = (await connection.execute(query)).all()
            row = next((row for row in rows if row.source_start == start), rows[0] if rows else None)
            if row is None or not _may_read(caller, row):
                raise NotFound("no such citation")
            text = await _current_text(connection, row)
        past = _past_source(row)
        if text is None:
            return past
        return await asyncio.to_thread(compared, past, row.current_version, row.current_date, text)

    async def states(self, caller: Caller, conversation: str) -> dict[tuple[str, int], SourceState]:
        """What became of every citation of a conversation, by turn and number, in one query, for the badges of old answers.

        NOT_AVAILABLE for what the caller may not read now, whatever else happened to it. A number with several places has
        the text that changed most. Raises NotFound when the conversation is not the caller's.
        """
        _check_ids(conversation)
        async with self._database.read() as connection:
            query = _all(connection.dialect.name, caller, conversation)
            rows = (await connection.execute(query)).all()
        if not rows:
            raise NotFound("no such conversation")
        states: dict[tuple[str, int], SourceState] = {}
        for row in rows:
            if row.n is not None and states.get((row.turn, row.n)) is not SourceState.CHANGED:
                states[row.turn, row.n] = _state(caller, row)
        return states


def _check_ids(*ids: str) -> None:
    """Ids come from outside; what no database can hold is not there."""
    if any(without_unstorable(id_) != id_ for id_ in ids):
        raise NotFound("no such id")


def _owned(caller: Caller, conversation: str) -> ColumnElement[bool]:
    return and_(conversations.c.id == conversation, owned_by(caller))


def _readable(caller: Caller) -> ColumnElement[bool]:
    """Whether the document carries one of the caller's groups now."""
    groups = [group for group in caller.holds if without_unstorable(group) == group]
    return exists().where(document_access.c.document == documents.c.id, document_access.c.group_name.in_(groups))


def _fate(caller: Caller) -> tuple[ColumnElement[Any], ...]:
    """What tells whether the caller may read a cited document, and whether it is still the same."""
    return (
        evidence.c.access,
        documents.c.tenant.label("tenant"),
        documents.c.deleted_at,
        documents.c.current_version,
        _readable(caller).label("readable"),
    )


def _one(caller: Caller, conversation: str, turn: str, n: int) -> Select[*tuple[Any, ...]]:
    """The places of one citation, in the order of the answer; without the text of the current version."""
    version = and_(
        document_versions.c.document == evidence.c.document, document_versions.c.number == evidence.c.version
    )
    shown = (evidence.c.span_start, evidence.c.span_end, QUOTED, documents.c.media_type)
    return (
        select(citations, *_fate(caller), *shown, _CURRENT.c.date.label("current_date"))
        .join(turns, turns.c.id == citations.c.turn)
        .join(conversations, conversations.c.id == turns.c.conversation)
        .join(evidence, _CITED_BY)
        .outerjoin(document_versions, version)
        .outerjoin(documents, documents.c.id == citations.c.document)
        .outerjoin(_CURRENT, _READ_TODAY)
        .where(_owned(caller, conversation), turns.c.id == turn, citations.c.n == n)
        .order_by(citations.c.position)
    )


def _all(dialect: str, caller: Caller, conversation: str) -> Select[*tuple[Any, ...]]:
    """A row for every citation of a conversation; one empty row when it has none, no row when it is not the caller's."""
    place = func.strpos if dialect == "postgresql" else func.instr
    newer = documents.c.current_version != citations.c.version
    same_text = case((newer, place(_CURRENT.c.text, citations.c.exact) > 0), else_=True)
    return (
        select(citations.c.turn, citations.c.n, citations.c.version, *_fate(caller), same_text.label("same_text"))
        .select_from(conversations)
        .outerjoin(turns, turns.c.conversation == conversations.c.id)
        .outerjoin(citations, citations.c.turn == turns.c.id)
        .outerjoin(evidence, _CITED_BY)
        .outerjoin(documents, documents.c.id == citations.c.document)
        .outerjoin(_CURRENT, _READ_TODAY)
        .where(_owned(caller, conversation))
        .order_by(turns.c.number, citations.c.position)
    )


def _may_read(caller: Caller, row: AnyRow) -> bool:
    """The groups the document has now decide; for a source outside the knowledge base, those it was found with."""
    if row.tenant is None:
        return row.access is not None and caller.may_read(frozenset(row.access))
    return bool(row.tenant == caller.tenant and row.readable)


def _state(caller: Caller, row: AnyRow) -> SourceState:
    if not _may_read(caller, row):
        return SourceState.NOT_AVAILABLE
    if row.tenant is None:
        return SourceState.UNKNOWN
    if row.deleted_at is not None:
        return SourceState.DELETED
    if row.current_version == row.version:
        return SourceState.UNCHANGED
    return SourceState.SAME_TEXT if row.same_text else SourceState.CHANGED


async def _current_text(connection: AsyncConnection, row: AnyRow) -> str | None:
    """The stored text of the current version; None where there is no newer one to compare with."""
    if row.tenant is None or row.deleted_at is not None or row.current_version == row.version:
        return None
    query = select(document_versions.c.text).where(
        document_versions.c.document == row.document, document_versions.c.number == row.current_version
    )
    return str(await connection.scalar(query))


def _past_source(row: AnyRow) -> PastSource:
    lead, tail = row.source_start - row.span_start, row.source_end - row.span_start
    state = SourceState.UNKNOWN if row.tenant is None else SourceState.UNCHANGED
    return PastSource(
        title=row.title,
        uri=row.uri,
        version=row.version,
        date=row.date,
        media_type=row.media_type,
        section=row.section,
        page=row.page,
        region=tuple(row.region) if row.region else None,
        image=row.image,
        start=row.source_start,
        quoted=Quoted(row.quoted[: max(0, lead)], row.exact, row.quoted[max(0, tail) :]),
        state=SourceState.DELETED if row.deleted_at is not None else state,
    )
