"""Concluding: the events of a turn that follow from its plan and its finished text. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from assistant.conversation.turns import Stopwatch, Trace
from assistant.core.citations import Alignment, Citation, Verdict
from assistant.core.events import AnswerFinished, CitationsAdded, ConflictsFound, TurnEvent, TurnPlanned, UsageReported
from assistant.core.messages import Usage
from assistant.core.outcome import is_refusal, shown_conflicts, shown_evidence
from assistant.core.planning import TurnPlan
from assistant.core.turn import TurnMessage

_NOT_CARRIED: Final = (Verdict.UNSUPPORTED, Verdict.CONTRADICTED)


def planned_event(
    plan: TurnPlan, numbers: Mapping[str, int], *, searched: Sequence[str] = (), structured: bool = False
) -> TurnPlanned:
    """The plan as it is streamed and stored; `numbers` are the display numbers already given."""
    return TurnPlanned(
        standalone=plan.question,
        mode=str(plan.choice.mode),
        reason=plan.choice.reason,
        reason_code=plan.choice.code,
        budget=plan.budget,
        evidence=shown_evidence(plan.evidence, plan.tokens, numbers),
        language=plan.prompts.language,
        searched=tuple(searched),
        structured=structured,
    )


def ending_of(message: TurnMessage, trace: Trace, refusal: str) -> AnswerFinished:
    """How the text of a turn ended, with its final hash."""
    finish = "error" if trace.error else trace.finish or message.finish or "error"
    if finish == "stop" and is_refusal(message.text, refusal):
        finish = "no_answer"
    digest = hashlib.sha256(message.text.encode()).hexdigest()
    return AnswerFinished(len(message.text), digest, finish)


def cited_events(alignment: Alignment, trace: Trace, numbers: Mapping[str, int]) -> Iterator[TurnEvent]:
    """The citations of an answer and, where its evidence disagreed, what became of the conflicts."""
    unsupported = tuple(item for item in alignment.sentences if item.verdict in _NOT_CARRIED)
    yield CitationsAdded(alignment.status, alignment.citations, unsupported, alignment.agreement)
    if trace.conflicts and trace.grounded:
        yield _conflicts_shown(alignment.citations, trace, numbers)


def missed_conflicts(cited: CitationsAdded, trace: Trace, numbers: Mapping[str, int]) -> Iterator[TurnEvent]:
    """The conflicts that `cited_events` would have told after these citations; none of an answer that cites nothing."""
    if cited.items and trace.conflicts and trace.grounded:
        yield _conflicts_shown(cited.items, trace, numbers)


def _conflicts_shown(citations: Sequence[Citation], trace: Trace, numbers: Mapping[str, int]) -> ConflictsFound:
    known = {**numbers, **{item.evidence: item.n for item in citations}}
    return ConflictsFound(shown_conflicts(trace.conflicts, trace.evidence, citations, known))


def usage_event(trace: Trace, watch: Stopwatch) -> UsageReported:
    """What all model calls of the turn cost, and its times."""
    spent = sum((call.usage for call in trace.calls), Usage())
    return UsageReported(
        calls=spent.calls,
        tokens_in=spent.tokens_in,
        tokens_out=spent.tokens_out,
        tokens_cached=spent.tokens_cached,
        cost=spent.cost,
        ms_first_token=trace.ms_first_token,
        ms_answer=trace.ms_answer,
        ms_citations=watch.ms(),
    )


def status_of(finish: str) -> str:
    """The status of a turn whose text ended like this."""
    return {"error": "failed", "cancelled": "cancelled"}.get(finish, "completed")
