"""The examples of the documentation run, and say what they say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from assistant.core.messages import ModelDelta, ModelFinish
from assistant.core.modes import Mode
from assistant.errors import BadInput
from assistant.synthesis import registry
from tests.synthesis.making import job_of, passages, planned, run, scripted

BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)


def blocks(page: str) -> list[str]:
    return BLOCK.findall(Path("docs", page).read_text("utf-8"))


def test_the_examples_of_the_library_run() -> None:
    page = blocks("library.md")
    assert len(page) == 5
    exec("\n".join(page), {})


@pytest.fixture
def our_modes(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    (code,) = blocks("modes.md")
    module: dict[str, Any] = {}
    exec(code, module)
    monkeypatch.setattr(registry, "_loaded", lambda group: module if group == registry.GROUP else {})
    registry.custom_synthesizers.cache_clear()
    yield module
    registry.custom_synthesizers.cache_clear()


async def test_a_registered_mode_of_a_fixed_structure(our_modes: dict[str, Any]) -> None:
    model = scripted(lambda call: f"Said for: {call.question.rsplit('? ')[-1]}")
    plan = planned(passages(3), "report")
    text, _, finish = await run("report", model, job_of(plan))
    assert re.findall(r"\*\*(\w+)\*\*", text) == ["Conclusion", "Basis", "Risks", "Sources"]
    assert "Said for: Name exceptions, deadlines and open points, one a line." in text
    assert finish.usage.calls == 3
    assert "report" in registry.available_modes()


async def test_a_registered_mode_that_mixes_two(our_modes: dict[str, Any]) -> None:
    model = scripted(lambda call: f"{len(call.evidence)} {' + '.join(call.partials)}".strip())
    text, _, finish = await run("each_then_one", model, job_of(planned(passages(3), "each_then_one")))
    assert finish.usage.calls == 6
    assert text.count("1") == 3


def test_a_mode_that_is_not_registered_is_refused() -> None:
    with pytest.raises(BadInput):
        registry.get_synthesizer("nonsense")


async def test_a_registered_mode_may_not_take_the_name_of_a_built_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    async def own(model: object, job: object) -> Any:
        yield ModelDelta("mine")
        yield ModelFinish()

    monkeypatch.setattr(registry, "_loaded", lambda _: {"refine": own, "auto": own, "ours": own})
    registry.custom_synthesizers.cache_clear()
    assert list(registry.custom_synthesizers()) == ["ours"]
    model = scripted(lambda _: "theirs")
    async with aclosing(
        registry.get_synthesizer(Mode.REFINE)(model, job_of(planned(passages(1), Mode.REFINE)))
    ) as steps:
        assert "".join([step.text async for step in steps if isinstance(step, ModelDelta)]) == "theirs"
    registry.custom_synthesizers.cache_clear()
