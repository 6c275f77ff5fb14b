"""Answering: from found passages to a cited answer. The part of a turn that needs no store; the library is made of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, Final

from assistant.conversation.aligning import SecondLook
from assistant.conversation.cancelling import until
from assistant.conversation.pictures import images_of
from assistant.conversation.recording import RecordingModel
from assistant.conversation.turns import Stopwatch, Trace
from assistant.core.access import Caller
from assistant.core.budget import BudgetPolicy
from assistant.core.citations import Alignment, CitationStatus, align
from assistant.core.events import AnswerDelta, AnswerStarted, TurnEvent, TurnProgress
from assistant.core.marks import MarkScanner
from assistant.core.messages import Image, ModelDelta, ModelFinish
from assistant.core.modes import Mode, Tier
from assistant.core.planning import Limits, TurnPlan, TurnRequest, plan_turn
from assistant.core.preparation import Preparation, prepare
from assistant.core.prompt import Sampling
from assistant.core.selection import SelectionPolicy
from assistant.core.structured import align_fields
from assistant.core.text import without_unstorable
from assistant.errors import ModelUnavailable
from assistant.interfaces import ChatModel, ImageSource
from assistant.prompts import Prompts
from assistant.synthesis.job import PARALLEL, Job, SentenceRule, Step, StepDone
from assistant.synthesis.registry import get_synthesizer
from assistant.telemetry import stepping

MOST_CHARACTERS: Final = 16
"""Characters of answer per token it may have; a model that goes on is stopped."""


@dataclass(frozen=True, slots=True)
class TurnPolicy:
    """How turns are answered: selection, budget, days within which dates count as close, how much to search, sampling,
    preferred modes by collection, the ceilings of calls, dollars and seconds, whether prompts filter their evidence, the steps that
    prepare the evidence, whether a model has a say in the check of drafts."""

    selection: SelectionPolicy = SelectionPolicy()
    budget: BudgetPolicy = BudgetPolicy()
    window_days: int = 30
    search_limit: int = 24
    temperature: float = 0.1
    top_p: float = 0.9
    frequency_penalty: float = 0.3
    presence_penalty: float = 0.1
    mode: Mode | str | None = None
    modes: Mapping[str, Mode | str] = field(default_factory=dict)
    filtered: bool = False
    most_calls: int = 32
    most_cost: float | None = None
    deadline_s: float | None = None
    preparations: tuple[Preparation, ...] = ()
    judged: bool = False

    def sampling(self, max_tokens: int) -> Sampling:
        """The parameters of a call that may write `max_tokens`."""
        return Sampling(max_tokens, self.temperature, self.top_p, self.frequency_penalty, self.presence_penalty)

    def preferred(self, collection: str | None) -> Mode | str | None:
        """The mode that the operator set for a collection, or for all."""
        return self.modes.get(collection, self.mode) if collection else self.mode

    def afforded(self, route: Route) -> int:
        """How many calls of a full window may be made for one answer; at least one."""
        if not self.most_cost or not route.dollars_per_token:
            return self.most_calls
        return max(1, min(self.most_calls, int(self.most_cost / (route.dollars_per_token * route.model.window))))


@dataclass(frozen=True, slots=True)
class Route:
    """A model that turns may be sent to: its price in US dollars per token of input, and whether it can see images."""

    model: ChatModel
    dollars_per_token: float | None = None
    sees: bool = False


@dataclass(frozen=True, slots=True)
class Answering:
    """Plans, writes and cites answers from given passages. `simple` is a cheaper model for turns that need no better."""

    main: Route
    prompts: Prompts
    policy: TurnPolicy = TurnPolicy()
    simple: Route | None = None
    rules: tuple[SentenceRule, ...] = ()
    gate: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(PARALLEL))

    def plan(self, request: TurnRequest, language: str) -> tuple[TurnPlan, Route]:
        """Plan an answer from the evidence of the request, and choose the model. Pure work: call it in a thread."""
        if steps := self.policy.preparations:
            ready = prepare(request.question, request.evidence, steps)
            request = replace(request, evidence=ready, prepared=True)
        made = self._planned(request, language, self.main)
        if self.simple is not None and made.choice.tier is Tier.SIMPLE:
            cheap = self._planned(request, language, self.simple)
            if cheap.choice.tier is Tier.SIMPLE:
                return cheap, self.simple
        return made, self.main

    def _planned(self, request: TurnRequest, language: str, route: Route) -> TurnPlan:
        collections = {item.source.collection for item in request.evidence}
        collection = collections.pop() if len(collections) == 1 else None
        limits = Limits(
            window=route.model.window,
            count=route.model.counter.count,
            prompts=self.prompts(language, collection),
            policy=self.policy.budget,
            window_days=self.policy.window_days,
        )
        request = replace(
            request,
            preferred=self.policy.preferred(collection),
            filtered=self.policy.filtered,
            images=route.sees,
            afforded=self.policy.afforded(route),
        )
        return plan_turn(request, limits)

    @stepping("write")
    async def write(
        self,
        plan: TurnPlan,
        route: Route,
        *,
        trace: Trace,
        watch: Stopwatch,
        cancelled: asyncio.Event,
        schema: Mapping[str, Any] | None = None,
        images: tuple[Image, ...] = (),
    ) -> AsyncGenerator[TurnEvent, None]:
        """Stream the answer, marks of the model taken out. Calls, usage, hints and times go into `trace`.

        Raises what the model raises, ModelUnavailable when the deadline is over.
        """
        model = RecordingModel(route.model, trace.calls, watch)
        job = Job.of_plan(
            plan,
            sampling=self.policy.sampling(plan.budget.output),
            counter=model.counter,
            filtered=self.policy.filtered,
            schema=schema,
            gate=self.gate,
            rules=self.rules,
            images=images,
            judged=self.policy.judged,
        )
        scanner, length = MarkScanner(), 0
        clean = scanner.feed if schema is None else str  # [1] in JSON is a list, not a mark
        yield AnswerStarted(model.name, plan.prompts.hash, _parameters(job.sampling))
        async with aclosing(self._steps(plan, job, model, cancelled)) as steps:
            async for step in steps:
                match step:
                    case StepDone():
                        yield TurnProgress("read", step.done, step.total, step.text or None, step.failed)
                    case ModelFinish():
                        trace.finish = step.reason
                    case ModelDelta() if text := clean(without_unstorable(step.text)):
                        trace.ms_first_token = watch.ms() if trace.ms_first_token is None else trace.ms_first_token
                        yield AnswerDelta(length, text)
                        length += len(text)
                if length > MOST_CHARACTERS * job.sampling.max_tokens * max(1, len(plan.evidence)):
                    trace.finish = "length"
                    break
        if rest := scanner.close():
            yield AnswerDelta(length, rest)
        trace.hints = tuple(scanner.hints)

    async def _steps(
        self, plan: TurnPlan, job: Job, model: ChatModel, cancelled: asyncio.Event
    ) -> AsyncGenerator[Step, None]:
        source = get_synthesizer(plan.choice.mode)(model, job)
        try:
            async with aclosing(until(cancelled, source, seconds=self.policy.deadline_s)) as steps:
                async for step in steps:
                    yield step
        except TimeoutError:
            raise ModelUnavailable("the answer took too long", reason="deadline") from None


def _parameters(sampling: Sampling) -> tuple[tuple[str, float], ...]:
    """The parameters of a model call by name, as they are stored with the answer."""
    return tuple(sorted((name, float(value)) for name, value in asdict(sampling).items()))


async def pictures(source: ImageSource, caller: Caller, plan: TurnPlan) -> tuple[Image, ...]:
    """The images of the evidence, best pieces first, as many as a model takes; none where the mode shows none."""
    return await images_of(source, caller, plan.evidence) if plan.choice.mode is Mode.MULTI_MODAL else ()


async def aligned(
    text: str,
    finish: str,
    trace: Trace,
    numbers: Mapping[str, int],
    *,
    second: SecondLook | None = None,
    watch: Stopwatch | None = None,
) -> Alignment:
    """The finished text aligned to exactly the evidence that the model saw; nothing when it refuses or is not grounded.

    A `second` look may find what words alone do not: a source in another language, or what a judge quotes.
    """
    if not text or not trace.grounded or finish == "no_answer":
        return Alignment(CitationStatus.NONE, (), (), None)
    if trace.structured:
        work = partial(align_fields, text, trace.evidence, numbers=numbers)
    else:
        work = partial(align, text, trace.evidence, hints=trace.hints, numbers=numbers)
    found = await asyncio.to_thread(work)
    return found if second is None or watch is None else await second.review(text, found, trace, numbers, watch)
