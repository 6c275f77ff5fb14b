"""The shapes of the responses over REST. They describe what the routes write and never stand in their way.

That the routes write so is tested against a running server (tests/transport/test_contracts.py).
"""

from __future__ import annotations

import datetime as dt
from typing import Any, Literal

from pydantic import BaseModel

from assistant.core.allowance import Used
from assistant.core.calls import ModelCall
from assistant.core.events import (
    CitationsAdded,
    ConflictsFound,
    SourceChanged,
    TurnPlanned,
    TurnProgress,
    UsageReported,
)
from assistant.core.evidence import Authority
from assistant.core.past_sources import SourceState

Names = list[str]
Finish = Literal["stop", "length", "cancelled", "no_answer", "error"]


class ErrorBody(BaseModel):
    """What went wrong: a stable code, whether the same may work later, and plain values that explain the case."""

    class Error(BaseModel):
        """The code of the error with its data."""

        code: str
        retryable: bool

    error: Error


class Health(BaseModel):
    """The process lives."""

    status: Literal["ok"]


class Ready(BaseModel):
    """Whether the server can answer; when it is not_ready, `code` says why."""

    status: Literal["ready", "draining", "not_ready"]
    model: str | None = None
    model_seen: Literal["answers", "rests"] | None = None
    database: str | None = None
    documents: int | None = None
    chunks: int | None = None
    code: str | None = None


class Config(BaseModel):
    """What a page shows before the first question, and what the caller may do.

    `portals` are the origins that may show it in a frame, `sign_in` is where its people sign in (empty: nowhere), `files` how many
    files a session may have. To nobody only how to come in is told.
    """

    title: str
    languages: Names
    portals: Names
    sign_in: str
    model: str | None = None
    examples: Names | None = None
    modes: Names | None = None
    version: str | None = None
    files: int | None = None
    roles: Names | None = None


class NewSession(BaseModel):
    """A session without turns."""

    session_id: str
    epoch: str
    as_of_seq: int


class TurnMessage(BaseModel):
    """A turn as the fold of its events; of a `withheld` one there is nothing but what was asked, how it ended and what it cost."""

    question: str
    text: str
    status: Literal["running", "completed", "cancelled", "failed"]
    stage: str
    finish: Finish | None
    sha256: str | None
    model: str | None
    prompt: str | None
    error: str | None
    retry_after_ms: int | None
    audit_id: str | None
    record_hash: str | None
    from_cache: str | None
    plan: TurnPlanned | None
    citations: CitationsAdded | None
    conflicts: ConflictsFound | None
    usage: UsageReported | None
    attachments: Names
    steps: list[TurnProgress]
    changes: list[SourceChanged]
    withheld: bool


class SessionTurn(BaseModel):
    """A turn of a session."""

    turn: str
    message: TurnMessage


class Snapshot(BaseModel):
    """A whole session: everything up to and including event `as_of_seq`."""

    session_id: str
    epoch: str
    as_of_seq: int
    turns: list[SessionTurn]


class StartedTurn(BaseModel):
    """A turn that was asked for; `duplicate` when the same key came before. `message` where its end was waited for."""

    turn: str
    duplicate: bool
    message: TurnMessage | None = None


class CancelledTurn(BaseModel):
    """Whether the turn was running and will stop."""

    turn: str
    cancelled: bool


class SessionItem(BaseModel):
    """A session in a list."""

    session_id: str
    title: str
    created_at: dt.datetime
    updated_at: dt.datetime
    turns: int


class SessionList(BaseModel):
    """A page of sessions, the latest first."""

    sessions: list[SessionItem]
    next: str | None


class UsageToday(BaseModel):
    """What a person has used today (UTC) and may use; a limit of null is none."""

    day: dt.date
    used: Used
    limits: dict[str, float | None]
    reached: str | None
    resets_in_ms: int


class ModelCalls(BaseModel):
    """How an answer was made."""

    calls: list[ModelCall]


class CitedPassage(BaseModel):
    """A cited passage as it was."""

    title: str
    uri: str
    section: str
    page: int | None
    version: int
    date: dt.date | None
    authority: Authority
    before: str
    exact: str
    after: str
    state: SourceState


class CurrentPlace(BaseModel):
    """What stands in the version of today for a cited passage; texts are null where nothing in it is like it."""

    version: int
    date: dt.date | None
    before: str | None
    exact: str | None
    after: str | None


class WordChange(BaseModel):
    """A step from the old text to the new one."""

    op: str
    old: str
    new: str


class PastSource(BaseModel):
    """A cited passage as it was, and what became of it; before + exact + after is its text."""

    title: str
    uri: str
    version: int
    media_type: str | None
    section: str
    page: int | None
    image: str | None
    date: dt.date | None
    region: tuple[float, float, float, float] | None
    before: str
    exact: str
    after: str
    state: SourceState
    current: CurrentPlace | None
    diff: list[WordChange] | None


class CitationState(BaseModel):
    """What became of a citation."""

    turn: str
    n: int
    state: SourceState


class SourceStates(BaseModel):
    """What became of every citation of a session."""

    sources: list[CitationState]


class SessionFile(BaseModel):
    """A file of a session."""

    id: str
    title: str
    name: str
    media_type: str
    chunks: int
    updated_at: dt.datetime


class SessionFileList(BaseModel):
    """The files of a session by name."""

    files: list[SessionFile]


class AccessToken(BaseModel):
    """A token of this server."""

    access_token: str
    token_type: Literal["Bearer"]
    expires_at: dt.datetime
    roles: Names


class ModelList(BaseModel):
    """The assistant, and the assistant in each of its modes, in the form of OpenAI."""

    object: Literal["list"]
    data: list[dict[str, Any]]
