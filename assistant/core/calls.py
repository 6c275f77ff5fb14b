"""What was asked of a model and what it said: the record of one call."""

from __future__ import annotations

from dataclasses import dataclass, field

from assistant.core.messages import Message, Usage


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call of a turn: what for, by which model, the whole prompt, the text that came back, how it ended.

    `ended` is stop, length, no_answer, cancelled, or the code of an error; `ms` is how long it took.
    """

    purpose: str
    model: str
    messages: tuple[Message, ...]
    text: str
    ended: str
    usage: Usage = field(default_factory=Usage)
    ms: int = 0
