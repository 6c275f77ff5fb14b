"""Who hears that something about a person changed."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from contextlib import suppress
from datetime import datetime, timedelta

import pytest

from assistant.interfaces import Person
from assistant.store.identity import SqlIdentity
from assistant.transport.auth.watching import PeopleWatch
from tests.transport.auth.making import Clock

Rung = list[set[tuple[str, str]]]


@pytest.fixture
def rung() -> Rung:
    return []


@pytest.fixture
def watch(identities: SqlIdentity, clock: Clock, rung: Rung) -> PeopleWatch:
    return PeopleWatch(identities, lambda people: rung.append(set(people)), clock.now)


async def test_a_change_is_told_once(watch: PeopleWatch, identities: SqlIdentity, clock: Clock, rung: Rung) -> None:
    await watch.look()
    assert rung == []
    await identities.revoke_person("acme", "ann", clock.at)
    await identities.put_groups("rival", "bob", frozenset(), clock.at)
    for _ in range(3):
        await watch.look()
        clock.move(2)
    assert rung == [{("acme", "ann"), ("rival", "bob")}]
    await identities.put_groups("acme", "ann", frozenset({"hr"}), clock.at)
    await watch.look()
    clock.move(600)
    await watch.look()
    assert rung[1:] == [{("acme", "ann")}]


async def test_a_change_by_a_clock_that_is_behind_is_found(
    watch: PeopleWatch, identities: SqlIdentity, clock: Clock, rung: Rung
) -> None:
    clock.move(600)
    await watch.look()
    await identities.revoke_person("acme", "ann", clock.at - timedelta(seconds=20))
    await watch.look()
    assert rung == [{("acme", "ann")}]


async def test_what_happened_long_before_is_not_told(
    watch: PeopleWatch, identities: SqlIdentity, clock: Clock, rung: Rung
) -> None:
    await identities.revoke_person("acme", "ann", clock.at - timedelta(hours=1))
    await watch.look()
    assert rung == []


class Failing(SqlIdentity):
    """Away at the first look."""

    failed = False

    async def changed_since(self, at: datetime) -> list[Person]:
        if not self.failed:
            self.failed = True
            raise OSError("away")
        return await super().changed_since(at)


async def test_it_goes_on_after_the_database_was_away(identities: SqlIdentity, clock: Clock) -> None:
    failing = Failing(identities._database)
    await failing.revoke_person("acme", "ann", clock.at)
    told = asyncio.Event()

    def ring(people: Collection[tuple[str, str]]) -> None:
        assert set(people) == {("acme", "ann")}
        told.set()

    task = asyncio.create_task(PeopleWatch(failing, ring, clock.now).run(0))
    async with asyncio.timeout(10):
        await told.wait()
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    assert failing.failed
