"""How an answer was made can be read afterwards: every call with its prompt, its text and its end."""

from __future__ import annotations

import json

import pytest

from assistant.conversation.answering import TurnPolicy
from assistant.conversation.turns import Question
from assistant.core.access import Caller
from assistant.core.modes import Mode
from assistant.errors import ModelUnavailable, NotFound
from assistant.llm.scripted import ScriptedModel
from assistant.store import Store
from assistant.store.calls import WITHHELD
from tests.conversation.answering import beside, fill, sit_down
from tests.store.filling import BOB, draft, put


async def test_every_call_of_a_turn_is_kept(store: Store) -> None:
    model = ScriptedModel(lambda call: f"Leave is 20 days. {call.draft[:0]}")
    desk = await sit_down(store, model)
    message = await desk.answer("How much annual leave is there?", mode=Mode.REFINE)
    turn = (await desk.events())[0].turn
    calls = await store.conversations.calls_of(desk.caller, desk.conversation, turn)
    assert [call.purpose for call in calls] == ["answer", *["refine"] * (len(model.calls) - 1)]
    assert [call.messages for call in calls] == [call.request.messages for call in model.calls]
    assert [call.text for call in calls] == [call.text for call in model.calls]
    assert {call.ended for call in calls} == {"stop"}
    assert message.usage is not None
    assert message.usage.tokens_in == sum(call.usage.tokens_in for call in calls)


async def test_a_failed_and_a_cancelled_call_are_kept_too(store: Store) -> None:
    desk = await sit_down(store, ScriptedModel(["Leave is 20 days."], fail_with=ModelUnavailable(), fail_after=8))
    assert (await desk.answer("How much annual leave is there?")).error == "model_unavailable"
    (call,) = await store.conversations.calls_of(desk.caller, desk.conversation, (await desk.events())[0].turn)
    assert (call.ended, call.text) == ("model_unavailable", "Leave is")


async def test_they_are_the_owners_only_and_withheld_when_a_source_is_withdrawn(store: Store) -> None:
    desk = await sit_down(store, ScriptedModel(["Leave is 20 days."]))
    await desk.answer("How much annual leave is there?")
    turn = (await desk.events())[0].turn
    with pytest.raises(NotFound):
        await store.conversations.calls_of(BOB, desk.conversation, turn)
    with pytest.raises(NotFound):
        await store.conversations.calls_of(desk.caller, desk.conversation, "nothing")
    await put(store, draft("Employees get 20 days of annual leave. Moved.", "leave.md", access=("board",)))
    calls = await store.conversations.calls_of(desk.caller, desk.conversation, turn)
    assert {message.text for call in calls for message in call.messages} == {WITHHELD}
    assert {call.text for call in calls} == {WITHHELD}


async def test_the_deadline_ends_an_answer_and_keeps_its_text(store: Store) -> None:
    model = ScriptedModel(["Leave is 20 days. " * 400], delay=0.01)
    desk = await sit_down(store, model, policy=TurnPolicy(deadline_s=0.3))
    message = await desk.answer("How much annual leave is there?")
    assert (message.status, message.error) == ("failed", "model_unavailable")
    assert message.text.startswith("Leave is")
    assert model.calls[0].ended == "cancelled"


async def test_a_structured_answer_is_stored_and_cited(store: Store) -> None:
    await fill(store)
    schema = {"type": "object", "properties": {"rule": {"type": "string"}}, "required": ["rule"]}
    desk = await beside(store, ScriptedModel(['{"rule": "Sick leave is unlimited."}']))
    begun = await desk.live.start(
        desk.caller, desk.conversation, Question(client_id="c", text="What of sick leave?", schema=schema)
    )
    await desk.live.wait(begun.turn)
    message = await desk.message(begun.turn)
    assert message.plan is not None
    assert message.plan.structured
    assert message.citations is not None
    cited = message.citations.items[0]
    assert message.text[cited.start : cited.end] == "Sick leave is unlimited."


async def test_lists_of_numbers_in_json_are_no_citation_marks(store: Store) -> None:
    desk = await sit_down(store, ScriptedModel(['{"days": [1], "more": [1, 2]}'], piece=3))
    schema = {"type": "object", "properties": {"days": {"type": "array"}}}
    begun = await desk.live.start(
        desk.caller, desk.conversation, Question(client_id="c", text="What of annual leave?", schema=schema)
    )
    await desk.live.wait(begun.turn)
    assert json.loads((await desk.message(begun.turn)).text) == {"days": [1], "more": [1, 2]}


async def test_what_is_no_json_of_the_schema_ends_the_turn_with_a_typed_error(store: Store) -> None:
    desk = await sit_down(store, ScriptedModel(["nonsense"]))
    schema = {"type": "object"}
    begun = await desk.live.start(
        desk.caller, desk.conversation, Question(client_id="c", text="What of sick leave?", schema=schema)
    )
    await desk.live.wait(begun.turn)
    message = await desk.message(begun.turn)
    assert (message.status, message.error, message.text) == ("failed", "model_output_invalid", "")


async def test_earlier_evidence_may_come_back(store: Store) -> None:
    desk = await sit_down(store, ScriptedModel(["Flights over six hours may be booked in premium economy."]))
    await desk.answer("What class may flights over six hours be booked in?")
    asked: list[object] = []
    search = desk.live._manager._retriever.search

    async def watched(queries: object, caller: Caller, **more: object) -> object:
        asked.append(more["earlier"])
        return await search(queries, caller, **more)  # type: ignore[arg-type]

    desk.live._manager._retriever.search = watched  # type: ignore[method-assign,assignment]
    await desk.answer("And shorter ones?")
    (places,) = asked
    assert [place.version for place in places] == [1]  # type: ignore[attr-defined]
    await desk.answer("New topic: how much sick leave do employees get?")
    assert asked[-1] == ()
