"""What a synthesizer gets and what it yields."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass

from assistant.core.conflicts import Conflict
from assistant.core.evidence import Evidence
from assistant.core.messages import Message, ModelDelta, ModelFinish
from assistant.core.prompt import PromptSet, Sampling
from assistant.interfaces import ChatModel, TokenCounter


@dataclass(frozen=True, slots=True)
class Job:
    """One answer to be made.

    `evidence` stands in prompt order; `group_tokens` is how many tokens of evidence one prompt may hold; `history` goes
    to the model as it is; `brief` asks for the short instructions of a small window.
    """

    question: str
    evidence: tuple[Evidence, ...]
    conflicts: tuple[Conflict, ...]
    history: tuple[Message, ...]
    prompts: PromptSet
    sampling: Sampling
    counter: TokenCounter
    group_tokens: int
    brief: bool = False


@dataclass(frozen=True, slots=True)
class StepDone:
    """Intermediate work: `done` of `total` steps are finished; `text` is what the last one wrote."""

    done: int
    total: int
    text: str = ""


Step = ModelDelta | StepDone | ModelFinish
Synthesizer = Callable[[ChatModel, Job], AsyncGenerator[Step, None]]
"""An async generator: deltas and steps, then exactly one ModelFinish with the usage of all calls."""
