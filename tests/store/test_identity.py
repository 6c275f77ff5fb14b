"""People, service keys and spent tokens, in both databases."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from sqlalchemy import func, select

from assistant.errors import BadInput, NotFound
from assistant.interfaces import IdentityStore, Person, ServiceKey
from assistant.store.engine import Database, open_database
from assistant.store.identity import MOST_GROUPS, SWEEP_EVERY, SqlIdentity
from assistant.store.tables import spent_tokens

AT = datetime(2026, 11, 30, 12, 0, 0, 250_000, tzinfo=UTC)
KEY = ServiceKey("acme", "k1", "夜间批处理", "d" * 64, frozenset({"hr", "人事"}), frozenset({"user"}), AT)
UNSTORABLE = ("a\x00b", "\ud800")


class Clock:
    def __init__(self) -> None:
        self.at = AT

    def __call__(self) -> datetime:
        return self.at


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def identities(database: Database, clock: Clock) -> SqlIdentity:
    return SqlIdentity(database, clock=clock)


def test_it_is_the_store_that_others_ask_for(identities: SqlIdentity) -> None:
    asked: IdentityStore = identities
    assert asked is identities


async def test_a_token_is_spent_once_per_tenant(identities: SqlIdentity) -> None:
    until = AT + timedelta(minutes=10)
    assert not await identities.is_spent("acme", "j1")
    assert await identities.spend("acme", "j1", until)
    assert await identities.is_spent("acme", "j1")
    assert not await identities.spend("acme", "j1", until)
    assert not await identities.spend("acme", "j1", until + timedelta(days=1))
    assert await identities.spend("rival", "j1", until)
    assert await identities.spend("acme", "J1", until)
    assert await identities.spend("acme", "\ud800\x00" + "x" * 100_000, until)


async def test_of_many_at_once_one_wins_on_all_workers(database_url: str, identities: SqlIdentity) -> None:
    other = open_database(database_url)
    try:
        workers = (identities, SqlIdentity(other))
        until = AT + timedelta(minutes=10)
        for number in range(5):
            won = await asyncio.gather(*(workers[n % 2].spend("acme", f"j{number}", until) for n in range(8)))
            assert won.count(True) == 1
    finally:
        await other.close()


async def test_what_no_longer_counts_is_swept(database: Database, identities: SqlIdentity, clock: Clock) -> None:
    await identities.spend("acme", "old", AT + timedelta(seconds=1))
    await identities.spend("acme", "new", AT + timedelta(hours=1))
    clock.at = AT + SWEEP_EVERY
    await identities.spend("acme", "later", clock.at + timedelta(hours=1))
    async with database.read() as connection:
        assert await connection.scalar(select(func.count()).select_from(spent_tokens)) == 2
    assert not await identities.spend("acme", "new", AT)


async def test_no_id_of_a_token_lies_in_the_database(database: Database, identities: SqlIdentity) -> None:
    await identities.spend("acme", "the-id-of-a-token", AT)
    async with database.read() as connection:
        row = (await connection.execute(select(spent_tokens))).one()
    assert "the-id-of-a-token" not in str(tuple(row))


async def test_a_key_is_kept_as_it_is(identities: SqlIdentity) -> None:
    later = replace(KEY, id="k2", made_at=AT + timedelta(days=1), expires_at=AT + timedelta(days=2))
    await identities.add_key(later)
    await identities.add_key(KEY)
    await identities.add_key(replace(KEY, tenant="rival"))
    assert await identities.key_by_id("acme", "k1") == KEY
    assert await identities.keys("acme") == [KEY, later]
    assert await identities.keys("nobody") == []
    await identities.use_key(KEY, date(2026, 12, 1))
    assert await identities.keys("acme") == [replace(KEY, last_used=date(2026, 12, 1)), later]
    assert await identities.keys("rival") == [replace(KEY, tenant="rival")]


@pytest.mark.parametrize(
    ("tenant", "id_"), [("acme", "k2"), ("rival", "k1"), ("acme", ""), ("acme", "k\x00"), ("\ud800", "k1")]
)
async def test_an_unknown_key_is_none(identities: SqlIdentity, tenant: str, id_: str) -> None:
    await identities.add_key(KEY)
    assert await identities.key_by_id(tenant, id_) is None


async def test_a_key_is_revoked_once_and_by_its_tenant(identities: SqlIdentity) -> None:
    await identities.add_key(KEY)
    for tenant, id_ in (("rival", "k1"), ("acme", "k2")):
        with pytest.raises(NotFound):
            await identities.revoke_key(tenant, id_, AT)
    assert await identities.changed_since(AT) == []
    await identities.revoke_key("acme", "k1", AT)
    await identities.revoke_key("acme", "k1", AT + timedelta(days=1))
    assert await identities.key_by_id("acme", "k1") == replace(KEY, revoked_at=AT)
    changed = await identities.changed_since(AT)
    assert [(each.tenant, each.user) for each in changed] == [("acme", "service:k1")]


@pytest.mark.parametrize("changed", [
    {"name": ""},
    {"name": " "},
    {"name": "x" * 256},
    {"name": UNSTORABLE[0]},
    {"groups": frozenset({UNSTORABLE[1]})},
    {"groups": frozenset({""})},
    {"groups": frozenset(map(str, range(MOST_GROUPS + 1)))},
])  # fmt: skip
async def test_a_key_with_bad_names_is_refused(identities: SqlIdentity, changed: dict[str, str]) -> None:
    with pytest.raises(BadInput):
        await identities.add_key(replace(KEY, **changed))  # type: ignore[arg-type]
    assert await identities.keys("acme") == []


async def test_groups_and_revocation_of_a_person_do_not_touch_each_other(identities: SqlIdentity) -> None:
    assert await identities.person("acme", "王小明") is None
    await identities.put_groups("acme", "王小明", frozenset({"hr"}), AT)
    assert await identities.person("acme", "王小明") == Person("acme", "王小明", frozenset({"hr"}), None, AT)
    later = AT + timedelta(seconds=1)
    await identities.revoke_person("acme", "王小明", later)
    assert await identities.person("acme", "王小明") == Person("acme", "王小明", frozenset({"hr"}), later, later)
    await identities.put_groups("acme", "王小明", frozenset(), later)
    assert await identities.person("acme", "王小明") == Person("acme", "王小明", frozenset(), later, later)
    await identities.put_groups("acme", "王小明", None, later)
    assert await identities.person("acme", "王小明") == Person("acme", "王小明", None, later, later)
    assert await identities.person("rival", "王小明") is None


async def test_a_revocation_never_goes_back(identities: SqlIdentity) -> None:
    await identities.revoke_person("acme", "ann", AT)
    await identities.revoke_person("acme", "ann", AT - timedelta(days=1))
    person = await identities.person("acme", "ann")
    assert person is not None
    assert person.not_before == AT


async def test_watchers_hear_of_those_who_changed(identities: SqlIdentity) -> None:
    await identities.put_groups("acme", "ann", frozenset(), AT)
    await identities.revoke_person("rival", "bob", AT + timedelta(seconds=5))
    assert [each.user for each in await identities.changed_since(AT)] == ["ann", "bob"]
    assert [each.user for each in await identities.changed_since(AT + timedelta(seconds=1))] == ["bob"]
    assert await identities.changed_since(AT + timedelta(seconds=6)) == []


@pytest.mark.parametrize("user", ["", " ", "x" * 256, *UNSTORABLE])
async def test_bad_names_of_people_change_nothing(identities: SqlIdentity, user: str) -> None:
    with pytest.raises(BadInput):
        await identities.put_groups("acme", user, frozenset(), AT)
    with pytest.raises(BadInput):
        await identities.revoke_person("acme", user, AT)
    assert await identities.person("acme", user) is None
    assert await identities.changed_since(AT - timedelta(days=1)) == []
