"""Jobs, in one process and on PostgreSQL: done once, one at a time by key, tried again, stopped, on a schedule."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
import pytest_asyncio

from assistant.errors import BadInput, NotFound
from assistant.interfaces.jobs import Jobs, JobStatus, Payload, Schedule
from assistant.jobs import in_process, postgresql
from assistant.telemetry.figures import REGISTRY
from tests.jobs.queues import Doing, fresh, queue, running, until, until_listed


@pytest_asyncio.fixture(params=["in process", "postgresql"])
async def url(request: pytest.FixtureRequest) -> str:
    if request.param == "in process":
        return ""
    found = str(await asyncio.to_thread(request.getfixturevalue, "postgresql_url"))
    await fresh(found)
    return found


async def test_a_job_is_done_with_its_payload_and_is_gone(url: str) -> None:
    doing = Doing()
    async with queue(url, {"read": doing}) as jobs:
        assert await jobs.enqueue("read", {"path": "a", "n": 1})
        (waiting,) = await jobs.list()
        assert (waiting.name, waiting.status, waiting.payload) == ("read", JobStatus.WAITING, {"path": "a", "n": 1})
        async with running(jobs):
            await until(lambda: doing.done)
            await until_listed(jobs, None, 0)
    assert doing.done == [{"path": "a", "n": 1}]


async def test_of_one_key_one_waits_and_one_runs(url: str) -> None:
    doing = Doing(hold=True)
    async with queue(url, {"read": doing}, parallel=4) as jobs, running(jobs):
        assert await jobs.enqueue("read", {"n": 1}, key="k")
        await until(lambda: doing.begun == 1)
        assert await jobs.enqueue("read", {"n": 2}, key="k")
        assert not await jobs.enqueue("read", {"n": 3}, key="k")
        assert await jobs.enqueue("read", {"n": 4}, key="other")
        await until(lambda: doing.begun == 2)  # that of the other key, while the second waits
        doing.go.set()
        await until(lambda: len(doing.done) == 3)
    assert sorted(done["n"] for done in doing.done) == [1, 2, 4]
    assert doing.most == 2


async def test_the_figures_say_how_many_jobs_wait_and_run(url: str) -> None:
    doing = Doing(hold=True)
    async with queue(url, {"weigh": doing}, parallel=1) as jobs, running(jobs):
        for n in range(3):
            await jobs.enqueue("weigh", {"n": n})
        await until(lambda: (_shown("weigh", "running"), _shown("weigh", "waiting")) == (1, 2))
        doing.go.set()
        await until(lambda: (_shown("weigh", "running"), _shown("weigh", "waiting")) == (0, 0))


def _shown(name: str, status: str) -> float | None:
    return REGISTRY.get_sample_value("assistant_jobs", {"job": name, "status": status})


async def test_a_job_waits_for_its_time(url: str) -> None:
    doing = Doing()
    async with queue(url, {"read": doing}) as jobs, running(jobs):
        await jobs.enqueue("read", {"n": 2}, when=datetime.now(UTC) + timedelta(hours=1))
        await jobs.enqueue("read", {"n": 1})
        await until(lambda: doing.done)
        (left,) = await until_listed(jobs, JobStatus.WAITING, 1)
    assert (left.payload, [done["n"] for done in doing.done]) == ({"n": 2}, [1])


async def test_what_fails_is_tried_again_and_at_last_stays_failed(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (in_process, postgresql):
        monkeypatch.setattr(module, "wait_s", lambda _: 0)
    once, always = Doing(errors=1), Doing(errors=99)
    async with queue(url, {"once": once, "always": always}) as jobs, running(jobs):
        await jobs.enqueue("once")
        await jobs.enqueue("always")
        await until(lambda: once.done)
        (failed,) = await until_listed(jobs, JobStatus.FAILED, 1)
        assert (failed.name, failed.attempts, always.begun, once.begun) == ("always", 5, 5, 2)
        always.errors = 0
        await jobs.retry(failed.id)
        await until(lambda: always.done)
        await until_listed(jobs, None, 0)


async def test_what_fails_while_another_of_its_key_waits_stands_before_it(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (in_process, postgresql):
        monkeypatch.setattr(module, "wait_s", lambda _: 0)
    doing = Doing(hold=True, errors=1)
    async with queue(url, {"read": doing}) as jobs, running(jobs):
        await jobs.enqueue("read", {"n": 1}, key="k")
        await until(lambda: doing.begun == 1)
        assert await jobs.enqueue("read", {"n": 2}, key="k")
        doing.go.set()
        await until(lambda: len(doing.done) == 2)
        await until_listed(jobs, None, 0)
    assert doing.done == [{"n": 1}, {"n": 2}]


async def test_a_failure_replaces_the_earlier_one_of_its_key(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (in_process, postgresql):
        monkeypatch.setattr(module, "wait_s", lambda _: 0)
    doing = Doing(errors=99)

    async def fail(jobs: Jobs, n: int, key: str) -> None:
        await jobs.enqueue("read", {"n": n}, key=key)
        await until(lambda: doing.begun == 5 * (n + 1))
        await until_listed(jobs, JobStatus.WAITING, 0)
        await until_listed(jobs, JobStatus.RUNNING, 0)

    async with queue(url, {"read": doing}) as jobs, running(jobs):
        for n, key in enumerate(("k", "other", "k", "k")):
            await fail(jobs, n, key)
        failed = await until_listed(jobs, JobStatus.FAILED, 2)
    assert [(job.key, job.payload["n"]) for job in failed] == [("k", 3), ("other", 1)]


async def test_a_failure_is_told_without_the_text_of_the_error(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    doing = Doing(errors=1)
    async with queue(url, {"read": doing}) as jobs, running(jobs):
        await jobs.enqueue("read", {"path": "/secret/place"})
        await until(lambda: doing.begun)
        await until_listed(jobs, JobStatus.WAITING, 1)
        (waiting,) = await jobs.list()
    assert waiting.due is not None
    assert waiting.due > datetime.now(UTC)
    told = capsys.readouterr()
    assert "ValueError" in told.out
    assert "secret" not in told.out + told.err


async def test_a_running_job_is_stopped_and_a_waiting_one_taken_out(url: str) -> None:
    doing = Doing(hold=True)
    async with queue(url, {"read": doing}, parallel=1) as jobs, running(jobs):
        await jobs.enqueue("read", {"n": 1})
        await until(lambda: doing.now == 1)
        await jobs.enqueue("read", {"n": 2})
        second, first = await jobs.list()
        await jobs.cancel(second.id)
        await jobs.cancel(first.id)
        await until_listed(jobs, JobStatus.CANCELLED, 2)
        await until(lambda: doing.now == 0)
        assert doing.done == []
        doing.go.set()
        await jobs.retry(second.id)
        await until(lambda: doing.done)
    assert doing.done == [{"n": 2}]


async def test_what_is_stopped_with_its_process_begins_again(url: str) -> None:
    first, second = Doing(hold=True), Doing()

    async def read(payload: Payload) -> None:
        await (second if first.begun else first)(payload)

    async with queue(url, {"read": read}) as jobs:
        await jobs.enqueue("read", {"n": 1}, key="k")
        async with running(jobs):
            await until(lambda: first.now == 1)
        assert (first.now, first.done) == (0, [])
        async with running(jobs):
            await until(lambda: second.done)
    assert second.done == [{"n": 1}]


async def test_the_schedule_begins_at_once_and_comes_again(url: str) -> None:
    doing = Doing()
    async with queue(url, {"sweep": doing}, [Schedule("sweep", timedelta(seconds=1))]) as jobs, running(jobs):
        await until(lambda: len(doing.done) >= 2)
    assert doing.most == 1


async def test_a_schedule_does_not_pile_up_behind_a_slow_job(url: str) -> None:
    doing, other = Doing(hold=True), Doing()
    schedule = [Schedule("sweep", timedelta(seconds=1)), Schedule("other", timedelta(seconds=1))]
    async with queue(url, {"sweep": doing, "other": other}, schedule) as jobs, running(jobs):
        await until(lambda: len(other.done) >= 3)
        of_sweep = [job for job in await jobs.list() if job.name == "sweep"]
    assert len(of_sweep) <= 2
    assert doing.most == 1


@pytest.mark.parametrize("id_", ["", "0", "99999999", "-1", "x", "1e3", "²", "9" * 30, "1; DROP TABLE jobs"])
async def test_ids_that_are_none(url: str, id_: str) -> None:
    async with queue(url, {}) as jobs:
        for act in (jobs.retry, jobs.cancel):
            with pytest.raises(NotFound):
                await act(id_)


async def test_what_nobody_does_or_cannot_begin_is_refused(url: str) -> None:
    async with queue(url, {"read": Doing()}) as jobs:
        with pytest.raises(BadInput):
            await jobs.enqueue("unknown")
        await jobs.enqueue("read", key="k")
        (first,) = await jobs.list()
        with pytest.raises(BadInput):
            await jobs.retry(first.id)
        await jobs.cancel(first.id)
        with pytest.raises(NotFound):
            await jobs.cancel(first.id)
        await jobs.enqueue("read", key="k")
        with pytest.raises(BadInput):
            await jobs.retry(first.id)
        assert [job.status for job in await jobs.list(JobStatus.CANCELLED)] == [JobStatus.CANCELLED]
        assert len(await jobs.list(limit=1)) == 1
