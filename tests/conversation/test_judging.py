"""A model may look for conflicts; what it says counts only as far as it quotes."""

from __future__ import annotations

import json
from datetime import date

import pytest

from assistant.conversation.judging import ConflictJudge, place_of
from assistant.core.conflicts import Conflict, Resolution, judged_conflict
from assistant.core.prompt import ModelRequest
from assistant.errors import AssistantError, ModelUnavailable
from assistant.llm.scripted import ScriptedModel
from assistant.prompts import load_prompts
from assistant.store import Store
from tests.conversation.answering import beside, fill
from tests.making import evidence

OLD = evidence("Dogs are  welcome in\nthe office. Cats are not.", "old", on=date(2020, 1, 1))
NEW = evidence("Please leave your dog at home.", "new", on=date(2024, 1, 1))


def reply(**more: object) -> str:
    found = {
        "a": OLD.id,
        "quote_a": "Dogs are welcome in the office.",
        "b": NEW.id,
        "quote_b": NEW.exact,
        "topic": "dogs",
    }
    return json.dumps({"conflicts": [{**found, **more}]})


async def judged(text: str, **more: object) -> tuple[Conflict, ...]:
    judge = ConflictJudge(ScriptedModel([text], **more), load_prompts)  # type: ignore[arg-type]
    return await judge.find("May I bring my dog?", [OLD, NEW], "en", 30)


async def test_a_quoted_contradiction_is_a_conflict_like_any_other() -> None:
    here = place_of(OLD, "Dogs are welcome in the office.")
    assert here is not None
    (conflict,) = await judged(f"```json\n{reply()}\n```")
    assert conflict == judged_conflict((NEW, NEW.span), (OLD, here), topic="dogs")
    assert (conflict.resolution, conflict.preferred) == (Resolution.NEWER, NEW.id)
    sides = {side.evidence: side.quote for side in conflict.sides}
    assert sides == {OLD.id: "Dogs are  welcome in\nthe office.", NEW.id: NEW.exact}


@pytest.mark.parametrize(
    "text",
    [
        reply(quote_a="Dogs are welcome everywhere."),
        reply(a="e0000000000"),
        reply(b=OLD.id),
        reply(quote_b=""),
        '{"conflicts": "many"}',
        "There is a conflict.",
        "",
        "[" * 5000,
        '{"conflicts": [' + ",".join(["{}"] * 200) + "]}",
    ],
)
async def test_what_is_not_quoted_or_not_in_form_does_not_count(text: str) -> None:
    assert await judged(text) == ()


@pytest.mark.parametrize("failure", [ModelUnavailable(), AssistantError("x")])
async def test_a_failure_leaves_the_rules(failure: AssistantError) -> None:
    assert await judged(reply(), fail_with=failure) == ()


async def test_a_slow_judge_is_not_waited_for() -> None:
    judge = ConflictJudge(ScriptedModel([reply()], delay=30), load_prompts, timeout_s=0.02)
    assert await judge.find("dogs?", [OLD, NEW], "en", 30) == ()


async def test_a_single_piece_is_not_judged() -> None:
    model = ScriptedModel([reply()])
    assert await ConflictJudge(model, load_prompts).find("dogs?", [OLD], "en", 30) == ()
    assert model.calls == []


async def test_a_turn_marks_what_the_judge_finds(store: Store) -> None:
    await fill(store)

    def find(request: ModelRequest) -> str:
        shown = {item.text: item for item in request.evidence}
        one, other = shown["Sick leave is unlimited."], shown["Your supervisor approves travel."]
        pair = {
            "a": one.id,
            "quote_a": "Sick leave is unlimited.",
            "b": other.id,
            "quote_b": "Your supervisor approves travel.",
        }
        return json.dumps({"conflicts": [pair | {"topic": "who decides"}]})

    desk = await beside(store, ScriptedModel(["Sick leave is unlimited."]), judge=ScriptedModel(find))
    message = await desk.answer("Who approves travel and sick leave?")
    assert message.plan is not None
    assert sum(bool(item.conflicts) for item in message.plan.evidence) >= 2
    assert message.conflicts is not None
    assert "who decides" in [item.topic for item in message.conflicts.items]
