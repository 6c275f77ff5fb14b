"""The secret of the installation: no list of names tells a pseudonym, no copy of the database opens a sealed text."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio
from sqlalchemy import delete, func, select, update

from assistant.core.access import Caller
from assistant.core.audit import AuditKind
from assistant.core.audit_filter import AuditFilter
from assistant.core.keeping import HoldScope
from assistant.errors import BadInput, BadSetting
from assistant.store import Store
from assistant.store.pseudonyms import Pseudonyms, pseudonym
from assistant.store.sealing import unseal
from assistant.store.tables import audit_records, audit_secrets, person_keys
from assistant.store.wrapping import PLAIN_BYTES, KeyWrap
from tests.store.audit_filling import all_records, ask, check_chain, turn_draft
from tests.store.filling import ANN, BOB, draft, put

SECRET, OTHER = bytes(range(32)), bytes(range(1, 33))
NAMES = Pseudonyms(SECRET)
WHY: dict[str, Any] = {"by": "ulaw", "reason": "case"}


@pytest_asyncio.fixture
async def kept(database_url: str) -> AsyncIterator[Store]:
    async with Store(database_url, secret=SECRET) as store:
        await put(store, draft("Everyone has 20 days of leave."))
        yield store


async def stored_keys(store: Store) -> dict[str, bytes]:
    async with store.database.read() as connection:
        rows = await connection.execute(select(person_keys.c.subject, person_keys.c.key))
        return {row.subject: bytes(row.key) for row in rows if row.key is not None}


def test_a_pseudonym_needs_the_secret() -> None:
    assert NAMES.of(ANN) != NAMES.of(BOB) != Pseudonyms(OTHER).of(BOB)
    assert NAMES.of(ANN) == Pseudonyms(SECRET).of(ANN)
    assert NAMES.of(ANN) != NAMES.of(Caller("rival", "ann"))
    assert NAMES.all_of(ANN) == (NAMES.of(ANN), pseudonym(ANN))
    assert Pseudonyms().all_of(ANN) == (pseudonym(ANN),)
    assert pseudonym(ANN) not in NAMES.of(ANN)


def test_a_wrapped_key_opens_for_its_person_and_secret_only() -> None:
    key, wrap = bytes(32), KeyWrap(SECRET)
    stored = wrap.wrap(key, "acme", "u1")
    assert wrap.unwrap(stored, "acme", "u1") == key
    assert key not in stored
    assert wrap.wrap(key, "acme", "u1") != stored
    bent = stored[:-1] + bytes([stored[-1] ^ 1])
    for other, held, who in (
        (KeyWrap(OTHER), stored, "u1"),
        (wrap, stored, "u2"),
        (wrap, bent, "u1"),
        (wrap, b"", "u1"),
    ):
        with pytest.raises(BadSetting) as refused:
            other.unwrap(held, "acme", who)
        assert refused.value.data["reason"] == "wrong_secret"


async def test_answers_and_events_have_the_keyed_name(kept: Store) -> None:
    conversation = await ask(kept, ANN, "t1", "a secret")
    records = await all_records(kept.audit)
    assert {(record.actor, record.subject) for record in records} == {(NAMES.of(ANN),) * 2}
    accepted = (await kept.events.read(conversation))[0].event
    assert accepted.by == NAMES.of(ANN)  # type: ignore[union-attr]
    check_chain(records)


async def test_a_copy_of_the_database_opens_nothing(kept: Store, database_url: str) -> None:
    await ask(kept, ANN, "t1", "a secret")
    (record, *_) = await all_records(kept.audit)
    assert "a secret" in str(await kept.audit.open_sealed(record))
    (stored,) = (await stored_keys(kept)).values()
    assert len(stored) > PLAIN_BYTES
    async with kept.database.read() as connection:
        sealed = bytes(await connection.scalar(select(audit_records.c.sealed).where(audit_records.c.seq == 1)) or b"")
    for at in range(len(stored) - PLAIN_BYTES + 1):
        with pytest.raises(BadInput):
            unseal(stored[at : at + PLAIN_BYTES], sealed, tenant="acme", subject=record.subject or "", record=record.id)
    for secret, reason in ((None, "no_secret"), (OTHER, "wrong_secret")):
        async with Store(database_url, secret=secret) as copy:
            with pytest.raises(BadSetting) as refused:
                await copy.audit.open_sealed(record)
            assert refused.value.data["reason"] == reason


@pytest.mark.parametrize(("secret", "reason"), [(None, "no_secret"), (OTHER, "wrong_secret")])
async def test_a_lost_or_wrong_secret_is_told_before_anything_is_written(
    kept: Store, database_url: str, secret: bytes | None, reason: str
) -> None:
    await ask(kept, ANN, "t1", "a secret")
    before = len(await all_records(kept.audit))
    async with Store(database_url, secret=secret) as other:
        for work in (other.audit.prepare, lambda: other.audit.append_one(turn_draft(subject=NAMES.of(BOB)))):
            with pytest.raises(BadSetting) as refused:
                await work()
            assert (refused.value.data["setting"], refused.value.data["reason"]) == ("audit.secret", reason)
    assert len(await all_records(kept.audit)) == before


async def test_keys_from_before_are_wrapped_and_still_open(database_url: str) -> None:
    async with Store(database_url) as old:
        await put(old, draft("Everyone has 20 days of leave."))
        await ask(old, ANN, "t1", "a secret")
        await ask(old, BOB, "t2", "another")
        assert {len(key) for key in (await stored_keys(old)).values()} == {PLAIN_BYTES}
    async with Store(database_url, secret=SECRET) as store:
        assert await store.audit.prepare() == 2
        assert await store.audit.prepare() == 0
        assert min(len(key) for key in (await stored_keys(store)).values()) > PLAIN_BYTES
        for record in await all_records(store.audit):
            assert await store.audit.open_sealed(record)


async def test_an_old_key_is_wrapped_at_its_first_use(database_url: str) -> None:
    async with Store(database_url) as old:
        await old.audit.append_one(turn_draft())
    async with Store(database_url, secret=SECRET) as store:
        await store.audit.append_one(turn_draft(1))
        (stored,) = (await stored_keys(store)).values()
        assert len(stored) > PLAIN_BYTES
        assert [bool(await store.audit.open_sealed(record)) for record in await all_records(store.audit)] == [
            True,
            True,
        ]


async def test_two_files_for_one_database_cannot_both_be_noted(database_url: str) -> None:
    async with Store(database_url, secret=SECRET) as first, Store(database_url, secret=OTHER) as second:
        await first.audit.append_one(turn_draft())
        with pytest.raises(BadSetting):
            await second.audit.append_one(turn_draft(1))
        async with first.database.read() as connection:
            assert await connection.scalar(select(func.count()).select_from(audit_secrets)) == 1


async def test_a_secret_that_was_noted_in_vain_is_noted_again(kept: Store) -> None:
    """A dry run takes back what it wrote, the note of the secret too."""
    async with kept.database.write() as connection:
        await kept.audit.append(connection, turn_draft())
        await connection.rollback()
    await kept.audit.append_one(turn_draft())
    async with kept.database.read() as connection:
        assert await connection.scalar(select(func.count()).select_from(audit_secrets)) == 1


@pytest_asyncio.fixture
async def renamed(database_url: str) -> AsyncIterator[Store]:
    """Ann asked before there was a secret and after; her records are under two names."""
    async with Store(database_url) as old:
        await put(old, draft("Everyone has 20 days of leave."))
        await ask(old, ANN, "t1", "an old secret")
        await ask(old, BOB, "t2", "of bob")
    async with Store(database_url, secret=SECRET) as store:
        await store.audit.prepare()
        await ask(store, ANN, "t3", "a new secret")
        yield store


async def test_a_person_is_found_by_both_names_in_order(renamed: Store) -> None:
    both = AuditFilter(person=NAMES.of(ANN), former=pseudonym(ANN))
    found = [record.seq for record in await renamed.audit.search("acme", both)]
    assert found == [6, 5, 2, 1]
    paged: list[int] = []
    while page := await renamed.audit.search("acme", both, paged[-1] if paged else None, 1):
        paged += [record.seq for record in page]
    assert paged == found
    rated = AuditFilter(person=NAMES.of(ANN), former=pseudonym(ANN), kind=AuditKind.TURN, feedback="down")
    assert [record.seq for record in await renamed.audit.search("acme", rated)] == [5, 1]
    assert [r.seq for r in await renamed.audit.search("acme", AuditFilter(person=NAMES.of(ANN)))] == [6, 5]


@pytest.mark.parametrize("given", [NAMES.of(ANN), pseudonym(ANN)])
async def test_erasure_takes_both_names(renamed: Store, given: str) -> None:
    report = await renamed.erasure.erase("acme", given, **WHY, rebuild=False)
    assert report.sealed == 4
    records = await all_records(renamed.audit)
    check_chain(records)
    opened = {record.turn for record in records if await renamed.audit.open_sealed(record)}
    assert opened == {"t2"}
    tombs = [record for record in records if record.kind is AuditKind.ERASURE]
    assert {record.subject for record in tombs} == set(NAMES.all_of(ANN))
    assert not any(name in str(tomb.body) for tomb in tombs for name in NAMES.all_of(ANN))
    assert set(await stored_keys(renamed)) == {pseudonym(BOB)}


async def test_erasure_by_name_takes_what_no_conversation_tells(renamed: Store) -> None:
    """Where retention took the conversations, only the caller knows that both names are one person."""
    await renamed.retention.retention("acme", datetime.now(UTC) + timedelta(days=1), **WHY)
    report = await renamed.erasure.erase("acme", NAMES.of(ANN), known_as=[pseudonym(ANN)], **WHY, rebuild=False)
    assert report.sealed == 4
    assert set(await stored_keys(renamed)) == {pseudonym(BOB)}


@pytest.mark.parametrize("held", [NAMES.of(ANN), pseudonym(ANN)])
async def test_a_hold_on_either_name_wins(renamed: Store, held: str) -> None:
    await renamed.holds.place("acme", HoldScope.PERSON, held, **WHY)
    for given in NAMES.all_of(ANN):
        with pytest.raises(BadInput) as refused:
            await renamed.erasure.erase("acme", given, **WHY, rebuild=False)
        assert refused.value.data["reason"] == "hold"
    report = await renamed.retention.retention("acme", datetime.now(UTC) + timedelta(days=1), **WHY)
    assert (report.held, report.text.conversations) == (2, 1)


async def test_a_lost_note_of_the_secret_does_not_open_a_way_around_it(kept: Store, database_url: str) -> None:
    await ask(kept, ANN, "t1", "a secret")
    async with kept.database.write() as connection:
        await connection.execute(delete(audit_secrets))
        await connection.execute(update(person_keys).values(destroyed_at=None))
    (record, *_) = await all_records(kept.audit)
    async with Store(database_url, secret=OTHER) as other:
        with pytest.raises(BadSetting):
            await other.audit.open_sealed(record)
