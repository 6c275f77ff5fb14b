"""The notes of long conversations as jobs: put in by whoever ran the turn, written by whoever is free."""

from __future__ import annotations

from typing import Final

from assistant.conversation.memory import Memory
from assistant.interfaces.jobs import Payload
from assistant.jobs.late import LateQueue

NOTES: Final = "notes"


class NotesAfterTurns:
    """What happens after each turn: its conversation gets a job when notes are due.

    Of a conversation one job runs and one waits, and each reads the conversation when it begins: turns that end while notes
    are written come into the next ones. Where there is no queue (a single question in a terminal) they are written at once.
    """

    def __init__(self, memory: Memory, queue: LateQueue) -> None:
        self._memory = memory
        self._queue = queue

    async def __call__(self, conversation: str) -> None:
        """Called when a turn of the conversation has ended."""
        if not self._queue.is_open:
            await self._memory.refresh(conversation)
        elif await self._memory.is_due(conversation):
            await self._queue.enqueue(NOTES, {"conversation": conversation}, key=f"{NOTES}:{conversation}")


class WriteNotes:
    """Does the jobs of notes. A model that is away is tried again with the job."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def __call__(self, payload: Payload) -> None:
        """Write the notes of the conversation of the job; done already, there is nothing to do."""
        await self._memory.refresh(str(payload["conversation"]), patient=True)
