"""Messages to and from a language model."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Role(StrEnum):
    """Who speaks in a conversation."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class Image:
    """An image that goes to a model: its sha256, its bytes in a form that models take, and what it belongs to."""

    id: str
    media_type: str
    content: bytes
    label: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation: its text, and images that belong to it."""

    role: Role
    text: str
    images: tuple[Image, ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more model calls as the provider counts them; cost in US dollars, None when not known."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    cost: float | None = None

    def __add__(self, other: Usage) -> Usage:
        cost = None if self.cost is None and other.cost is None else (self.cost or 0.0) + (other.cost or 0.0)
        return Usage(
            self.calls + other.calls,
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
            self.tokens_cached + other.tokens_cached,
            cost,
        )


@dataclass(frozen=True, slots=True)
class ModelDelta:
    """A piece of the model's text, never empty."""

    text: str


@dataclass(frozen=True, slots=True)
class ModelFinish:
    """The end of a model's answer: reason stop, length or no_answer; usage when the provider reports it.

    `model` is the name of the one that answered, where another stood in for the one that was asked.
    """

    reason: str = "stop"
    usage: Usage = field(default_factory=lambda: Usage(calls=1))
    model: str = ""


ModelChunk = ModelDelta | ModelFinish
