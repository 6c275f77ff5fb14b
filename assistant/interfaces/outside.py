"""Searches outside of this program: how they fail, and who hears of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

from assistant.errors import TurnFailed
from assistant.interfaces.search import Retriever


class SearchUnavailable(TurnFailed):
    """A search outside gives no answer that can be used; `data["reason"]` says why (timeout, status, invalid, access, ...)."""

    code: ClassVar[str] = "search_unavailable"
    retryable: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class SearchFailure:
    """One of several searches failed with this code, and the turn went on without it."""

    name: str
    code: str


@runtime_checkable
class ReportingRetriever(Protocol):
    """A retriever of several, which goes on when one of them fails."""

    def reporting(self, note: Callable[[SearchFailure], None]) -> Retriever:
        """The same retriever, whose failures are told to `note`."""
        ...


def listening(retriever: Retriever, note: Callable[[SearchFailure], None]) -> Retriever:
    """The retriever, with `note` hearing of its failures where it can go on in spite of them."""
    return retriever.reporting(note) if isinstance(retriever, ReportingRetriever) else retriever
