"""The conversation manager: the whole sequence of a turn on one page."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import structlog

from assistant.conversation.cancelling import until
from assistant.conversation.rewriting import make_standalone
from assistant.conversation.turns import StartedTurn, Stopwatch, Trace
from assistant.core.budget import BudgetPolicy
from assistant.core.citations import Alignment, CitationStatus, Verdict, align
from assistant.core.events import (
    AnswerDelta,
    AnswerFinished,
    AnswerStarted,
    CitationsAdded,
    ConflictsFound,
    TurnEvent,
    TurnFinished,
    TurnPlanned,
    TurnProgress,
    UsageReported,
)
from assistant.core.evidence import Passage
from assistant.core.followups import Standalone
from assistant.core.marks import MarkScanner
from assistant.core.messages import ModelDelta, ModelFinish
from assistant.core.modes import QuestionKind, question_kind
from assistant.core.outcome import is_refusal, shown_conflicts, shown_evidence
from assistant.core.planning import TurnPlan, TurnRequest, plan_turn
from assistant.core.prompt import PromptSet, Sampling
from assistant.core.selection import SelectionPolicy, select
from assistant.core.text import language, without_unstorable
from assistant.core.turn import TurnMessage, apply
from assistant.errors import AssistantError
from assistant.interfaces import ChatModel, ConversationStore, Retriever
from assistant.synthesis.job import Job, StepDone
from assistant.synthesis.registry import get_synthesizer

log = structlog.get_logger(__name__)

MOST_CHARACTERS: Final = 16
"""Characters of answer per token it may have; a model that goes on is stopped."""


@dataclass(frozen=True, slots=True)
class TurnPolicy:
    """How turns are answered: selection, budget, window of dates that count as close, how much to search, sampling."""

    selection: SelectionPolicy = SelectionPolicy()
    budget: BudgetPolicy = BudgetPolicy()
    window_days: int = 30
    search_limit: int = 24
    temperature: float = 0.1
    top_p: float = 0.9
    frequency_penalty: float = 0.3
    presence_penalty: float = 0.1

    def sampling(self, max_tokens: int) -> Sampling:
        """The parameters of a call that may write `max_tokens`."""
        return Sampling(max_tokens, self.temperature, self.top_p, self.frequency_penalty, self.presence_penalty)


class ConversationManager:
    """Runs turns: question in, numbered events out; holds no state between turns."""

    def __init__(
        self,
        *,
        store: ConversationStore,
        retriever: Retriever,
        model: ChatModel,
        prompts: Callable[[str], PromptSet],
        clock: Callable[[], float],
        policy: TurnPolicy | None = None,
        rewriter: ChatModel | None = None,
    ) -> None:
        self._store = store
        self._retriever = retriever
        self._model = model
        self._prompts = prompts
        self._clock = clock
        self._policy = policy or TurnPolicy()
        self._rewriter = rewriter

    async def run_turn(self, start: StartedTurn, cancelled: asyncio.Event) -> AsyncGenerator[TurnEvent, None]:
        """Answer a stored question: plan, answer, citations, end; exactly one TurnFinished whatever happens.

        Setting `cancelled` stops the model; what was written is kept and cited. A failure of the model or of the search
        ends the turn as failed with a stable code and keeps the text so far.
        """
        watch, trace, message = Stopwatch(self._clock), Trace(), TurnMessage(question=start.text)
        async with aclosing(self._answer(start, cancelled, watch, trace)) as events:
            try:
                async for event in events:
                    message = apply(message, event)
                    yield event
            except AssistantError as failure:
                log.warning("turn failed", turn=start.turn, code=failure.code, **failure.data)
                trace.error = failure.code
            except Exception:
                log.exception("turn failed", turn=start.turn)
                trace.error = "internal"
        trace.ms_answer = watch.ms()
        if cancelled.is_set():
            trace.error = None  # what a model says while it is being stopped is no failure
            trace.finish = trace.finish or "cancelled"
        async for event in self.conclude(start, message, trace, watch):
            yield event

    async def _answer(
        self, start: StartedTurn, cancelled: asyncio.Event, watch: Stopwatch, trace: Trace
    ) -> AsyncGenerator[TurnEvent, None]:
        """From the question to the last word of the answer."""
        standalone = await self._standalone(start)
        yield TurnProgress("search")
        plan = await self._plan(start, standalone)
        trace.evidence, trace.conflicts, trace.grounded = plan.evidence, plan.conflicts, plan.choice.mode.grounded
        planned = _planned(plan, standalone, start)
        await self._store.save_plan(start.turn, planned, plan.evidence, plan.conflicts)
        yield planned
        async with aclosing(self._write(plan, standalone, start, cancelled, watch, trace)) as events:
            async for event in events:
                yield event

    async def _standalone(self, start: StartedTurn) -> Standalone:
        """The question made standalone; small talk stays as it is and is not searched."""
        if start.mode is None and question_kind(start.text) is QuestionKind.SMALL_TALK:
            return Standalone(start.text, (), changed=False, topic_change=True, rule="small_talk")
        pairs = [(turn.standalone or turn.question, turn.answer) for turn in start.history]
        return await make_standalone(start.text, pairs, self._rewriter)

    async def _plan(self, start: StartedTurn, standalone: Standalone) -> TurnPlan:
        """Search, select and plan."""
        passages = await self._retriever.search(
            standalone.searches, start.caller, collections=start.collections, limit=self._policy.search_limit
        )
        past = start.history
        request = TurnRequest(standalone.text, (), past, start.mode, topic_change=standalone.topic_change)
        make = partial(
            _select_and_plan,
            request,
            passages,
            self._policy.selection,
            window=self._model.window,
            count=self._model.counter.count,
            prompts=self._prompts(_prompt_language(start.text)),
            policy=self._policy.budget,
            window_days=self._policy.window_days,
        )
        return await asyncio.to_thread(make)

    async def _write(
        self,
        plan: TurnPlan,
        standalone: Standalone,
        start: StartedTurn,
        cancelled: asyncio.Event,
        watch: Stopwatch,
        trace: Trace,
    ) -> AsyncGenerator[TurnEvent, None]:
        """Stream the answer, marks of the model taken out."""
        prompts = self._prompts(_prompt_language(start.text))
        job = self._job(plan, standalone, prompts)
        scanner, length = MarkScanner(), 0
        yield AnswerStarted(self._model.name, prompts.hash)
        async with aclosing(until(cancelled, get_synthesizer(plan.choice.mode)(self._model, job))) as steps:
            async for step in steps:
                match step:
                    case StepDone():
                        yield TurnProgress("read", step.done, step.total)
                    case ModelFinish():
                        trace.finish, trace.usage = step.reason, step.usage
                    case ModelDelta() if text := scanner.feed(without_unstorable(step.text)):
                        trace.ms_first_token = watch.ms() if trace.ms_first_token is None else trace.ms_first_token
                        yield AnswerDelta(length, text)
                        length += len(text)
                if length > MOST_CHARACTERS * job.sampling.max_tokens:
                    trace.finish = "length"
                    break
        if rest := scanner.close():
            yield AnswerDelta(length, rest)
        trace.hints = tuple(scanner.hints)

    def _job(self, plan: TurnPlan, standalone: Standalone, prompts: PromptSet) -> Job:
        return Job(
            question=standalone.text,
            evidence=plan.evidence,
            conflicts=plan.conflicts,
            history=plan.history,
            prompts=prompts,
            sampling=self._policy.sampling(plan.budget.output),
            counter=self._model.counter,
            group_tokens=plan.group_tokens,
            brief=plan.brief,
        )

    async def conclude(
        self, start: StartedTurn, message: TurnMessage, trace: Trace, watch: Stopwatch
    ) -> AsyncGenerator[TurnEvent, None]:
        """End a turn from whatever was written: final hash, citations, conflicts, usage, end.

        The same path ends a turn that completed, was cancelled, failed, or was found open after a crash.
        """
        ending = self._ending(message, trace)
        if message.finish is None:
            yield ending
        if message.citations is None:
            async for event in self._cite(start, message.text, ending.finish, trace):
                yield event
        if message.usage is None:
            yield _usage(trace, watch)
        yield TurnFinished(_status(ending.finish), error=trace.error)

    def _ending(self, message: TurnMessage, trace: Trace) -> AnswerFinished:
        refusal = self._prompts(_prompt_language(message.question)).refusal
        finish = "error" if trace.error else trace.finish or message.finish or "error"
        if finish == "stop" and is_refusal(message.text, refusal):
            finish = "no_answer"
        digest = hashlib.sha256(message.text.encode()).hexdigest()
        return AnswerFinished(len(message.text), digest, finish)

    async def _cite(self, start: StartedTurn, text: str, finish: str, trace: Trace) -> AsyncGenerator[TurnEvent, None]:
        """Align the finished text to exactly the evidence that the model saw."""
        alignment = Alignment(CitationStatus.NONE, (), (), None)
        if text and trace.grounded and finish != "no_answer":
            work = partial(align, text, trace.evidence, hints=trace.hints, numbers=start.numbers)
            alignment = await self._numbered(start, await asyncio.to_thread(work))
        unsupported = tuple(item for item in alignment.sentences if item.verdict in _NOT_CARRIED)
        yield CitationsAdded(alignment.status, alignment.citations, unsupported, alignment.agreement)
        if trace.conflicts and trace.grounded:
            numbers = {**start.numbers, **{item.evidence: item.n for item in alignment.citations}}
            yield ConflictsFound(shown_conflicts(trace.conflicts, trace.evidence, alignment.citations, numbers))

    async def _numbered(self, start: StartedTurn, alignment: Alignment) -> Alignment:
        """The alignment with display numbers that no other turn of the conversation has given to something else."""
        cited = [item.evidence for item in alignment.citations]
        numbers = await self._store.number_evidence(start.conversation, cited) if cited else {}
        renumbered = tuple(replace(item, n=numbers[item.evidence]) for item in alignment.citations)
        return replace(alignment, citations=renumbered)

    async def recover(self, start: StartedTurn, message: TurnMessage) -> AsyncGenerator[TurnEvent, None]:
        """End a turn that a crash left open; an answer that was complete only gets its citations."""
        evidence = tuple(await self._store.evidence_of(start.turn))
        trace = Trace(evidence=evidence, conflicts=tuple(await self._store.conflicts_of(start.turn)))
        trace.finish = message.finish
        if message.finish in (None, "error"):
            trace.error = "interrupted"
        if message.plan is not None:
            trace.grounded = message.plan.mode != "generation"
        async for event in self.conclude(start, message, trace, Stopwatch(self._clock)):
            yield event


def _select_and_plan(
    request: TurnRequest, passages: Sequence[Passage], selection: SelectionPolicy, **limits: Any
) -> TurnPlan:
    """Both pure steps in one call, so that they leave the event loop together."""
    return plan_turn(replace(request, evidence=select(passages, selection)), **limits)


_NOT_CARRIED = (Verdict.UNSUPPORTED, Verdict.CONTRADICTED)


def _prompt_language(question: str) -> str:
    """Prompts exist in English and Chinese; a mixed question that holds Chinese is asked in Chinese."""
    return "en" if language(question) == "en" else "zh"


def _planned(plan: TurnPlan, standalone: Standalone, start: StartedTurn) -> TurnPlanned:
    return TurnPlanned(
        standalone=standalone.text,
        mode=plan.choice.mode.value,
        reason=plan.choice.reason,
        reason_code=plan.choice.code,
        budget=plan.budget,
        evidence=shown_evidence(plan.evidence, plan.tokens, start.numbers),
        language=_prompt_language(start.text),
        searched=tuple(standalone.searches),
    )


def _usage(trace: Trace, watch: Stopwatch) -> UsageReported:
    return UsageReported(
        calls=trace.usage.calls,
        tokens_in=trace.usage.tokens_in,
        tokens_out=trace.usage.tokens_out,
        tokens_cached=trace.usage.tokens_cached,
        cost=trace.usage.cost,
        ms_first_token=trace.ms_first_token,
        ms_answer=trace.ms_answer,
        ms_citations=watch.ms(),
    )


def _status(finish: str) -> str:
    return {"error": "failed", "cancelled": "cancelled"}.get(finish, "completed")
