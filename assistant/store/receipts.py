"""The audit record of an answer: made from what is stored of its turn, in the transaction that stores its end."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import exists, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from assistant.codec import encode
from assistant.core.access import Caller
from assistant.core.attachments import FILES, without_private
from assistant.core.audit import AuditDraft, AuditKind, AuditRecord
from assistant.core.turn import TurnMessage
from assistant.interfaces import Feedback, Receipt
from assistant.store.library_files import private_of
from assistant.store.pseudonyms import Pseudonyms
from assistant.store.rows import AnyRow
from assistant.store.tables import conversations, document_access, documents, evidence, turns


async def answer_draft(
    connection: AsyncConnection, turn: str, message: TurnMessage, hidden: int, at: datetime, names: Pseudonyms
) -> AuditDraft:
    """What is kept of an answer: who, with which rights, what it was made from and with, what came of it.

    Questions and answer are personal text and go beside the body; the plan goes in without them.
    """
    query = select(turns, conversations.c.tenant, conversations.c.user_id).join(
        conversations, conversations.c.id == turns.c.conversation
    )
    row = (await connection.execute(query.where(turns.c.id == turn))).one()
    person = names.of(Caller(row.tenant, row.user_id))
    body = {
        **_made(row, message),
        "rights": {"groups": row.groups, "scope": row.scope, "hidden_documents": hidden},
        "evidence": await _evidence(connection, turn),
        **_outcome(without_private(message, *await private_of(connection, turn))),
    }
    personal = {"question": row.question, "answer": message.text, "standalone": row.standalone or row.question}
    return AuditDraft(row.tenant, AuditKind.TURN, person, at, person, row.conversation, turn, body, personal)


def _made(row: AnyRow, message: TurnMessage) -> dict[str, Any]:
    """How the answer was made: mode, model, parameters, prompts, budget."""
    plan = message.plan
    return {
        "mode": plan.mode if plan else None,
        "mode_asked": row.mode_asked,
        "reason_code": plan.reason_code if plan else None,
        "reason": plan.reason if plan else None,
        "budget": encode(plan)["budget"] if plan else None,
        "model": message.model,
        "parameters": dict(message.parameters),
        "prompt": message.prompt,
        "started_at": row.started_at.isoformat(),
    }


def _outcome(message: TurnMessage) -> dict[str, Any]:
    """What came of it: end, citations with verdicts, conflicts, usage and times."""
    return {
        "status": message.status,
        "finish": message.finish,
        "error": message.error,
        "citations": encode(message.citations) if message.citations else None,
        "conflicts": encode(message.conflicts) if message.conflicts else None,
        "usage": encode(message.usage) if message.usage else None,
    }


async def _evidence(connection: AsyncConnection, turn: str) -> list[dict[str, Any]]:
    """What was shown to the model: places in document versions, without their text."""
    query = select(evidence).where(evidence.c.turn == turn).order_by(evidence.c.position)
    return [
        {
            "id": row.evidence_id,
            "document": row.document,
            "version": row.version,
            "sha256": row.sha256,
            "start": row.span_start,
            "end": row.span_end,
            "kept": row.kept,
            "score": row.score,
        }
        for row in await connection.execute(query)
    ]


async def hidden_documents(connection: AsyncConnection, turn: str) -> int:
    """How many documents of the asked collections the person of a turn could not read: a number and nothing else.

    It looks at every document of the tenant, so it is read before the transaction that ends the turn.
    """
    asked = select(turns.c.groups, turns.c.scope, conversations.c.tenant)
    asked = asked.join(conversations, conversations.c.id == turns.c.conversation).where(turns.c.id == turn)
    row = (await connection.execute(asked)).one_or_none()
    if row is None:
        return 0
    mine = (document_access.c.document == documents.c.id) & document_access.c.group_name.in_(row.groups or ())
    query = select(func.count()).where(documents.c.tenant == row.tenant, documents.c.deleted_at.is_(None))
    query = query.where(~exists().where(mine), ~documents.c.collection.startswith(FILES, autoescape=True))
    if row.scope is not None:
        query = query.where(documents.c.collection.in_(row.scope))
    return int(await connection.scalar(query) or 0)


async def keep_receipt(connection: AsyncConnection, turn: str, record: AuditRecord) -> Receipt:
    """Write the receipt to the turn."""
    values = {"audit_id": record.id, "record_hash": record.hash}
    await connection.execute(update(turns).where(turns.c.id == turn).values(**values))
    return Receipt(record.id, record.hash)


async def read_receipt(connection: AsyncConnection, turn: str) -> Receipt | None:
    """The receipt of a finished turn, None when it has none."""
    row = (await connection.execute(select(turns.c.audit_id, turns.c.record_hash).where(turns.c.id == turn))).one()
    return Receipt(row.audit_id, row.record_hash) if row.audit_id else None


def feedback_draft(tenant: str, person: str, conversation: str, given: Feedback, at: datetime) -> AuditDraft:
    """What is kept of feedback; a corrected text makes it a correction."""
    kind = AuditKind.CORRECTION if given.correction else AuditKind.FEEDBACK
    texts = {"reason": given.reason, "correction": given.correction}
    return AuditDraft(
        tenant,
        kind,
        person,
        at,
        person,
        conversation,
        given.turn,
        {"rating": given.rating, "citation": given.citation},
        {name: text for name, text in texts.items() if text} or None,
    )
