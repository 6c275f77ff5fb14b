"""`assistant worker` as real processes on a real PostgreSQL: killed in the middle of everything, stopped in order, and looked after."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
import pytest_asyncio

from assistant.app import create_app
from assistant.app.assembling import Parts, assemble
from assistant.app.noting import NotesAfterTurns
from assistant.app.working import INGEST, open_working
from assistant.config import Settings
from assistant.core.access import Caller
from assistant.core.audit import AuditKind
from assistant.core.events import TurnFinished
from assistant.interfaces.jobs import Jobs, JobStatus, JobView
from assistant.jobs.schema import libpq_url
from assistant.llm.scripted_http import Behaviour, Provider, running_provider
from assistant.store.documents import document_id
from tests.e2e.forking import Process, environment, parent
from tests.e2e.serving import run_with
from tests.jobs.queues import fresh
from tests.store.audit_filling import all_records
from tests.store.filling import answer_of, draft, put

pytestmark = pytest.mark.e2e

ANN = Caller("default", "ann")
PAGES = 30
HELD = "20.md"
ROW = """
    INSERT INTO documents (id, tenant, collection, uri, title, authority, language, media_type, current_version,
        fingerprint, chunk_count, term_count, created_at, updated_at)
    VALUES (%s, 'default', 'pages', %s, '', 'medium', 'en', 'x', 0, '', 0, 0, now(), now())
"""
DAYS_AGO = "now() - interval '90 days'"


@pytest.fixture
def provider() -> Iterator[Provider]:
    with running_provider() as one:
        yield one


@dataclass(slots=True)
class House:
    """An installation: its settings, its parts in this process, which does no jobs, and its queue."""

    folder: Path
    url: str
    variables: dict[str, str]
    parts: Parts
    jobs: Jobs

    @property
    def log(self) -> str:
        return (self.folder / "worker.log").read_text("utf-8", "replace")

    @contextmanager
    def worker(self) -> Iterator[Process]:
        """A worker process, which is gone at the end of the block."""
        log = self.folder / "worker.log"
        process = parent().fork(self.folder, ["worker"], self.variables, out=log, err=log)
        try:
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.wait(30)

    async def command(self, *arguments: str) -> str:
        """What a command prints."""
        done = await asyncio.to_thread(run_with, self.folder, self.variables | {"COLUMNS": "300"}, *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    async def sql(self, statement: str, *values: Any) -> list[Any]:
        """The rows of a statement of its own transaction."""
        async with await psycopg.AsyncConnection.connect(libpq_url(self.url), autocommit=True) as connection:
            found = await connection.execute(statement.encode(), values)
            return await found.fetchall() if found.description else []

    async def until(self, holds: Callable[[], Awaitable[Any]], seconds: float = 60) -> None:
        """Wait until an awaitable says yes, or fail with the log of the workers."""
        try:
            async with asyncio.timeout(seconds):
                while not await holds():
                    await asyncio.sleep(0.1)
        except TimeoutError:
            pytest.fail(f"{await self.jobs.list()}\n{self.log}")

    async def of(self, name: str) -> JobView:
        """The only job of a name."""
        (found,) = [job for job in await self.jobs.list() if job.name == name]
        return found


@pytest.fixture
def embedder() -> str:
    """The embedder of the house; one of a provider takes seconds to load."""
    return "none"


@pytest_asyncio.fixture
async def house(postgresql_url: str, tmp_path: Path, provider: Provider, embedder: str) -> AsyncIterator[House]:
    await fresh(postgresql_url)
    chosen: dict[str, dict[str, Any]] = {
        "database": {"url": postgresql_url},
        "auth": {"development_user": "ann", "development_roles": ["user", "admin"], "key": tmp_path / "auth.key"},
        "audit": {"secret": tmp_path / "secret", "key": tmp_path / "key.pem"},
        "model": {"kind": "openai", "name": "test-model", "base_url": provider.url, "window": 8192},
        "retrieval": {"embedder": embedder, "base_url": provider.url, "api_key": "sk-1", "dimension": 3},
        "retention": {"policies": [{"what": "conversations", "keep_days": 30}]},
        "jobs": {"parallel": 16, "lease_s": 5, "in_server": False},
    }
    flat = {
        f"{group}__{name}": json.dumps(value) if isinstance(value, list) else str(value)
        for group, values in chosen.items()
        for name, value in values.items()
    }
    async with assemble(Settings.model_validate(chosen)) as parts, open_working(parts) as jobs:
        yield House(tmp_path, postgresql_url, environment(**flat), parts, jobs)


@asynccontextmanager
async def held(house: House, statement: str, *values: Any) -> AsyncIterator[None]:
    """A lock that whoever needs what the statement touches waits for."""
    async with await psycopg.AsyncConnection.connect(libpq_url(house.url)) as connection:
        await connection.execute(statement.encode(), values)
        try:
            yield
        finally:
            await connection.rollback()


async def talk(house: House, name: str, turns: int) -> str:
    """A conversation of so many ended turns; its id."""
    store = house.parts.store.conversations
    conversation = (await store.open(ANN, None)).id
    for number in range(turns):
        turn, question = f"{name}{number}", f"What of rule {number}?"
        await store.begin_turn(ANN, conversation, turn=turn, client_id=turn, text=question, mode="auto", limit=99)
        await store.finish_turn(conversation, turn, answer_of((), question=question))
        await house.parts.store.events.append(conversation, turn, [TurnFinished("completed")])
    return conversation


def pages(house: House, count: int = PAGES) -> dict[str, Any]:
    """A folder, and the payload of a job that reads it."""
    folder = house.folder / "pages"
    folder.mkdir()
    for number in range(count):
        (folder / f"{number:02}.md").write_text(f"# Page {number}\n\nThe code of page {number} is {number}.\n")
    return {"path": str(folder), "collection": "pages"}


async def until_running(house: House, *names: str) -> None:
    async def running() -> bool:
        return {job.name for job in await house.jobs.list(JobStatus.RUNNING) if job.payload} >= set(names)

    await house.until(running)


async def documents(house: House) -> int:
    return int((await house.sql("SELECT count(*) FROM documents WHERE collection = 'pages'"))[0][0])


async def waiting_for_locks(house: House) -> int:
    query = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    return int((await house.sql(query))[0][0])


@pytest.mark.parametrize("embedder", ["litellm/openai/e"])
async def test_what_a_killed_worker_was_at_is_done_by_another_once_and_whole(house: House, provider: Provider) -> None:
    store = house.parts.store
    old, long = await talk(house, "old", 1), await talk(house, "new", 8)
    await house.sql(f"UPDATE turns SET started_at = {DAYS_AGO}, ended_at = {DAYS_AGO} WHERE conversation = %s", old)
    await house.sql(f"UPDATE conversations SET updated_at = {DAYS_AGO}, created_at = {DAYS_AGO} WHERE id = %s", old)
    await put(store, draft("One rule. Another rule. A third rule."), tenant="default")
    payload = pages(house)
    provider.behave(Behaviour(hang=True))
    await NotesAfterTurns(house.parts.memory, house.parts.queue)(long)
    assert await house.jobs.enqueue(INGEST, payload, key="ingest:pages")
    async with (
        held(house, ROW, document_id("default", "pages", HELD), HELD),
        held(house, "SELECT 1 FROM conversations WHERE id = %s FOR UPDATE", old),
    ):
        with house.worker() as worker:

            async def in_the_middle_of_all() -> bool:
                running = {job.name for job in await house.jobs.list(JobStatus.RUNNING) if job.payload}
                asked = {"messages" if "messages" in body else "input" for body in provider.bodies}
                return (
                    {"ingest", "embed", "notes", "retention"} <= running
                    and asked == {"messages", "input"}
                    and await waiting_for_locks(house) >= 2
                    and await documents(house) >= 20
                )

            await house.until(in_the_middle_of_all)
            worker.send_signal(signal.SIGKILL)
            worker.wait(30)
        assert await documents(house) == int(HELD[:2])
    printed = await house.command("jobs", "list", "--status", "running")
    assert all(name in printed for name in ("ingest:pages", "embed:", f"notes:{long}", "retention:default"))
    provider.behave(Behaviour(text="Notes by the model."))
    with house.worker() as worker:

        async def all_done() -> bool:
            return not any(job.payload for job in await house.jobs.list()) and await documents(house) == PAGES

        await house.until(all_done)
        await house.until(lambda: has_all_vectors(house))
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(30) == 0
    assert (await store.conversations.remembered(long))[1].text == "Notes by the model."  # type: ignore[union-attr]
    assert sum("messages" in body for body in provider.bodies) == 1
    assert {item.id for item in await store.conversations.conversations(ANN)} == {long}
    records = [record for record in await all_records(store.audit, "default") if record.kind is AuditKind.RETENTION]
    assert sum(record.body.get("what") == "run" for record in records) == 1
    assert await house.sql("SELECT DISTINCT current_version FROM documents") == [(1,)]
    assert await house.sql("SELECT count(*) - count(DISTINCT (document, number)) FROM document_versions") == [(0,)]


async def has_all_vectors(house: House) -> bool:
    assert house.parts.embedder is not None
    return not await house.parts.store.documents.missing_vectors(house.parts.embedder.name, 1)


async def test_a_worker_that_is_told_to_stop_ends_what_it_can_and_gives_the_rest_back(
    house: House, provider: Provider
) -> None:
    long, payload = await talk(house, "new", 8), pages(house, 1)
    provider.behave(Behaviour(hang=True))
    await NotesAfterTurns(house.parts.memory, house.parts.queue)(long)
    await house.jobs.enqueue(INGEST, payload, key="ingest:pages")
    with house.worker() as worker:
        async with held(house, ROW, document_id("default", "pages", "00.md"), "00.md"):
            await until_running(house, "notes", "ingest")
            await house.until(lambda: asked(provider))
            await house.until(lambda: waiting_for_locks(house))
            worker.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(worker.wait, 30) == 0
    assert await documents(house) == 1
    (left,) = [job for job in await house.jobs.list() if job.name in ("notes", "ingest")]
    assert (left.name, left.status, left.attempts) == ("notes", JobStatus.WAITING, 1)

    assert await house.command("jobs", "cancel", left.id) == "It is cancelled.\n"
    assert (await house.of("notes")).status is JobStatus.CANCELLED
    assert await house.command("jobs", "retry", left.id) == "It waits.\n"
    assert (await house.of("notes")).status is JobStatus.WAITING


async def asked(provider: Provider) -> bool:
    return any("messages" in body for body in provider.bodies)


async def test_what_failed_is_seen_and_begun_again_by_command_and_over_rest(house: House) -> None:
    nowhere = house.folder / "later"
    put = await house.command("jobs", "ingest", str(nowhere), "--collection", "pages")
    assert put == "It waits.\n"
    assert "waits already" in await house.command("jobs", "ingest", str(nowhere), "--collection", "pages")
    await house.sql("UPDATE jobs.procrastinate_jobs SET attempts = 4 WHERE task_name = 'ingest'")

    async def failed() -> bool:
        return [job.name for job in await house.jobs.list(JobStatus.FAILED)] == ["ingest"]

    with house.worker():
        await house.until(failed)
        job = await house.of("ingest")
        _, line = (await house.command("jobs", "list", "--status", "failed")).splitlines()
        assert line.split()[:4] == [job.id, "ingest", "failed", "5"]
        assert str(nowhere) not in house.log
        app = create_app(house.parts.settings)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client,
        ):
            (shown,) = (await client.get("/api/admin/jobs", params={"status": "failed"})).json()["jobs"]
            assert (shown["id"], shown["name"], shown["attempts"]) == (job.id, "ingest", 5)
            nowhere.mkdir()
            (nowhere / "a.md").write_text("# A\n\nThe code is 7.\n")
            assert (await client.post(f"/api/admin/jobs/{job.id}/retry")).status_code == 204

        async def done() -> bool:
            return await documents(house) == 1 and not any(each.name == "ingest" for each in await house.jobs.list())

        await house.until(done)
