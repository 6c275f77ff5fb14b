"""Jobs for synthesizers, made by the planner as a turn makes them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from assistant.core.evidence import Passage
from assistant.core.messages import ModelDelta, ModelFinish
from assistant.core.modes import Mode
from assistant.core.planning import Limits, TurnPlan, TurnRequest, plan_turn
from assistant.core.prompt import Sampling
from assistant.core.selection import SelectionPolicy, select
from assistant.interfaces import ChatModel, TokenCounter
from assistant.llm.scripted import ScriptedModel
from assistant.llm.tokens import counter_for
from assistant.prompts import load_prompts
from assistant.synthesis.job import Job, Step, StepDone
from assistant.synthesis.registry import get_synthesizer
from tests.making import passage

COUNTER = counter_for("gpt-4o")
load_prompts("en")  # as the app does at start-up
QUESTION = "What do the teams say of their tools?"
TOPICS = (
    "hammers saws drills chisels planes clamps files vices levels rulers squares punches pliers wrenches sanders routers "
    "lathes jigs gauges awls mallets rasps scribes trowels"
).split()


def passages(count: int, sentences: int = 6) -> list[Passage]:
    """Passages on different things that agree in everything."""
    return [
        passage(
            "".join(
                f"The {TOPICS[place % 24]} of team {place} are kept on rack {place * 100 + n}. "
                for n in range(sentences)
            ),
            f"page{place:02}",
            score=1 - place / 1000,
            on=date(2025, 1, 1),
        )
        for place in range(count)
    ]


def disagreeing(count: int) -> list[Passage]:
    """Pairs of passages, each pair about one thing with two numbers."""
    return [
        passage(
            f"The {TOPICS[place // 2]} budget of the workshop is {(place % 2 + 1) * 500} dollars a year. It is decided in May.",
            f"page{place:02}",
            score=1 - place / 1000,
            on=date(2020 + place % 2, 1, 1),
        )
        for place in range(count)
    ]


def planned(
    found: Sequence[Passage], mode: Mode | str, window: int = 8192, *, question: str = QUESTION, **more: Any
) -> TurnPlan:
    evidence = select(found, SelectionPolicy(limit=len(found), crowding=1.0))
    request = TurnRequest(question, evidence, requested=mode, **more)
    return plan_turn(request, Limits(window, COUNTER.count, load_prompts("en")))


def job_of(
    plan: TurnPlan, question: str = QUESTION, *, counter: TokenCounter = COUNTER, parallel: int = 8, **more: Any
) -> Job:
    made = Job.of_plan(
        plan, sampling=Sampling(plan.budget.output), counter=counter, gate=asyncio.Semaphore(parallel), **more
    )
    return replace(made, question=question)


def scripted(answer: Any, **more: Any) -> ScriptedModel:
    return ScriptedModel(answer, counter=COUNTER, window=8192, **more)


async def run(mode: Mode | str, model: ChatModel, job: Job) -> tuple[str, list[StepDone], ModelFinish]:
    """The whole answer, the steps before it, the finish; checks that there is exactly one, at the end."""
    steps: list[Step] = [step async for step in get_synthesizer(mode)(model, job)]
    *before, finish = steps
    assert isinstance(finish, ModelFinish)
    assert not any(isinstance(step, ModelFinish) for step in before)
    text = "".join(step.text for step in before if isinstance(step, ModelDelta))
    return text, [step for step in before if isinstance(step, StepDone)], finish


def with_filter(job: Job) -> Job:
    return replace(job, filtered=True)
