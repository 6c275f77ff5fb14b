"""What a person may read now, whatever it was when the person asked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from assistant.core.access import Caller
from assistant.core.evidence import Evidence


class Rights(Protocol):
    """Looks rights up again: at every turn, while it runs, and whenever an old answer is opened."""

    async def now(self, caller: Caller) -> Caller:
        """The caller with the groups of now."""
        ...

    async def withheld(self, caller: Caller, conversation: str) -> frozenset[str]:
        """The turns of a conversation that showed a model a document which the caller may not read now."""
        ...

    async def may_read(self, caller: Caller, shown: Iterable[Evidence]) -> bool:
        """Whether the caller may read all of the evidence now."""
        ...
