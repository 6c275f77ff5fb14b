"""Audit records, and an answered question of a person, for the tests of the audit log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from assistant.core.access import Caller
from assistant.core.audit import AuditDraft, AuditKind, AuditRecord, genesis, hash_of
from assistant.core.calls import ModelCall
from assistant.core.events import AnswerDelta, TurnFinished, TurnProgress
from assistant.core.evidence import Evidence
from assistant.core.history import Notes
from assistant.core.messages import Message, Role, Usage
from assistant.interfaces import Feedback
from assistant.store import Store
from assistant.store.audit import SqlAuditLog
from assistant.store.pseudonyms import pseudonym
from tests.store.filling import ANN, answer_of, found_evidence, plan_of

START = datetime(2025, 3, 1, 9, 0, tzinfo=UTC)
ANNS = pseudonym(ANN)


def turn_draft(n: int = 0, tenant: str = "acme", **more: Any) -> AuditDraft:
    """The record of an answer, n minutes after START."""
    given: dict[str, Any] = {
        "kind": AuditKind.TURN,
        "actor": ANNS,
        "at": START + timedelta(minutes=n),
        "subject": ANNS,
        "conversation": "s1",
        "turn": f"t{n}",
        "body": {"mode": "direct", "model": "m", "status": "completed", "n": n},
        "personal": {"question": f"Frage {n}", "answer": f"答案 {n}"},
    }
    return AuditDraft(tenant, **(given | more))


def check_chain(records: Sequence[AuditRecord], tenant: str = "acme") -> None:
    """Every record has its number, its hash and the hash of the one before."""
    previous = genesis(tenant)
    for seq, record in enumerate(records, start=1):
        assert (record.tenant, record.seq, record.previous) == (tenant, seq, previous)
        assert record.hash == hash_of(record)
        previous = record.hash


async def all_records(log: SqlAuditLog, tenant: str = "acme") -> list[AuditRecord]:
    """The whole chain, in small batches."""
    return [record async for record in log.stream(tenant, batch=7)]


async def ask(store: Store, caller: Caller, turn: str, secret: str) -> str:
    """A finished and rated turn whose every text holds the secret, with its two audit records; the conversation is returned."""
    conversation = (await store.conversations.open(caller, None)).id
    await store.conversations.begin_turn(
        caller, conversation, turn=turn, client_id=f"{secret} client", text=f"{secret} asks", mode="auto", limit=99
    )
    evidence = await found_evidence(store, "days leave", caller)
    await _answer(store, conversation, turn, secret, evidence)
    said = Feedback(id=f"f-{turn}", turn=turn, rating="down", reason=f"{secret} reason", correction=f"{secret} instead")
    await store.conversations.add_feedback(caller, conversation, said)
    return conversation


async def _answer(store: Store, conversation: str, turn: str, secret: str, evidence: Sequence[Evidence]) -> None:
    plan = plan_of(evidence, f"{secret} standalone")
    await store.conversations.save_plan(turn, plan, evidence, [])
    prompt = (Message(Role.USER, f"{secret} prompt"),)
    await store.conversations.save_calls(turn, [ModelCall("answer", "m", prompt, f"{secret} out", "stop", Usage(1))])
    await store.conversations.save_notes(conversation, Notes(f"{secret} notes", 1))
    await store.events.append(conversation, turn, [plan, AnswerDelta(0, f"{secret} delta")])
    message = answer_of(evidence, question=f"{secret} asks", text=f"{secret} answer")
    steps = (TurnProgress("write", text=f"{secret} draft"),)
    await store.conversations.finish_turn(conversation, turn, replace(message, plan=plan, steps=steps))
    await store.events.append(conversation, turn, [TurnFinished("completed")])
