"""What a turn starts from and what it leaves behind while it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from assistant.core.access import Caller
from assistant.core.caching import Recalled
from assistant.core.calls import ModelCall
from assistant.core.citations import MarkHint
from assistant.core.conflicts import Conflict
from assistant.core.evidence import Evidence
from assistant.core.history import Notes, PastTurn
from assistant.core.modes import Mode


@dataclass(frozen=True, slots=True)
class Question:
    """What a person asks for: `client_id` is the idempotency key of text and mode (None: the policy chooses).

    `collections` are those that may be searched (None: all), `schema` asks for a structured answer, `past` is what was said
    elsewhere before, `attachments` are files of the session by id, with their titles.
    """

    client_id: str
    text: str
    mode: Mode | str | None = None
    collections: frozenset[str] | None = None
    schema: Mapping[str, Any] | None = None
    past: tuple[PastTurn, ...] = ()
    attachments: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StartedTurn:
    """A turn whose question is stored: who asks what, in which mode (None: the policy chooses),
    after which history; `schema` asks for a structured answer, `attachments` are the ids of files that came with it."""

    caller: Caller
    conversation: str
    turn: str
    text: str
    mode: Mode | str | None = None
    collections: frozenset[str] | None = None
    history: tuple[PastTurn, ...] = ()
    notes: Notes | None = None
    schema: Mapping[str, Any] | None = None
    numbers: Mapping[str, int] = field(default_factory=dict)
    attachments: tuple[str, ...] = ()


class Stopwatch:
    """Milliseconds since the start of a turn, by an injected monotonic clock in seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._start = clock()

    def ms(self) -> int:
        """Whole milliseconds since the start."""
        return int((self._clock() - self._start) * 1000)


@dataclass(slots=True)
class Trace:
    """What the end of a turn needs to know of its course."""

    evidence: tuple[Evidence, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    hints: tuple[MarkHint, ...] = ()
    finish: str | None = None
    error: str | None = None
    retry_after_ms: int | None = None
    grounded: bool = True
    structured: bool = False
    recalled: Recalled | None = None
    withheld: bool = False
    """The reader lost the right to a source: nothing more is said."""
    calls: list[ModelCall] = field(default_factory=list)
    ms_first_token: int | None = None
    ms_answer: int | None = None
