from __future__ import annotations

from contextlib import aclosing
from typing import Any

import pytest

from assistant.core.messages import Message, ModelDelta, Role
from assistant.core.prompt import ModelRequest, Sampling
from assistant.errors import ModelUnavailable
from assistant.llm.breaker import Breaker
from assistant.llm.endpoints import Endpoint
from assistant.llm.observing import provider_of
from assistant.llm.reliable import Patience, ReliableModel
from assistant.llm.scripted import ScriptedModel
from tests.telemetry_seen import figure, tracing

DOWN = ModelUnavailable("secret", reason="down")
REQUEST = ModelRequest(
    (Message(Role.USER, "qzasked"),), Sampling(64), "qzasked", (), (), "en", purpose="recap", schema={"type": "object"}
)


async def say(model: ReliableModel) -> str:
    async with aclosing(model.stream(REQUEST)) as chunks:
        return "".join([chunk.text async for chunk in chunks if isinstance(chunk, ModelDelta)])


async def told(model: ReliableModel, **how: Any) -> tuple[dict[str, Any], str]:
    """The attributes of the span of one call, and its name."""
    with tracing(**how) as seen:
        await say(model)
    (span,) = seen.get_finished_spans()
    return dict(span.attributes or {}), span.name


async def test_who_stood_in_is_the_one_that_answered() -> None:
    first, second = ScriptedModel(name="large", fail_with=DOWN), ScriptedModel(["Fine."], name="small")
    model = ReliableModel([Endpoint(first), Endpoint(second)], Patience(), retries=0)
    before = figure("assistant_model_calls_total", model="small", purpose="recap", ended="stop")
    span, name = await told(model)
    assert name == "chat large"
    assert (span["gen_ai.request.model"], span["gen_ai.response.model"]) == ("large", "small")
    assert span["assistant.calls"] == 2
    assert span["gen_ai.output.type"] == "json"
    assert figure("assistant_model_calls_total", model="small", purpose="recap", ended="stop") == before + 1


async def test_a_call_that_is_closed_is_told_as_cancelled() -> None:
    model = ReliableModel([Endpoint(ScriptedModel(["A long answer."], piece=1))], Patience())
    with tracing(content=True) as seen:
        stream = model.stream(REQUEST)
        await anext(stream)
        await stream.aclose()
    (span,) = seen.get_finished_spans()
    assert (span.attributes or {})["gen_ai.response.finish_reasons"] == ("cancelled",)
    assert '"content":"A"' in str((span.attributes or {})["gen_ai.output.messages"])


async def test_nothing_is_told_of_the_text_unless_it_is_set() -> None:
    model = ReliableModel([Endpoint(ScriptedModel(["qzsaid"]))], Patience())
    span, _ = await told(model)
    assert "qz" not in str(span)
    span, _ = await told(model, content=True)
    assert "qzasked" in span["gen_ai.input.messages"]
    assert "qzsaid" in span["gen_ai.output.messages"]


async def test_what_was_last_seen_of_a_model_that_fails_and_of_one_that_stands_in() -> None:
    down = Endpoint(ScriptedModel(fail_with=DOWN), Breaker(most=1, rest_s=60))
    alone = ReliableModel([down], Patience(), retries=0)
    assert alone.last_seen() == "answers"
    with pytest.raises(ModelUnavailable):
        await say(alone)
    assert alone.last_seen() == "rests"
    assert ReliableModel([down, Endpoint(ScriptedModel())], Patience()).last_seen() == "answers"


@pytest.mark.parametrize(
    ("name", "provider"),
    [
        ("gpt-5", "openai"), ("anthropic/claude-x", "anthropic"), ("vertex_ai/gemini-3", "gcp.vertex_ai"),
        ("meta-llama/Llama-4", "openai"), ("extractive", "assistant"),
    ],
)  # fmt: skip
def test_the_provider_is_named_as_the_conventions_do(name: str, provider: str) -> None:
    assert provider_of(ScriptedModel(name=name)) == provider
