"""What a client knows of its session: every event once, in order, or it is told that something is amiss. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from pydantic import ValidationError

from assistant.client.frames import Told, Withheld
from assistant.codec import adapter
from assistant.core.events import AnswerDelta, AnswerFinished
from assistant.core.turn import TurnMessage, apply, without_sources
from assistant.errors import BadInput


class Outcome(Enum):
    """What became of an event: applied; known before; after a gap; or it does not fit the text at hand."""

    NEW = "new"
    OLD = "old"
    HOLE = "hole"
    SPOILED = "spoiled"


_MESSAGE: Final = adapter(TurnMessage)


@dataclass(slots=True)
class Log:
    """The turns of a session as the fold of their events, up to and including event `seq`."""

    session: str | None = None
    epoch: str | None = None
    seq: int = 0
    turns: dict[str, TurnMessage] = field(default_factory=dict)
    withheld: set[str] = field(default_factory=set)

    def take(self, told: Told) -> Outcome:
        """Apply an event: what was seen is dropped, and nothing is applied after a gap or to a text it does not fit."""
        if told.seq <= self.seq:
            return Outcome.OLD
        if told.seq > self.seq + 1:
            return Outcome.HOLE
        before = self.turns.get(told.turn, TurnMessage())
        if told.turn not in self.withheld and _spoils(before, told):
            return Outcome.SPOILED
        self.seq = told.seq
        if isinstance(told.event, Withheld):
            self.withheld.add(told.turn)
            self.turns[told.turn] = without_sources(before)
        elif told.event is not None:
            self.turns[told.turn] = apply(before, told.event)
        return Outcome.NEW

    def begin(self, session: str, epoch: str) -> None:
        """Stand at the beginning of a session that has no events."""
        self.session, self.epoch, self.seq = session, epoch, 0
        self.turns.clear()
        self.withheld.clear()

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Take the snapshot of the session (`GET /api/sessions/{id}`) for everything. Raises BadInput where it is none."""
        try:
            given = snapshot["turns"]
            turns = {each["turn"]: _MESSAGE.validate_python(each["message"]) for each in given}
            session, epoch, seq = str(snapshot["session_id"]), str(snapshot["epoch"]), int(snapshot["as_of_seq"])
            withheld = {each["turn"] for each in given if each["message"].get("withheld")}
        except (LookupError, TypeError, ValueError, AttributeError, ValidationError) as error:
            raise BadInput("the snapshot has not the promised form", reason="snapshot") from error
        self.session, self.epoch, self.seq, self.turns, self.withheld = session, epoch, seq, turns, withheld


def _spoils(message: TurnMessage, told: Told) -> bool:
    """Whether an event shows that the text at hand is not the text that was stored."""
    match told.event:
        case AnswerDelta(off=off):
            return off != len(message.text)
        case AnswerFinished(length=length, sha256=sha256):
            return length != len(message.text) or sha256 != hashlib.sha256(message.text.encode()).hexdigest()
    return False
