"""What goes with the prompts of a replay: the images and the schema of then; and which calls are not made again, and why."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import Any

import pytest

from assistant.conversation.answering import pictures
from assistant.conversation.pictures import images_of
from assistant.conversation.replaying import PastAnswer, left_out, lost_images, replay, schema_in
from assistant.conversation.turns import Question
from assistant.core.calls import ModelCall
from assistant.core.messages import Message, Role, Usage
from assistant.core.modes import Mode, ModeChoice
from assistant.llm.scripted import ScriptedModel
from assistant.prompts import load_prompts
from assistant.store import Store
from tests.conversation.answering import Desk, sit_down
from tests.conversation.test_images import PNG, desk
from tests.store.filling import ANN

QUESTION = "How many days of annual leave are there?"
SAID = "The floor plan of the second floor shows the emergency exits."
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"days": {"type": "string"}}, "required": ["days"]}
REPLY = json.dumps({"days": "Employees get 20 days of annual leave."})


async def kept(made: Desk, *, pictured: bool = True) -> PastAnswer:
    """The only answer of a desk, as an auditor finds it."""
    turn = (await made.events())[0].turn
    audited = made.store.audited
    owner, _ = await audited.owner("acme", turn)
    (_, view) = await made.store.conversations.messages(made.caller, made.conversation)
    assert view.answer is not None
    evidence = tuple(await audited.evidence("acme", turn))
    images = await images_of(made.store.documents, owner, evidence) if pictured else ()
    calls = tuple(await audited.calls("acme", turn))
    return PastAnswer(view.answer, calls, evidence, tuple(await audited.conflicts("acme", turn)), images)


async def again(past: PastAnswer, model: ScriptedModel) -> None:
    await replay(past, model, load_prompts("en"), time.monotonic)


async def test_the_images_go_out_as_they_did(store: Store) -> None:
    then, now = ScriptedModel([SAID]), ScriptedModel([SAID])
    made = await desk(store, then, sees=True)
    await made.answer("What does the floor plan show?")
    past = await kept(made)
    await again(past, now)
    assert now.calls[0].request.messages == then.calls[0].request.messages
    assert [image.content for image in now.calls[0].request.messages[-1].images] == [PNG]
    assert lost_images(past) == 0


async def test_images_that_are_gone_are_counted(store: Store) -> None:
    made = await desk(store, ScriptedModel([SAID]), sees=True)
    await made.answer("What does the floor plan show?")
    await store.documents.delete("acme", "handbook", "fire.pdf")
    past, now = await kept(made), ScriptedModel([SAID])
    assert (past.images, lost_images(past)) == ((), 1)
    await again(past, now)
    assert now.calls[0].request.messages[-1].images == ()


async def test_a_mode_that_shows_no_images_gets_none(store: Store) -> None:
    made = await desk(store, ScriptedModel([SAID]), sees=False)
    await made.answer("What does the floor plan show?")
    past, now = await kept(made), ScriptedModel([SAID])
    assert past.images
    assert lost_images(past) == 0
    await again(past, now)
    assert now.calls[0].request.messages[-1].images == ()


@pytest.mark.parametrize("mode", [Mode.SIMPLE_SUMMARIZE, Mode.REFINE])
async def test_a_structured_answer_is_bound_to_its_schema_again(store: Store, mode: Mode) -> None:
    then, now = ScriptedModel(["no JSON", REPLY]), ScriptedModel([REPLY] * 2)
    made = await sit_down(store, then)
    asked = Question(client_id="c", text=QUESTION, mode=mode, schema=SCHEMA)
    begun = await made.live.start(ANN, made.conversation, asked)
    await made.live.wait(begun.turn)
    await again(await kept(made), now)
    assert [call.request.schema for call in now.calls] == [call.request.schema for call in then.calls]
    assert now.calls[-1].request.schema == SCHEMA


@pytest.mark.parametrize(
    ("said", "schema"),
    [
        ('Answer as JSON: {"type":"object"} and nothing else', {"type": "object"}),
        ('An example {"days": 3}, the schema {"properties":{"a":{"type":"string"}}}', {"properties": {"a": {"type": "string"}}}),
        ("{ not JSON } {{", None),
        ("no braces", None),
        ('{"days": 3}', None),
        ("{" * 3000, None),
        ('{"type":' * 3000, None),
    ],
)  # fmt: skip
def test_a_schema_is_told_from_the_instructions(said: str, schema: object) -> None:
    call = ModelCall("answer", "m", (Message(Role.SYSTEM, said), Message(Role.USER, '{"type":"array"}')), "", "stop")
    assert schema_in(call) == schema


async def test_calls_that_are_not_made_again_are_told_with_their_cost(store: Store) -> None:
    made = await sit_down(store, ScriptedModel(["Employees get 20 days of annual leave."]))
    await made.answer(QUESTION)
    past = await kept(made, pictured=False)
    assert left_out(past) == ()
    asides = tuple(
        ModelCall(purpose, "small", (Message(Role.USER, "?"),), "x", "stop", Usage(1, 50, 5, 0, 0.25))
        for purpose in ("rewrite", "judge", "conflicts", "recap", "something new")
    )
    told = left_out(replace(past, calls=(*asides, *past.calls)))
    assert [(each.purpose, each.model, each.tokens_in, each.cost) for each in told] == [
        (call.purpose, "small", 50, 0.25) for call in asides
    ]
    assert len({each.why for each in told}) == 5


async def test_the_images_are_those_that_a_turn_shows(store: Store) -> None:
    """Two ways to the same pictures must not drift apart."""
    made = await desk(store, ScriptedModel([SAID]), sees=True)
    await made.answer("What does the floor plan show?")
    past = await kept(made)

    class Plan:
        choice = ModeChoice(Mode.MULTI_MODAL, "", "")
        evidence = past.evidence

    plan: Any = Plan()
    assert await pictures(store.documents, made.caller, plan) == past.images
