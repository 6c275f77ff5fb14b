"""Long conversations: older turns become notes, in the background, and the notes reach later prompts."""

from __future__ import annotations

from assistant.core.history import KEPT_TURNS, Notes
from assistant.core.prompt import ModelRequest
from assistant.errors import ModelUnavailable
from assistant.llm.scripted import ScriptedModel
from assistant.store import Store
from tests.conversation.answering import Desk, beside, fill

TOPICS = (
    "annual leave",
    "carrying days over",
    "sick leave",
    "flights",
    "travel",
    "leave in March",
    "premium economy",
    "supervisors",
)


async def talk(store: Store, notes_by: ScriptedModel | None = None) -> tuple[Desk, ScriptedModel]:
    await fill(store)
    model = ScriptedModel(lambda request: f"About {request.question.split(' of ')[-1]} there is a rule [1].", piece=50)
    desk = await beside(store, model, notes_by=notes_by)
    for topic in TOPICS:
        message = await desk.answer(f"What is the rule of {topic}?")
        assert message.status == "completed"
        await desk.live.settle()
    return desk, model


def last_prompt(model: ScriptedModel) -> ModelRequest:
    return model.calls[-1].request


async def test_older_turns_become_notes_by_rule(store: Store) -> None:
    desk, model = await talk(store)
    past, notes = await store.conversations.remembered(desk.conversation)
    assert notes is not None
    assert len(past) - KEPT_TURNS - 2 <= notes.through <= len(past) - KEPT_TURNS
    assert "annual leave" in notes.text
    assert "[1]" not in notes.text
    await desk.answer("What is the rule of everything else?")
    history = [message.text for message in last_prompt(model).messages[1:-1]]
    assert notes.text in history
    assert history[0] == "What have we talked about so far?"


async def test_notes_by_the_model_build_on_the_notes_before(store: Store) -> None:
    writer = ScriptedModel(lambda request: f"Notes over <b>{len(request.draft)}</b> characters. [2]")
    desk, _ = await talk(store, writer)
    _, notes = await store.conversations.remembered(desk.conversation)
    assert notes is not None
    assert notes.text.startswith("Notes over")
    assert "[2]" not in notes.text
    first, *_ = writer.calls
    assert first.request.purpose == "recap"
    assert "annual leave" in first.request.messages[-1].text
    for before, after in zip(writer.calls, writer.calls[1:], strict=False):
        assert before.text.replace(" [2]", "") == after.request.draft


async def test_a_model_that_fails_leaves_notes_by_rule(store: Store) -> None:
    desk, _ = await talk(store, ScriptedModel(fail_with=ModelUnavailable()))
    _, notes = await store.conversations.remembered(desk.conversation)
    assert notes is not None
    assert notes.text.startswith("- What is the rule of annual leave?")


async def test_the_first_word_never_waits_for_notes(store: Store) -> None:
    slow = ScriptedModel(["late"], delay=60)
    await fill(store)
    desk = await beside(store, ScriptedModel(lambda _: "Yes."), notes_by=slow)
    for topic in TOPICS:
        assert (await desk.answer(f"What is the rule of {topic}?")).status == "completed"
    assert slow.calls
    await desk.live.drain(0)
    assert {call.ended for call in slow.calls} == {"cancelled"}


async def test_newer_notes_are_never_replaced_by_older_ones(store: Store) -> None:
    desk = await beside(store, ScriptedModel())
    await store.conversations.save_notes(desk.conversation, Notes("late", 9))
    await store.conversations.save_notes(desk.conversation, Notes("early", 3))
    assert (await store.conversations.remembered(desk.conversation))[1] == Notes("late", 9)
    await store.conversations.save_notes(desk.conversation, Notes("later", 12))
    assert (await store.conversations.remembered(desk.conversation))[1] == Notes("later", 12)
