"""Conversations: their log, their turns, and what old answers rest on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from assistant.core.access import Caller
from assistant.core.calls import ModelCall
from assistant.core.conflicts import Conflict
from assistant.core.events import TurnEvent, TurnPlanned
from assistant.core.evidence import Evidence, Passage
from assistant.core.history import Notes, PastTurn
from assistant.core.messages import Message
from assistant.core.past_sources import PastSource, SourceState
from assistant.core.turn import TurnMessage


@dataclass(frozen=True, slots=True)
class NumberedEvent:
    """An event with its place in the conversation's log; `seq` grows by one per conversation from 1."""

    seq: int
    turn: str
    at: datetime
    event: TurnEvent


class EventLog(Protocol):
    """The durable, numbered log of each conversation. Committed before anyone sees it."""

    async def append(self, conversation: str, turn: str, events: Sequence[TurnEvent]) -> list[NumberedEvent]:
        """Commit events of one turn in order and return them numbered; returns after the commit.

        Calls of all running turns are gathered into one transaction (group commit).
        """
        ...

    async def read(
        self, conversation: str, *, after: int = 0, turn: str | None = None, limit: int | None = None
    ) -> list[NumberedEvent]:
        """Events with seq > after, ascending, of one turn or of all; all of them unless `limit` says how many."""
        ...

    async def head(self, conversation: str) -> int:
        """The last seq of the conversation, 0 when it has none."""
        ...


@dataclass(frozen=True, slots=True)
class ConversationView:
    """A conversation as its owner sees it in a list."""

    id: str
    title: str
    created_at: datetime
    updated_at: datetime
    turns: int


@dataclass(frozen=True, slots=True)
class MessageView:
    """A stored message of a conversation; assistant messages carry the fold of their turn."""

    id: str
    turn: str
    message: Message
    at: datetime
    answer: TurnMessage | None = None


@dataclass(frozen=True, slots=True)
class BegunTurn:
    """What starting a turn gives back: the history before it, the citation numbers already given, and whether it is new.

    `duplicate` means that a turn with this client id exists already (`turn` is its id) and nothing was written.
    """

    turn: str
    duplicate: bool
    history: tuple[PastTurn, ...] = ()
    notes: Notes | None = None
    numbers: Mapping[str, int] | None = None
    event: NumberedEvent | None = None


@dataclass(frozen=True, slots=True)
class Receipt:
    """The audit record of an answer: its id and its hash, which cannot change without the chain showing it."""

    audit_id: str
    record_hash: str


@dataclass(frozen=True, slots=True)
class OpenedConversation:
    """An open conversation: `epoch` names the life of its log (it changes when numbers may be reused, as after a restore)."""

    id: str
    epoch: str
    head_seq: int


@dataclass(frozen=True, slots=True)
class Feedback:
    """What a person says of an answer: rating up or down, a reason, what it should have said, the citation meant.

    `id` is the idempotency key.
    """

    id: str
    turn: str
    rating: str
    reason: str | None = None
    correction: str | None = None
    citation: int | None = None


class PastSources(Protocol):
    """Gives what the citations of a person's old answers rested on; NotFound for anybody else's and for what is hidden now."""

    async def source(
        self, caller: Caller, conversation: str, turn: str, n: int, start: int | None = None
    ) -> PastSource:
        """The passage behind a citation in its version, and beside it what stands there today."""
        ...

    async def states(self, caller: Caller, conversation: str) -> dict[tuple[str, int], SourceState]:
        """What became of every citation of a conversation, by turn and number."""
        ...


class ConversationStore(Protocol):
    """Conversations, messages, turns and what they rest on. Every read and write checks the owner: NotFound otherwise."""

    async def open(self, caller: Caller, conversation: str | None) -> OpenedConversation:
        """Make a conversation (None) or check that it is the caller's (NotFound otherwise)."""
        ...

    async def conversations(
        self, caller: Caller, *, limit: int = 50, before: datetime | None = None
    ) -> list[ConversationView]:
        """The caller's conversations, the latest first."""
        ...

    async def messages(self, caller: Caller, conversation: str) -> list[MessageView]:
        """All messages of a conversation in order; running turns have only their question."""
        ...

    async def add_feedback(self, caller: Caller, conversation: str, given: Feedback) -> None:
        """Store feedback on an answer; the same id again changes nothing."""
        ...

    async def begin_turn(
        self,
        caller: Caller,
        conversation: str,
        *,
        turn: str,
        client_id: str,
        text: str,
        mode: str,
        limit: int = 2,
        collections: frozenset[str] | None = None,
        attachments: Sequence[str] = (),
    ) -> BegunTurn:
        """Store the question and the turn.accepted event in one short transaction; `attachments` are titles of files.

        Raises IdempotencyMismatch when the client id exists with another text or mode, Busy when the caller has `limit`
        turns without an end (over all conversations and workers).
        """
        ...

    async def remembered(self, conversation: str) -> tuple[tuple[PastTurn, ...], Notes | None]:
        """The last finished turns, oldest first, and the notes of the older ones."""
        ...

    async def save_notes(self, conversation: str, notes: Notes) -> None:
        """Keep notes; newer ones (that cover more turns) are never replaced by older ones."""
        ...

    async def save_calls(self, turn: str, calls: Sequence[ModelCall]) -> None:
        """Store the model calls of a turn, in the order in which they ended."""
        ...

    async def calls_of(self, caller: Caller, conversation: str, turn: str) -> list[ModelCall]:
        """The model calls of a turn; withheld when a source of it may no longer be read. NotFound as ever."""
        ...

    async def save_plan(
        self, turn: str, plan: TurnPlanned, evidence: Sequence[Evidence], conflicts: Sequence[Conflict]
    ) -> None:
        """Store plan, mode, reason, the evidence shown (with its text spans) and its conflicts."""
        ...

    async def finish_turn(self, conversation: str, turn: str, message: TurnMessage) -> Receipt | None:
        """Store the assistant message, its citations, usage and status, and its audit record, in one transaction.

        Doing it twice changes nothing and gives the same receipt; None where no audit log is kept.
        """
        ...

    async def number_evidence(self, conversation: str, evidence: Sequence[str]) -> dict[str, int]:
        """The display numbers of cited evidence; what has none yet gets the next ones, in order, for good."""
        ...

    async def conflicts_of(self, turn: str) -> list[Conflict]:
        """The conflicts among the evidence of a turn, as they were found."""
        ...

    async def error_of(self, turn: str) -> str | None:
        """The error that a turn was stored with; None while its answer is not stored, too."""
        ...

    async def open_turns(self) -> list[tuple[str, str]]:
        """(conversation, turn) of every turn whose log has no turn.done, for start-up after a crash."""
        ...

    async def evidence_of(self, turn: str) -> list[Evidence]:
        """The evidence a turn showed to the model, as it was then, in prompt order."""
        ...

    async def cited_passage(self, caller: Caller, conversation: str, turn: str, n: int) -> tuple[Passage, str]:
        """The passage behind citation n, and whether its source is unchanged, changed or deleted.

        Raises NotFound when the conversation is not the caller's or the document is no longer readable.
        """
        ...
