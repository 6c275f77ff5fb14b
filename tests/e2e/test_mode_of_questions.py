"""Written questions over the demo corpus get the mode that a person would choose."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from assistant.conversation.answering import Answering, Route, TurnPolicy
from assistant.core.access import EVERYONE, Caller
from assistant.core.modes import Mode
from assistant.core.planning import TurnPlan, TurnRequest
from assistant.core.selection import select
from assistant.core.text import prompt_language
from assistant.knowledge.sync import ingest
from assistant.llm.scripted import ScriptedModel
from assistant.llm.tokens import counter_for
from assistant.prompts import load_prompts
from assistant.retrieval.hybrid import HybridRetriever
from assistant.store import Store
from assistant.store.migrations import migrate

DEMO = Path(__file__).parents[2] / "assistant" / "demo"
CALLER = Caller("demo", "ann", frozenset({EVERYONE}))
LARGE, SMALL = 32_768, 4_096
QUESTIONS = [
    ("How many hours must be billable each week?", LARGE, Mode.SIMPLE_SUMMARIZE),
    ("Who approves travel?", LARGE, Mode.SIMPLE_SUMMARIZE),
    ("Can I work from another country?", LARGE, Mode.SIMPLE_SUMMARIZE),
    ("What is a Class A security incident?", SMALL, Mode.SIMPLE_SUMMARIZE),
    ("When must timesheets be submitted?", SMALL, Mode.SIMPLE_SUMMARIZE),
    ("How do I report a security incident?", LARGE, Mode.SIMPLE_SUMMARIZE),
    ("How do I record time off in Tock, step by step?", SMALL, Mode.COMPACT),
    ("Compare annual leave and sick leave.", LARGE, Mode.SIMPLE_SUMMARIZE),
    ("What changed between the 2021 and the 2025 rules on billable hours?", SMALL, Mode.COMPACT),
    ("Summarize the travel policy.", LARGE, Mode.SIMPLE_SUMMARIZE),
    ("Summarize everything about leave.", SMALL, Mode.TREE_SUMMARIZE),
    ("What does each page say about travel?", LARGE, Mode.ACCUMULATE),
    ("List for every document what it says about meetings.", SMALL, Mode.ACCUMULATE),
    ("Hello!", LARGE, Mode.GENERATION),
    ("Thanks a lot", LARGE, Mode.GENERATION),
    ("如何开始一个开源项目？", LARGE, Mode.SIMPLE_SUMMARIZE),
    ("开源许可证是什么？", SMALL, Mode.SIMPLE_SUMMARIZE),
    ("总结一下维护者的最佳实践。", SMALL, Mode.TREE_SUMMARIZE),
    ("领导团队和维护者有什么区别？", SMALL, Mode.COMPACT),
    ("每篇文档对行为准则怎么说？", LARGE, Mode.ACCUMULATE),
    ("怎样一步一步地发布开源项目？", SMALL, Mode.COMPACT),
    ("你好", LARGE, Mode.GENERATION),
]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    place = f"sqlite+aiosqlite:///{tmp_path_factory.mktemp('demo') / 'demo.db'}"

    async def fill() -> None:
        await migrate(place)
        async with Store(place) as store:
            for folder in sorted(path for path in DEMO.iterdir() if path.is_dir() and path.name != "licences"):
                await ingest(folder, store=store.documents, tenant="demo", collection=folder.name)

    asyncio.run(fill())
    return place


async def plan(url: str, question: str, window: int) -> TurnPlan:
    counter = await asyncio.to_thread(counter_for, "gpt-4o")
    model = ScriptedModel(counter=counter, window=window)
    answering = Answering(main=Route(model), prompts=load_prompts, policy=TurnPolicy())
    async with Store(url) as store:
        passages = await HybridRetriever(store.index).search([question], CALLER)
    request = TurnRequest(question, await asyncio.to_thread(select, passages, answering.policy.selection))
    made, _ = await asyncio.to_thread(answering.plan, request, prompt_language(question))
    return made


@pytest.mark.parametrize(("question", "window", "mode"), QUESTIONS)
async def test_a_question_gets_the_mode_that_a_person_would_choose(
    url: str, question: str, window: int, mode: Mode
) -> None:
    made = await plan(url, question, window)
    assert made.choice.mode is mode, (made.kind, made.choice.code)
    assert made.evidence or mode is Mode.GENERATION
