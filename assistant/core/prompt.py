"""Build the request to a model: instructions, tagged evidence, question; three areas that never mix."""

from __future__ import annotations

from dataclasses import dataclass

from assistant.core.conflicts import Conflict
from assistant.core.evidence import Evidence
from assistant.core.messages import Message


@dataclass(frozen=True, slots=True)
class Sampling:
    """Parameters of a model call; `max_tokens` comes from the budget."""

    max_tokens: int
    temperature: float = 0.1
    top_p: float = 0.9
    frequency_penalty: float = 0.3
    presence_penalty: float = 0.1


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One call of a model.

    `messages` is what goes over the wire. The values it was rendered from come along (question, evidence, conflicts,
    draft), so that a model without weights can work from them instead of parsing text.
    """

    messages: tuple[Message, ...]
    sampling: Sampling
    question: str
    evidence: tuple[Evidence, ...]
    conflicts: tuple[Conflict, ...]
    language: str
    draft: str = ""
    purpose: str = "answer"
