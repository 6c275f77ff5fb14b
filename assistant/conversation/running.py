"""Live turns: start, commit, follow, cancel. One task per running turn; nobody who listens can slow it down."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, replace
from typing import Final

import structlog

from assistant.conversation.batching import batched
from assistant.conversation.manager import ConversationManager
from assistant.conversation.observing import committing
from assistant.conversation.tails import Tail
from assistant.conversation.turns import Question, StartedTurn
from assistant.core.access import Caller
from assistant.core.events import TurnEvent, TurnFinished
from assistant.core.turn import TurnMessage, apply, fold
from assistant.errors import AssistantError, NotFound, Refusal, StoreUnavailable
from assistant.interfaces import BegunTurn, ConversationStore, EventLog, NumberedEvent, Workers
from assistant.telemetry import step, stepping

log = structlog.get_logger(__name__)

PAGE: Final = 200
"""Events that a follower reads from the log at once."""
PATIENCE_S: Final = 120.0
"""For how long followers wait for a log that cannot be read, before all of them come back at once."""
INTERRUPTED: Final = "interrupted"
"""The code of a turn that did not come to its end."""
_ELSEWHERE: Final = ("turn_taken", "turn_ended")


@dataclass(slots=True)
class _Running:
    caller: Caller
    conversation: str
    cancelled: asyncio.Event
    task: asyncio.Task[None] | None = None


@dataclass(frozen=True, slots=True)
class _Unsure:
    """A turn that is to be ended later, with the error that it ends with."""

    conversation: str
    error: str


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
        workers: Workers | None = None,
        admit: Callable[[], None] = lambda: None,
    ) -> None:
        self._manager = manager
        self._store = store
        self._events = events
        self._new_id = new_id
        self._per_user = per_user
        self._interval = interval
        self._after_turn = after_turn
        self._workers = workers
        self._admit = admit
        self._afterwards: set[asyncio.Task[None]] = set()
        self._running: dict[str, _Running] = {}
        self._tails: dict[str, Tail] = {}
        self._starting: set[asyncio.Task[BegunTurn]] = set()
        self._unsure: dict[str, _Unsure] = {}

    async def start(self, caller: Caller, conversation: str, asked: Question) -> BegunTurn:
        """Store the question and run the turn in the background.

        The same client id again gives the same turn and starts nothing. Raises Busy at the user's limit of running turns,
        NotFound for a conversation of somebody else, IdempotencyMismatch for the same id with other content.
        """
        started = asyncio.create_task(self._start(caller, conversation, asked))
        self._starting.add(started)
        started.add_done_callback(self._starting.discard)
        return await asyncio.shield(started)  # a socket that goes must not leave a stored turn that nobody runs

    async def _start(self, caller: Caller, conversation: str, asked: Question) -> BegunTurn:
        self._admit()
        begun = await self._begin(caller, conversation, asked)
        if begun.duplicate:
            return begun
        if begun.event is not None:
            self._tail(conversation).add([begun.event])
        started = StartedTurn(
            caller,
            conversation,
            begun.turn,
            asked.text,
            asked.mode,
            asked.collections,
            (*asked.past, *begun.history),
            begun.notes,
            asked.schema,
            dict(begun.numbers or {}),
            tuple(asked.attachments),
        )
        self._spawn(started, lambda cancelled: self._manager.run_turn(started, cancelled))
        return begun

    async def _begin(self, caller: Caller, conversation: str, asked: Question) -> BegunTurn:
        turn = self._new_id()
        try:
            return await self._store.begin_turn(
                caller,
                conversation,
                turn=turn,
                client_id=asked.client_id,
                text=asked.text,
                mode=str(asked.mode) if asked.mode else "auto",
                limit=self._per_user,
                collections=asked.collections,
                attachments=tuple(asked.attachments.values()),
            )
        except Exception as error:
            if _may_pass(error):  # a commit whose answer is lost says nothing
                self._unsure[turn] = _Unsure(conversation, _code(error))
            raise

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

    @stepping("turn")
    async def _commit(self, started: StartedTurn, events: AsyncGenerator[TurnEvent, None]) -> None:
        """Commit the events of a turn in batches, then let the followers see them.

        A turn whose events cannot be stored is ended as failed; where that cannot be stored either, `end_unsure` does it later.
        """
        told = list[TurnEvent]()
        try:
            async with aclosing(batched(events, self._interval)) as batches:
                async for batch in batches:
                    await self._publish(started, batch, told)
        except Refusal as error:
            if error.code in _ELSEWHERE:
                log.warning("another worker ends the turn", turn=started.turn, code=error.code)
                return
            await self._give_up(started, error)
        except Exception as error:
            await self._give_up(started, error)

    async def _give_up(self, started: StartedTurn, error: Exception) -> None:
        log.error("events of a turn could not be stored", turn=started.turn, exc_info=error)
        await self._recover(started.turn, _Unsure(started.conversation, _code(error)))

    async def _publish(self, started: StartedTurn, batch: Sequence[TurnEvent], told: list[TurnEvent]) -> None:
        """Commit a batch and show it; `told` are the events before it, and gets it.

        The message is stored after all events it is made of and before the last one, turn.done: so the stored message is the
        fold of the log, and whoever sees the end finds the message.
        """
        told += batch
        last = batch[-1]
        if not isinstance(last, TurnFinished):
            await self._append(started, batch)
            return
        await self._append(started, batch[:-1])
        message = fold(told, TurnMessage(question=started.text))
        with step("store"):
            receipt = await self._store.finish_turn(started.conversation, started.turn, message)
        if receipt is not None:
            last = replace(last, audit_id=receipt.audit_id, record_hash=receipt.record_hash)
        await self._append(started, [last])

    async def _append(self, started: StartedTurn, events: Sequence[TurnEvent]) -> None:
        if events:
            with committing(events):
                numbered = await self._events.append(started.conversation, started.turn, events)
            self._tail(started.conversation).add(numbered)

    async def cancel(self, caller: Caller, conversation: str, turn: str) -> bool:
        """Stop a running turn of the caller, on whatever worker it runs; False when there is none."""
        running = self._running.get(turn)
        if running is None:
            return self._workers is not None and await self._workers.ask_cancel(caller, conversation, turn)
        if running.conversation != conversation or not _same_person(running.caller, caller):
            return False
        running.cancelled.set()
        return True

    def cancel_all_of(self, caller: Caller) -> None:
        """Stop the turns of a person that run here."""
        for running in self._running.values():
            if _same_person(running.caller, caller):
                running.cancelled.set()

    async def obey_cancels(self) -> None:
        """Stop the turns of this worker that somebody asked another one to stop."""
        if self._workers is None or not self._running:
            return
        for turn in await self._workers.cancels():
            if (running := self._running.get(turn)) is not None:
                running.cancelled.set()

    def stir(self, conversations: frozenset[str] | None = None) -> None:
        """Let the followers of these conversations (None: of all) look into the log: others may have written to it."""
        for conversation in list(self._tails) if conversations is None else conversations:
            if (tail := self._tails.get(conversation)) is not None:
                tail.hint()

    async def follow(self, conversation: str, after: int) -> AsyncGenerator[NumberedEvent, None]:
        """All events of a conversation after a number: first those of the past, then live ones, without a gap.

        Followers read at their own pace, from memory or from the log; a slow one costs nothing but itself.
        """
        last = after
        with self._following(conversation) as tail:
            hints = tail.hints - 1  # what others wrote before is in the log only
            while True:
                rings, hinted = tail.bell.rings, tail.hints
                batch = tail.after(last)
                if batch is None or (not batch and hinted != hints):
                    batch = await self._read_on(conversation, last)
                    hints = hinted if len(batch) < PAGE else hints
                for event in batch:
                    yield event
                    last = event.seq
                if not batch:
                    await tail.bell.after(rings)

    async def _read_on(self, conversation: str, after: int) -> list[NumberedEvent]:
        """The next events of the log. A database that is away for a moment is waited for: a follower misses nothing by it."""
        deadline, pause = asyncio.get_running_loop().time() + PATIENCE_S, 0.1
        while True:
            try:
                return await self._events.read(conversation, after=after, limit=PAGE)
            except Exception as error:
                if not _may_pass(error) or asyncio.get_running_loop().time() > deadline:
                    raise
                log.warning("the log cannot be read", conversation=conversation, error=type(error).__name__)
            await asyncio.sleep(pause)
            pause = min(2 * pause, 2.0)

    async def wait(self, turn: str) -> None:
        """Return when the turn is not running here any more."""
        running = self._running.get(turn)
        if running is not None and running.task is not None:
            await asyncio.wait({running.task})

    async def finished(self, conversation: str, turn: str) -> TurnMessage:
        """The turn when it has ended, wherever it runs. Raises NotFound when there is none."""
        await self.wait(turn)
        items = await self._events.read(conversation, turn=turn)
        if not items:
            raise NotFound("no such turn")
        message = fold(item.event for item in items)
        if message.stage == "done":
            return message
        async with aclosing(self.follow(conversation, items[-1].seq)) as later:
            async for item in later:
                message = apply(message, item.event) if item.turn == turn else message
                if message.stage == "done":
                    break
        return message

    async def recover(self) -> int:
        """End every turn that a crash left open; the number of them. Call once at start-up, before serving.

        Turns that another living worker runs are left to it.
        """
        open_turns = await (self._workers.claim_all_lost() if self._workers else self._store.open_turns())
        await self.end_lost(open_turns)
        return len(open_turns)

    async def end_lost(self, lost: Sequence[tuple[str, str]]) -> None:
        """End turns (conversation, turn) whose process is gone."""
        for conversation, turn in lost:
            await self._recover(turn, _Unsure(conversation, INTERRUPTED))

    async def end_unsure(self) -> None:
        """Try again to end the turns of this process that could not be ended, or not be seen to begin."""
        for turn, unsure in list(self._unsure.items()):
            await self._recover(turn, unsure)

    async def _recover(self, turn: str, unsure: _Unsure) -> None:
        """End a turn from its log: what was committed is kept and cited. What fails is tried again later."""
        self._unsure.pop(turn, None)
        try:
            await self._end(unsure.conversation, turn, unsure.error)
        except Exception as error:
            if _may_pass(error):
                log.exception("an open turn could not be ended", turn=turn)
                self._unsure[turn] = unsure
            else:  # another worker's, or a log that will be no better later
                log.warning("an open turn is not ended here", turn=turn, code=_code(error))
        finally:
            self._drop_idle_tail(unsure.conversation)

    async def _end(self, conversation: str, turn: str, error: str) -> None:
        events = [item.event for item in await self._events.read(conversation, turn=turn)]
        message = fold(events)
        started = StartedTurn(Caller("", ""), conversation, turn, message.question)
        if message.stage == "done":
            await self._store.finish_turn(conversation, turn, message)
        elif events:  # without any the turn was never stored
            async for event in self._manager.recover(started, message, error):
                await self._publish(started, [event], events)

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


def _may_pass(error: Exception) -> bool:
    """Whether the same may work later: whatever is no typed error, and a database that is away."""
    return not isinstance(error, AssistantError) or isinstance(error, StoreUnavailable)


def _code(error: Exception) -> str:
    """The code that a turn ends with whose events could not be stored because of this."""
    return error.code if isinstance(error, StoreUnavailable) else INTERRUPTED


def _same_person(one: Caller, other: Caller) -> bool:
    return (one.tenant, one.user) == (other.tenant, other.user)
