from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from assistant.config import Failure
from assistant.core.messages import Message, ModelChunk, ModelDelta, ModelFinish, Role
from assistant.core.prompt import ModelRequest, Sampling
from assistant.errors import (
    AssistantError,
    Busy,
    ContextOverflow,
    ModelMisconfigured,
    ModelUnavailable,
    TurnFailed,
)
from assistant.interfaces import ChatModel, ModelAround
from assistant.llm.breaker import Breaker
from assistant.llm.endpoints import Endpoint, failure_kind
from assistant.llm.openai_stream import OpenAICompatibleModel
from assistant.llm.reliable import Patience, ReliableModel
from assistant.llm.scripted import ScriptedModel
from assistant.llm.scripted_http import Behaviour, Provider
from assistant.llm.tokens import NaiveCounter

REQUEST = ModelRequest((Message(Role.USER, "two words"),), Sampling(max_tokens=50), "q", (), (), "en")
DOWN = ModelUnavailable("down", status=503)
PATIENT = Patience()
HURRIED = Patience(first_s=0.05, between_s=0.05)


class Pauses(list[float]):
    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


def failing(*failures: int, error: AssistantError = DOWN, after: int = 0, window: int = 8192) -> ScriptedModel:
    """A model whose calls of these numbers fail; without numbers all do."""
    calls = frozenset(failures) if failures else None
    return ScriptedModel(["said"], piece=2, fail_with=error, fail_after=after, fail_calls=calls, window=window)


def reliable(
    *models: ChatModel, pauses: Pauses | None = None, patience: Patience = PATIENT, retries: int = 2
) -> ReliableModel:
    return ReliableModel(
        [Endpoint(model, Breaker(most=3)) for model in models],
        patience,
        retries=retries,
        pause=Pauses() if pauses is None else pauses,
    )


async def collect(model: ChatModel, seen: list[str] | None = None) -> tuple[str, ModelFinish]:
    texts: list[str] = [] if seen is None else seen
    finish: ModelChunk | None = None
    async with aclosing(model.stream(REQUEST)) as chunks:
        async for chunk in chunks:
            assert finish is None
            if isinstance(chunk, ModelDelta):
                texts.append(chunk.text)
            else:
                finish = chunk
    assert isinstance(finish, ModelFinish)
    return "".join(texts), finish


async def failure(model: ChatModel, seen: list[str] | None = None) -> TurnFailed:
    with pytest.raises(TurnFailed) as caught:
        await collect(model, seen)
    return caught.value


async def test_an_answer_passes_as_it_is() -> None:
    inner = ScriptedModel(["as it is"], piece=1)
    text, finish = await collect(reliable(inner))
    assert (text, finish.usage.calls, inner.calls[0].ended) == ("as it is", 1, "finished")


async def test_a_call_is_tried_again_with_growing_waits_before_its_first_word() -> None:
    pauses, inner = Pauses(), failing(0, 1)
    text, finish = await collect(reliable(inner, pauses=pauses))
    assert (text, finish.usage.calls) == ("said", 3)
    assert 0.2 <= pauses[0] <= 0.6 <= 0.4 * 1.5
    assert 0.4 <= pauses[1] <= 1.2


async def test_after_the_first_word_nothing_is_begun_anew() -> None:
    inner, other, seen = failing(after=2), ScriptedModel(), list[str]()
    error = await failure(reliable(inner, other), seen)
    assert (seen, len(inner.calls), other.calls, error.data["calls"]) == (["sa"], 1, [], 1)


async def test_another_stands_in_when_the_retries_are_spent() -> None:
    main, other = failing(), ScriptedModel(["from the other"])
    text, finish = await collect(reliable(main, other))
    assert (text, len(main.calls), finish.usage.calls) == ("from the other", 3, 4)


async def test_an_overloaded_one_is_not_asked_again_while_another_may_answer() -> None:
    pauses, main = Pauses(), failing(error=ModelUnavailable("busy", status=429, retry_after_ms=2_000))
    text, _ = await collect(reliable(main, ScriptedModel(["other"]), pauses=pauses))
    assert (text, len(main.calls), pauses) == ("other", 1, [])


async def test_alone_an_overloaded_one_is_asked_again_when_it_said() -> None:
    pauses, main = Pauses(), failing(0, error=ModelUnavailable("busy", status=429, retry_after_ms=2_000))
    assert (await collect(reliable(main, pauses=pauses)))[0] == "said"
    assert pauses == [2.0]


async def test_a_long_retry_after_is_told_at_once_and_kept_for_the_next_call() -> None:
    pauses, main = Pauses(), failing(error=ModelUnavailable("busy", status=429, retry_after_ms=60_000))
    model = reliable(main, pauses=pauses)
    for expected in ("busy", "rests"):
        error = await failure(model)
        assert expected in error.detail
        assert 59_000 <= int(str(error.data["retry_after_ms"])) <= 60_000
    assert (len(main.calls), pauses) == (1, [])


async def test_a_prompt_too_long_goes_to_a_larger_window_only() -> None:
    overflow = ContextOverflow("too long", status=400)
    main, same, larger = failing(error=overflow), ScriptedModel(["same"]), ScriptedModel(["larger"], window=32_000)
    text, _ = await collect(reliable(main, same, larger))
    assert (text, len(main.calls), same.calls) == ("larger", 1, [])
    with pytest.raises(ContextOverflow):
        await collect(reliable(main, same))


@pytest.mark.parametrize(("window", "answers"), [(52, False), (200, True)])
async def test_one_whose_window_does_not_hold_the_prompt_is_not_asked(window: int, answers: bool) -> None:
    small = ScriptedModel(["small"], window=window)
    model = reliable(failing(), small, retries=0)
    if answers:
        assert (await collect(model))[0] == "small"
        return
    with pytest.raises(ModelUnavailable) as caught:
        await collect(model)
    assert (caught.value.data["status"], small.calls) == (503, [])


async def test_a_wrong_key_is_told_and_nobody_stands_in() -> None:
    main, other = failing(error=ModelMisconfigured("401", status=401)), ScriptedModel()
    assert isinstance(await failure(reliable(main, other)), ModelMisconfigured)
    assert (len(main.calls), other.calls) == (1, [])


async def test_rules_say_for_which_failures_one_stands_in() -> None:
    main, other = failing(), ScriptedModel()
    rules: tuple[Failure, ...] = ("overflow",)
    model = ReliableModel([Endpoint(main), Endpoint(other, on=rules)], retries=0)
    assert await failure(model) is DOWN
    assert other.calls == []


async def test_an_endpoint_that_is_down_is_left_alone_and_then_tried_by_one() -> None:
    now = [0.0]
    main = failing(0, 1, 2)
    breaker = Breaker(most=3, rest_s=5, clock=lambda: now[0])
    model = ReliableModel([Endpoint(main, breaker)], retries=0)
    for _ in range(3):
        await failure(model)
    error = await failure(model)
    assert (error.data["reason"], error.data["retry_after_ms"], len(main.calls)) == ("resting", 5_000, 3)
    with pytest.raises(Busy) as busy:
        model.admit()
    assert busy.value.data["retry_after_ms"] == 5_000
    now[0] = 5.0
    model.admit()
    assert (await collect(model))[0] == "said"
    assert breaker.wait_ms() == 0


async def test_while_one_rests_another_answers_without_a_wait() -> None:
    main, other = failing(), ScriptedModel(["other"])
    model = reliable(main, other)
    await collect(model)
    pauses = len(main.calls)
    assert (await collect(model))[0] == "other"
    assert len(main.calls) == pauses
    model.admit()


async def test_more_calls_than_may_be_open_are_refused_at_once() -> None:
    model = ReliableModel([Endpoint(ScriptedModel(["abcd"], piece=1), most_open=1)])
    chunks = model.stream(REQUEST)
    await anext(chunks)
    error = await failure(model)
    assert (error.data["reason"], error.data["retry_after_ms"], error.data["calls"]) == ("overloaded", 1_000, 0)
    await chunks.aclose()
    assert (await collect(model))[0] == "abcd"


async def test_one_for_long_prompts_only_does_not_open_the_door() -> None:
    rules: tuple[Failure, ...] = ("overflow",)
    main, longer = Endpoint(failing(), Breaker(most=1)), Endpoint(ScriptedModel(window=32_000), on=rules)
    model = ReliableModel([main, longer], retries=0)
    await failure(model)
    with pytest.raises(Busy):
        model.admit()


class Waiting(ModelAround):
    """A model that says so many pieces and is then silent until it is closed; `closed` counts that."""

    def __init__(self, pieces: int) -> None:
        super().__init__(ScriptedModel())
        self.pieces = pieces
        self.closed = 0

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        try:
            for _ in range(self.pieces):
                yield ModelDelta("x")
            await asyncio.Event().wait()
            yield ModelFinish()
        finally:
            self.closed += 1


@pytest.mark.parametrize("pieces", [0, 2])
async def test_silence_ends_the_call_in_time_and_closes_it(pieces: int) -> None:
    inner, seen = Waiting(pieces), list[str]()
    error = await failure(reliable(inner, patience=HURRIED), seen)
    assert (error.data["reason"], seen, inner.closed) == ("timeout", ["x"] * pieces, 1)


async def test_one_that_is_silent_from_the_start_is_replaced_and_not_asked_again() -> None:
    inner = Waiting(0)
    text, finish = await collect(reliable(inner, ScriptedModel(["other"]), patience=HURRIED))
    assert (text, finish.usage.calls, inner.closed) == ("other", 2, 1)


async def test_the_whole_call_has_an_end() -> None:
    inner, patience = Waiting(1), Patience(first_s=10, between_s=10, whole_s=0.05)
    async with asyncio.timeout(5):
        error = await failure(reliable(inner, patience=patience))
    assert (error.data["reason"], inner.closed) == ("timeout", 1)


@pytest.mark.parametrize("pieces", [0, 1])
async def test_a_reader_that_goes_closes_the_call_and_counts_for_nothing(pieces: int) -> None:
    inner = Waiting(pieces)
    endpoint = Endpoint(inner, Breaker(most=1))
    model = ReliableModel([endpoint])
    task = asyncio.create_task(collect(model))
    while not endpoint.open:
        await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (inner.closed, endpoint.open, endpoint.wait_ms()) == (1, 0, 0)


async def test_what_failed_calls_used_is_told() -> None:
    counted = ModelUnavailable("cut", reason="broken", tokens_in=40, tokens_out=3)
    error = await failure(reliable(failing(error=counted, after=2)))
    assert (error.data["calls"], error.data["tokens_in"], error.data["tokens_out"]) == (1, 40, 3)
    _, finish = await collect(reliable(failing(0, error=ModelUnavailable("cut", tokens_in=40))))
    assert (finish.usage.calls, finish.usage.tokens_in) == (2, 40 + 2)


async def test_all_models_are_released() -> None:
    class Closing(ScriptedModel):
        async def aclose(self) -> None:
            released.append(self.name)

    released: list[str] = []
    await reliable(Closing(name="one"), Closing(name="two")).aclose()
    assert released == ["one", "two"]


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ModelUnavailable("", status=500), "unavailable"),
        (ModelUnavailable("", status=503), "unavailable"),
        (ModelUnavailable("", status=503, retry_after_ms=0), "overloaded"),
        (ModelUnavailable("", status=429), "overloaded"),
        (ModelUnavailable("", status=529), "overloaded"),
        (ModelUnavailable("", reason="timeout"), "unavailable"),
        (ModelUnavailable("", reason="resting", retry_after_ms=5), "unavailable"),
        (ContextOverflow(), "overflow"),
        (ModelMisconfigured(), None),
    ],
)
def test_failures_have_kinds(error: AssistantError, kind: Failure | None) -> None:
    assert failure_kind(error) == kind


async def test_against_a_real_provider(provider: Provider) -> None:
    down = Behaviour(status=503, body={"error": {"message": "loading"}})
    provider.behave(down, down, Behaviour(text="after all"))
    inner = OpenAICompatibleModel(provider.url, "m", window=99, counter=NaiveCounter(), retries=0)
    model = reliable(inner)
    text, finish = await collect(model)
    await model.aclose()
    assert (text, finish.usage.calls, finish.usage.tokens_in) == ("after all", 3, 11)


async def test_comments_of_a_gateway_are_no_words(provider: Provider) -> None:
    provider.behave(Behaviour(raw=[b": still working\n\n"] * 200, delay=0.01))
    inner = OpenAICompatibleModel(provider.url, "m", window=99, counter=NaiveCounter(), retries=0)
    model = reliable(inner, patience=Patience(first_s=0.2))
    error = await failure(model)
    await model.aclose()
    assert error.data["reason"] == "timeout"
