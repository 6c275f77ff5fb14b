"""Notes as jobs: put in when they are due, written once, never lost to a model that is away, and at once where there is no queue."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pytest

from assistant.app.noting import NOTES, NotesAfterTurns, WriteNotes
from assistant.conversation.memory import Memory
from assistant.core.history import ENOUGH_TURNS, KEPT_TURNS
from assistant.core.prompt import PromptSet
from assistant.errors import ContextOverflow, ModelUnavailable
from assistant.interfaces.jobs import Payload
from assistant.jobs import in_process
from assistant.jobs.late import LateQueue
from assistant.llm.scripted import ScriptedModel
from assistant.prompts import load_prompts
from assistant.store import Store
from tests.jobs.queues import Doing, queue, running, until, until_listed
from tests.store.filling import ANN, answer_of

DUE = KEPT_TURNS + ENOUGH_TURNS
ENGLISH = load_prompts("en")


def prompts(language: str, collection: str | None = None) -> PromptSet:
    return ENGLISH


@dataclass(slots=True)
class Talk:
    """A conversation that grows."""

    store: Store
    id: str
    turns: int = 0

    async def go_on(self, count: int) -> None:
        for _ in range(count):
            self.turns += 1
            turn, question = f"t{self.turns}", f"What of rule {self.turns}?"
            await self.store.conversations.begin_turn(
                ANN, self.id, turn=turn, client_id=turn, text=question, mode="auto", limit=99
            )
            await self.store.conversations.finish_turn(self.id, turn, answer_of((), question=question))

    async def through(self) -> int:
        _, notes = await self.store.conversations.remembered(self.id)
        return notes.through if notes else 0

    async def text(self) -> str:
        _, notes = await self.store.conversations.remembered(self.id)
        return notes.text if notes else ""


async def begun(store: Store) -> Talk:
    return Talk(store, (await store.conversations.open(ANN, None)).id)


async def test_a_conversation_gets_a_job_when_notes_are_due(store: Store) -> None:
    talk, late, memory = await begun(store), LateQueue(), Memory(store.conversations, prompts)
    after = NotesAfterTurns(memory, late)
    async with queue("", {NOTES: WriteNotes(memory)}) as jobs:
        with late.over(jobs):
            await talk.go_on(DUE - 1)
            await after(talk.id)
            assert await jobs.list() == []
            await talk.go_on(1)
            await after(talk.id)
            await after(talk.id)
            (waiting,) = await jobs.list()
            assert (waiting.key, waiting.payload) == (f"notes:{talk.id}", {"conversation": talk.id})
            assert await talk.through() == 0
            async with running(jobs):
                await until_listed(jobs, None, 0)
            assert await talk.through() == ENOUGH_TURNS
            await after(talk.id)
            assert await jobs.list() == []


async def test_without_a_queue_notes_are_written_at_once(store: Store) -> None:
    talk, late = await begun(store), LateQueue()
    after = NotesAfterTurns(Memory(store.conversations, prompts), late)
    await talk.go_on(DUE)
    assert not await late.enqueue(NOTES)
    await after(talk.id)
    assert await talk.through() == ENOUGH_TURNS


async def test_turns_that_end_while_notes_are_written_come_into_the_next_ones(store: Store) -> None:
    talk, late, memory = await begun(store), LateQueue(), Memory(store.conversations, prompts)
    held, write = Doing(hold=True), WriteNotes(memory)
    after = NotesAfterTurns(memory, late)

    async def written(payload: Payload) -> None:
        await write(payload)
        await held(payload)

    async with queue("", {NOTES: written}) as jobs:
        with late.over(jobs):
            await talk.go_on(DUE)
            await after(talk.id)
            async with running(jobs):
                await until(lambda: held.begun == 1)
                await talk.go_on(ENOUGH_TURNS)
                await after(talk.id)
                assert [job.status.value for job in await jobs.list()] == ["waiting", "running"]
                held.go.set()
                await until_listed(jobs, None, 0)
    assert await talk.through() == 2 * ENOUGH_TURNS


async def test_a_model_that_is_away_is_tried_again_with_the_job(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_process, "wait_s", lambda _: 0)
    talk, late = await begun(store), LateQueue()
    away, back = ScriptedModel(fail_with=ModelUnavailable()), ScriptedModel(["By the model."])
    tried: list[str] = []

    async def write(payload: Payload) -> None:
        tried.append(await talk.text())
        model = away if len(tried) < 3 else back
        await WriteNotes(Memory(store.conversations, prompts, model))(payload)

    async with queue("", {NOTES: write}) as jobs:
        with late.over(jobs):
            await talk.go_on(DUE)
            await NotesAfterTurns(Memory(store.conversations, prompts), late)(talk.id)
            async with running(jobs):
                await until_listed(jobs, None, 0)
    assert tried == ["", "", ""]
    assert await talk.text() == "By the model."


async def test_patience_ends_with_an_error_that_stays_and_before_turns_are_left_out(store: Store) -> None:
    away = Memory(store.conversations, prompts, ScriptedModel(fail_with=ModelUnavailable()))
    too_long = Memory(store.conversations, prompts, ScriptedModel(fail_with=ContextOverflow()))
    talk = await begun(store)
    await talk.go_on(KEPT_TURNS + 8)
    with pytest.raises(ModelUnavailable):
        await away.refresh(talk.id, patient=True)
    assert await talk.through() == 0
    await talk.go_on(1)
    await away.refresh(talk.id, patient=True)
    assert await talk.through() == 9
    assert len((await talk.text()).splitlines()) == 9
    await talk.go_on(ENOUGH_TURNS)
    await too_long.refresh(talk.id, patient=True)
    assert await talk.through() == 9 + ENOUGH_TURNS


async def test_a_job_of_a_conversation_that_is_gone_ends(store: Store) -> None:
    await asyncio.wait_for(WriteNotes(Memory(store.conversations, prompts))({"conversation": "gone"}), 5)
    assert await store.conversations.remembered("gone") == ((), None)
