import pytest

from assistant.core.messages import Message, ModelDelta, ModelFinish, Role
from assistant.core.prompt import ModelRequest, Sampling
from assistant.errors import BadSetting, ModelUnavailable
from assistant.llm.extractive import ExtractiveModel
from assistant.llm.failures import failure, message_of, retry_after_ms
from assistant.llm.litellm_model import LiteLLMModel
from assistant.llm.models import choose_model
from assistant.llm.openai_stream import OpenAICompatibleModel
from assistant.llm.scripted import ScriptedModel

REQUEST = ModelRequest((Message(Role.USER, "two words"),), Sampling(max_tokens=50), "q", (), (), "en")


async def collect(model: ScriptedModel) -> tuple[str, ModelFinish]:
    chunks = [chunk async for chunk in model.stream(REQUEST)]
    *deltas, finish = chunks
    assert isinstance(finish, ModelFinish)
    return "".join(delta.text for delta in deltas if isinstance(delta, ModelDelta)), finish


@pytest.mark.parametrize(
    ("kind", "name", "made"),
    [
        ("extractive", "", ExtractiveModel),
        ("openai", "gpt-4o", OpenAICompatibleModel),
        ("litellm", "openai/gpt-4o", LiteLLMModel),
        ("scripted", "", ScriptedModel),
    ],
)
def test_each_kind(kind: str, name: str, made: type[object]) -> None:
    model = choose_model(kind, name, base_url="http://127.0.0.1:1/v1", window=5000)
    assert isinstance(model, made)
    assert model.window == 5000
    assert model.counter.count("hello") >= 1
    assert model.name == (name or kind)


@pytest.mark.parametrize(
    "settings",
    [
        {"kind": "magic"},
        {"kind": "openai", "name": "", "base_url": "http://x"},
        {"kind": "openai", "name": "m", "base_url": "x"},
        {"kind": "litellm"},
        {"window": 0},
        {"timeout": 0.0},
    ],
)
def test_contradicting_settings_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(BadSetting):
        choose_model(**settings)  # type: ignore[arg-type]


async def test_a_script_is_followed_and_recorded() -> None:
    model = ScriptedModel(["first", "second"], piece=2)
    assert [(await collect(model))[0] for _ in range(3)] == ["first", "second", "second"]
    text, finish = await collect(ScriptedModel(lambda request: request.question.upper()))
    assert (text, finish.usage.tokens_in, finish.usage.tokens_out) == ("Q", 2, 1)
    assert [call.ended for call in model.calls] == ["finished"] * 3
    assert model.calls[0].request is REQUEST


async def test_a_scripted_failure_comes_where_it_is_wanted() -> None:
    model = ScriptedModel(["abcdef"], piece=2, fail_with=ModelUnavailable("x"), fail_after=3, fail_calls=frozenset({0}))
    with pytest.raises(ModelUnavailable):
        await collect(model)
    assert (model.calls[0].text, model.calls[0].ended) == ("abc", "failed")
    assert (await collect(model))[0] == "abcdef"


async def test_a_reader_that_leaves_is_noticed() -> None:
    model = ScriptedModel(["abcdef"], piece=2)
    stream = model.stream(REQUEST)
    assert await anext(stream) == ModelDelta("ab")
    await stream.aclose()
    assert (model.calls[0].text, model.calls[0].ended) == ("ab", "cancelled")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2", 2000),
        ("0.5", 500),
        (None, None),
        ("", None),
        ("Wed, 21 Oct 2026 07:28:00 GMT", None),
        ("-1", None),
        ("inf", None),
        ("nan", None),
        ("1e9", 3_600_000),
    ],
)
def test_retry_after(value: str | None, expected: int | None) -> None:
    assert retry_after_ms(value) == expected


@pytest.mark.parametrize(
    "body", [b"", b"\xff\xfe", b"[]", b'{"error": null}', b'{"error": ["x"]}', b'{"detail": {"a": 1}}']
)
def test_any_error_body_is_survived(body: bytes) -> None:
    assert failure(500, body).code == "model_unavailable"
    assert failure(404, body).code == "model_misconfigured"
    assert len(message_of(body)) <= 2000
