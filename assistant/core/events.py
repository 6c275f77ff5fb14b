"""The events of a turn, in the order accepted, plan, progress*, answer.*, citations, conflicts?, usage, done, source.changed*.

The fields of each event are the `d` of its frame on the wire (docs/protocol.md) and of its row in the store.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import ClassVar

from assistant.core.budget import BudgetPlan
from assistant.core.citations import Citation, CitationStatus, SentenceVerdict
from assistant.core.evidence import Authority


@dataclass(frozen=True, slots=True)
class TurnAccepted:
    """The question is stored; `by` is the pseudonymous user, `client_id` the idempotency key of the start.

    `attachments` are the titles of the files that came with it.
    """

    type: ClassVar[str] = "turn.accepted"
    turn: str
    client_id: str
    text: str
    by: str
    attachments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EvidenceShown:
    """One piece of evidence in the plan, without its text; `n` is its display number once it was cited in the conversation."""

    id: str
    n: int | None
    title: str
    uri: str
    section: str
    date: date | None
    authority: Authority
    score: float
    tokens: int
    conflicts: tuple[str, ...] = ()
    preferred: bool | None = None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TurnPlanned:
    """The plan of the turn: what is asked, how it will be answered and from what."""

    type: ClassVar[str] = "turn.plan"
    standalone: str
    mode: str
    reason: str
    reason_code: str
    budget: BudgetPlan
    evidence: tuple[EvidenceShown, ...] = ()
    language: str = "en"
    searched: tuple[str, ...] = ()
    structured: bool = False


@dataclass(frozen=True, slots=True)
class TurnProgress:
    """A stage was reached (rewrite, search, select, read, write, cite); done of total where it counts.

    `text` is what the step wrote (a draft, a partial answer), `failed` the code of the error when it failed and the
    answer goes on without it.
    """

    type: ClassVar[str] = "turn.progress"
    stage: str
    done: int | None = None
    total: int | None = None
    text: str | None = None
    failed: str | None = None


@dataclass(frozen=True, slots=True)
class AnswerStarted:
    """The model begins to write; `prompt` is the hash of the prompt files in use, `parameters` those of its sampling.

    `from_cache` is the turn whose answer is given again without asking a model.
    """

    type: ClassVar[str] = "answer.start"
    model: str
    prompt: str
    parameters: tuple[tuple[str, float], ...] = ()
    from_cache: str | None = None


@dataclass(frozen=True, slots=True)
class AnswerDelta:
    """A piece of the answer that starts at offset `off` of its text."""

    type: ClassVar[str] = "answer.delta"
    off: int
    text: str


@dataclass(frozen=True, slots=True)
class AnswerFinished:
    """The text is complete: its length, the sha256 of its UTF-8 bytes, and how it ended.

    finish is stop, length, cancelled, no_answer or error.
    """

    type: ClassVar[str] = "answer.done"
    length: int
    sha256: str
    finish: str


@dataclass(frozen=True, slots=True)
class CitationsAdded:
    """The finished answer tied to its sources; `unsupported` lists sentences that the evidence does not carry."""

    type: ClassVar[str] = "citations"
    status: CitationStatus
    items: tuple[Citation, ...] = ()
    unsupported: tuple[SentenceVerdict, ...] = ()
    agreement: int | None = None


@dataclass(frozen=True, slots=True)
class ConflictSide:
    """One side of a conflict: the quoted claim, its evidence, and the display number (None when not cited)."""

    evidence: str
    n: int | None
    claim: str
    title: str
    date: date | None
    authority: Authority
    preferred: bool


@dataclass(frozen=True, slots=True)
class ConflictShown:
    """One conflict of the evidence; `followed` says what the answer did: preferred, both, other, silent."""

    topic: str
    kind: str
    sides: tuple[ConflictSide, ...]
    resolution: str
    note: str
    followed: str = "silent"


@dataclass(frozen=True, slots=True)
class ConflictsFound:
    """The conflicts of the evidence of this turn."""

    type: ClassVar[str] = "conflicts"
    items: tuple[ConflictShown, ...] = ()


@dataclass(frozen=True, slots=True)
class UsageReported:
    """What the turn cost: tokens, US dollars where known, and milliseconds from the start of the turn."""

    type: ClassVar[str] = "turn.usage"
    calls: int
    tokens_in: int
    tokens_out: int
    tokens_cached: int
    cost: float | None
    ms_first_token: int | None
    ms_answer: int | None
    ms_citations: int | None


@dataclass(frozen=True, slots=True)
class TurnFinished:
    """The end of the turn, exactly one per turn: completed, cancelled or failed (then `error` is a stable code).

    `retry_after_ms` says after how long it may be asked again, where that is known.
    """

    type: ClassVar[str] = "turn.done"
    status: str
    error: str | None = None
    audit_id: str | None = None
    record_hash: str | None = None
    retry_after_ms: int | None = None


@dataclass(frozen=True, slots=True)
class SourceChanged:
    """A cited document is no longer as it was when it was cited; may come days after the end of the turn.

    change is updated (there is a newer version), deleted, or access_revoked (those who could read it then may not now).
    """

    type: ClassVar[str] = "source.changed"
    turn: str
    n: int
    change: str


TurnEvent = (
    TurnAccepted
    | TurnPlanned
    | TurnProgress
    | AnswerStarted
    | AnswerDelta
    | AnswerFinished
    | CitationsAdded
    | ConflictsFound
    | UsageReported
    | TurnFinished
    | SourceChanged
)
