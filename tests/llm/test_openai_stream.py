import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest

from assistant.core.beat import BEAT_S
from assistant.core.messages import Message, ModelChunk, ModelDelta, ModelFinish, Role
from assistant.core.prompt import ModelRequest, Sampling
from assistant.errors import AssistantError, ContextOverflow, ModelMisconfigured, ModelUnavailable
from assistant.interfaces import ChatModel
from assistant.llm.openai_stream import OpenAICompatibleModel
from assistant.llm.scripted_http import Behaviour, Provider
from assistant.llm.tokens import NaiveCounter

REQUEST = ModelRequest(
    messages=(Message(Role.SYSTEM, "Be brief."), Message(Role.USER, "问题?")),
    sampling=Sampling(max_tokens=50),
    question="问题?",
    evidence=(),
    conflicts=(),
    language="zh",
)


class Pauses(list[float]):
    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


@pytest.fixture
def pauses() -> Pauses:
    return Pauses()


@pytest.fixture
async def model(provider: Provider, pauses: Pauses) -> AsyncIterator[OpenAICompatibleModel]:
    made = OpenAICompatibleModel(
        provider.url, "test-model", "secret-key", window=4096, counter=NaiveCounter(), timeout=20.0, pause=pauses
    )
    yield made
    await made.aclose()


async def collect(model: ChatModel, request: ModelRequest = REQUEST) -> tuple[str, ModelFinish]:
    chunks: list[ModelChunk] = [chunk async for chunk in model.stream(request)]
    *deltas, finish = chunks
    assert isinstance(finish, ModelFinish)
    texts = [delta.text for delta in deltas if isinstance(delta, ModelDelta)]
    assert all(texts)
    assert len(texts) == len(deltas)
    return "".join(texts), finish


async def listen(model: ChatModel, seen: list[str]) -> None:
    async for chunk in model.stream(REQUEST):
        if isinstance(chunk, ModelDelta):
            seen.append(chunk.text)


async def test_streams_text_finish_and_usage(model: OpenAICompatibleModel, provider: Provider) -> None:
    provider.behave(Behaviour(text="可以，每周 32 小时。🙂", piece=1))
    text, finish = await collect(model)
    assert text == "可以，每周 32 小时。🙂"
    assert (finish.reason, finish.usage.calls, finish.usage.tokens_in, finish.usage.tokens_out) == ("stop", 1, 11, 7)
    body = provider.bodies[0]
    assert body["messages"] == [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "问题?"}]
    assert body["stream_options"] == {"include_usage": True}
    assert (body["max_tokens"], body["temperature"], body["model"]) == (50, 0.1, "test-model")
    assert provider.keys == ["Bearer secret-key"]


async def test_the_first_word_comes_alone_and_the_next_ones_by_the_beat(
    model: OpenAICompatibleModel, provider: Provider
) -> None:
    provider.behave(Behaviour(text="x" * 100, piece=1, delay=0.002))
    clock, texts, at = asyncio.get_running_loop(), list[str](), list[float]()
    async for chunk in model.stream(REQUEST):
        if isinstance(chunk, ModelDelta):
            texts.append(chunk.text)
            at.append(clock.time())
    assert len(texts[0]) < len("".join(texts)) == 100
    assert len(texts) <= (at[-1] - at[0]) / BEAT_S + 2


async def test_the_connection_is_used_again(model: OpenAICompatibleModel, provider: Provider) -> None:
    for _ in range(3):
        await collect(model)
    assert len(provider.connections) == 1


async def test_closing_the_iterator_stops_the_provider(model: OpenAICompatibleModel, provider: Provider) -> None:
    provider.behave(Behaviour(endless=True, delay=0.005))
    async with aclosing(model.stream(REQUEST)) as chunks:
        async for chunk in chunks:
            assert isinstance(chunk, ModelDelta)
            break
    assert await asyncio.to_thread(provider.cancelled.wait, 5)


async def test_cancelling_the_task_stops_the_provider(model: OpenAICompatibleModel, provider: Provider) -> None:
    provider.behave(Behaviour(endless=True, delay=0.005))
    task = asyncio.create_task(collect(model))
    while provider.sent < 3:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(provider.cancelled.wait, 5)


@pytest.mark.parametrize(
    ("status", "message", "error"),
    [
        (401, "no such key", ModelMisconfigured),
        (403, "not yours", ModelMisconfigured),
        (404, "model not found", ModelMisconfigured),
        (400, "bad role", ModelMisconfigured),
        (400, "This model's maximum context length is 4096 tokens, however you requested 5000", ContextOverflow),
        (400, "the request exceeds the available context size", ContextOverflow),
        (413, "too large", ContextOverflow),
        (429, "slow down", ModelUnavailable),
        (500, "boom", ModelUnavailable),
        (503, "loading", ModelUnavailable),
    ],
)
async def test_refusals_are_mapped(
    model: OpenAICompatibleModel, provider: Provider, status: int, message: str, error: type[AssistantError]
) -> None:
    provider.behave(Behaviour(status=status, body={"error": {"message": message}}))
    with pytest.raises(error) as caught:
        await collect(model)
    assert caught.value.data["status"] == status
    assert len(provider.bodies) == (3 if error is ModelUnavailable else 1)


async def test_retry_waits_longer_each_time_and_succeeds(
    model: OpenAICompatibleModel, provider: Provider, pauses: Pauses
) -> None:
    failing = Behaviour(status=503, body={"error": {"message": "loading"}})
    provider.behave(failing, failing, Behaviour(text="late"))
    assert (await collect(model))[0] == "late"
    assert len(pauses) == 2
    assert 0.2 <= pauses[0] <= 0.6
    assert 0.4 <= pauses[1] <= 1.2


async def test_retry_after_is_obeyed_when_short(
    model: OpenAICompatibleModel, provider: Provider, pauses: Pauses
) -> None:
    busy = Behaviour(status=429, body={"error": {"message": "busy"}}, headers={"retry-after": "2"})
    provider.behave(busy, Behaviour(text="now"))
    assert (await collect(model))[0] == "now"
    assert pauses == [2.0]


async def test_a_long_retry_after_is_told_and_not_waited_for(
    model: OpenAICompatibleModel, provider: Provider, pauses: Pauses
) -> None:
    provider.behave(Behaviour(status=429, body={"error": {"message": "busy"}}, headers={"retry-after": "60"}))
    with pytest.raises(ModelUnavailable) as caught:
        await collect(model)
    assert caught.value.data["retry_after_ms"] == 60_000
    assert pauses == []
    assert len(provider.bodies) == 1


async def test_a_stream_that_breaks_off_keeps_its_text_and_is_not_retried(
    model: OpenAICompatibleModel, provider: Provider
) -> None:
    provider.behave(Behaviour(text="abcdefgh", piece=4, break_after=1, delay=0.01))
    seen: list[str] = []
    with pytest.raises(ModelUnavailable) as caught:
        await listen(model, seen)
    assert "".join(seen) == "abcd"
    assert caught.value.data["reason"] == "broken_off"
    assert len(provider.bodies) == 1


async def test_silence_is_unavailable_in_time(provider: Provider, pauses: Pauses) -> None:
    provider.behave(Behaviour(hang=True))
    impatient = OpenAICompatibleModel(
        provider.url, "test-model", "k", window=4096, counter=NaiveCounter(), timeout=3.0, pause=pauses
    )
    with pytest.raises(ModelUnavailable) as caught:
        async with asyncio.timeout(15):
            await collect(impatient)
    await impatient.aclose()
    assert caught.value.data["reason"] == "timeout"
    assert len(provider.bodies) == 1


async def test_nobody_listening_is_unavailable(pauses: Pauses) -> None:
    gone = OpenAICompatibleModel(
        "http://127.0.0.1:9/v1", "m", window=10, counter=NaiveCounter(), timeout=1.0, pause=pauses
    )
    with pytest.raises(ModelUnavailable):
        await collect(gone)
    assert len(pauses) == 2
    await gone.aclose()


def raw(*events: str) -> Behaviour:
    return Behaviour(raw=[event.encode() for event in events], delay=0.005)


async def test_a_missing_done_is_no_failure_after_a_finish_reason(
    model: OpenAICompatibleModel, provider: Provider
) -> None:
    provider.behave(raw('data: {"choices":[{"delta":{"content":"x"},"finish_reason":"length"}]}\n\n'))
    text, finish = await collect(model)
    assert (text, finish.reason, finish.usage.tokens_in) == ("x", "length", 0)


async def test_an_error_in_the_stream_comes_after_its_text(model: OpenAICompatibleModel, provider: Provider) -> None:
    provider.behave(
        raw(
            'data: {"choices":[{"delta":{"content":"half"}}]}\n\ndata: {"error":{"message":"CUDA","code":500}}\n\n',
        )
    )
    seen: list[str] = []
    with pytest.raises(ModelUnavailable):
        await listen(model, seen)
    assert seen == ["half"]


async def test_split_characters_and_line_ends(model: OpenAICompatibleModel, provider: Provider) -> None:
    stream = ': hi\r\n\r\ndata: {"choices":[{"delta":{"content":"年假🙂"}}]}\r\n\r\ndata: [DONE]\r\n\r\n'.encode()
    provider.behave(Behaviour(raw=[stream[place : place + 1] for place in range(len(stream))]))
    assert (await collect(model))[0] == "年假🙂"


async def test_a_reply_that_is_no_stream_is_read(model: OpenAICompatibleModel, provider: Provider) -> None:
    provider.behave(
        Behaviour(
            body={
                "choices": [{"message": {"content": "whole"}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 2, "completion_tokens": 1},
            }
        )
    )
    text, finish = await collect(model)
    assert (text, finish.usage.tokens_in) == ("whole", 2)


async def test_an_error_with_status_200_is_an_error(model: OpenAICompatibleModel, provider: Provider) -> None:
    provider.behave(Behaviour(body={"error": {"message": "prompt is too long", "type": "invalid_request_error"}}))
    with pytest.raises(ContextOverflow):
        await collect(model)


@pytest.mark.parametrize(
    ("complaint", "gone"),
    [
        ({"message": "Unsupported parameter: 'max_tokens'", "param": "max_tokens"}, "max_tokens"),
        ({"message": "Unrecognized request argument supplied: stream_options"}, "stream_options"),
        ({"message": "'temperature' does not support 0.1 with this model", "param": "temperature"}, "temperature"),
    ],
)
async def test_a_parameter_that_is_not_known_is_dropped_for_good(
    model: OpenAICompatibleModel, provider: Provider, complaint: dict[str, Any], gone: str
) -> None:
    provider.behave(Behaviour(status=400, body={"error": complaint}), Behaviour(text="ok"))
    assert (await collect(model))[0] == "ok"
    assert (await collect(model))[0] == "ok"
    assert [gone in body for body in provider.bodies] == [True, False, False]
    assert gone != "max_tokens" or provider.bodies[1]["max_completion_tokens"] == 50


async def test_no_key_in_an_error(model: OpenAICompatibleModel, provider: Provider) -> None:
    provider.behave(Behaviour(status=401, body={"error": {"message": "Incorrect key provided: sk-abcdefgh12345678"}}))
    with pytest.raises(ModelMisconfigured) as caught:
        await collect(model)
    assert "abcdefgh" not in str(caught.value)
