"""Answers that people gave in the place of a model."""

from __future__ import annotations

from typing import Protocol

from assistant.core.access import Caller
from assistant.core.adopted import AdoptedAnswer


class AnswersOfRecord(Protocol):
    """Gives the answer of record to a question, to those who may read everything that it rests on."""

    async def find(
        self, caller: Caller, question: str, collections: frozenset[str] | None = None
    ) -> AdoptedAnswer | None:
        """The answer of record to this standalone question; None where there is none for this caller."""
        ...
