"""A counter for a tokenizer that is not public grows better with every reported usage."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.messages import Message, ModelFinish, Role, Usage
from assistant.core.prompt import ModelRequest, Sampling
from assistant.errors import ContextOverflow
from assistant.interfaces import ChatModel
from assistant.llm.learning import CAUTIOUS, LearningModel, TokenFactor
from assistant.llm.models import choose_model
from assistant.llm.scripted import ScriptedModel
from assistant.llm.tokens import FACTOR_BOUNDS, CorrectedCounter, NaiveCounter

REQUEST = ModelRequest((Message(Role.USER, "word " * 400),), Sampling(50), "q", (), (), "en")


class Reporting(ScriptedModel):
    """Reports more tokens than the counter knows of."""

    reported = 0

    def _usage(self, call: object) -> Usage:
        return Usage(calls=1, tokens_in=self.reported)


def learning(reported: int, factor: TokenFactor, heard: list[tuple[float, int]], **more: object) -> LearningModel:
    counter = NaiveCounter()
    inner = Reporting(["yes"], counter=CorrectedCounter(counter, lambda: factor.value), **more)  # type: ignore[arg-type]
    inner.reported = reported
    return LearningModel(inner, counter, factor, lambda learnt: heard.append((learnt.value, learnt.samples)))


async def ask(model: ChatModel) -> ModelFinish:
    chunks = [chunk async for chunk in model.stream(REQUEST)]
    assert isinstance(chunks[-1], ModelFinish)
    return chunks[-1]


async def test_the_first_report_is_believed_and_later_ones_move_the_factor() -> None:
    factor, heard = TokenFactor(), list[tuple[float, int]]()
    model = learning(606, factor, heard)
    assert model.counter.count("word " * 100) == 120
    assert (await ask(model)).usage.tokens_in == 606
    ((value, samples),) = heard
    assert value == pytest.approx(1.5)
    assert samples == 1
    assert model.counter.count("word " * 100) == 150
    assert "x1.50" in model.counter.name
    for _ in range(30):
        await ask(learning(808, factor, heard))
    assert factor.value == pytest.approx(2.0, abs=0.02)


async def test_a_report_that_cannot_be_is_bounded_and_none_changes_nothing() -> None:
    factor, heard = TokenFactor(), list[tuple[float, int]]()
    await ask(learning(0, factor, heard))
    assert (factor.value, heard) == (CAUTIOUS, [])
    await ask(learning(10**9, factor, heard))
    assert factor.value == FACTOR_BOUNDS[1]


async def test_a_prompt_that_was_too_long_makes_it_more_careful() -> None:
    factor, heard = TokenFactor(), list[tuple[float, int]]()
    with pytest.raises(ContextOverflow):
        await ask(learning(0, factor, heard, fail_with=ContextOverflow()))
    assert factor.value > CAUTIOUS
    assert len(heard) == 1


@given(st.lists(st.integers(-5, 10**7), max_size=20))
def test_whatever_is_reported_the_factor_stays_in_bounds(reports: list[int]) -> None:
    import asyncio

    async def run() -> None:
        factor = TokenFactor()
        for reported in reports:
            await ask(learning(reported, factor, []))
            assert FACTOR_BOUNDS[0] <= factor.value <= FACTOR_BOUNDS[1]

    asyncio.run(run())


def test_only_models_without_a_public_tokenizer_learn() -> None:
    for name, learns in (("gpt-4o", False), ("some/local-model", True)):
        model = choose_model("openai", name, base_url="http://127.0.0.1:1/v1")
        assert isinstance(model, LearningModel) is learns
