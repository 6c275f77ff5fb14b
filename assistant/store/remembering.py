"""What a conversation remembers: its last turns with what they cited, and the notes of the older ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from datetime import datetime
from typing import Final

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from assistant.codec import storable
from assistant.core.evidence import Place
from assistant.core.history import Notes, PastTurn
from assistant.core.messages import Role
from assistant.core.text import Span
from assistant.store.tables import citations, messages, notes, turns
from assistant.store.upsert import insert_or_ignore

PAST_TURNS: Final = 20
"""Finished turns that are remembered in full."""


async def past_turns(
    connection: AsyncConnection, conversation: str, without: Collection[str] = ()
) -> tuple[PastTurn, ...]:
    """The last finished turns, oldest first; those in `without` are left out."""
    query = (
        select(turns.c.id, turns.c.number, turns.c.question, turns.c.standalone, messages.c.text)
        .join(messages, (messages.c.turn == turns.c.id) & (messages.c.role == Role.ASSISTANT.value))
        .where(turns.c.conversation == conversation, turns.c.ended_at.is_not(None), turns.c.id.not_in(without))
        .order_by(turns.c.number.desc())
        .limit(PAST_TURNS)
    )
    rows = list(reversed((await connection.execute(query)).all()))
    cited = await _cited(connection, [row.id for row in rows])
    return tuple(
        PastTurn(row.id, row.question, row.standalone or row.question, row.text, row.number, cited[row.id])
        for row in rows
    )


async def _cited(connection: AsyncConnection, ids: list[str]) -> defaultdict[str, tuple[Place, ...]]:
    """What each turn cited, in the order of its answer."""
    places: defaultdict[str, tuple[Place, ...]] = defaultdict(tuple)
    columns = (citations.c.turn, citations.c.document, citations.c.version)
    query = select(*columns, citations.c.source_start, citations.c.source_end).where(citations.c.turn.in_(ids))
    for row in await connection.execute(query.order_by(citations.c.turn, citations.c.position)):
        places[row.turn] += (Place(row.document, row.version, Span(row.source_start, row.source_end)),)
    return places


async def read_notes(connection: AsyncConnection, conversation: str) -> Notes | None:
    """The notes of a conversation, None while it has none."""
    row = (await connection.execute(select(notes).where(notes.c.conversation == conversation))).one_or_none()
    return None if row is None else Notes(row.text, row.through)


async def write_notes(connection: AsyncConnection, conversation: str, taken: Notes, at: datetime) -> None:
    """Keep the notes unless there are newer ones."""
    row = {"conversation": conversation, "text": storable(taken.text), "through": taken.through, "updated_at": at}
    await insert_or_ignore(connection, notes, [row])
    older = update(notes).where(notes.c.conversation == conversation, notes.c.through < taken.through)
    await connection.execute(older.values(text=row["text"], through=taken.through, updated_at=at))
