"""What is told of every turn: its span, its ids in all log lines, and its figures. Nothing of what it says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractContextManager, aclosing, nullcontext
from functools import wraps
from time import perf_counter
from typing import Any, TypeVar

import structlog

from assistant.conversation.turns import StartedTurn
from assistant.core.events import (
    AnswerDelta,
    AnswerFinished,
    AnswerStarted,
    CitationsAdded,
    ConflictsFound,
    TurnEvent,
    TurnFinished,
    TurnPlanned,
    UsageReported,
)
from assistant.telemetry.figures import (
    CACHE_HITS,
    CONFLICTS,
    DROPPED,
    ERRORS,
    FIRST_TOKEN_SECONDS,
    RUNNING,
    TURN_SECONDS,
    TURNS,
    VERDICTS,
    WINDOW_SHARE,
    bounded,
)
from assistant.telemetry.tracing import fail_present, present, step

Self = TypeVar("Self")
Run = Callable[[Self, StartedTurn, asyncio.Event], AsyncGenerator[TurnEvent, None]]


def observed_turn(run: Run[Self]) -> Run[Self]:
    """Tell of every turn that `run` runs, in its own task: the ids of the turn stand in the log lines of that task and its own.

    The span of the turn is that of its commits, around this.
    """

    @wraps(run)
    async def observing(manager: Self, start: StartedTurn, cancelled: asyncio.Event) -> AsyncGenerator[TurnEvent, None]:
        structlog.contextvars.bind_contextvars(session=start.conversation, turn=start.turn)
        present({"gen_ai.conversation.id": start.conversation, "assistant.turn": start.turn})
        counted = CountedTurn()
        with RUNNING.track_inprogress():
            async with aclosing(run(manager, start, cancelled)) as events:
                async for event in events:
                    counted.see(event)
                    yield event

    return observing


def committing(events: Sequence[TurnEvent]) -> AbstractContextManager[object]:
    """A step around a commit of events; none around one of words alone, of which an answer has dozens a second."""
    return nullcontext() if all(isinstance(event, AnswerDelta) for event in events) else step("commit")


class CountedTurn:
    """The figures of one turn, from its events."""

    def __init__(self) -> None:
        self._began = perf_counter()
        self._mode, self._finish = "none", "error"

    def see(self, event: TurnEvent) -> None:
        """Count what this event says."""
        look = _LOOKS.get(type(event))
        if look is not None:
            look(self, event)

    def _planned(self, event: TurnPlanned) -> None:
        self._mode = bounded("mode", event.mode)
        WINDOW_SHARE.observe(event.budget.total / max(1, event.budget.window))
        for dropped in event.budget.dropped:
            DROPPED.labels(dropped.kind).inc()

    def _started(self, event: AnswerStarted) -> None:
        if event.from_cache is not None:
            CACHE_HITS.inc()

    def _finished(self, event: AnswerFinished) -> None:
        self._finish = event.finish

    def _cited(self, event: CitationsAdded) -> None:
        for cited in {(item.start, item.end): item for item in event.items}.values():
            VERDICTS.labels(cited.verdict.value).inc()
        for lonely in event.unsupported:
            VERDICTS.labels(lonely.verdict.value).inc()

    def _conflicts(self, event: ConflictsFound) -> None:
        for conflict in event.items:
            CONFLICTS.labels(conflict.followed).inc()

    def _used(self, event: UsageReported) -> None:
        if event.ms_first_token is not None:
            FIRST_TOKEN_SECONDS.observe(event.ms_first_token / 1000)

    def _done(self, event: TurnFinished) -> None:
        TURNS.labels(self._mode, event.status, self._finish).inc()
        TURN_SECONDS.labels(self._mode).observe(perf_counter() - self._began)
        present({"assistant.mode": self._mode, "assistant.status": event.status, "assistant.finish": self._finish})
        if event.error is not None:
            ERRORS.labels("turn", bounded("code", event.error)).inc()
            fail_present(event.error)


_LOOKS: dict[type[TurnEvent], Callable[[CountedTurn, Any], None]] = {
    TurnPlanned: CountedTurn._planned,  # noqa: SLF001 - the table of this class
    AnswerStarted: CountedTurn._started,  # noqa: SLF001
    AnswerFinished: CountedTurn._finished,  # noqa: SLF001
    CitationsAdded: CountedTurn._cited,  # noqa: SLF001
    ConflictsFound: CountedTurn._conflicts,  # noqa: SLF001
    UsageReported: CountedTurn._used,  # noqa: SLF001
    TurnFinished: CountedTurn._done,  # noqa: SLF001
}
