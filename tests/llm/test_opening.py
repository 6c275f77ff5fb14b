from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from assistant.config import ModelSettings
from assistant.core.messages import Message, ModelDelta, Role
from assistant.core.prompt import ModelRequest, Sampling
from assistant.errors import BadSetting
from assistant.llm.extractive import ExtractiveModel
from assistant.llm.learning import TokenFactor
from assistant.llm.opening import open_reliable
from assistant.llm.reliable import ReliableModel
from assistant.llm.scripted_http import Behaviour, Provider, running_provider

REQUEST = ModelRequest((Message(Role.USER, "two words"),), Sampling(max_tokens=50), "q", (), (), "en")


async def factor_of(name: str) -> tuple[TokenFactor, Callable[[TokenFactor], None]]:
    return TokenFactor(), lambda _: None


async def test_a_model_of_this_process_needs_nothing_around_it() -> None:
    assert isinstance(await open_reliable(ModelSettings(), "", factor_of), ExtractiveModel)


async def test_a_model_without_a_name_is_refused() -> None:
    with pytest.raises(BadSetting):
        await open_reliable(ModelSettings(kind="openai", base_url="http://127.0.0.1:1"), "", factor_of)


async def test_names_stand_in_at_the_same_endpoint_with_the_same_key(provider: Provider) -> None:
    overloaded = Behaviour(status=429, body={"error": {"message": "busy"}}, headers={"retry-after": "60"})
    provider.behave(overloaded, Behaviour(text="second"))
    chosen = ModelSettings.model_validate(
        {"kind": "openai", "base_url": provider.url, "api_key": "our-key", "window": 4096, "fallbacks": ["b"]}
    )
    assert await said(chosen) == "second"
    assert [body["model"] for body in provider.bodies] == ["a", "b"]
    assert provider.keys == ["Bearer our-key"] * 2


@pytest.fixture
def other() -> Iterator[Provider]:
    with running_provider() as started:
        yield started


async def test_a_key_never_goes_to_another_endpoint(provider: Provider, other: Provider) -> None:
    provider.behave(Behaviour(status=503, body={"error": {"message": "down"}}))
    chosen = ModelSettings.model_validate(
        {
            "kind": "openai", "base_url": provider.url, "api_key": "our-key", "window": 4096, "retries": 0,
            "fallbacks": [{"name": "b", "base_url": other.url, "on": ["unavailable"]}],
        }
    )  # fmt: skip
    assert await said(chosen) == "The answer."
    assert (provider.keys, other.keys) == (["Bearer our-key"], [""])


async def said(chosen: ModelSettings) -> str:
    model = await open_reliable(chosen, "a", factor_of)
    assert isinstance(model, ReliableModel)
    try:
        return "".join([chunk.text async for chunk in model.stream(REQUEST) if isinstance(chunk, ModelDelta)])
    finally:
        await model.aclose()


@pytest.mark.parametrize("fallbacks", [[""], [{"name": "b", "on": []}], [{"name": "b", "on": ["rain"]}], "b", [3]])
def test_rules_that_say_nothing_are_refused(fallbacks: object) -> None:
    with pytest.raises(ValueError, match="fallbacks"):
        ModelSettings.model_validate({"fallbacks": fallbacks})
