"""Live turns: start, commit, follow, cancel. One task per running turn; nobody who listens can slow it down."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import structlog

from assistant.conversation.manager import ConversationManager
from assistant.conversation.turns import StartedTurn
from assistant.core.access import Caller
from assistant.core.events import AnswerDelta, TurnEvent, TurnFinished
from assistant.core.history import PastTurn
from assistant.core.modes import Mode
from assistant.core.turn import TurnMessage, apply, fold
from assistant.interfaces import BegunTurn, ConversationStore, EventLog, NumberedEvent

log = structlog.get_logger(__name__)

TAIL_EVENTS = 512
"""Events of a conversation that are kept in memory for followers; older ones are read from the log."""


@dataclass(slots=True)
class Tail:
    """The latest events of one conversation in this process, and a bell that rings when one is added."""

    recent: deque[NumberedEvent] = field(default_factory=lambda: deque(maxlen=TAIL_EVENTS))
    bell: asyncio.Event = field(default_factory=asyncio.Event)
    users: int = 0

    def add(self, events: Sequence[NumberedEvent]) -> None:
        """Add committed events and wake everyone who waits; two turns of one batch may report out of order."""
        late = bool(self.recent and events and events[0].seq < self.recent[-1].seq)
        self.recent.extend(events)
        if late:
            self.recent = deque(sorted(self.recent, key=lambda event: event.seq), TAIL_EVENTS)
        self.bell.set()
        self.bell = asyncio.Event()

    def after(self, seq: int) -> list[NumberedEvent] | None:
        """The unbroken run of events after `seq`; None when memory cannot tell what follows."""
        if not self.recent:
            return None
        if self.recent[-1].seq <= seq:
            return []
        run: list[NumberedEvent] = []
        for event in self.recent:
            if event.seq == seq + len(run) + 1:
                run.append(event)
        return run or None


@dataclass(slots=True)
class _Running:
    caller: Caller
    conversation: str
    cancelled: asyncio.Event
    task: asyncio.Task[None] | None = None


class LiveTurns:
    """The running turns of this process and the followers of their conversations."""

    def __init__(
        self,
        manager: ConversationManager,
        store: ConversationStore,
        events: EventLog,
        new_id: Callable[[], str],
        *,
        per_user: int = 2,
        interval: float = 0.04,
        after_turn: Callable[[str], Awaitable[None]] | None = None,
    ) -> None:
        self._manager = manager
        self._store = store
        self._events = events
        self._new_id = new_id
        self._per_user = per_user
        self._interval = interval
        self._after_turn = after_turn
        self._afterwards: set[asyncio.Task[None]] = set()
        self._running: dict[str, _Running] = {}
        self._tails: dict[str, Tail] = {}
        self._starting: set[asyncio.Task[BegunTurn]] = set()

    async def start(
        self,
        caller: Caller,
        conversation: str,
        *,
        client_id: str,
        text: str,
        mode: Mode | str | None = None,
        collections: frozenset[str] | None = None,
        schema: Mapping[str, Any] | None = None,
        past: tuple[PastTurn, ...] = (),
    ) -> BegunTurn:
        """Store the question and run the turn in the background; `past` is what was said elsewhere before it.

        The same client id again gives the same turn and starts nothing. Raises Busy at the user's limit of running turns,
        NotFound for a conversation of somebody else, IdempotencyMismatch for the same id with other content.
        """
        started = asyncio.create_task(
            self._start(caller, conversation, client_id, text, mode, collections, schema, past)
        )
        self._starting.add(started)
        started.add_done_callback(self._starting.discard)
        return await asyncio.shield(started)  # a socket that goes must not leave a stored turn that nobody runs

    async def _start(
        self,
        caller: Caller,
        conversation: str,
        client_id: str,
        text: str,
        mode: Mode | str | None,
        collections: frozenset[str] | None,
        schema: Mapping[str, Any] | None,
        past: tuple[PastTurn, ...],
    ) -> BegunTurn:
        asked = str(mode) if mode else "auto"
        begun = await self._store.begin_turn(
            caller,
            conversation,
            turn=self._new_id(),
            client_id=client_id,
            text=text,
            mode=asked,
            limit=self._per_user,
            collections=collections,
        )
        if begun.duplicate:
            return begun
        if begun.event is not None:
            self._tail(conversation).add([begun.event])
        started = StartedTurn(
            caller,
            conversation,
            begun.turn,
            text,
            mode,
            collections,
            (*past, *begun.history),
            begun.notes,
            schema,
            dict(begun.numbers or {}),
        )
        self._spawn(started, lambda cancelled: self._manager.run_turn(started, cancelled))
        return begun

    def _spawn(
        self, started: StartedTurn, make: Callable[[asyncio.Event], AsyncGenerator[TurnEvent, None]]
    ) -> asyncio.Task[None]:
        running = _Running(started.caller, started.conversation, asyncio.Event())
        self._running[started.turn] = running
        running.task = asyncio.create_task(self._commit(started, make(running.cancelled)))
        running.task.add_done_callback(lambda _: self._forget(started))
        return running.task

    def _forget(self, started: StartedTurn) -> None:
        self._running.pop(started.turn, None)
        self._drop_idle_tail(started.conversation)
        if self._after_turn is not None:
            task = asyncio.create_task(self._follow_up(self._after_turn, started.conversation))
            self._afterwards.add(task)
            task.add_done_callback(self._afterwards.discard)

    async def _follow_up(self, work: Callable[[str], Awaitable[None]], conversation: str) -> None:
        """What is done for a conversation when nobody waits for it; the next turn does it again when it fails."""
        try:
            await work(conversation)
        except Exception:
            log.exception("work after a turn failed", conversation=conversation)

    async def settle(self) -> None:
        """Return when all work after turns is done."""
        while self._afterwards:
            await asyncio.wait(set(self._afterwards))

    async def _commit(self, started: StartedTurn, events: AsyncGenerator[TurnEvent, None]) -> None:
        """Commit the events of a turn in batches, then let the followers see them.

        A turn whose events cannot be stored is ended as failed; where that cannot be stored either, the next start-up ends it.
        """
        message = TurnMessage(question=started.text)
        try:
            async with aclosing(batched(events, self._interval)) as batches:
                async for batch in batches:
                    message = await self._publish(started, batch, message)
        except Exception:
            log.exception("events of a turn could not be stored", turn=started.turn)
            await self._recover(started.conversation, started.turn)

    async def _publish(self, started: StartedTurn, batch: Sequence[TurnEvent], message: TurnMessage) -> TurnMessage:
        """Commit a batch and show it; the state of the turn after it.

        The message is stored after all events it is made of and before the last one, turn.done: so the stored message is the
        fold of the log, and whoever sees the end finds the message.
        """
        message = fold(batch, message)
        last = batch[-1]
        if not isinstance(last, TurnFinished):
            await self._append(started, batch)
            return message
        await self._append(started, batch[:-1])
        receipt = await self._store.finish_turn(started.conversation, started.turn, message)
        if receipt is not None:
            last = replace(last, audit_id=receipt.audit_id, record_hash=receipt.record_hash)
        await self._append(started, [last])
        return apply(message, last)

    async def _append(self, started: StartedTurn, events: Sequence[TurnEvent]) -> None:
        if events:
            numbered = await self._events.append(started.conversation, started.turn, events)
            self._tail(started.conversation).add(numbered)

    def cancel(self, caller: Caller, conversation: str, turn: str) -> bool:
        """Stop a running turn of the caller; False when it is not running here."""
        running = self._running.get(turn)
        if running is None or running.conversation != conversation:
            return False
        if (running.caller.tenant, running.caller.user) != (caller.tenant, caller.user):
            return False
        running.cancelled.set()
        return True

    async def follow(self, conversation: str, after: int) -> AsyncGenerator[NumberedEvent, None]:
        """All events of a conversation after a number: first those of the past, then live ones, without a gap.

        Followers read at their own pace, from memory or from the log; a slow one costs nothing but itself.
        """
        last = after
        with self._following(conversation) as tail:
            while True:
                bell = tail.bell
                batch = tail.after(last)
                if batch is None:
                    batch = await self._events.read(conversation, after=last, limit=200)
                for event in batch:
                    yield event
                    last = event.seq
                if not batch:
                    await bell.wait()

    async def wait(self, turn: str) -> None:
        """Return when the turn is not running here any more."""
        running = self._running.get(turn)
        if running is not None and running.task is not None:
            await asyncio.wait({running.task})

    async def recover(self) -> int:
        """End every turn that a crash left open; the number of them. Call once at start-up, before serving."""
        open_turns = await self._store.open_turns()
        for conversation, turn in open_turns:
            await self._recover(conversation, turn)
        return len(open_turns)

    async def _recover(self, conversation: str, turn: str) -> None:
        """End a turn from its log: what was committed is kept and cited."""
        try:
            message = fold(item.event for item in await self._events.read(conversation, turn=turn))
            started = StartedTurn(Caller("", ""), conversation, turn, message.question)
            if message.stage == "done":
                await self._store.finish_turn(conversation, turn, message)
                return
            async for event in self._manager.recover(started, message):
                message = await self._publish(started, [event], message)
        except Exception:
            log.exception("an open turn could not be ended", turn=turn)
        finally:
            self._drop_idle_tail(conversation)

    async def drain(self, patience: float) -> None:
        """Let running turns end for `patience` seconds, then stop them; what they wrote is kept."""
        tasks = {running.task for running in self._running.values() if running.task}
        if tasks:
            await self._stop(tasks, patience)
        for task in set(self._afterwards):
            task.cancel()
        await asyncio.gather(*self._afterwards, return_exceptions=True)

    async def _stop(self, tasks: set[asyncio.Task[None]], patience: float) -> None:
        _, late = await asyncio.wait(tasks, timeout=patience)
        for running in self._running.values():
            running.cancelled.set()
        if late:
            await asyncio.wait(late, timeout=5)

    def _tail(self, conversation: str) -> Tail:
        return self._tails.setdefault(conversation, Tail())

    @contextmanager
    def _following(self, conversation: str) -> Iterator[Tail]:
        tail = self._tail(conversation)
        tail.users += 1
        try:
            yield tail
        finally:
            tail.users -= 1
            self._drop_idle_tail(conversation)

    def _drop_idle_tail(self, conversation: str) -> None:
        tail = self._tails.get(conversation)
        busy = any(running.conversation == conversation for running in self._running.values())
        if tail is not None and tail.users == 0 and not busy:
            del self._tails[conversation]


async def batched(events: AsyncGenerator[TurnEvent, None], interval: float) -> AsyncGenerator[list[TurnEvent], None]:
    """Gather events into batches to commit: the first delta goes at once, further ones about every `interval` seconds.

    Neighbouring deltas of a batch become one. Anything that is not a delta ends the wait.
    """
    queue: asyncio.Queue[TurnEvent | None] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    pump = asyncio.create_task(_pump(events, queue))
    quiet_until = 0.0
    try:
        while (event := await queue.get()) is not None:
            if isinstance(event, AnswerDelta) and (rest := quiet_until - loop.time()) > 0:
                await asyncio.sleep(rest)
            batch, ended = _drained([event], queue)
            yield batch
            quiet_until = loop.time() + interval
            if ended:
                break
        await pump
    finally:
        pump.cancel()


async def _pump(events: AsyncGenerator[TurnEvent, None], queue: asyncio.Queue[TurnEvent | None]) -> None:
    try:
        async with aclosing(events):
            async for event in events:
                queue.put_nowait(event)
    finally:
        queue.put_nowait(None)


def _drained(batch: list[TurnEvent], queue: asyncio.Queue[TurnEvent | None]) -> tuple[list[TurnEvent], bool]:
    while not queue.empty():
        event = queue.get_nowait()
        if event is None:
            return batch, True
        last = batch[-1]
        if isinstance(event, AnswerDelta) and isinstance(last, AnswerDelta):
            batch[-1] = replace(last, text=last.text + event.text)
        else:
            batch.append(event)
    return batch, False
