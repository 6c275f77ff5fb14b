"""The parts put together: what is learnt and set survives, and settings that cannot be used are refused."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assistant.app import assemble, chosen_floor, embed_all, has_all_vectors, make_embedder
from assistant.config import (
    AnswerSettings,
    BudgetSettings,
    DatabaseSettings,
    ModelSettings,
    RetrievalSettings,
    Settings,
)
from assistant.conversation.turns import Question
from assistant.errors import BadSetting
from assistant.llm.scripted_http import Behaviour, Provider, running_provider
from assistant.retrieval.floors import load_floors
from assistant.store import Store
from assistant.store.migrations import migrate
from tests.store.filling import ANN, draft, put

CALLER = ANN


@pytest.fixture
def provider() -> Iterator[Provider]:
    with running_provider() as running:
        yield running


def settings(folder: Path, model: ModelSettings, **answers: Any) -> Settings:
    return Settings(
        database=DatabaseSettings(url=f"sqlite+aiosqlite:///{folder / 'a.db'}"),
        model=model,
        retrieval=RetrievalSettings(embedder="none"),
        budget=BudgetSettings(),
        answers=AnswerSettings(**answers),
    )


async def filled(chosen: Settings) -> None:
    await migrate(chosen.database.url)
    async with Store(chosen.database.url) as store:
        await put(store, draft("Employees get 20 days of annual leave. " * 30, "leave.md"))


async def ask(chosen: Settings, question: str = "How many days of annual leave do employees get?") -> Any:
    async with assemble(chosen) as parts:
        opened = await parts.store.conversations.open(CALLER, None)
        begun = await parts.live.start(CALLER, opened.id, Question(client_id="c1", text=question))
        await parts.live.wait(begun.turn)
        (_, said) = await parts.store.conversations.messages(CALLER, opened.id)
        return parts, said.answer


async def test_what_is_learnt_of_a_tokenizer_serves_the_next_start(tmp_path: Path, provider: Provider) -> None:
    provider.behave(Behaviour(text="Employees get 20 days."))
    chosen = settings(tmp_path, ModelSettings(kind="openai", name="local/unknown-7b", base_url=provider.url))
    await filled(chosen)
    parts, answer = await ask(chosen)
    assert answer.status == "completed"
    learnt = parts.model.counter.name
    async with Store(chosen.database.url) as store:
        stored = await store.factors.get("local/unknown-7b")
    assert stored is not None
    assert stored[1] == 1
    async with assemble(chosen) as again:
        assert again.model.counter.name == learnt
        assert f"x{stored[0]:.2f}" in learnt


async def test_simple_turns_go_to_the_cheaper_model(tmp_path: Path, provider: Provider) -> None:
    provider.behave(Behaviour(text="Employees get 20 days."))
    model = ModelSettings(kind="openai", name="gpt-4o", simple="gpt-4o-mini", base_url=provider.url)
    chosen = settings(tmp_path, model)
    await filled(chosen)
    _, answer = await ask(chosen)
    assert (answer.model, answer.plan.reason_code) == ("gpt-4o-mini", "simple_fits")
    _, answer = await ask(chosen, "Compare annual leave and sick leave.")
    assert answer.model == "gpt-4o"
    assert [body["model"] for body in provider.bodies] == ["gpt-4o-mini", "gpt-4o"]


async def test_a_collection_may_have_its_own_mode_and_prompts(tmp_path: Path, provider: Provider) -> None:
    folder = tmp_path / "prompts" / "collections" / "handbook" / "en"
    folder.mkdir(parents=True)
    (folder / "system.txt").write_text("Answer as the handbook's own clerk.", "utf-8")
    provider.behave(Behaviour(text="Employees get 20 days of annual leave."))
    model = ModelSettings(kind="openai", name="gpt-4o", base_url=provider.url)
    chosen = settings(tmp_path, model, modes={"handbook": "verified"}, form="conclusion")
    chosen = chosen.model_copy(update={"prompts": tmp_path / "prompts"})
    await filled(chosen)
    _, answer = await ask(chosen)
    assert (answer.plan.mode, answer.plan.reason_code) == ("verified", "collection")
    system = provider.bodies[0]["messages"][0]["content"]
    assert system.startswith("Answer as the handbook's own clerk.")
    assert "**Conclusion:**" in system


@pytest.mark.parametrize(
    "answers",
    [
        {"mode": "nonsense"},
        {"modes": {"handbook": "nonsense"}},
        {"form": "nonsense"},
        {"form": "../x"},
        {"prepare": ["x"]},
    ],
)
async def test_settings_that_cannot_be_used_are_refused_at_the_start(tmp_path: Path, answers: dict[str, Any]) -> None:
    chosen = settings(tmp_path, ModelSettings(), **answers)
    await migrate(chosen.database.url)
    with pytest.raises(BadSetting):
        async with assemble(chosen):
            pass


async def test_while_vectors_are_missing_the_floor_is_not_above_that_of_the_words(tmp_path: Path) -> None:
    chosen = settings(tmp_path, ModelSettings()).model_copy(update={"retrieval": RetrievalSettings(embedder="use")})
    embedder = await asyncio.to_thread(make_embedder, chosen)
    assert embedder is not None
    floors = await asyncio.to_thread(load_floors)
    assert floors["words"] < floors[embedder.name]
    await migrate(chosen.database.url)
    async with Store(chosen.database.url) as store:
        assert not await has_all_vectors(store, embedder)
        await put(store, draft("Employees get 20 days of annual leave.", "leave.md"))
        assert not await has_all_vectors(store, embedder)
        await embed_all(store.documents, embedder)
        assert await has_all_vectors(store, embedder)
        assert await has_all_vectors(store, None)
    assert await asyncio.to_thread(chosen_floor, chosen, embedder, complete=False) == floors["words"]
    assert await asyncio.to_thread(chosen_floor, chosen, embedder, complete=True) == floors[embedder.name]
