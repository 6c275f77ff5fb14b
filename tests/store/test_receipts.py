"""Every answer leaves one record in the chain of its tenant, in the transaction that stores it."""

from __future__ import annotations

import pytest

from assistant.conversation.turns import Question
from assistant.core.audit import AuditKind, genesis, hash_of
from assistant.core.events import TurnFinished
from assistant.core.modes import Mode
from assistant.errors import ModelUnavailable
from assistant.interfaces import Feedback
from assistant.llm.scripted import ScriptedModel
from assistant.store import Store
from assistant.store.pseudonyms import pseudonym
from tests.conversation.answering import beside, fill, sit_down
from tests.store.filling import ANN

ANSWER = "Employees get 20 days of annual leave."


async def test_the_record_says_how_the_answer_was_made_and_nothing_personal(store: Store) -> None:
    desk = await sit_down(store, ScriptedModel([ANSWER]))
    message = await desk.answer("How many days of annual leave does Zebediah get?")
    (record,) = await store.audit.records("acme")
    assert record.kind is AuditKind.TURN
    assert (record.actor, record.subject, record.conversation) == (pseudonym(ANN), pseudonym(ANN), desk.conversation)
    assert record.body["mode"] == "simple_summarize"
    assert record.body["model"] == "scripted"
    assert record.body["parameters"]["temperature"] == 0.1
    assert record.body["rights"] == {"groups": ["everyone"], "scope": None, "hidden_documents": 1}
    assert len(record.body["evidence"]) == len(message.plan.evidence if message.plan else ())
    assert record.body["citations"]["items"][0]["verdict"] == "supported"
    assert "Zebediah" not in repr(record)
    opened = await store.audit.open_sealed(record)
    assert opened is not None
    assert opened["question"] == "How many days of annual leave does Zebediah get?"
    assert opened["answer"] == ANSWER


async def test_the_end_of_the_turn_carries_the_receipt(store: Store) -> None:
    desk = await sit_down(store, ScriptedModel([ANSWER]))
    message = await desk.answer("How many days of annual leave are there?")
    (record,) = await store.audit.records("acme")
    assert (message.audit_id, message.record_hash) == (record.id, record.hash)
    end = (await desk.events())[-1].event
    assert isinstance(end, TurnFinished)
    assert (end.audit_id, end.record_hash) == (record.id, record.hash)
    (_, stored) = await store.conversations.messages(ANN, desk.conversation)
    assert stored.answer == message


async def test_records_of_many_turns_and_of_feedback_form_one_chain(store: Store) -> None:
    await fill(store)
    desk = await beside(store, ScriptedModel([ANSWER]))
    for mode in (Mode.REFINE, Mode.GENERATION, None):
        await desk.answer("How many days of annual leave are there?", mode=mode)
    broken = await beside(store, ScriptedModel(fail_with=ModelUnavailable()))
    await broken.answer("How many days of annual leave are there?")
    turn = (await desk.events())[0].turn
    for _ in range(2):
        await store.conversations.add_feedback(ANN, desk.conversation, Feedback("f1", turn, "down", "wrong", "25 days"))
    records = await store.audit.records("acme")
    assert [record.kind for record in records] == [*[AuditKind.TURN] * 4, AuditKind.CORRECTION]
    assert [record.body.get("status") for record in records[:4]] == [*["completed"] * 3, "failed"]
    previous = genesis("acme")
    for seq, record in enumerate(records, start=1):
        assert (record.seq, record.previous, record.hash) == (seq, previous, hash_of(record))
        previous = record.hash
    opened = await store.audit.open_sealed(records[-1])
    assert opened == {"reason": "wrong", "correction": "25 days"}


async def test_ending_a_turn_twice_leaves_one_record(store: Store) -> None:
    desk = await sit_down(store, ScriptedModel([ANSWER]))
    message = await desk.answer("How many days of annual leave are there?")
    turn = (await desk.events())[0].turn
    again = await store.conversations.finish_turn(desk.conversation, turn, message)
    assert again is not None
    assert again.audit_id == message.audit_id
    assert len(await store.audit.records("acme")) == 1


@pytest.mark.parametrize("collections", [frozenset({"handbook"}), frozenset({"nothing"})])
async def test_the_scope_of_the_question_is_in_the_record(store: Store, collections: frozenset[str]) -> None:
    desk = await sit_down(store, ScriptedModel([ANSWER]))
    begun = await desk.live.start(
        ANN, desk.conversation, Question(client_id="c", text="Leave?", collections=collections)
    )
    await desk.live.wait(begun.turn)
    (record,) = await store.audit.records("acme")
    assert record.body["rights"]["scope"] == sorted(collections)
    assert record.body["rights"]["hidden_documents"] == (1 if "handbook" in collections else 0)
