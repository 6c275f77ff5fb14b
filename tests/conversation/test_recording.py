from __future__ import annotations

import pytest

from assistant.conversation.recording import RecordingModel
from assistant.conversation.turns import Stopwatch
from assistant.core.calls import ModelCall
from assistant.core.messages import Message, Role
from assistant.core.prompt import ModelRequest, Sampling
from assistant.errors import ModelUnavailable
from assistant.interfaces import ChatModel
from assistant.llm.endpoints import Endpoint
from assistant.llm.reliable import ReliableModel
from assistant.llm.scripted import ScriptedModel

REQUEST = ModelRequest((Message(Role.USER, "two words"),), Sampling(max_tokens=50), "q", (), (), "en")
CUT = ModelUnavailable("cut", reason="broken", tokens_in=40, tokens_out=3)


async def recorded(*models: ChatModel) -> ModelCall:
    calls: list[ModelCall] = []
    around = ReliableModel([Endpoint(model) for model in models], retries=0)
    model = RecordingModel(around, calls, Stopwatch(lambda: 0.0))
    async for _ in model.stream(REQUEST):
        pass
    return calls[0]


async def test_the_model_that_answered_is_recorded() -> None:
    call = await recorded(ScriptedModel(name="main", fail_with=CUT), ScriptedModel(["said"], name="other"))
    assert (call.model, call.text, call.ended) == ("other", "said", "stop")
    assert (call.usage.calls, call.usage.tokens_in) == (2, 40 + 2)


async def test_the_model_that_was_asked_is_recorded_where_none_stood_in() -> None:
    assert (await recorded(ScriptedModel(name="main"), ScriptedModel(name="other"))).model == "main"


async def test_what_a_failed_call_used_is_recorded() -> None:
    calls: list[ModelCall] = []
    around = ReliableModel([Endpoint(ScriptedModel(["abcd"], piece=2, fail_with=CUT, fail_after=2))])
    with pytest.raises(ModelUnavailable):
        async for _ in RecordingModel(around, calls, Stopwatch(lambda: 0.0)).stream(REQUEST):
            pass
    assert (calls[0].text, calls[0].ended) == ("ab", "model_unavailable")
    assert (calls[0].usage.calls, calls[0].usage.tokens_in, calls[0].usage.tokens_out) == (1, 40, 3)
