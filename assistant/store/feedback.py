"""What people say of answers: kept beside the original, never over it."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from assistant.codec import storable
from assistant.core.access import Caller
from assistant.errors import NotFound
from assistant.interfaces import Feedback
from assistant.store.tables import feedback, turns
from assistant.store.upsert import insert_or_ignore


async def store_feedback(
    connection: AsyncConnection, caller: Caller, conversation: str, given: Feedback, at: datetime
) -> bool:
    """Store feedback on a turn of this conversation; False when this id was there before, and nothing changes.

    NotFound for another turn.
    """
    query = select(turns.c.id).where(turns.c.id == storable(given.turn), turns.c.conversation == conversation)
    if (await connection.execute(query)).one_or_none() is None:
        raise NotFound("no such turn")
    row = {
        "id": storable(given.id),
        "turn": given.turn,
        "tenant": caller.tenant,
        "user_id": caller.user,
        "rating": storable(given.rating),
        "reason": None if given.reason is None else storable(given.reason),
        "correction": None if given.correction is None else storable(given.correction),
        "citation": given.citation,
        "at": at,
    }
    known = await connection.scalar(select(feedback.c.id).where(feedback.c.id == given.id))
    await insert_or_ignore(connection, feedback, [row])
    return known is None
