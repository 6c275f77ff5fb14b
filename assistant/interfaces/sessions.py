"""One's own sessions: found, renamed, deleted, exported; and what one may still use today."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from assistant.core.access import Caller
from assistant.core.allowance import UsageToday
from assistant.interfaces.conversations import ConversationView


@dataclass(frozen=True, slots=True)
class SessionPage:
    """A stretch of a person's sessions, the latest first; `next` is the cursor of the following one, None at the end."""

    items: tuple[ConversationView, ...]
    next: str | None = None


class Sessions(Protocol):
    """A person's own sessions. What is somebody else's, or deleted, is NotFound, like what never was."""

    async def page(self, caller: Caller, *, query: str = "", limit: int = 50, cursor: str | None = None) -> SessionPage:
        """The caller's sessions with all words of `query` in title, questions or answers, at most `limit`, behind `cursor`.

        Raises BadInput for a query that is too long or cannot be stored, and for a cursor that no page gave.
        """
        ...

    async def view(self, caller: Caller, session: str) -> ConversationView:
        """One of the caller's sessions; NotFound otherwise."""
        ...

    async def rename(self, caller: Caller, session: str, title: str) -> ConversationView:
        """Give a session another title; its place in the list stays. Raises NotFound, and BadInput for the title."""
        ...

    async def delete(self, caller: Caller, session: str) -> list[str]:
        """Make a session gone for its owner; its text is kept for the audit until a policy removes it.

        Returns the turns of it that still run; whoever runs them is asked to stop them. Raises NotFound.
        """
        ...


class UsageReport(Protocol):
    """Tells persons what they have used."""

    async def today(self, caller: Caller) -> UsageToday:
        """What the caller has used today (UTC) and may use."""
        ...
