"""Telling those who asked that a cited document changed, went or was withdrawn: once per change, in the log for good."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from assistant.core.events import SourceChanged
from assistant.core.past_sources import ACCESS_REVOKED, DELETED, change_to_tell
from assistant.core.text import without_unstorable
from assistant.interfaces import NumberedEvent
from assistant.store.engine import Database
from assistant.store.events import append_one
from assistant.store.rights import read_access
from assistant.store.rows import AnyRow
from assistant.store.signals import tell
from assistant.store.tables import citations, conversations, document_versions, documents, events, evidence, turns

_TURNS: Final = 200
"""Turns in one transaction, so that nobody waits long for a document that many answers cite."""


async def notify_changes(database: Database, tenant: str, document: str, *, at: datetime) -> list[NumberedEvent]:
    """Append `source.changed` to the log of every conversation that cites a document which is no longer as it was cited.

    What happened is read from the document as it is now, so the call can be made after the commit of any change, again
    after a crash, and for documents nothing happened to: a change that was told is not told twice, also by two processes
    at the same time. `change_to_tell` says who hears what. Returns the events appended; none for an unknown document.
    """
    if without_unstorable(tenant + document) != tenant + document:
        return []
    told: list[NumberedEvent] = []
    last = ""
    while True:
        async with database.write() as connection:
            now = await _read_document(connection, tenant, document)
            cited = await _citing_turns(connection, now, last) if now is not None else []
            if now is None or not cited:
                return told
            told += await _tell(connection, now, cited, at)
            last = cited[-1]


async def notify_since(database: Database, since: datetime, *, at: datetime) -> list[NumberedEvent]:
    """`notify_changes` for every document that was written or deleted since then, in all tenants.

    For start-up and from time to time: it finds what a crash left untold, what another process read in, and answers that
    were still being written when their source changed.
    """
    told: list[NumberedEvent] = []
    async for tenant, document in _written_since(database, since):
        told += await notify_changes(database, tenant, document, at=at)
    return told


async def _written_since(database: Database, since: datetime) -> AsyncIterator[tuple[str, str]]:
    query = (
        select(documents.c.tenant, documents.c.id)
        .where((documents.c.updated_at >= since) | (documents.c.deleted_at >= since))
        .order_by(documents.c.id)
    )
    async with database.read() as connection:
        rows = (await connection.execute(query)).all()
    for row in rows:
        yield row.tenant, row.id


async def _read_document(connection: AsyncConnection, tenant: str, document: str) -> AnyRow | None:
    """The document with the time of its current version."""
    version = (document_versions.c.document == documents.c.id) & (
        document_versions.c.number == documents.c.current_version
    )
    query = (
        select(documents.c.id, documents.c.current_version, documents.c.deleted_at)
        .add_columns(document_versions.c.created_at.label("version_at"))
        .join(document_versions, version)
        .where(documents.c.id == document, documents.c.tenant == tenant)
    )
    return (await connection.execute(query)).one_or_none()


async def _citing_turns(connection: AsyncConnection, document: AnyRow, after: str) -> list[str]:
    """The next turns that cite the document, in the order of their ids."""
    query = (
        select(citations.c.turn)
        .where(citations.c.document == document.id, citations.c.turn > after)
        .distinct()
        .order_by(citations.c.turn)
        .limit(_TURNS)
    )
    return list((await connection.scalars(query)).all())


async def _tell(
    connection: AsyncConnection, document: AnyRow, cited: Sequence[str], at: datetime
) -> list[NumberedEvent]:
    """Append what is untold about these turns; their conversations are locked, so that no other process tells it too."""
    heads = await _locked_heads(connection, cited)
    appended: list[NumberedEvent] = []
    for conversation, event in await _untold(connection, document, cited):
        heads[conversation] += 1
        seq = heads[conversation]
        appended.append(await append_one(connection, conversation, event.turn, event, seq=seq, at=at))
        moved = update(conversations).where(conversations.c.id == conversation).values(head_seq=seq)
        await connection.execute(moved)
    await tell(connection, None, heads)
    return appended


async def _untold(
    connection: AsyncConnection, document: AnyRow, cited: Sequence[str]
) -> list[tuple[str, SourceChanged]]:
    """What is to be told about these turns and was not told before, each with its conversation."""
    access = (await read_access(connection, [document.id]))[document.id]
    places = await _places(connection, document, cited)
    told = await _last_told(connection, {row.conversation for row in places}, cited)
    news: list[tuple[str, SourceChanged]] = []
    for row in places:
        change = change_to_tell(
            frozenset(row.access),
            access,
            cited=row.version,
            current=document.current_version,
            deleted=document.deleted_at is not None,
        )
        if change is not None and not _is_told(told.get((row.turn, row.n)), change, document):
            news.append((row.conversation, SourceChanged(row.turn, row.n, change)))
    return news


async def _locked_heads(connection: AsyncConnection, cited: Sequence[str]) -> dict[str, int]:
    """The last numbers of the conversations of these turns, locked in the order in which every writer locks them."""
    query = (
        select(conversations.c.id, conversations.c.head_seq)
        .where(conversations.c.id.in_(select(turns.c.conversation).where(turns.c.id.in_(cited))))
        .order_by(conversations.c.id)
        .with_for_update()
    )
    return {row.id: row.head_seq for row in await connection.execute(query)}


async def _places(connection: AsyncConnection, document: AnyRow, cited: Sequence[str]) -> Sequence[AnyRow]:
    """A row for each citation number of these turns that stands for the document, with who could read it then."""
    shown = (evidence.c.turn == citations.c.turn) & (evidence.c.evidence_id == citations.c.evidence_id)
    query = (
        select(turns.c.conversation, citations.c.turn, citations.c.n, citations.c.version, evidence.c.access)
        .join(turns, turns.c.id == citations.c.turn)
        .join(evidence, shown)
        .where(citations.c.document == document.id, citations.c.turn.in_(cited))
        .order_by(citations.c.turn, citations.c.position)
    )
    rows = {(row.turn, row.n): row for row in await connection.execute(query)}
    return list(rows.values())


_Told = tuple[str, datetime]


async def _last_told(
    connection: AsyncConnection, within: Collection[str], cited: Sequence[str]
) -> dict[tuple[str, int], _Told]:
    """The last change that was told of each citation in these conversations, and when."""
    query = (
        select(events.c.turn, events.c.d, events.c.at)
        .where(events.c.conversation.in_(within), events.c.turn.in_(cited), events.c.type == SourceChanged.type)
        .order_by(events.c.seq)
    )
    found: dict[tuple[str, int], _Told] = {}
    for row in await connection.execute(query):
        d: dict[str, Any] = row.d
        found[row.turn, d["n"]] = (d["change"], row.at)
    return found


def _is_told(last: _Told | None, change: str, document: AnyRow) -> bool:
    """Whether the change of now was told: the last one is of its kind, and not older than what happened."""
    if last is None or last[0] != change:
        return False
    if change == ACCESS_REVOKED:
        return True
    return bool(last[1] >= (document.deleted_at if change == DELETED else document.version_at))
