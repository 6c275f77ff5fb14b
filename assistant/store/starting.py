"""Starting a turn: limits, idempotency, and the rows that a question leaves."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, exists, func, insert, literal_column, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from assistant.core.access import Caller
from assistant.core.events import TurnAccepted, TurnFinished
from assistant.core.messages import Role
from assistant.errors import Busy
from assistant.interfaces import BegunTurn, NumberedEvent
from assistant.store.events import append_one, numbered
from assistant.store.remembering import past_turns, read_notes
from assistant.store.rows import AnyRow
from assistant.store.signals import tell
from assistant.store.tables import citation_numbers, conversations, events, messages, turns
from assistant.store.withholding import withheld_turns

LONGEST_TITLE: Final = 80
"""Code points of the first question that become the title of a conversation."""

RETRY_MS: Final = 2000
"""When a caller with too many running turns may try again, in milliseconds."""


async def check_limit(connection: AsyncConnection, caller: Caller, limit: int) -> None:
    """Raise Busy when the caller has `limit` turns without an end, over all conversations, deleted ones too, and workers."""
    if connection.dialect.name == "postgresql":  # SQLite writes one transaction at a time anyway
        key = func.hashtextextended(f"{caller.tenant}\n{caller.user}", 0)
        await connection.execute(select(func.pg_advisory_xact_lock(key)))
    query = (
        select(func.count())
        .select_from(turns)
        .join(conversations, conversations.c.id == turns.c.conversation)
        .where(_begun_by(caller), turns.c.ended_at.is_(None))
    )
    if int(await connection.scalar(query) or 0) >= limit:
        raise Busy("too many running turns", limit=limit, retry_after_ms=RETRY_MS)


async def earlier_start(connection: AsyncConnection, conversation: str, client_id: str) -> AnyRow | None:
    """The turn that was started with this client id, None when there is none."""
    query = select(turns.c.id, turns.c.question, turns.c.mode_asked).where(
        turns.c.conversation == conversation, turns.c.client_id == client_id
    )
    return (await connection.execute(query)).one_or_none()


async def accepted_before(connection: AsyncConnection, turn: str) -> NumberedEvent:
    """The turn.accepted that an earlier attempt of the same start wrote, whose commit went through and was not heard of."""
    query = select(events).where(events.c.turn == turn, events.c.type == TurnAccepted.type)
    return numbered((await connection.execute(query)).one())


async def with_past(connection: AsyncConnection, caller: Caller, owned: AnyRow, begun: BegunTurn) -> BegunTurn:
    """The start with history, notes and citation numbers of its conversation; without what the caller may not read any more."""
    if not owned.turn_count:
        return begun
    withheld = await withheld_turns(connection, caller, owned.id)
    history = await past_turns(connection, owned.id, withheld)
    notes = None if withheld else await read_notes(connection, owned.id)
    query = select(citation_numbers).where(citation_numbers.c.conversation == owned.id)
    numbers = {row.evidence_id: row.n for row in await connection.execute(query)}
    return replace(begun, history=history, notes=notes, numbers=numbers)


def rights_of(caller: Caller, collections: frozenset[str] | None) -> dict[str, Any]:
    """What a turn may read, as its row keeps it."""
    return {"groups": sorted(caller.groups), "scope": None if collections is None else sorted(collections)}


async def accept(
    connection: AsyncConnection,
    owned: AnyRow,
    accepted: TurnAccepted,
    mode: str,
    rights: dict[str, Any],
    message: str,
    now: datetime,
    worker: str | None = None,
) -> NumberedEvent:
    """Write turn, question and event, and move the counters of the conversation, whose row is locked."""
    turn, conversation, seq = accepted.turn, owned.id, owned.head_seq + 1
    started = {"conversation": conversation, "client_id": accepted.client_id, "question": accepted.text}
    started |= {"number": owned.turn_count + 1, "mode_asked": mode, "status": "running", "stage": "accepted"}
    started |= {"attachments": list(accepted.attachments) or None, "worker": worker}
    await connection.execute(insert(turns), [{"id": turn, "started_at": now, **started, **rights}])
    asked = {"id": message, "conversation": conversation, "turn": turn, "role": Role.USER.value}
    await connection.execute(insert(messages), [asked | {"text": accepted.text, "sha256": None, "at": now}])
    moved = {"head_seq": seq, "turn_count": owned.turn_count + 1, "updated_at": now}
    moved |= {"title": owned.title or title_of(accepted.text)}
    await connection.execute(update(conversations).where(conversations.c.id == conversation).values(**moved))
    await tell(connection, worker, [conversation])
    return await append_one(connection, conversation, turn, accepted, seq=seq, at=now)


def title_of(question: str) -> str:
    """The title that a first question gives to its conversation."""
    line = " ".join(question.split())
    return line if len(line) <= LONGEST_TITLE else line[: LONGEST_TITLE - 1].rstrip() + "…"


def owned_by(caller: Caller) -> ColumnElement[bool]:
    """Whether a conversation is the caller's; one that they deleted is not."""
    return _begun_by(caller) & conversations.c.deleted_at.is_(None)


def _begun_by(caller: Caller) -> ColumnElement[bool]:
    return (conversations.c.tenant == caller.tenant) & (conversations.c.user_id == caller.user)


def running() -> ColumnElement[bool]:
    """The condition that a turn has not ended, or that its log does not say so yet."""
    # The type is written out, so that both databases find it in the index of ends.
    ended = events.c.type == literal_column(f"'{TurnFinished.type}'")
    done = exists().where(events.c.conversation == turns.c.conversation, events.c.turn == turns.c.id, ended)
    return or_(turns.c.ended_at.is_(None), ~done)
