"""A running conversation for tests: a real store, a scripted model, a small handbook."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from assistant.conversation.answering import Answering, Route, TurnPolicy
from assistant.conversation.judging import ConflictJudge
from assistant.conversation.manager import ConversationManager
from assistant.conversation.memory import Memory
from assistant.conversation.running import LiveTurns
from assistant.conversation.turns import Question
from assistant.core.access import Caller
from assistant.core.modes import Mode
from assistant.core.turn import TurnMessage, fold
from assistant.interfaces import ChatModel, NumberedEvent
from assistant.prompts import LANGUAGES, load_prompts
from assistant.retrieval.hybrid import HybridRetriever
from assistant.store import Store
from tests.store.filling import ANN, draft, put

for tongue in LANGUAGES:
    load_prompts(tongue)  # as the app does at start-up: files are never read inside a turn

LEAVE = "Employees get 20 days of annual leave. Unused days may be carried over until March. Sick leave is unlimited."
OLD_LEAVE = (
    "Employees get 15 days of annual leave. Unused days may be carried over until March. Sick leave is unlimited."
)
TRAVEL = "Your supervisor approves travel. Flights over six hours may be booked in premium economy."


@dataclass(slots=True)
class Desk:
    """Everything a test needs to ask and look."""

    store: Store
    live: LiveTurns
    conversation: str
    caller: Caller = ANN

    async def ask(self, text: str, *, client_id: str = "", mode: Mode | None = None) -> str:
        key = client_id or f"c-{time.monotonic_ns()}"
        begun = await self.live.start(self.caller, self.conversation, Question(client_id=key, text=text, mode=mode))
        return begun.turn

    async def answer(self, text: str, *, mode: Mode | None = None) -> TurnMessage:
        turn = await self.ask(text, mode=mode)
        await self.live.wait(turn)
        return await self.message(turn)

    async def events(self) -> list[NumberedEvent]:
        return await self.store.events.read(self.conversation)

    async def message(self, turn: str) -> TurnMessage:
        return fold(item.event for item in await self.events() if item.turn == turn)


async def fill(store: Store) -> None:
    await put(store, draft(LEAVE, "leave.md", on=date(2025, 2, 1)))
    await put(store, draft(OLD_LEAVE, "leave-2020.md", on=date(2020, 1, 1), title="Leave 2020"))
    await put(store, draft(TRAVEL, "travel.md", title="Travel"))
    await put(store, draft("The board met in secret in May about leave.", "board.md", access=("board",)))


async def sit_down(store: Store, model: ChatModel, *, per_user: int = 2, policy: TurnPolicy | None = None) -> Desk:
    """A desk in a new conversation over the small handbook."""
    await fill(store)
    return await beside(store, model, per_user=per_user, policy=policy)


async def beside(
    store: Store,
    model: ChatModel,
    *,
    per_user: int = 2,
    policy: TurnPolicy | None = None,
    conversation: str | None = None,
    judge: ChatModel | None = None,
    notes_by: ChatModel | None = None,
) -> Desk:
    """A desk over a store that is filled already."""
    numbers = itertools.count()
    manager = ConversationManager(
        store=store.conversations,
        retriever=HybridRetriever(store.index),
        answering=Answering(main=Route(model), prompts=load_prompts, policy=policy or TurnPolicy()),
        clock=time.monotonic,
        judge=ConflictJudge(judge, load_prompts) if judge else None,
    )
    started = time.monotonic_ns()
    live = LiveTurns(
        manager,
        store.conversations,
        store.events,
        lambda: f"t-{started}-{next(numbers)}",
        per_user=per_user,
        interval=0.005,
        after_turn=Memory(store.conversations, load_prompts, notes_by).refresh,
    )
    opened = await store.conversations.open(ANN, conversation)
    return Desk(store, live, opened.id)


def types(events: Sequence[NumberedEvent]) -> list[str]:
    """The types of events with runs of deltas and progress taken together."""
    return [kind for kind, _ in itertools.groupby(item.event.type for item in events)]
