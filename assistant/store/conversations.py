"""Conversations: who asked what, what was answered, and what the answer rests on."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection
from ulid import ULID

from assistant.codec import storable
from assistant.core.access import Caller
from assistant.core.allowance import DayLimits
from assistant.core.calls import ModelCall
from assistant.core.conflicts import Conflict
from assistant.core.events import TurnAccepted, TurnPlanned
from assistant.core.evidence import Evidence, Passage
from assistant.core.history import Notes, PastTurn
from assistant.core.messages import Message, Role
from assistant.core.turn import TurnMessage
from assistant.errors import BadInput, IdempotencyMismatch, NotFound
from assistant.interfaces import BegunTurn, ConversationView, Feedback, MessageView, OpenedConversation, Receipt
from assistant.store.audit import SqlAuditLog
from assistant.store.calls import read_calls, write_calls
from assistant.store.engine import Database
from assistant.store.event_writers import TurnTaken
from assistant.store.feedback import store_feedback
from assistant.store.pseudonyms import Pseudonyms
from assistant.store.receipts import answer_draft, feedback_draft, hidden_documents, keep_receipt, read_receipt
from assistant.store.remembering import past_turns, read_notes, write_notes
from assistant.store.rows import (
    PLAN_COLUMNS,
    AnyRow,
    citation_row,
    conflict_row,
    evidence_row,
    message_of_row,
    message_values,
    number_rows,
    plan_values,
)
from assistant.store.shown import read_conflicts, read_evidence, read_past_passage, stored_evidence
from assistant.store.starting import (
    accept,
    accepted_before,
    check_limit,
    earlier_start,
    owned_by,
    rights_of,
    running,
    with_past,
)
from assistant.store.tables import citation_numbers, citations, conflicts, conversations, evidence, messages, turns
from assistant.store.unreachable import ASKING_PATIENCE_S, patient, patient_for
from assistant.store.upsert import insert_or_ignore
from assistant.store.usage import NO_LIMITS, Meter


class SqlConversationStore:
    """The ConversationStore in SQL. Every method is one short transaction."""

    def __init__(
        self,
        database: Database,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        new_id: Callable[[], str] = lambda: str(ULID()),
        audit: SqlAuditLog | None = None,
        worker: str | None = None,
        limits: DayLimits = NO_LIMITS,
    ) -> None:
        self._database = database
        self._audit = audit
        self._names = audit.names if audit else Pseudonyms()
        self.meter = Meter(limits, self._names)
        self._worker = worker
        self._clock = clock
        self._new_id = new_id
        self._ending = asyncio.Lock()

    async def open(self, caller: Caller, conversation: str | None) -> OpenedConversation:
        """Make a conversation (None) or check that it is the caller's (NotFound otherwise)."""
        if conversation is None:
            return await self._create(caller)
        async with self._database.read() as connection:
            row = await _check_owner(connection, caller, conversation)
        return OpenedConversation(row.id, row.epoch, row.head_seq)

    async def _create(self, caller: Caller) -> OpenedConversation:
        now = self._clock()
        opened = OpenedConversation(self._new_id(), self._new_id(), 0)
        row = {"id": opened.id, "epoch": opened.epoch, "head_seq": 0, "turn_count": 0, "title": ""}
        row |= {"tenant": storable(caller.tenant), "user_id": storable(caller.user)}
        async with self._database.write() as connection:
            await connection.execute(insert(conversations), [row | {"created_at": now, "updated_at": now}])
        return opened

    async def conversations(
        self, caller: Caller, *, limit: int = 50, before: datetime | None = None
    ) -> list[ConversationView]:
        """The caller's conversations, the latest first."""
        query = select(conversations).where(owned_by(caller), conversations.c.turn_count > 0)
        query = query.order_by(conversations.c.updated_at.desc()).limit(limit)
        if before is not None:
            query = query.where(conversations.c.updated_at < before)
        async with self._database.read() as connection:
            rows = (await connection.execute(query)).all()
        return [ConversationView(row.id, row.title, row.created_at, row.updated_at, row.turn_count) for row in rows]

    async def messages(self, caller: Caller, conversation: str) -> list[MessageView]:
        """All messages of a conversation in order; running turns have only their question."""
        query = (
            select(turns, messages.c.id.label("message"), messages.c.role, messages.c.text, messages.c.sha256)
            .add_columns(messages.c.at)
            .join(messages, messages.c.turn == turns.c.id)
            .where(turns.c.conversation == conversation)
            .order_by(turns.c.number, messages.c.role.desc())  # user before assistant
        )
        cited = select(citations).join(turns, turns.c.id == citations.c.turn)
        cited = cited.where(turns.c.conversation == conversation).order_by(citations.c.turn, citations.c.position)
        async with self._database.read() as connection:
            await _check_owner(connection, caller, conversation)
            rows = (await connection.execute(query)).all()
            of_turn: defaultdict[str, list[AnyRow]] = defaultdict(list)
            for row in await connection.execute(cited):
                of_turn[row.turn].append(row)
        return [_message_view(row, of_turn[row.id]) for row in rows]

    async def add_feedback(self, caller: Caller, conversation: str, given: Feedback) -> None:
        """Store feedback on an answer; the same id again changes nothing. NotFound when it is not the caller's."""
        async with self._database.write() as connection:
            await _check_owner(connection, caller, conversation)
            fresh = await store_feedback(connection, caller, conversation, given, self._clock())
            if fresh and self._audit is not None:
                draft = feedback_draft(caller.tenant, self._names.of(caller), conversation, given, self._clock())
                await self._audit.append(connection, draft)

    @patient_for(ASKING_PATIENCE_S)
    async def begin_turn(
        self,
        caller: Caller,
        conversation: str,
        *,
        turn: str,
        client_id: str,
        text: str,
        mode: str,
        limit: int = 2,
        collections: frozenset[str] | None = None,
        attachments: Sequence[str] = (),
    ) -> BegunTurn:
        """Store the question and the turn.accepted event in one short transaction.

        History and notes hold nothing of turns whose sources the caller may no longer read. Raises IdempotencyMismatch when the client id exists with another text or mode, Busy when the caller has `limit`
        turns without an end (over all conversations and workers) and when an allowance of the day is used up, NotFound when the
        conversation is not the caller's, BadInput for text that cannot be stored, StoreUnavailable. Begun twice with the same
        `turn` it is the same start: what was stored is given back.
        """
        for part in (turn, client_id, text, mode):
            storable(part)
        async with self._database.write() as connection:
            owned = await _check_owner(connection, caller, conversation, lock=True)
            earlier = await earlier_start(connection, conversation, client_id)
            if earlier is not None and (earlier.question, earlier.mode_asked) != (text, mode):
                raise IdempotencyMismatch("the client id was used for another question", turn=earlier.id)
            if earlier is not None and earlier.id != turn:
                return BegunTurn(earlier.id, duplicate=True)
            now = self._clock()
            if earlier is None:
                await check_limit(connection, caller, limit)
                await self.meter.check_allowance(connection, caller, now)
                await self.meter.count_turn(connection, caller, now)
            begun = await with_past(connection, caller, owned, BegunTurn(turn, duplicate=False, numbers={}))
            accepted = TurnAccepted(turn, client_id, text, self._names.of(caller), tuple(map(storable, attachments)))
            if earlier is None:
                rights = rights_of(caller, collections)
                event = await accept(connection, owned, accepted, mode, rights, self._new_id(), now, self._worker)
            else:
                event = await accepted_before(connection, turn)
        return replace(begun, event=event)

    async def remembered(self, conversation: str) -> tuple[tuple[PastTurn, ...], Notes | None]:
        """The last finished turns, oldest first, and the notes of the older ones."""
        async with self._database.read() as connection:
            return await past_turns(connection, conversation), await read_notes(connection, conversation)

    async def save_notes(self, conversation: str, notes: Notes) -> None:
        """Keep notes; newer ones (that cover more turns) are never replaced by older ones."""
        async with self._database.write() as connection:
            await write_notes(connection, conversation, notes, self._clock())

    @patient
    async def save_calls(self, turn: str, calls: Sequence[ModelCall]) -> None:
        """Store the model calls of a turn, in the order in which they ended."""
        async with self._database.write() as connection:
            await write_calls(connection, turn, calls)

    async def calls_of(self, caller: Caller, conversation: str, turn: str) -> list[ModelCall]:
        """The model calls of a turn; withheld when a source of it may no longer be read. NotFound as ever."""
        async with self._database.read() as connection:
            await _check_owner(connection, caller, conversation)
            await _check_exists(connection, conversation, turn)
            return await read_calls(connection, caller, turn)

    @patient
    async def save_plan(
        self, turn: str, plan: TurnPlanned, evidence: Sequence[Evidence], conflicts: Sequence[Conflict]
    ) -> None:
        """Store plan, mode, reason, the evidence shown and its conflicts; a second plan of a turn replaces the first.

        Raises NotFound for an unknown turn, BadInput for text that cannot be stored.
        """
        numbers = {shown.id: shown.n for shown in plan.evidence if shown.n is not None}
        async with self._database.write() as connection:
            changed = update(turns).where(turns.c.id == turn).values(**plan_values(plan))
            conversation = await connection.scalar(changed.returning(turns.c.conversation))
            if conversation is None:
                raise NotFound("no such turn")
            await _save_evidence(connection, turn, evidence, numbers)
            await _save_conflicts(connection, turn, conflicts)
            await insert_or_ignore(connection, citation_numbers, number_rows(conversation, numbers))

    @patient
    async def finish_turn(self, conversation: str, turn: str, message: TurnMessage) -> Receipt | None:
        """Store the assistant message, its citations, usage and status, and its audit record, in one transaction.

        Doing it twice changes nothing and gives the same receipt; None where no audit log is kept. The turns of a process end one
        after the other: all wait for the chain of the audit log, and must not wait with a connection each.
        Raises NotFound for an unknown turn, BadInput for a turn that still runs and for text that cannot be stored, TurnTaken
        for one that another worker has taken over.
        """
        if message.status == "running":
            raise BadInput("a turn that still runs cannot be finished", reason="running")
        values = message_values(message) | {"ended_at": self._clock()}
        if message.plan is None:  # a crash came after it was stored and before it was told
            values |= dict.fromkeys(PLAN_COLUMNS)
        change = update(turns).where(turns.c.id == turn, turns.c.conversation == conversation)
        async with self._database.read() as connection:
            hidden = await hidden_documents(connection, turn) if self._audit else 0
        async with self._ending, self._database.write() as connection:
            await _hold(connection, conversation)
            await self._check_mine(connection, turn)
            if (await connection.execute(change.where(turns.c.ended_at.is_(None)).values(**values))).rowcount == 0:
                await _check_exists(connection, conversation, turn)
                return await read_receipt(connection, turn)
            await _save_answer(connection, conversation, turn, message, self._new_id(), values["ended_at"])
            await self.meter.count_answer(connection, conversation, message.usage, values["ended_at"])
            if self._audit is None:
                return None
            record = await self._audit.append(
                connection, await answer_draft(connection, turn, message, hidden, self._clock(), self._names)
            )
            return await keep_receipt(connection, turn, record)

    @patient
    async def number_evidence(self, conversation: str, evidence: Sequence[str]) -> dict[str, int]:
        """The display numbers of cited evidence; what has none yet gets the next ones, in order, for good.

        Turns of one conversation that end at the same time take their numbers one after the other.
        """
        async with self._database.write() as connection:
            await _hold(connection, conversation)
            known = select(citation_numbers).where(citation_numbers.c.conversation == conversation)
            numbers = {row.evidence_id: row.n for row in await connection.execute(known)}
            fresh = [id_ for id_ in dict.fromkeys(evidence) if id_ not in numbers]
            given = {id_: n for n, id_ in enumerate(fresh, start=max(numbers.values(), default=0) + 1)}
            await insert_or_ignore(connection, citation_numbers, number_rows(conversation, given))
        return {id_: (numbers | given)[id_] for id_ in evidence}

    async def open_turns(self) -> list[tuple[str, str]]:
        """(conversation, turn) of every turn whose log has no turn.done or whose answer is not stored, oldest first."""
        query = select(turns.c.conversation, turns.c.id).where(running()).order_by(turns.c.started_at)
        async with self._database.read() as connection:
            return [(row.conversation, row.id) for row in await connection.execute(query)]

    @patient
    async def evidence_of(self, turn: str) -> list[Evidence]:
        """The evidence a turn showed to the model, as it was then, in prompt order."""
        async with self._database.read() as connection:
            return await read_evidence(connection, turn)

    @patient
    async def conflicts_of(self, turn: str) -> list[Conflict]:
        """The conflicts among the evidence of a turn, as they were found."""
        async with self._database.read() as connection:
            return await read_conflicts(connection, turn)

    @patient
    async def error_of(self, turn: str) -> str | None:
        """The error that a turn was stored with; None while its answer is not stored, too."""
        query = select(turns.c.error).where(turns.c.id == turn, turns.c.ended_at.is_not(None))
        async with self._database.read() as connection:
            error: str | None = await connection.scalar(query)
        return error

    async def _check_mine(self, connection: AsyncConnection, turn: str) -> None:
        """Raise TurnTaken when the turn has no end yet and belongs to another worker."""
        taken = select(turns.c.id).where(turns.c.id == turn, turns.c.ended_at.is_(None), turns.c.worker != self._worker)
        if self._worker is not None and await connection.scalar(taken):
            raise TurnTaken("another worker has the turn", turn=turn)

    async def cited_passage(self, caller: Caller, conversation: str, turn: str, n: int) -> tuple[Passage, str]:
        """The passage behind citation n, and whether its source is unchanged, changed or deleted.

        Raises NotFound when the conversation is not the caller's or the document is no longer readable.
        """
        async with self._database.read() as connection:
            await _check_owner(connection, caller, conversation)
            await _check_exists(connection, conversation, turn)
            return await read_past_passage(connection, caller, turn, n)


async def _hold(connection: AsyncConnection, conversation: str) -> None:
    """Let nobody else write to the conversation until this transaction ends; SQLite has one writer anyway."""
    await connection.execute(select(conversations.c.id).where(conversations.c.id == conversation).with_for_update())


async def _check_owner(connection: AsyncConnection, caller: Caller, conversation: str, *, lock: bool = False) -> AnyRow:
    _check_id(conversation)
    query = select(conversations).where(conversations.c.id == conversation, owned_by(caller))
    row = (await connection.execute(query.with_for_update() if lock else query)).one_or_none()
    if row is None:
        raise NotFound("no such conversation")
    return row


def _check_id(id_: str) -> None:
    """Ids come from outside; what no database can hold is not there."""
    try:
        storable(id_)
    except BadInput as error:
        raise NotFound("no such id") from error


async def _check_exists(connection: AsyncConnection, conversation: str, turn: str) -> None:
    _check_id(turn)
    query = select(turns.c.id).where(turns.c.id == turn, turns.c.conversation == conversation)
    if await connection.scalar(query) is None:
        raise NotFound("no such turn")


async def _save_evidence(
    connection: AsyncConnection, turn: str, shown: Sequence[Evidence], numbers: dict[str, int]
) -> None:
    await connection.execute(delete(evidence).where(evidence.c.turn == turn))
    stored = await stored_evidence(connection, shown)
    rows = [
        evidence_row(turn, position, piece, n=numbers.get(piece.id), stored=position in stored)
        for position, piece in enumerate(shown)
    ]
    if rows:
        await connection.execute(insert(evidence), rows)


async def _save_conflicts(connection: AsyncConnection, turn: str, found: Sequence[Conflict]) -> None:
    await connection.execute(delete(conflicts).where(conflicts.c.turn == turn))
    rows = [conflict_row(turn, position, conflict) for position, conflict in enumerate(found)]
    if rows:
        await connection.execute(insert(conflicts), rows)


async def _save_answer(
    connection: AsyncConnection, conversation: str, turn: str, message: TurnMessage, id_: str, at: datetime
) -> None:
    row: dict[str, Any] = {"id": id_, "conversation": conversation, "turn": turn, "role": Role.ASSISTANT.value}
    row |= {"text": storable(message.text), "sha256": message.sha256, "at": at}
    await connection.execute(insert(messages), [row])
    items = message.citations.items if message.citations else ()
    if items:
        rows = [citation_row(turn, position, citation) for position, citation in enumerate(items)]
        await connection.execute(insert(citations), rows)
    numbers = {citation.evidence: citation.n for citation in items}
    await insert_or_ignore(connection, citation_numbers, number_rows(conversation, numbers))
    for id_, n in numbers.items():
        shown = (evidence.c.turn == turn) & (evidence.c.evidence_id == id_)
        await connection.execute(update(evidence).where(shown).values(n=n))
    await connection.execute(update(conversations).where(conversations.c.id == conversation).values(updated_at=at))


def _message_view(row: AnyRow, cited: Sequence[AnyRow]) -> MessageView:
    role = Role(row.role)
    answer = message_of_row(row, cited) if role is Role.ASSISTANT else None
    return MessageView(row.message, row.id, Message(role, row.text), row.at, answer)
