"""A follow-up becomes a standalone question: by rules."""

from __future__ import annotations

from collections.abc import Sequence

from assistant.core.followups import Standalone, standalone
from assistant.interfaces import ChatModel


async def make_standalone(question: str, history: Sequence[tuple[str, str]], model: ChatModel | None) -> Standalone:
    """The question made standalone by rules."""
    return standalone(question, history)
