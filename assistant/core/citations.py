"""Citations: align a finished answer to the evidence the model saw, with spans on both sides and a verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from assistant.core.evidence import Authority, Evidence


class Verdict(StrEnum):
    """How far the evidence carries a sentence of the answer."""

    SUPPORTED = "supported"
    PARTIAL = "partial"
    UNSUPPORTED = "unsupported"
    CONTRADICTED = "contradicted"


class CitationStatus(StrEnum):
    """Whether all, some or no sentence of the answer that states something is cited."""

    COMPLETE = "complete"
    PARTIAL = "partial"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class CitedSource:
    """The place a citation points to: `exact` is the stored text of the version at start..end (code points)."""

    document: str
    version: int
    sha256: str
    title: str
    uri: str
    section: str
    start: int
    end: int
    exact: str
    page: int | None = None
    date: date | None = None
    authority: Authority = Authority.MEDIUM


@dataclass(frozen=True, slots=True)
class Citation:
    """One sentence of the answer tied to one place of one document version.

    `n` is the display number of the evidence, stable in a conversation; start..end lie in the answer; score is 0..1.
    """

    n: int
    start: int
    end: int
    verdict: Verdict
    score: float
    evidence: str
    source: CitedSource


@dataclass(frozen=True, slots=True)
class SentenceVerdict:
    """The verdict on one sentence of the answer (start..end) and its support score 0..1."""

    start: int
    end: int
    verdict: Verdict
    score: float


@dataclass(frozen=True, slots=True)
class MarkHint:
    """A mark that the model wrote itself, taken out of the text: it stood at offset `at` and named `label`."""

    at: int
    label: str


@dataclass(frozen=True, slots=True)
class Alignment:
    """Everything the alignment of one answer found; `agreement` is 1..5, None when nothing was to be judged."""

    status: CitationStatus
    citations: tuple[Citation, ...]
    sentences: tuple[SentenceVerdict, ...]
    agreement: int | None


def align(
    answer: str,
    evidence: Sequence[Evidence],
    *,
    hints: Sequence[MarkHint] = (),
    numbers: Mapping[str, int] | None = None,
) -> Alignment:
    """Align each sentence of a finished answer to the evidence that was shown.

    `numbers` maps evidence ids to the display numbers already given in the conversation; new ones follow on.
    Sentences that state nothing (greetings, headings, "Here is what I found:") get no verdict.
    """
    return Alignment(CitationStatus.NONE, (), (), None)
