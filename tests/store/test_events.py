"""The event log: numbers without gaps, group commit, one end per turn, nothing lost when a process is killed."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from datetime import datetime
from itertools import chain
from pathlib import Path

import pytest

from assistant.core.events import AnswerDelta, AnswerStarted, TurnEvent, TurnFinished
from assistant.core.turn import fold
from assistant.errors import BadInput, NotFound
from assistant.store import Store
from assistant.store.event_writers import Append
from assistant.store.events import TurnEnded
from tests.store.filling import ANN

ROOT = Path(__file__).parents[2]


async def _turn(store: Store, name: str = "t1", conversation: str | None = None) -> str:
    opened = await store.conversations.open(ANN, conversation)
    await store.conversations.begin_turn(ANN, opened.id, turn=name, client_id=name, text="Q?", mode="auto", limit=99)
    return opened.id


async def test_events_come_back_in_order_with_their_numbers(store: Store) -> None:
    conversation = await _turn(store)
    given: list[TurnEvent] = [AnswerStarted("m", "p"), AnswerDelta(0, "Hel"), AnswerDelta(3, "lo 年假 😀")]
    numbered = await store.events.append(conversation, "t1", given)
    assert [event.seq for event in numbered] == [2, 3, 4]  # 1 is turn.accepted
    assert await store.events.read(conversation, after=1) == numbered
    assert await store.events.read(conversation, after=2, limit=1) == numbered[1:2]
    assert await store.events.head(conversation) == 4
    assert fold(event.event for event in numbered).text == "Hello 年假 😀"


async def test_fifty_appends_of_ten_tasks_have_no_gap(store: Store) -> None:
    conversation = await _turn(store)

    async def write(task: int) -> list[int]:
        seqs: list[int] = []
        for number in range(5):
            events = [AnswerDelta(number, f"{task}"), AnswerDelta(number, f"{task}")]
            seqs += [event.seq for event in await store.events.append(conversation, "t1", events)]
        return seqs

    given = await asyncio.gather(*map(write, range(10)))
    assert all(seqs == sorted(seqs) for seqs in given)
    assert sorted(chain(*given)) == list(range(2, 102))
    stored = await store.events.read(conversation)
    assert [event.seq for event in stored] == list(range(1, 102))


async def test_appends_of_many_turns_share_a_transaction(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    conversations = [await _turn(store, f"t{number}") for number in range(20)]
    sizes: list[int] = []
    write = store.events._store.write

    async def counting(batch: Sequence[Append], at: datetime) -> None:
        sizes.append(len(batch))
        await write(batch, at)

    monkeypatch.setattr(store.events._store, "write", counting)
    await asyncio.gather(
        *(store.events.append(id_, f"t{number}", [AnswerDelta(0, "x")]) for number, id_ in enumerate(conversations))
    )
    assert sum(sizes) == 20
    assert len(sizes) <= 2


async def test_two_processes_number_one_conversation_without_gap(database_url: str) -> None:
    async with Store(database_url) as first, Store(database_url) as second:
        conversation = await _turn(first)

        async def write(store: Store, text: str) -> None:
            for number in range(15):
                await store.events.append(conversation, "t1", [AnswerDelta(number, text)])

        await asyncio.gather(write(first, "a"), write(second, "b"), write(first, "c"))
        assert [event.seq for event in await second.events.read(conversation)] == list(range(1, 47))


async def test_a_failed_append_fails_alone(store: Store) -> None:
    conversation = await _turn(store)
    results = await asyncio.gather(
        store.events.append(conversation, "t1", [AnswerDelta(0, "a")]),
        store.events.append("unknown", "t1", [AnswerDelta(0, "b")]),
        store.events.append(conversation, "t1", [AnswerDelta(1, "c")]),
        return_exceptions=True,
    )
    assert isinstance(results[1], NotFound)
    assert [event.seq for event in await store.events.read(conversation)] == [1, 2, 3]


async def test_a_turn_ends_once(store: Store) -> None:
    conversation = await _turn(store)
    await store.events.append(conversation, "t1", [TurnFinished("completed")])
    other = store.events.append(conversation, "t1", [AnswerDelta(0, "late")])
    results = await asyncio.gather(
        store.events.append(conversation, "t1", [TurnFinished("failed")]), other, return_exceptions=True
    )
    assert isinstance(results[0], TurnEnded)
    assert [event.seq for event in await store.events.read(conversation)] == [1, 2, 3]


@pytest.mark.parametrize("text", ["nul \x00", "lone \udc00"])
async def test_text_that_no_database_holds_is_refused(store: Store, text: str) -> None:
    conversation = await _turn(store)
    with pytest.raises(BadInput):
        await store.events.append(conversation, "t1", [AnswerDelta(0, "good"), AnswerDelta(4, text)])
    assert await store.events.head(conversation) == 1


async def test_a_megabyte_and_text_that_looks_like_an_escape_are_kept(store: Store) -> None:
    conversation = await _turn(store)
    given = [AnswerDelta(0, "\\u0000 年假😀\u2028'; DROP TABLE events; --" * 40_000)]
    await store.events.append(conversation, "t1", given)
    assert [event.event for event in await store.events.read(conversation, after=1)] == given


async def test_a_commit_that_went_through_although_it_failed_is_not_repeated(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation = await _turn(store)
    write, failures = store.events._store.write, [True]

    async def losing_the_answer(batch: Sequence[Append], at: datetime) -> None:
        await write(batch, at)
        if failures:
            failures.pop()
            raise ConnectionError("the connection broke during the commit")

    monkeypatch.setattr(store.events._store, "write", losing_the_answer)
    numbered = await asyncio.gather(
        store.events.append(conversation, "t1", [AnswerDelta(0, "a")]),
        store.events.append(conversation, "t1", [AnswerDelta(1, "b")]),
    )
    assert [event.seq for call in numbered for event in call] == [2, 3]
    assert [event.seq for event in await store.events.read(conversation)] == [1, 2, 3]


async def test_a_cancelled_append_writes_nothing_or_everything(store: Store) -> None:
    conversation = await _turn(store)
    calls = [
        asyncio.create_task(store.events.append(conversation, "t1", [AnswerDelta(n, "x"), AnswerDelta(n, "y")]))
        for n in range(20)
    ]
    await asyncio.sleep(0)
    for call in calls[5:]:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)
    await store.events.close()
    events = await store.events.read(conversation)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert len(events) % 2 == 1
    assert len(events) >= 11


async def test_closing_commits_what_waits_and_then_refuses(store: Store) -> None:
    conversation = await _turn(store)
    call = asyncio.create_task(store.events.append(conversation, "t1", [AnswerDelta(0, "x")]))
    await asyncio.sleep(0)
    await store.events.close()
    assert [event.seq for event in await call] == [2]
    with pytest.raises(RuntimeError):
        await store.events.append(conversation, "t1", [AnswerDelta(1, "y")])


_WRITER = """
import asyncio, sys
from assistant.core.events import AnswerDelta
from assistant.store import Store

async def main(url, conversations):
    async with Store(url) as store:
        async def write(conversation):
            for number in range(100_000):
                given = [AnswerDelta(2 * number, "a"), AnswerDelta(2 * number + 1, "b")]
                for event in await store.events.append(conversation, conversation, given):
                    sys.stdout.write(f"{conversation} {event.seq}\\n")
                sys.stdout.flush()
        await asyncio.gather(*map(write, conversations))

asyncio.run(main(sys.argv[1], sys.argv[2:]))
"""


async def test_killing_a_writer_loses_nothing_that_was_acknowledged(database_url: str) -> None:
    async with Store(database_url) as store:
        conversations = [await _turn(store, f"t{number}") for number in range(3)]
        acknowledged = await asyncio.to_thread(_write_until_killed, database_url, conversations)
        for conversation in conversations:
            seqs = [event.seq for event in await store.events.read(conversation)]
            assert seqs == list(range(1, len(seqs) + 1))
            assert len(seqs) >= acknowledged[conversation] > 1
            assert len(seqs) % 2 == 1  # an append is stored whole
            assert await store.events.head(conversation) == len(seqs)
            numbered = await store.events.append(conversation, "t9", [AnswerDelta(0, "on")])
            assert numbered[0].seq == len(seqs) + 1


def _write_until_killed(url: str, conversations: list[str]) -> dict[str, int]:
    """The last number of each conversation that the writer was told before it was killed."""
    last = dict.fromkeys(conversations, 0)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", _WRITER, url, *conversations]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as writer:
        assert writer.stdout is not None
        for number, line in enumerate(writer.stdout):
            if number == 60:
                writer.send_signal(signal.SIGKILL)
            if line.endswith("\n"):
                conversation, seq = line.split()
                last[conversation] = int(seq)
    return last
