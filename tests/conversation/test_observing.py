from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
import structlog

from assistant.errors import ModelUnavailable
from assistant.llm.endpoints import Endpoint
from assistant.llm.extractive import ExtractiveModel
from assistant.llm.reliable import Patience, ReliableModel
from assistant.llm.scripted import ScriptedModel
from assistant.store import Store
from tests.conversation.answering import Desk, sit_down
from tests.telemetry_seen import figure, tracing, tree

QUESTION = "How many days of annual leave do employees get?"
GROUNDED = "Employees get 20 days of annual leave. Everyone also gets a free unicorn."


def reliable(**how: Any) -> ReliableModel:
    return ReliableModel([Endpoint(ScriptedModel(**how))], Patience(), retries=0)


async def _asked(desk: Desk) -> str:
    turn = await desk.ask(QUESTION)
    await desk.live.wait(turn)
    return turn


async def test_each_step_of_a_turn_is_a_span(store: Store) -> None:
    desk = await sit_down(store, reliable(script=[GROUNDED]))
    with tracing() as seen:
        turn = await _asked(desk)
    spans = seen.get_finished_spans()
    steps = tree(spans)
    assert [step for step in steps if step != ("turn", "commit")] == [
        ("", "turn"), ("turn", "rewrite"), ("turn", "plan"), ("plan", "search"), ("turn", "store"),
        ("turn", "write"), ("write", "chat scripted"), ("turn", "cite"), ("turn", "store"), ("turn", "store"),
    ]  # fmt: skip
    assert steps[-1] == ("turn", "commit")  # of turn.done, after the message is stored
    whole = next(span for span in spans if span.name == "turn")
    assert (whole.attributes or {})["assistant.turn"] == turn
    assert (whole.attributes or {})["gen_ai.conversation.id"] == desk.conversation


async def test_a_model_call_is_told_by_the_conventions_without_what_was_said(store: Store) -> None:
    desk = await sit_down(store, reliable(script=[GROUNDED]))
    with tracing() as seen:
        await _asked(desk)
    told = {span.name: dict(span.attributes or {}) for span in seen.get_finished_spans()}["chat scripted"]
    assert told["gen_ai.operation.name"] == "chat"
    assert told["gen_ai.request.model"] == told["gen_ai.response.model"] == "scripted"
    assert told["gen_ai.response.finish_reasons"] == ("stop",)
    assert told["gen_ai.conversation.id"] == desk.conversation
    tokens = told["gen_ai.usage.input_tokens"]
    assert isinstance(tokens, int)
    assert tokens > 100
    assert isinstance(told["gen_ai.response.time_to_first_chunk"], float)
    everything = "".join(span.to_json() for span in seen.get_finished_spans())
    assert "unicorn" not in everything
    assert "annual leave" not in everything


async def test_what_was_said_is_in_the_span_where_that_is_set(store: Store) -> None:
    desk = await sit_down(store, reliable(script=[GROUNDED]))
    with tracing(content=True) as seen:
        await _asked(desk)
    told = {span.name: dict(span.attributes or {}) for span in seen.get_finished_spans()}["chat scripted"]
    (answer,) = json.loads(str(told["gen_ai.output.messages"]))
    assert answer == {"role": "assistant", "parts": [{"type": "text", "content": GROUNDED}], "finish_reason": "stop"}
    asked = json.loads(str(told["gen_ai.input.messages"]))
    assert QUESTION in asked[-1]["parts"][0]["content"]
    assert json.loads(str(told["gen_ai.system_instructions"]))[0]["type"] == "text"


async def test_a_model_that_fails_is_told_in_spans_and_figures(sqlite_url: str) -> None:
    async with Store(sqlite_url) as store:
        desk = await sit_down(store, reliable(fail_with=ModelUnavailable("secret", reason="down")))
        errors = figure("assistant_errors_total", at="turn", code="model_unavailable")
        calls = figure("assistant_model_calls_total", model="scripted", purpose="answer", ended="model_unavailable")
        with tracing() as seen:
            await _asked(desk)
    failed = {span.name for span in seen.get_finished_spans() if not span.status.is_ok and span.status.description}
    assert failed == {"chat scripted", "write", "turn"}
    assert figure("assistant_errors_total", at="turn", code="model_unavailable") == errors + 1
    assert (
        figure("assistant_model_calls_total", model="scripted", purpose="answer", ended="model_unavailable")
        == calls + 1
    )
    assert figure("assistant_running_turns") == 0


async def test_a_turn_is_counted(sqlite_url: str) -> None:
    names = {
        "turn": ("assistant_turns_total", {"mode": "compact", "status": "completed", "finish": "stop"}),
        "supported": ("assistant_verdicts_total", {"verdict": "supported"}),
        "unsupported": ("assistant_verdicts_total", {"verdict": "unsupported"}),
        "conflict": ("assistant_conflicts_total", {"followed": "preferred"}),
        "first": ("assistant_first_token_seconds_count", {}),
        "window": ("assistant_window_share_count", {}),
        "call": ("assistant_model_calls_total", {"model": "scripted", "purpose": "answer", "ended": "stop"}),
        "out": ("assistant_model_tokens_total", {"model": "scripted", "kind": "out"}),
    }
    async with Store(sqlite_url) as store:
        desk = await sit_down(store, reliable(script=[GROUNDED]))
        before = {name: figure(what, **labels) for name, (what, labels) in names.items()}
        message = await desk.answer(QUESTION)
    assert message.plan is not None
    names["turn"][1]["mode"] = message.plan.mode
    rise = {name: figure(what, **labels) - before[name] for name, (what, labels) in names.items()}
    assert rise.pop("out") > 5
    assert rise.pop("turn") >= 1
    assert rise == dict.fromkeys(rise, 1)


async def test_a_refusal_is_counted_as_one(sqlite_url: str) -> None:
    async with Store(sqlite_url) as store:
        desk = await sit_down(store, await asyncio.to_thread(ExtractiveModel))
        message = await desk.answer("What is the boiling point of tungsten?")
        assert message.finish == "no_answer"
        assert message.plan is not None
        labels = {"mode": message.plan.mode, "status": "completed", "finish": "no_answer"}
        before = figure("assistant_turns_total", **labels)
        await desk.answer("What is the melting point of tungsten?")
    assert figure("assistant_turns_total", **labels) == before + 1


async def test_the_lines_of_a_turn_have_its_ids(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with Store(sqlite_url) as store:
        desk = await sit_down(store, reliable(fail_with=ModelUnavailable("x", reason="down")))
        with structlog.testing.capture_logs([structlog.contextvars.merge_contextvars]) as lines:
            turn = await _asked(desk)
    (line,) = [line for line in lines if line["event"] == "turn failed"]
    assert (line["session"], line["turn"]) == (desk.conversation, turn)
