"""Several processes on one database: who runs which turn, and what the others should hear of."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Final, Protocol

from assistant.core.access import Caller


class Workers(Protocol):
    """The processes that run turns. A turn belongs to one of them; when it is not seen any more another one ends its turns."""

    async def enter(self) -> None:
        """Say that this process runs turns from now on."""
        ...

    async def beat(self) -> bool:
        """Say that this process lives; whether any other one does."""
        ...

    async def leave(self) -> None:
        """Say that this process runs no turns any more; what it left open is anybody's to end."""
        ...

    async def claim_lost(self) -> list[tuple[str, str]]:
        """Take over the turns of processes that are gone: (conversation, turn), each given to one caller only."""
        ...

    async def claim_all_lost(self) -> list[tuple[str, str]]:
        """As `claim_lost`, also of processes that are not known at all; it looks at every turn, for start-up."""
        ...

    async def ask_cancel(self, caller: Caller, conversation: str, turn: str) -> bool:
        """Ask whoever runs an open turn of the caller to stop it; False when there is no such open turn."""
        ...

    async def cancels(self) -> list[str]:
        """The open turns of this process that somebody asked to stop."""
        ...


CANCEL: Final = "!"
"""What is told in place of a conversation when somebody asked to stop a turn."""


class Signals(Protocol):
    """What other processes of the database tell: hints that may be lost, never the truth, which is in the log."""

    def heard(self) -> AsyncGenerator[frozenset[str] | None, None]:
        """Conversations that got events elsewhere, as it happens; None when anything may have happened.

        CANCEL among them: somebody asked to stop a turn.
        """
        ...
