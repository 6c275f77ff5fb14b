"""Conflicts: find evidence that disagrees, say how, and which side to prefer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from assistant.core.evidence import Authority, Evidence
from assistant.core.text import Span


class ConflictKind(StrEnum):
    """What the two claims disagree in."""

    NUMBER = "number"
    MONEY = "money"
    PERCENT = "percent"
    DATE = "date"
    DURATION = "duration"
    POLARITY = "polarity"
    OPTION = "option"
    SUPERSEDED = "superseded"


class Resolution(StrEnum):
    """The rule that prefers one side; unresolved means that the answer has to give both."""

    NEWER = "newer"
    AUTHORITY = "authority"
    UNRESOLVED = "unresolved"


@dataclass(frozen=True, slots=True)
class Claim:
    """One side of a conflict: `quote` is the stored text at `span` (document offsets) of the evidence."""

    evidence: str
    span: Span
    quote: str
    date: date | None = None
    authority: Authority = Authority.MEDIUM


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two claims that cannot both hold.

    `preferred` is the evidence id of the preferred side, None when unresolved; `why` says in plain words what differs
    (for example "90 % / 80 %"), `topic` what it is about.
    """

    id: str
    kind: ConflictKind
    topic: str
    sides: tuple[Claim, Claim]
    resolution: Resolution
    preferred: str | None
    why: str


def find_conflicts(evidence: Sequence[Evidence], *, question: str = "", window_days: int = 30) -> tuple[Conflict, ...]:
    """Find the conflicts among the evidence that will be shown; the result does not depend on its order."""
    return ()


def mark_conflicts(evidence: Sequence[Evidence], conflicts: Sequence[Conflict]) -> tuple[Evidence, ...]:
    """Write `conflicts` and `preferred` onto each piece of evidence."""
    return tuple(evidence)
