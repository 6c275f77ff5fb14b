"""The conversation manager: the whole sequence of a turn on one page."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace

import structlog

from assistant.conversation.aligning import SecondLook
from assistant.conversation.answering import Answering, Route, aligned, pictures
from assistant.conversation.caching import AnswerCache
from assistant.conversation.concluding import (
    cited_events,
    ending_of,
    missed_conflicts,
    planned_event,
    status_of,
    usage_event,
)
from assistant.conversation.guarding import guarded
from assistant.conversation.judging import ConflictJudge
from assistant.conversation.observing import observed_turn
from assistant.conversation.rewriting import Rewriter, make_standalone
from assistant.conversation.searching import search_for
from assistant.conversation.turns import StartedTurn, Stopwatch, Trace
from assistant.core.adopted import HUMAN, AdoptedAnswer
from assistant.core.caching import replayed
from assistant.core.citations import Alignment, CitationStatus
from assistant.core.events import (
    AnswerDelta,
    AnswerStarted,
    CitationsAdded,
    TurnEvent,
    TurnFinished,
    TurnProgress,
)
from assistant.core.followups import Standalone
from assistant.core.history import earlier_places
from assistant.core.modes import is_grounded, mode_named
from assistant.core.planning import TurnPlan, TurnRequest
from assistant.core.questions import QuestionKind, question_kind
from assistant.core.selection import select
from assistant.core.text import prompt_language
from assistant.core.turn import TurnMessage, apply, fold
from assistant.errors import AccessRevoked, AssistantError
from assistant.interfaces import AnswersOfRecord, ConversationStore, ImageSource, Retriever, Rights, SessionFiles
from assistant.interfaces.outside import SearchFailure, listening
from assistant.telemetry import step, stepping

log = structlog.get_logger(__name__)


class ConversationManager:
    """Runs turns: question in, numbered events out; holds no state between turns.

    With `rights` they are looked up again while an answer is written; with none (the library) what was found may be read.
    """

    def __init__(
        self,
        *,
        store: ConversationStore,
        retriever: Retriever,
        answering: Answering,
        clock: Callable[[], float],
        images: ImageSource | None = None,
        rewriter: Rewriter | None = None,
        judge: ConflictJudge | None = None,
        rights: Rights | None = None,
        cache: AnswerCache | None = None,
        files: SessionFiles | None = None,
        second: SecondLook | None = None,
        adopted: AnswersOfRecord | None = None,
    ) -> None:
        self._store = store
        self._retriever = retriever
        self._answering = answering
        self._clock = clock
        self._images = images
        self._rewriter = rewriter
        self._judge = judge
        self._rights = rights
        self._cache = cache
        self._files = files
        self._second = second
        self._adopted = adopted

    @observed_turn
    async def run_turn(self, start: StartedTurn, cancelled: asyncio.Event) -> AsyncGenerator[TurnEvent, None]:
        """Answer a stored question: plan, answer, citations, end; exactly one TurnFinished whatever happens.

        Setting `cancelled` stops the model; what was written is kept and cited. A failure of the model or of the search
        ends the turn as failed with a stable code and keeps the text so far.
        """
        watch, trace, told = Stopwatch(self._clock), Trace(), list[TurnEvent]()
        async with aclosing(self._answer(start, cancelled, watch, trace)) as events:
            try:
                async for event in events:
                    told.append(event)
                    yield event
            except AssistantError as failure:
                log.warning("turn failed", turn=start.turn, code=failure.code, **failure.data)
                trace.error, trace.retry_after_ms = failure.code, failure.retry_after_ms
                trace.withheld = isinstance(failure, AccessRevoked)
            except Exception:
                log.exception("turn failed", turn=start.turn)
                trace.error = "internal"
        trace.ms_answer = watch.ms()
        if cancelled.is_set():
            trace.error = trace.retry_after_ms = None  # what a model says while it is being stopped is no failure
            trace.finish = trace.finish or "cancelled"
        message = fold(told, TurnMessage(question=start.text))
        async for event in self.conclude(start, message, trace, watch):
            message = apply(message, event)
            yield event
        if self._cache is not None:
            await self._cache.remember(start, trace.recalled, message, trace.calls)

    async def _answer(
        self, start: StartedTurn, cancelled: asyncio.Event, watch: Stopwatch, trace: Trace
    ) -> AsyncGenerator[TurnEvent, None]:
        """From the question to the last word of the answer."""
        standalone = await self._standalone(start)
        yield TurnProgress("search")
        adopted = await self._answer_of_record(start, standalone)
        missing: list[SearchFailure] = []
        plan, route = await self._plan(start, standalone, adopted, missing.append)
        trace.evidence, trace.conflicts, trace.grounded = plan.evidence, plan.conflicts, is_grounded(plan.choice.mode)
        trace.structured = start.schema is not None
        planned = planned_event(plan, start.numbers, searched=standalone.searches, structured=trace.structured)
        with step("store"):
            await self._store.save_plan(start.turn, planned, plan.evidence, plan.conflicts)
        yield planned
        for failure in missing:
            yield TurnProgress("search", text=failure.name, failed=failure.code)
        if (given := await self._given(start, plan, route, adopted, trace)) is not None:
            trace.finish, trace.ms_first_token = "stop", watch.ms()
            for event in given:
                yield event
            return
        images = await pictures(self._images, start.caller, plan) if self._images else ()
        writing = self._answering.write(
            plan, route, trace=trace, watch=watch, cancelled=cancelled, schema=start.schema, images=images
        )
        if self._rights is not None and plan.evidence:
            writing = guarded(writing, self._rights, start.caller, plan.evidence, self._clock)
        async with aclosing(writing) as events:
            async for event in events:
                yield event

    async def _given(
        self, start: StartedTurn, plan: TurnPlan, route: Route, adopted: AdoptedAnswer | None, trace: Trace
    ) -> Sequence[TurnEvent] | None:
        """What is said without a model: an answer of record, or the one that was given before to the same question."""
        if adopted is not None:
            return AnswerStarted(HUMAN, ""), AnswerDelta(0, adopted.text)
        if self._cache is None:
            return None
        trace.recalled = await self._cache.recall(start, plan, route)
        answer = trace.recalled.answer if trace.recalled is not None else None
        return None if answer is None else tuple(replayed(answer))

    @stepping("rewrite")
    async def _standalone(self, start: StartedTurn) -> Standalone:
        """The question made standalone; small talk stays as it is and is not searched."""
        if start.mode is None and question_kind(start.text) is QuestionKind.SMALL_TALK:
            return Standalone(start.text, (), changed=False, topic_change=True, rule="small_talk")
        pairs = [(turn.standalone or turn.question, turn.answer) for turn in start.history]
        return await make_standalone(start.text, pairs, self._rewriter)

    async def _answer_of_record(self, start: StartedTurn, standalone: Standalone) -> AdoptedAnswer | None:
        """What a person answered to this question, where an auditor adopted it; never in the form of a schema."""
        if self._adopted is None or start.schema is not None:
            return None
        return await self._adopted.find(start.caller, standalone.text, start.collections)

    @stepping("plan")
    async def _plan(
        self,
        start: StartedTurn,
        standalone: Standalone,
        adopted: AdoptedAnswer | None,
        note: Callable[[SearchFailure], None],
    ) -> tuple[TurnPlan, Route]:
        """Search, select, look for conflicts that rules do not find (where a judge is set), and plan.

        An answer of record is planned over what it rests on. `note` hears of each of several searches that fails.
        """
        answering, language = self._answering, prompt_language(start.text)
        if adopted is not None:
            request = TurnRequest(standalone.text, adopted.evidence, (), start.mode, topic_change=True)
            return await asyncio.to_thread(answering.plan, request, language)
        passages = await search_for(
            start,
            standalone.searches,
            listening(self._retriever, note),
            self._files,
            limit=answering.policy.search_limit,
            earlier=earlier_places(start.history, topic_change=standalone.topic_change),
        )
        request = TurnRequest(
            standalone.text,
            await asyncio.to_thread(select, passages, answering.policy.selection),
            start.history,
            start.mode,
            topic_change=standalone.topic_change,
            notes=start.notes,
            schema=start.schema,
        )
        if self._judge is not None:
            judged = await self._judge.find(standalone.text, request.evidence, language, answering.policy.window_days)
            request = replace(request, judged=judged)
        return await asyncio.to_thread(answering.plan, request, language)

    async def conclude(
        self, start: StartedTurn, message: TurnMessage, trace: Trace, watch: Stopwatch
    ) -> AsyncGenerator[TurnEvent, None]:
        """End a turn from whatever was written: final hash, citations, conflicts, usage, end.

        The same path ends a turn that completed, was cancelled, failed, or was found open after a crash.
        """
        refusal = self._answering.prompts(prompt_language(message.question)).refusal
        ending = ending_of(message, trace, refusal)
        if message.finish is None:
            yield ending
        if message.citations is None:
            async for event in self._cite(start, message.text, ending.finish, trace, watch):
                yield event
        elif message.conflicts is None:  # a crash came between the two
            for event in missed_conflicts(message.citations, trace, start.numbers):
                yield event
        if trace.calls:
            with step("store"):
                await self._store.save_calls(start.turn, trace.calls)
        if message.usage is None:
            yield usage_event(trace, watch)
        yield TurnFinished(status_of(ending.finish), error=trace.error, retry_after_ms=trace.retry_after_ms)

    @stepping("cite")
    async def _cite(
        self, start: StartedTurn, text: str, finish: str, trace: Trace, watch: Stopwatch
    ) -> AsyncGenerator[TurnEvent, None]:
        """Align the finished text to exactly the evidence that the model saw."""
        if trace.withheld:
            yield CitationsAdded(CitationStatus.NONE)
            return
        if trace.recalled is not None and trace.recalled.answer is not None:
            found = trace.recalled.answer.alignment
        else:
            found = await aligned(text, finish, trace, start.numbers, second=self._second, watch=watch)
        alignment = await self._numbered(start, found) if found.citations else found
        for event in cited_events(alignment, trace, start.numbers):
            yield event

    async def _numbered(self, start: StartedTurn, alignment: Alignment) -> Alignment:
        """The alignment with display numbers that no other turn of the conversation has given to something else."""
        cited = [item.evidence for item in alignment.citations]
        numbers = await self._store.number_evidence(start.conversation, cited)
        renumbered = tuple(replace(item, n=numbers[item.evidence]) for item in alignment.citations)
        return replace(alignment, citations=renumbered)

    async def recover(self, start: StartedTurn, message: TurnMessage, error: str) -> AsyncGenerator[TurnEvent, None]:
        """End a turn that was left open, because of this `error`; an answer that was complete only gets its citations."""
        evidence = tuple(await self._store.evidence_of(start.turn))
        trace = Trace(evidence=evidence, conflicts=tuple(await self._store.conflicts_of(start.turn)))
        trace.finish = message.finish
        if message.finish in (None, "error"):
            trace.error = await self._store.error_of(start.turn) or error
        if message.plan is not None:
            trace.grounded = is_grounded(mode_named(message.plan.mode))
            trace.structured = message.plan.structured
        async for event in self.conclude(start, message, trace, Stopwatch(self._clock)):
            yield event
