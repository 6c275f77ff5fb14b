"""Guarding: while an answer is written, its reader may lose the right to its sources; then nothing more is said."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Final

from assistant.core.access import Caller
from assistant.core.events import TurnEvent
from assistant.core.evidence import Evidence
from assistant.errors import AccessRevoked
from assistant.interfaces import Rights

EVERY_S: Final = 2.0
"""Seconds between two looks at the rights while a model writes."""


async def check_rights(rights: Rights, caller: Caller, shown: tuple[Evidence, ...]) -> None:
    """Raise AccessRevoked when the caller may not read all of the evidence now."""
    if not await rights.may_read(await rights.now(caller), shown):
        raise AccessRevoked("a source may no longer be read")


async def guarded(
    events: AsyncGenerator[TurnEvent, None],
    rights: Rights,
    caller: Caller,
    shown: tuple[Evidence, ...],
    clock: Callable[[], float],
) -> AsyncGenerator[TurnEvent, None]:
    """The events as long as the caller may read the evidence; looks every EVERY_S seconds by `clock`, and after the last one.

    Raises AccessRevoked.
    """
    due = clock() + EVERY_S
    async with aclosing(events):
        async for event in events:
            if clock() >= due:
                await check_rights(rights, caller, shown)
                due = clock() + EVERY_S
            yield event
    await check_rights(rights, caller, shown)
