"""The shapes of the responses for auditors."""

from __future__ import annotations

import datetime as dt
from typing import Any

from pydantic import BaseModel

from assistant.core.citations import Verdict
from assistant.transport.contracts.shapes import PastSource


class AuditItem(BaseModel):
    """A record of the audit in short: who, when, what, and what came of it; nothing that was said."""

    seq: int
    id: str
    at: dt.datetime
    actor: str
    subject: str | None
    conversation: str | None
    turn: str | None
    hash: str
    kind: str
    model: str | None
    mode: str | None
    status: str | None
    finish: str | None
    rating: str | None
    verdict: Verdict | None
    has_conflict: bool
    source_changed: bool


class AuditList(BaseModel):
    """A page of records, the latest first; `next` is the `before` of the following one."""

    records: list[AuditItem]
    next: int | None


class AuditRecordShown(BaseModel):
    """All fields of a record; `hash` covers everything else."""

    tenant: str
    seq: int
    id: str
    at: dt.datetime
    kind: str
    actor: str
    subject: str | None
    conversation: str | None
    turn: str | None
    body: dict[str, Any]
    sealed_sha256: str | None
    previous: str
    hash: str


class AuditSource(PastSource):
    """A cited place by its number."""

    n: int


class OpenedRecord(BaseModel):
    """A record with what was said; `texts` is null where it is erased or was tampered with, or where nothing was said."""

    record: AuditRecordShown
    texts: dict[str, str] | None
    erased: bool
    tampered: bool
    evidence: list[dict[str, Any]]
    sources: list[AuditSource]
    plan: dict[str, Any] | None


class DayOfAnswers(BaseModel):
    """What the answers of one day came to; the cost is null where none is known."""

    day: dt.date
    answers: int
    refusals: int
    conflicts: int
    up: int
    down: int
    kept: int
    priced: int
    tokens_in: int
    tokens_out: int
    cost: float | None
    verdicts: dict[str, int]
    modes: dict[str, int]


class Figures(BaseModel):
    """The answers of a time day by day."""

    since: dt.datetime
    until: dt.datetime
    days: list[DayOfAnswers]


class Verification(BaseModel):
    """Whether the log is what was written, and against how much from outside it was held."""

    ok: bool
    checked: int
    covered: int
    unsigned: int
    reason: str | None
    seq: int | None
    until: int | None
    targets: int
    external: int
    damaged: int


class ThenAndNow(BaseModel):
    """A value of the answer of then, and of the one of now."""

    old: Any
    new: Any


class AnsweredAgain(BaseModel):
    """An answer beside what a model says to the same prompts now; `text` shows the words that differ."""

    same: bool
    old: str
    new: str
    text: Any
    model: ThenAndNow
    prompt: ThenAndNow
    mode: ThenAndNow
    status: ThenAndNow
    finish: ThenAndNow
    agreement: ThenAndNow
    unsupported: ThenAndNow
    citations: dict[str, Any]
    conflicts: list[dict[str, Any]]
    usage: dict[str, ThenAndNow]
    left_out: list[dict[str, Any]]
    lost_images: int


class Retention(BaseModel):
    """What each retention policy would take now."""

    policies: list[dict[str, Any]]


class AnswerOfRecord(BaseModel):
    """An answer that a person gave; `sources` are documents with their versions."""

    id: str
    question: str
    text: str
    turn: str
    correction: str
    by: str
    at: dt.datetime
    revoked_at: dt.datetime | None
    sources: list[list[Any]]


class AnswersOfRecord(BaseModel):
    """The answers of record in force, the latest first."""

    answers: list[AnswerOfRecord]
