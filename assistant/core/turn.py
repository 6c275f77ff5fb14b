"""What a turn amounts to: the one definition, as a fold over its events."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from assistant.core.events import (
    AnswerDelta,
    AnswerFinished,
    AnswerStarted,
    CitationsAdded,
    ConflictsFound,
    SourceChanged,
    TurnAccepted,
    TurnEvent,
    TurnFinished,
    TurnPlanned,
    TurnProgress,
    UsageReported,
)


@dataclass(frozen=True, slots=True)
class TurnMessage:
    """The state of a turn after some of its events; after turn.done it is the stored assistant message.

    `steps` are those parts of the work that were counted or said something. Only the log tells `changes`, which is what became
    of its sources since, the last change of each citation, and `retry_after_ms`, which is true for a moment.
    """

    question: str = ""
    text: str = ""
    status: str = "running"
    stage: str = "accepted"
    finish: str | None = None
    sha256: str | None = None
    model: str | None = None
    prompt: str | None = None
    parameters: tuple[tuple[str, float], ...] = ()
    error: str | None = None
    retry_after_ms: int | None = None
    plan: TurnPlanned | None = None
    steps: tuple[TurnProgress, ...] = ()
    citations: CitationsAdded | None = None
    conflicts: ConflictsFound | None = None
    usage: UsageReported | None = None
    audit_id: str | None = None
    record_hash: str | None = None
    changes: tuple[SourceChanged, ...] = ()
    attachments: tuple[str, ...] = ()
    from_cache: str | None = None


def apply(message: TurnMessage, event: TurnEvent) -> TurnMessage:
    """The state after one more event. A delta that does not start at the end of the text is dropped (a replay)."""
    match event:
        case TurnAccepted():
            return replace(message, question=event.text, attachments=event.attachments)
        case TurnPlanned():
            return replace(message, plan=event, stage="plan")
        case TurnProgress():
            said = event.total is not None or event.text or event.failed
            return replace(message, stage=event.stage, steps=(*message.steps, event) if said else message.steps)
        case AnswerStarted():
            return replace(
                message,
                model=event.model,
                prompt=event.prompt,
                parameters=event.parameters,
                from_cache=event.from_cache,
                stage="write",
            )
        case AnswerDelta():
            return replace(message, text=message.text + event.text) if event.off == len(message.text) else message
        case AnswerFinished():
            return replace(message, finish=event.finish, sha256=event.sha256, stage="cite")
        case CitationsAdded():
            return replace(message, citations=event)
        case ConflictsFound():
            return replace(message, conflicts=event)
        case UsageReported():
            return replace(message, usage=event)
        case TurnFinished():
            return replace(
                message,
                status=event.status,
                stage="done",
                error=event.error,
                retry_after_ms=event.retry_after_ms,
                audit_id=event.audit_id,
                record_hash=event.record_hash,
            )
        case SourceChanged():
            others = (change for change in message.changes if change.n != event.n)
            return replace(message, changes=(*others, event))


def without_sources(message: TurnMessage) -> TurnMessage:
    """What may still be said of a turn whose sources may no longer be read: what was asked, how it ended, what it cost."""
    return TurnMessage(
        question=message.question,
        status=message.status,
        stage=message.stage,
        error=message.error,
        retry_after_ms=message.retry_after_ms,
        usage=message.usage,
        audit_id=message.audit_id,
        record_hash=message.record_hash,
        attachments=message.attachments,
    )


def fold(events: Iterable[TurnEvent], start: TurnMessage | None = None) -> TurnMessage:
    """The state of a turn after all these events, applied in order; any prefix may come as `start`.

    Deltas that continue the text are joined before they are applied: an answer has many of them.
    """
    message = start or TurnMessage()
    length, said = len(message.text), list[str]()
    for event in events:
        if isinstance(event, AnswerDelta):
            if event.off == length:
                said.append(event.text)
                length += len(event.text)
        else:
            message, said = apply(_with(message, said), event), []
    return _with(message, said)


def _with(message: TurnMessage, said: Sequence[str]) -> TurnMessage:
    return replace(message, text="".join((message.text, *said))) if said else message
