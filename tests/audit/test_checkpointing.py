from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from assistant.audit.checking import verify_log
from assistant.audit.checkpointing import BATCH, Checkpointer
from assistant.audit.targets import Targets
from assistant.core.audit import AuditRecord
from tests.audit.chains import KEYS, SIGNER, START, MemoryLog, chain, checkpoint, rechained
from tests.audit.test_targets import Flaky

LOG = chain(60)


@dataclass
class Clock:
    """A clock that a test sets."""

    now: datetime = START

    def __call__(self) -> datetime:
        return self.now


def checkpointer(clock: Clock, records: int = 5, minutes: float = 10, targets: Targets | None = None) -> Checkpointer:
    return Checkpointer(SIGNER, clock, targets, every_records=records, every_minutes=minutes)


async def test_a_checkpoint_is_made_after_so_many_records() -> None:
    source, clock = MemoryLog(), Clock()
    maker, made = checkpointer(clock), []
    for record in LOG[:13]:
        source.written.append(record)
        if one := await maker.maybe("acme", source):
            made.append(one)
    assert made == [checkpoint(LOG, 5), checkpoint(LOG, 10)]
    assert source.rows == [one.row() for one in made]
    assert source.reads == 13


async def test_a_checkpoint_is_made_after_so_many_minutes_with_any_record() -> None:
    source, clock = MemoryLog([LOG[0]]), Clock()
    maker = checkpointer(clock)
    assert await maker.maybe("acme", source) is None
    clock.now += timedelta(minutes=10)
    first = await maker.maybe("acme", source)
    assert first is not None
    assert (first.size, first.at) == (1, "2026-11-30T12:10:00.000Z")
    clock.now += timedelta(hours=5)
    assert await maker.maybe("acme", source) is None
    source.written.append(LOG[1])
    second = await maker.maybe("acme", source)
    assert second is not None
    assert second.size == 2


async def test_one_can_be_asked_for_at_any_time() -> None:
    source, maker = MemoryLog(LOG[:3]), checkpointer(Clock())
    assert await maker.make("acme", source) == checkpoint(LOG, 3)
    assert await maker.make("acme", source) is None
    assert await maker.make("nobody", source) is None


@given(st.lists(st.tuples(st.integers(1, 9), st.booleans(), st.sampled_from([0, 11])), max_size=8))
async def test_whatever_happens_the_log_verifies_inside_and_outside(steps: list[tuple[int, bool, int]]) -> None:
    source, clock, target = MemoryLog(), Clock(), Flaky()
    maker = checkpointer(clock, targets=Targets([target]))
    for more, restart, minutes in steps:
        source.written = LOG[: min(len(LOG), len(source.written) + more)]
        clock.now += timedelta(minutes=minutes)
        if restart:
            maker = checkpointer(clock, targets=Targets([target]))
        await maker.maybe("acme", source)
    await maker.make("acme", source)
    verified = await verify_log("acme", source, Targets([target]), KEYS)
    assert verified.finding.ok
    assert verified.finding.covered == len(source.written)
    assert [one.row() for one in target.held] == source.rows


async def test_a_restart_goes_on_where_the_last_one_stopped() -> None:
    source, clock = MemoryLog(LOG[:7]), Clock()
    await checkpointer(clock).make("acme", source)
    source.written = LOG[:11]
    assert await checkpointer(clock).maybe("acme", source) is None
    source.written = LOG[:12]
    assert await checkpointer(clock).maybe("acme", source) == checkpoint(LOG, 12)


async def test_a_long_log_is_read_in_batches() -> None:
    source = MemoryLog(chain(2 * BATCH + 1))
    await checkpointer(Clock()).make("acme", source)
    assert source.rows == [checkpoint(source.written, 2 * BATCH + 1).row()]


async def test_calls_at_the_same_time_make_one_checkpoint() -> None:
    source, maker = MemoryLog(LOG[:9]), checkpointer(Clock())
    made = await asyncio.gather(*[maker.maybe("acme", source) for _ in range(5)])
    assert len([one for one in made if one]) == 1


async def test_tenants_have_checkpoints_of_their_own() -> None:
    source, maker = MemoryLog([*LOG[:5], *chain(6, "rival")]), checkpointer(Clock())
    for tenant, size in (("acme", 5), ("rival", 6)):
        made = await maker.maybe(tenant, source)
        assert made is not None
        assert (made.tenant, made.size) == (tenant, size)


def rewritten(records: list[AuditRecord]) -> list[AuditRecord]:
    return rechained([replace(records[0], actor="x"), *records[1:]])


def hashless(records: list[AuditRecord]) -> list[AuditRecord]:
    return [*records[:8], replace(records[8], hash="zz"), *records[9:]]


def short(records: list[AuditRecord]) -> list[AuditRecord]:
    return [*records[:8], replace(records[8], hash="00"), *records[9:]]


TAMPERING: list[Callable[[list[AuditRecord]], list[AuditRecord]]] = [
    rewritten,
    hashless,
    short,
    lambda records: records[:3],
    lambda records: [*records[:4], *records[5:]],
    lambda records: [*records[:8], *records[9:]],
]


@pytest.mark.parametrize("tamper", TAMPERING)
async def test_nothing_is_signed_that_contradicts_what_was_signed(
    tamper: Callable[[list[AuditRecord]], list[AuditRecord]],
) -> None:
    source = MemoryLog(LOG[:6])
    await checkpointer(Clock()).make("acme", source)
    source.written = tamper(LOG[:20])
    maker = checkpointer(Clock())
    with capture_logs() as logs:
        assert await maker.make("acme", source) is None
        assert await maker.maybe("acme", source) is None
    assert [line["event"] for line in logs] == ["audit.checkpoint.refused"]
    assert set(maker.refused) == {"acme"}
    assert len(source.rows) == 1


async def test_a_malformed_stored_checkpoint_stops_signing() -> None:
    source = MemoryLog(LOG[:6], [{**checkpoint(LOG, 5).row(), "root": "?"}])
    maker = checkpointer(Clock())
    assert await maker.make("acme", source) is None
    assert maker.refused == {"acme": 0}


async def test_a_past_changed_while_the_server_runs_is_signed_as_it_was() -> None:
    source, maker = MemoryLog(LOG[:6]), checkpointer(Clock())
    await maker.make("acme", source)
    source.written = [*rewritten(LOG[:6]), *LOG[6:12]]
    assert await maker.make("acme", source) == checkpoint(LOG, 12)
    assert not (await verify_log("acme", source, Targets(), KEYS)).finding.ok


async def test_a_restored_database_shows_beside_what_was_written_out() -> None:
    target = Flaky()
    source, maker = MemoryLog(LOG[:6]), checkpointer(Clock(), targets=Targets([target]))
    await maker.make("acme", source)
    old = MemoryLog(LOG[:6], [*source.rows])
    source.written = LOG[:12]
    await maker.make("acme", source)
    assert (await verify_log("acme", source, Targets([target]), KEYS)).finding.ok
    verified = await verify_log("acme", old, Targets([target]), KEYS)
    assert (verified.finding.seq, verified.finding.until, verified.external) == (7, 12, 2)


async def test_a_target_that_fails_neither_stops_the_checkpoint_nor_loses_it() -> None:
    target = Flaky(fails="before")
    source, maker = MemoryLog(LOG[:5]), checkpointer(Clock(), targets=Targets([target]))
    assert await maker.maybe("acme", source) is not None
    target.fails = ""
    source.written = LOG[:10]
    await maker.maybe("acme", source)
    assert target.held == [checkpoint(LOG, 5), checkpoint(LOG, 10)]


async def test_a_running_checkpointer_serves_all_tenants_and_outlives_a_failing_database() -> None:
    class Failing(MemoryLog):
        async def tenants(self) -> list[str]:
            self.reads += 1
            if self.reads == 1:
                raise ConnectionError
            return ["acme", "rival"]

    source = Failing([*LOG[:5], *chain(5, "rival")])
    with capture_logs() as logs:
        running = asyncio.create_task(checkpointer(Clock()).run(source, interval_s=0))
        while len(source.rows) < 2:
            await asyncio.sleep(0)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    assert {row["tenant"] for row in source.rows} == {"acme", "rival"}
    assert [line["event"] for line in logs] == ["audit.checkpoint.failed"]


async def test_the_end_of_a_server_signs_what_is_left_and_never_keeps_it_from_stopping() -> None:
    class Known(MemoryLog):
        async def tenants(self) -> list[str]:
            return ["acme"]

    class Lost(Known):
        async def hashes(self, tenant: str, after: int, limit: int) -> list[tuple[int, str]]:
            raise OSError("the database is away")

    source = Known(LOG[:3])
    await checkpointer(Clock(), records=1000).finish(source)
    assert source.rows == [checkpoint(LOG, 3).row()]
    with capture_logs() as logged:
        await checkpointer(Clock()).finish(Lost(LOG[:3]))
    assert [entry["event"] for entry in logged] == ["audit.checkpoint.failed"]
