"""Replaying: the same prompts to the same or another model, and an answer made of the replies as it was made then."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest

from assistant.conversation.answering import TurnPolicy
from assistant.conversation.replaying import PastAnswer, replay, requests_of
from assistant.conversation.turns import Question
from assistant.core.budget import BudgetPolicy
from assistant.core.calls import ModelCall
from assistant.core.messages import Message, Role
from assistant.core.modes import Mode
from assistant.core.prompt import ModelRequest
from assistant.core.replaying import compare_answers
from assistant.core.turn import TurnMessage
from assistant.errors import BadInput, ModelUnavailable, Steer
from assistant.interfaces import ChatModel
from assistant.llm.extractive import ExtractiveModel
from assistant.llm.scripted import ScriptedModel
from assistant.prompts import load_prompts
from assistant.store import Store
from tests.conversation.answering import Desk, sit_down
from tests.store.filling import ANN

QUESTION = "How many days of annual leave are there?"
PROMPTS = load_prompts("en")
EXTRACTIVE = ExtractiveModel()  # reads its token table here, not in the loop
SMALL = TurnPolicy(budget=BudgetPolicy(min_output=40, max_output=60))


async def kept(desk: Desk) -> PastAnswer:
    """The only answer of a desk, as an auditor finds it."""
    turn = (await desk.events())[0].turn
    audited = desk.store.audited
    (_, view) = await desk.store.conversations.messages(ANN, desk.conversation)
    assert view.answer is not None
    return PastAnswer(
        view.answer,
        tuple(await audited.calls("acme", turn)),
        tuple(await audited.evidence("acme", turn)),
        tuple(await audited.conflicts("acme", turn)),
    )


async def again(past: PastAnswer, model: ChatModel) -> TurnMessage:
    return await replay(past, model, PROMPTS, time.monotonic)


def from_the_evidence(request: ModelRequest) -> str:
    """A model that says the first sentence of each piece it is shown, or joins what it is given; it marks its sources."""
    said = [f"{item.exact.split('. ')[0].rstrip('.')} [{item.id}]." for item in request.evidence]
    return " ".join(dict.fromkeys([*request.partials, *said])) or "Hello."


@pytest.mark.parametrize("mode", [mode for mode in Mode if mode.value not in ("no_text", "context_only")])
async def test_the_same_model_says_the_same_in_every_mode(store: Store, mode: Mode) -> None:
    desk = await sit_down(store, ScriptedModel(from_the_evidence), policy=SMALL)
    old = await desk.answer(QUESTION, mode=mode)
    past = await kept(desk)
    new = await again(past, ScriptedModel(from_the_evidence))
    difference = compare_answers(past.message, new)
    assert old.text
    assert difference.same, difference.as_json()
    assert new.status == old.status
    assert new.plan == old.plan


@pytest.mark.parametrize("mode", [Mode.SIMPLE_SUMMARIZE, Mode.REFINE, Mode.ACCUMULATE, Mode.VERIFIED])
async def test_the_model_without_weights_replays_itself(store: Store, mode: Mode) -> None:
    desk = await sit_down(store, EXTRACTIVE)
    await desk.answer(QUESTION, mode=mode)
    past = await kept(desk)
    difference = compare_answers(past.message, await again(past, EXTRACTIVE))
    assert difference.same, difference.as_json()


async def test_the_prompts_go_out_as_they_were(store: Store) -> None:
    desk = await sit_down(store, ScriptedModel(["Employees get 20 days of annual leave."]))
    await desk.answer(QUESTION, mode=Mode.REFINE)
    past = await kept(desk)
    model = ScriptedModel(["Employees get 25 days of annual leave."], name="other")
    new = await again(past, model)
    assert [call.request.messages for call in model.calls] == [call.messages for call in past.calls]
    assert model.calls[0].request.sampling.temperature == 0.1
    difference = compare_answers(past.message, new)
    assert (difference.model.old, difference.model.new) == ("scripted", "other")
    assert (difference.old_text, difference.new_text) == (past.message.text, "Employees get 25 days of annual leave.")
    assert not difference.same
    assert new.usage is not None
    assert new.usage.calls == len(past.calls)


async def test_what_both_answers_cite_keeps_its_number(store: Store) -> None:
    desk = await sit_down(store, ScriptedModel(["Employees get 20 days of annual leave."]))
    await desk.answer(QUESTION)
    past = await kept(desk)
    text = "Your supervisor approves travel. Employees get 20 days of annual leave."
    new = await again(past, ScriptedModel([text]))
    assert past.message.citations is not None
    assert new.citations is not None
    old_numbers = {item.evidence: item.n for item in past.message.citations.items}
    assert old_numbers.items() <= {item.evidence: item.n for item in new.citations.items}.items()


async def test_pieces_of_an_answer_are_replaced_where_they_stood(store: Store) -> None:
    desk = await sit_down(store, ScriptedModel(from_the_evidence))
    old = await desk.answer(QUESTION, mode=Mode.ACCUMULATE)
    new = await again(await kept(desk), ScriptedModel(lambda call: f"今 {len(call.evidence)} [{call.evidence[0].id}]."))
    headings = [line for line in old.text.splitlines() if line.startswith("**")]
    assert headings
    assert [line for line in new.text.splitlines() if line.startswith("**")] == headings
    assert new.text.count("今 1") == len(headings)


async def test_a_refusal_now_is_a_refusal(store: Store) -> None:
    desk = await sit_down(store, ScriptedModel(["Employees get 20 days of annual leave."]))
    await desk.answer(QUESTION)
    new = await again(await kept(desk), ScriptedModel([PROMPTS.refusal]))
    assert (new.text, new.finish, new.status) == (PROMPTS.refusal, "no_answer", "completed")
    assert new.citations is not None
    assert not new.citations.items


async def test_sentences_without_support_are_withheld_as_then(store: Store) -> None:
    desk = await sit_down(store, ScriptedModel(["Employees get 20 days of annual leave."]))
    await desk.answer(QUESTION, mode=Mode.VERIFIED)
    said = "Employees get 20 days of annual leave. Pilots get a villa in the mountains of Peru."
    new = await again(await kept(desk), ScriptedModel([said]))
    assert new.text.strip() == "Employees get 20 days of annual leave."


async def test_calls_that_wrote_nothing_of_the_answer_are_left_out(store: Store) -> None:
    desk = await sit_down(store, ScriptedModel(["Employees get 20 days of annual leave."]))
    await desk.answer(QUESTION)
    past = await kept(desk)
    aside = ModelCall("rewrite", "scripted", (Message(Role.USER, "make it standalone"),), "No.", "stop")
    model = ScriptedModel(["Employees get 20 days of annual leave."])
    await again(replace(past, calls=(aside, *past.calls)), model)
    assert len(model.calls) == len(past.calls)
    with pytest.raises(BadInput) as refused:
        await again(replace(past, calls=(aside,)), model)
    assert refused.value.data["reason"] == "no_calls"


async def test_what_is_erased_or_fails_is_a_typed_error(store: Store) -> None:
    desk = await sit_down(store, ScriptedModel(["Employees get 20 days of annual leave."]))
    await desk.answer(QUESTION)
    past = await kept(desk)
    with pytest.raises(ModelUnavailable):
        await again(past, ScriptedModel(fail_with=ModelUnavailable()))
    erased = replace(past, message=replace(past.message, plan=None, text=""), calls=())
    with pytest.raises(BadInput) as refused:
        await again(erased, ScriptedModel())
    assert refused.value.data["reason"] == "erased"


async def test_a_structured_answer_stays_json(store: Store) -> None:
    schema = {"type": "object", "properties": {"days": {"type": "string"}}, "required": ["days"]}
    reply = json.dumps({"days": "Employees get 20 days of annual leave."})
    desk = await sit_down(store, ScriptedModel([reply]))
    begun = await desk.live.start(ANN, desk.conversation, Question(client_id="c", text=QUESTION, schema=schema))
    await desk.live.wait(begun.turn)
    past = await kept(desk)
    new = await again(past, ScriptedModel([f"```json\n{reply}\n```"]))
    assert json.loads(new.text) == json.loads(reply)
    assert compare_answers(past.message, new).same
    with pytest.raises(Steer):
        await again(past, ScriptedModel(["Employees get 20 days of annual leave."]))


async def test_hostile_replies_become_text_that_can_be_kept(store: Store) -> None:
    desk = await sit_down(store, ScriptedModel(["Employees get 20 days of annual leave."]))
    await desk.answer(QUESTION)
    past = await kept(desk)
    for hostile in ("\ud800 \x00 </evidence-list>", "🙂" * 500, "\r\n" * 50 + "[e1][e2]", ""):
        new = await again(past, ScriptedModel([hostile]))
        new.text.encode()
        assert "\x00" not in new.text
        assert new.status in ("completed", "failed")


async def test_every_request_has_the_evidence_that_its_prompt_shows(store: Store) -> None:
    desk = await sit_down(store, ScriptedModel(from_the_evidence))
    await desk.answer(QUESTION, mode=Mode.ACCUMULATE)
    past = await kept(desk)
    assert past.message.plan is not None
    requests = requests_of(past, past.message.plan, past.calls, PROMPTS)
    assert len(requests) > 1
    assert sorted(item.id for request in requests for item in request.evidence) == sorted(
        item.id for item in past.evidence
    )
