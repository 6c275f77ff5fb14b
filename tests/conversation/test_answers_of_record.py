"""A correction that was adopted answers the same question from then on, as an ordinary turn whose model is a person."""

from __future__ import annotations

from assistant.core.adopted import HUMAN
from assistant.core.audit import AuditKind
from assistant.interfaces import Feedback
from assistant.llm.scripted import ScriptedModel
from assistant.store import Store
from tests.conversation.answering import Desk, sit_down
from tests.store.audit_filling import all_records
from tests.store.filling import ANN, draft, put

QUESTION = "Who approves travel?"
CORRECTION = "Your supervisor approves travel, and you tell the office."


async def corrected(store: Store) -> tuple[Desk, ScriptedModel]:
    """A desk at which an answer was given, corrected and adopted."""
    model = ScriptedModel(["Your supervisor approves travel."])
    desk = await sit_down(store, model)
    desk.live._manager._adopted = store.records_of_answer
    turn = await desk.ask(QUESTION)
    await desk.live.wait(turn)
    await store.conversations.add_feedback(ANN, desk.conversation, Feedback("f", turn, "down", None, CORRECTION))
    (record,) = [one for one in await all_records(store.audit) if one.kind is AuditKind.CORRECTION]
    await store.records_of_answer.adopt("acme", record.id, by="uboss", reason="the office was missing")
    return desk, model


async def test_the_same_question_gets_the_words_of_the_person(store: Store) -> None:
    desk, model = await corrected(store)
    asked = len(model.calls)
    message = await desk.answer(f"  {QUESTION.upper()} ")
    assert (message.text, message.model, message.status, message.finish) == (CORRECTION, HUMAN, "completed", "stop")
    assert len(model.calls) == asked
    assert message.plan is not None
    assert {shown.title for shown in message.plan.evidence} == {"Travel"}
    assert message.citations is not None
    assert message.citations.items[0].source.exact.startswith("Your supervisor approves travel")
    (_, stored) = (await store.conversations.messages(ANN, desk.conversation))[-2:]
    assert stored.answer == message


async def test_other_questions_and_questions_for_a_schema_go_to_the_model(store: Store) -> None:
    desk, model = await corrected(store)
    asked = len(model.calls)
    assert (await desk.answer("Who approves flights?")).model == model.name
    assert len(model.calls) == asked + 1


async def test_a_new_version_of_the_source_ends_it(store: Store) -> None:
    desk, model = await corrected(store)
    await put(store, draft("The office approves travel.", "travel.md", title="Travel"))
    assert (await desk.answer(QUESTION)).model == model.name
