"""Taking away what persons wrote and were answered, and cleaning the files of what was taken away."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import CursorResult, Delete, Select, Update, delete, or_, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection

from assistant.core.events import TurnFinished
from assistant.core.keeping import KeptText
from assistant.store.answer_cache import forget_turns
from assistant.store.engine import Database
from assistant.store.tables import (
    citation_numbers,
    citations,
    conflicts,
    conversations,
    events,
    evidence,
    feedback,
    messages,
    model_calls,
    notes,
    turns,
)

_CLEANED: Final = (
    "conversations",
    "turns",
    "messages",
    "events",
    "model_calls",
    "notes",
    "feedback",
    "audit_records",
    "person_keys",
    "answers_of_record",
    "answer_cache",
)

Ids = Select[*tuple[Any, ...]]
"""A query for the ids of conversations."""


async def zero_what_goes(connection: AsyncConnection) -> None:
    """From here on SQLite overwrites with zeros what this connection deletes."""
    if connection.dialect.name == "sqlite":
        await connection.execute(text("PRAGMA secure_delete = ON"))


async def blank(connection: AsyncConnection, within: Ids, tenant: str, users: list[str], owner: str) -> KeptText:
    """Empty the text of these conversations and what these users said of any answer; `owner` becomes the owner.

    What documents say stays (evidence, citations, conflicts), and so does each turn.done: without it a turn would be
    recovered.
    """
    of_turn = select(turns.c.id).where(turns.c.conversation.in_(within))
    theirs = (feedback.c.tenant == tenant) & feedback.c.user_id.in_(users)
    said = update(feedback).where(or_(feedback.c.turn.in_(of_turn), theirs)).values(reason=None, correction=None)
    taken = KeptText(
        feedback=await _count(connection, said),
        model_calls=await _count(connection, delete(model_calls).where(model_calls.c.turn.in_(of_turn))),
        notes=await _count(connection, delete(notes).where(notes.c.conversation.in_(within))),
        events=await _count(
            connection, delete(events).where(events.c.conversation.in_(within), events.c.type != TurnFinished.type)
        ),
        messages=await _count(
            connection, update(messages).where(messages.c.conversation.in_(within)).values(text="", sha256=None)
        ),
        turns=await _count(connection, update(turns).where(turns.c.conversation.in_(within)).values(**_BLANK)),
    )
    await forget_turns(connection, of_turn)
    await connection.execute(update(feedback).where(theirs).values(user_id=owner))
    # The owner last: the ids above are found by it.
    renamed = update(conversations).where(conversations.c.id.in_(within)).values(title="", user_id=owner)
    return taken + KeptText(conversations=await _count(connection, renamed))


_BLANK: Final = {
    "question": "",
    "client_id": turns.c.id,  # chosen by the client, and unique in its conversation
    "standalone": None,
    "reason": None,
    "plan": None,
    "steps": None,
}


async def remove(connection: AsyncConnection, within: Ids) -> KeptText:
    """Remove these conversations with everything that hangs on them."""
    of_turn = select(turns.c.id).where(turns.c.conversation.in_(within))
    for table in (citations, evidence, conflicts):
        await connection.execute(delete(table).where(table.c.turn.in_(of_turn)))
    await connection.execute(delete(citation_numbers).where(citation_numbers.c.conversation.in_(within)))
    return KeptText(
        feedback=await _count(connection, delete(feedback).where(feedback.c.turn.in_(of_turn))),
        model_calls=await _count(connection, delete(model_calls).where(model_calls.c.turn.in_(of_turn))),
        notes=await _count(connection, delete(notes).where(notes.c.conversation.in_(within))),
        events=await _count(connection, delete(events).where(events.c.conversation.in_(within))),
        messages=await _count(connection, delete(messages).where(messages.c.conversation.in_(within))),
        turns=await _count(connection, delete(turns).where(turns.c.conversation.in_(within))),
        conversations=await _count(connection, delete(conversations).where(conversations.c.id.in_(within))),
    )


async def _count(connection: AsyncConnection, change: Update | Delete) -> int:
    result: CursorResult[Any] = await connection.execute(change)
    return result.rowcount


async def scrub(database: Database, *, rebuild: bool = True) -> bool:
    """Clean the files of what was removed before; whether that succeeded.

    SQLite: `rebuild` writes the whole file anew (VACUUM: as long as copying it, and nobody writes meanwhile), for remains of rows
    that were moved before they were removed; then the write-ahead log is emptied, which fails while a long read goes on.
    PostgreSQL: VACUUM makes the space of dead rows free for reuse. Their bytes stay in the files until they are overwritten,
    and in the write-ahead log and its archives until those are recycled; `VACUUM FULL` and the retention of the archives are for
    the operator. In neither case are backups and snapshots of the file system reached.
    """
    if database.dialect == "postgresql":
        async with database.engine.connect() as connection:
            connection = await connection.execution_options(isolation_level="AUTOCOMMIT")
            for table in _CLEANED:
                await connection.execute(text(f"VACUUM {table}"))
        return True
    async with database.turn_to_write(), database.engine.connect() as connection:
        driver: Any = (await connection.get_raw_connection()).driver_connection  # VACUUM runs outside transactions
        if rebuild:
            await driver.execute("VACUUM")
        async with driver.execute("PRAGMA wal_checkpoint(TRUNCATE)") as cursor:
            busy, _, _ = await cursor.fetchone()
        return bool(busy == 0)
