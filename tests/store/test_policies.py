"""Retention by policies on a real store: each takes its own, a hold wins, every run is on the record, one process does it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest
import pytest_asyncio

from assistant.audit.retaining import BY, REASON, Retainer, outcome_json
from assistant.core.audit import AuditKind
from assistant.core.keeping import HoldScope, Retained, RetentionPolicy, policies_of
from assistant.errors import NotFound
from assistant.store import Store
from assistant.store.documents import document_id
from assistant.store.pseudonyms import pseudonym
from assistant.store.retention import SqlRetention
from tests.store.audit_filling import all_records, ask, check_chain
from tests.store.filling import ANN, BOB, draft, put

LATER = datetime.now(UTC) + timedelta(days=100)
ALL = tuple(RetentionPolicy(what, 30) for what in reversed(Retained))
LEAVE = document_id("acme", "handbook", "leave.md")


@pytest_asyncio.fixture
async def kept(store: Store) -> AsyncIterator[Store]:
    """Two answers over a document that was replaced since, and a version in between that nobody was shown."""
    await put(store, draft("Everyone has 20 days of leave."))
    await ask(store, ANN, "t1", "secret of ann")
    await ask(store, BOB, "t2", "secret of bob")
    for days in (25, 30):
        await put(store, draft(f"Everyone has {days} days of leave."))
    yield store


def retainer(store: Store, *policies: RetentionPolicy, at: datetime = LATER) -> Retainer:
    return Retainer(SqlRetention(store.database, store.audit), store.audit, policies, lambda: at)


async def opened(store: Store) -> list[str | None]:
    return [record.turn for record in await all_records(store.audit) if await store.audit.open_sealed(record)]


def test_policies_are_those_of_the_tenant_in_the_order_of_their_kind() -> None:
    foreign = RetentionPolicy(Retained.TEXTS, 1, tenant="rival")
    assert [policy.what for policy in policies_of((*ALL, foreign), "acme")] == list(Retained)
    assert foreign in policies_of((*ALL, foreign), "rival")


async def test_each_policy_takes_its_own(kept: Store) -> None:
    await retainer(kept, RetentionPolicy(Retained.TEXTS, 30)).apply("acme")
    assert await opened(kept) == []
    assert len(await kept.conversations.conversations(ANN)) == 1
    (gone,) = await retainer(kept, RetentionPolicy(Retained.CONVERSATIONS, 30)).apply("acme")
    assert gone.gone == 2
    assert await kept.conversations.conversations(ANN) == []


async def test_versions_go_when_no_kept_answer_cites_them_any_more(kept: Store) -> None:
    (alone,) = await retainer(kept, RetentionPolicy(Retained.VERSIONS, 30)).apply("acme")
    assert alone.gone == 1  # the second, which no answer was shown
    outcomes = await retainer(kept, *ALL).apply("acme")
    assert [(each.policy.what.value, each.gone) for each in outcomes] == [
        ("conversations", 2),
        ("texts", 4),
        ("versions", 1),
    ]
    with pytest.raises(NotFound):
        await kept.documents.version_text(LEAVE, 1)
    assert await kept.documents.version_text(LEAVE, 3)
    check_chain(await all_records(kept.audit))


async def test_what_is_young_and_of_others_stays(kept: Store) -> None:
    young = [RetentionPolicy(what, 200) for what in Retained]
    other = [RetentionPolicy(what, 30, collection="other") for what in Retained]
    foreign = [RetentionPolicy(what, 30, tenant="rival") for what in Retained]
    outcomes = await retainer(kept, *young, *other, *foreign).apply("acme")
    assert [each.gone for each in outcomes] == [0] * 6
    (own,) = await retainer(kept, RetentionPolicy(Retained.TEXTS, 30, collection="handbook")).apply("acme")
    assert own.gone == 2  # the answers cite the handbook; what was said of them cites nothing


async def test_a_hold_wins(kept: Store) -> None:
    await kept.holds.place("acme", HoldScope.PERSON, pseudonym(BOB), by="ulaw", reason="case")
    outcomes = await retainer(kept, *ALL).apply("acme")
    assert (outcomes[0].gone, outcomes[0].held) == (1, 1)
    assert await opened(kept) == ["t2", "t2"]
    assert await kept.documents.version_text(LEAVE, 1)


async def test_every_run_leaves_a_record(kept: Store) -> None:
    outcomes = await retainer(kept, *ALL).apply("acme")
    await retainer(kept, *ALL).apply("acme")
    runs = [record for record in await all_records(kept.audit) if record.body.get("what") == "run"]
    assert [(run.kind, run.actor, run.body["reason"]) for run in runs] == [(AuditKind.RETENTION, BY, REASON)] * 2
    assert runs[0].body["policies"] == [outcome_json(each) for each in outcomes]
    assert [policy["gone"] for policy in runs[1].body["policies"]] == [0, 0, 0]
    numbers = {seq for each in outcomes for seq in each.records}
    assert numbers == {r.seq for r in await all_records(kept.audit) if r.kind is AuditKind.RETENTION} - {
        run.seq for run in runs
    }


async def test_a_dry_run_says_the_same_and_takes_nothing(kept: Store) -> None:
    before = await all_records(kept.audit)
    dry = await retainer(kept, *ALL).apply("acme", dry_run=True)
    assert await all_records(kept.audit) == before
    assert [each.gone for each in dry] == [2, 4, 1]
    assert len(await opened(kept)) == 4


async def test_one_process_of_all_runs_the_schedule(kept: Store) -> None:
    retention = SqlRetention(kept.database, kept.audit)
    day = timedelta(days=1)
    assert await retention.due("policies", day)
    claims = await asyncio.gather(*(retention.claim("policies", day) for _ in range(5)))
    assert sorted(claims) == [False, False, False, False, True]
    assert not await retention.due("policies", day)
    assert await retention.due("other", day)
    assert await retention.claim("other", day)
    assert not await retention.claim("policies", timedelta(hours=1))
    later = SqlRetention(kept.database, kept.audit, clock=lambda: datetime.now(UTC) + day)
    assert await later.due("policies", day)
    assert await later.claim("policies", day)
