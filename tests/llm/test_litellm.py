import asyncio
from contextlib import aclosing

import numpy as np
import pytest

from assistant.core.messages import Message, ModelDelta, ModelFinish, Role
from assistant.core.prompt import ModelRequest, Sampling
from assistant.errors import AssistantError, ContextOverflow, ModelMisconfigured, ModelUnavailable
from assistant.llm.litellm_embedder import LiteLLMEmbedder
from assistant.llm.litellm_model import LiteLLMModel
from assistant.llm.scripted_http import Behaviour, Provider
from assistant.llm.tokens import NaiveCounter

REQUEST = ModelRequest((Message(Role.USER, "q"),), Sampling(max_tokens=50), "q", (), (), "en")


@pytest.fixture
def model(provider: Provider) -> LiteLLMModel:
    return LiteLLMModel(
        "openai/test-model",
        api_key="k",
        api_base=provider.url,
        window=100,
        counter=NaiveCounter(),
        timeout=20.0,
        retries=0,
    )


async def collect(model: LiteLLMModel) -> tuple[str, ModelFinish]:
    chunks = [chunk async for chunk in model.stream(REQUEST)]
    *deltas, finish = chunks
    assert isinstance(finish, ModelFinish)
    return "".join(delta.text for delta in deltas if isinstance(delta, ModelDelta)), finish


async def listen(model: LiteLLMModel, seen: list[str]) -> None:
    async for chunk in model.stream(REQUEST):
        if isinstance(chunk, ModelDelta):
            seen.append(chunk.text)


async def test_streams_text_finish_and_usage(model: LiteLLMModel, provider: Provider) -> None:
    provider.behave(Behaviour(text="Thirty-two hours. 三十二小时。", piece=3))
    text, finish = await collect(model)
    assert text == "Thirty-two hours. 三十二小时。"
    assert (finish.reason, finish.usage.tokens_in, finish.usage.tokens_out) == ("stop", 11, 7)
    assert provider.bodies[0]["stream_options"] == {"include_usage": True}
    assert provider.bodies[0]["max_tokens"] == 50


async def test_closing_the_iterator_stops_the_provider(model: LiteLLMModel, provider: Provider) -> None:
    provider.behave(Behaviour(endless=True, delay=0.005))
    async with aclosing(model.stream(REQUEST)) as chunks:
        async for chunk in chunks:
            assert isinstance(chunk, ModelDelta)
            break
    assert await asyncio.to_thread(provider.cancelled.wait, 5)


async def test_cancelling_the_task_stops_the_provider(model: LiteLLMModel, provider: Provider) -> None:
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
        (404, "model not found", ModelMisconfigured),
        (400, "This model's maximum context length is 4096 tokens", ContextOverflow),
        (429, "slow down", ModelUnavailable),
        (500, "boom", ModelUnavailable),
    ],
)
async def test_refusals_are_mapped(
    model: LiteLLMModel, provider: Provider, status: int, message: str, error: type[AssistantError]
) -> None:
    provider.behave(Behaviour(status=status, body={"error": {"message": message}}))
    with pytest.raises(error):
        await collect(model)


async def test_a_stream_that_breaks_off_is_unavailable(model: LiteLLMModel, provider: Provider) -> None:
    provider.behave(Behaviour(text="abcdefgh", piece=4, break_after=1, delay=0.01))
    seen: list[str] = []
    with pytest.raises(ModelUnavailable):
        await listen(model, seen)
    assert "".join(seen) == "abcd"


async def test_silence_is_unavailable(provider: Provider) -> None:
    provider.behave(Behaviour(hang=True))
    impatient = LiteLLMModel(
        "openai/test-model",
        api_key="k",
        api_base=provider.url,
        window=1,
        counter=NaiveCounter(),
        timeout=2.0,
        retries=0,
    )
    with pytest.raises(ModelUnavailable):
        await collect(impatient)


async def test_embeds_unit_vectors_in_order_and_in_batches(provider: Provider) -> None:
    embedder = LiteLLMEmbedder("openai/e", 3, api_key="k", api_base=provider.url, batch=2)
    vectors = await embedder.embed_passages(["a", "bb", "ccc", ""])
    assert vectors.shape == (4, 3)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0)
    assert np.argsort(vectors[:3, 0]).tolist() == [0, 1, 2]
    assert [len(body["input"]) for body in provider.bodies] == [2, 2]
    assert (await embedder.embed_query("a")).shape == (3,)
    assert (await embedder.embed_passages([])).shape == (0, 3)


async def test_another_length_of_vector_is_a_misconfiguration(provider: Provider) -> None:
    embedder = LiteLLMEmbedder("openai/e", 5, api_key="k", api_base=provider.url)
    with pytest.raises(ModelMisconfigured):
        await embedder.embed_query("a")
