"""A server and a worker as processes on one PostgreSQL: jobs are listed, done elsewhere, and hidden from who is no admin."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest

from assistant.app import create_app
from assistant.app.assembling import assemble
from assistant.app.working import INGEST, open_working
from assistant.config import Settings
from assistant.store import Store
from tests.jobs.queues import fresh, running, until_listed


def settings_for(url: str, folder: Path, *roles: str, in_server: bool = False) -> Settings:
    return Settings.model_validate(
        {
            "database": {"url": url},
            "auth": {"development_user": "ann", "development_roles": ["user", *roles], "key": folder / "auth.key"},
            "audit": {"secret": folder / "secret", "key": folder / "key.pem"},
            "retrieval": {"embedder": "none"},
            "jobs": {"in_server": in_server},
        }
    )


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    folder = tmp_path / "pages"
    folder.mkdir()
    for n in range(3):
        (folder / f"{n}.md").write_text(f"# Page {n}\n\nThe code of page {n} is {n}{n}{n}.\n")
    return folder


async def test_a_worker_reads_what_was_asked_for_and_the_admin_sees_it(
    postgresql_url: str, tmp_path: Path, pages: Path
) -> None:
    await fresh(postgresql_url)
    settings = settings_for(postgresql_url, tmp_path, "admin")
    app = create_app(settings)
    payload = {"path": str(pages), "collection": "handbook", "access": ["staff"], "date": "2026-01-01"}
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client,
    ):
        jobs = app.state.doors.jobs
        assert await jobs.enqueue(INGEST, payload, key="ingest:handbook")
        listed = (await client.get("/api/admin/jobs")).json()["jobs"]
        assert [(job["name"], job["status"]) for job in listed] == [("ingest", "waiting")]
        assert str(pages) not in str(listed)
        async with assemble(settings) as parts, open_working(parts, shared=True) as work, running(work):
            await until_listed(jobs, None, 0)
            assert (await parts.store.state())["documents"] == 3
        assert (await client.post("/api/admin/jobs/999/retry")).status_code == 404
        assert await jobs.enqueue(INGEST, payload)
        (left,) = (await client.get("/api/admin/jobs", params={"status": "waiting"})).json()["jobs"]
        assert (await client.post(f"/api/admin/jobs/{left['id']}/cancel")).status_code == 204
        assert (await client.post(f"/api/admin/jobs/{left['id']}/retry")).status_code == 204


async def test_jobs_are_hidden_from_who_is_no_admin(sqlite_url: str, tmp_path: Path) -> None:
    app = create_app(settings_for(sqlite_url, tmp_path))
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client,
    ):
        assert (await client.get("/api/admin/jobs")).status_code == 404
        assert (await client.post("/api/admin/jobs/1/cancel")).status_code == 404


async def test_a_server_on_sqlite_does_its_jobs_itself(sqlite_url: str, tmp_path: Path, pages: Path) -> None:
    app = create_app(settings_for(sqlite_url, tmp_path, "admin"))
    async with app.router.lifespan_context(app):
        jobs = app.state.doors.jobs
        assert await jobs.enqueue(INGEST, {"path": str(pages), "collection": "handbook"})
        async with asyncio.timeout(30):
            while any(job.name == INGEST for job in await jobs.list()):
                await asyncio.sleep(0.02)
    async with assemble(settings_for(sqlite_url, tmp_path)) as parts:
        assert (await parts.store.state())["documents"] == 3


async def ask_seven_times(client: httpx.AsyncClient) -> str:
    """So many questions in a new session that its first turns leave the end of it; the session."""
    session = str((await client.post("/api/sessions")).json()["session_id"])
    for number in range(7):
        asked = {"text": f"What is the code of page {number}?"}
        key = {"Idempotency-Key": f"{number}"}
        answered = await client.post(f"/api/sessions/{session}/turns", headers=key, json=asked)
        assert answered.status_code == 200
    return session


async def through(store: Store, session: str) -> int:
    _, notes = await store.conversations.remembered(session)
    return notes.through if notes else 0


async def test_notes_of_a_long_session_are_written_by_a_worker(postgresql_url: str, tmp_path: Path) -> None:
    await fresh(postgresql_url)
    settings = settings_for(postgresql_url, tmp_path, "admin")
    app = create_app(settings)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client,
        assemble(settings) as parts,
    ):
        session = await ask_seven_times(client)
        await until_listed(app.state.doors.jobs, None, 1)
        told = (await client.get("/api/admin/jobs")).json()["jobs"]
        assert [(job["name"], job["status"]) for job in told] == [("notes", "waiting")]
        assert session not in str(told)
        assert await through(parts.store, session) == 0
        async with open_working(parts, shared=True) as work, running(work):
            await until_listed(app.state.doors.jobs, None, 0)
        assert await through(parts.store, session) == 3


async def test_notes_of_a_long_session_are_written_in_the_server_on_sqlite(sqlite_url: str, tmp_path: Path) -> None:
    app = create_app(settings_for(sqlite_url, tmp_path))
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client,
        Store(sqlite_url) as store,
    ):
        session = await ask_seven_times(client)
        async with asyncio.timeout(20):
            while await through(store, session) != 3:
                await asyncio.sleep(0.05)
        await until_listed(app.state.doors.jobs, None, 0)
