"""Answers of record: what a person said instead of the model, given first to whoever asks the same. Pure."""

from __future__ import annotations

import hashlib
import unicodedata
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from assistant.core.evidence import Evidence

HUMAN: Final = "human"
"""What stands in the place of a model's name where a person answered."""


@dataclass(frozen=True, slots=True)
class AdoptedAnswer:
    """An answer of record: the standalone question that it is for, its text, who adopted it when (a pseudonym).

    `correction` is the audit record of the correction that it was made from, `turn` the turn that was corrected. `sources` are the document
    versions that the corrected answer rested on, `evidence` what is still kept of them, as it was shown then.
    """

    id: str
    question: str
    text: str
    turn: str
    correction: str
    by: str
    at: datetime
    sources: tuple[tuple[str, int], ...] = ()
    evidence: tuple[Evidence, ...] = ()
    revoked_at: datetime | None = None


def normal_question(question: str) -> str:
    """A question without what does not change its meaning: width, case, runs of white space, the marks around it."""
    words = " ".join(unicodedata.normalize("NFKC", question).casefold().split())
    start, end = 0, len(words)
    while start < end and not _is_said(words[start]):
        start += 1
    while end > start and not _is_said(words[end - 1]):
        end -= 1
    return words[start:end] or words


def question_key(question: str) -> str:
    """The same text for questions that are the same; another one for others."""
    return hashlib.sha256(normal_question(question).encode(errors="surrogatepass")).hexdigest()


def _is_said(character: str) -> bool:
    """Letters, digits, symbols and brackets; not white space and not the marks that end a sentence or quote it."""
    return unicodedata.category(character) not in {"Po", "Pi", "Pf", "Zs"} or character in "%&#@*/\\§"
