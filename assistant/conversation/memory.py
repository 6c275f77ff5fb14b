"""Memory: after a turn, older turns of its conversation become notes. In the background; no answer waits for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import structlog

from assistant.core.history import Notes, PastTurn, bounded_notes, condense, due_for_notes
from assistant.core.prompt import recap_request
from assistant.core.text import prompt_language, remove_invisible
from assistant.errors import AssistantError
from assistant.interfaces import ChatModel, ConversationStore
from assistant.prompts import Prompts
from assistant.synthesis.calls import complete

log = structlog.get_logger(__name__)

_TOKENS: Final = 300
_PATIENT: Final = 8
"""So many turns may wait for a model that is away; they are remembered in full for a while yet, until the store leaves them out."""
_QUESTION: Final = 400
_ANSWER: Final = 1200


class Memory:
    """Keeps the notes of conversations up to date; without a model they are made by rule."""

    def __init__(self, store: ConversationStore, prompts: Prompts, model: ChatModel | None = None) -> None:
        self._store = store
        self._prompts = prompts
        self._model = model

    async def is_due(self, conversation: str) -> bool:
        """Whether `refresh` would write notes now."""
        return bool(due_for_notes(*await self._store.remembered(conversation)))

    async def refresh(self, conversation: str, *, patient: bool = False) -> None:
        """Add the turns that have left the end of the conversation to its notes, when there are enough of them.

        Who is `patient` comes again: a model that is away is then no reason for notes by rule, as long as few turns wait for
        it, and its error is raised.
        """
        past, notes = await self._store.remembered(conversation)
        turns = due_for_notes(past, notes)
        if turns:
            text = await self._written(notes.text if notes else "", turns, patient=patient)
            await self._store.save_notes(conversation, Notes(text, turns[-1].number))

    async def _written(self, before: str, turns: Sequence[PastTurn], *, patient: bool) -> str:
        """Notes by the model; by rule without one, when it fails, and when it writes nothing."""
        ruled = condense(before, turns)
        if self._model is None:
            return ruled
        try:
            return await self._by_model(self._model, before, turns) or ruled
        except AssistantError as failure:
            if patient and failure.retryable and len(turns) <= _PATIENT:
                raise
            log.info("notes left to the rule", reason=failure.code)
            return ruled

    async def _by_model(self, model: ChatModel, before: str, turns: Sequence[PastTurn]) -> str:
        talk = [(_cut(turn.standalone, _QUESTION), _cut(turn.answer, _ANSWER)) for turn in turns]
        request = recap_request(
            prompts=self._prompts(prompt_language(turns[-1].standalone)), notes=before, talk=talk, max_tokens=_TOKENS
        )
        return bounded_notes((await complete(model, request)).text)


def _cut(text: str, longest: int) -> str:
    return " ".join(remove_invisible(text).split())[:longest]
