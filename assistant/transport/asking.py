"""Asking: what every door makes of a question before it starts a turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from assistant.conversation.turns import Question
from assistant.core.access import Caller
from assistant.errors import BadInput
from assistant.synthesis.registry import read_mode
from assistant.transport.doors import Doors, read_schema
from assistant.transport.protocol import Scope


class Asked(Protocol):
    """A question as it comes in, over whatever door."""

    @property
    def text(self) -> str: ...  # noqa: D102
    @property
    def mode(self) -> str: ...  # noqa: D102
    @property
    def scope(self) -> Scope | None: ...  # noqa: D102
    @property
    def json_schema(self) -> dict[str, Any] | None: ...  # noqa: D102
    @property
    def attachments(self) -> Sequence[str]: ...  # noqa: D102


async def read_question(doors: Doors, caller: Caller, session: str, *, client_id: str, data: Asked) -> Question:
    """The question of a caller in a session; counts one start of the caller's minute.

    Raises BadInput for an empty text, an unknown mode or a schema that cannot be used, Busy when the minute is full, NotFound
    for a file that is not of this session.
    """
    mode, schema = read_mode(data.mode), read_schema(data.json_schema)
    if not data.text.strip():
        raise BadInput("the question is empty", reason="text")
    files = await doors.files.attached(caller, session, data.attachments)
    doors.limiter.take(caller)
    scope = frozenset(data.scope.collections) if data.scope and data.scope.collections else None
    return Question(client_id, data.text, mode, scope, schema, attachments={file.id: file.title for file in files})
