"""assistant token, against a database of its own, and what it makes at the door of a server with the same settings."""

from __future__ import annotations

import asyncio
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from assistant.commands.token import app
from assistant.config import load_settings
from assistant.errors import AssistantError, BadInput, BadSetting, NotAuthenticated, NotFound
from assistant.interfaces import Identity, Person
from assistant.store.engine import open_database
from assistant.store.identity import SqlIdentity
from assistant.transport.auth.entrance import open_entrance


@pytest.fixture(autouse=True)
def settings(sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSISTANT_DATABASE__URL", sqlite_url)
    monkeypatch.setenv("ASSISTANT_AUTH__KEY", str(tmp_path / "auth.key"))
    monkeypatch.setenv("ASSISTANT_TENANT", "acme")


def run(*words: str) -> str:
    result: Result = CliRunner().invoke(app, words)
    if isinstance(result.exception, AssistantError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout.strip()


def at_the_door(token: str) -> Identity:
    async def work() -> Identity:
        chosen = load_settings()
        database = open_database(chosen.database.url)
        try:
            entrance = await open_entrance(
                chosen, SqlIdentity(database), now=lambda: datetime.now(UTC), new_id=lambda: "id"
            )
            return await entrance.authenticator.authenticate(token)
        finally:
            await database.close()

    return asyncio.run(work())


def person(user: str) -> Person | None:
    async def work() -> Person | None:
        database = open_database(load_settings().database.url)
        try:
            return await SqlIdentity(database).person("acme", user)
        finally:
            await database.close()

    return asyncio.run(work())


def test_a_made_token_lets_its_person_in(tmp_path: Path) -> None:
    token = run("make", "--user", "王小明", "--group", "hr", "--group", "it", "--role", "auditor", "--minutes", "5")
    identity = at_the_door(token)
    assert (identity.caller.tenant, identity.caller.user) == ("acme", "王小明")
    assert identity.caller.groups == {"everyone", "hr", "it"}
    assert identity.caller.roles == {"auditor"}
    assert identity.expires_at is not None
    assert identity.issued_at is not None
    assert identity.expires_at - identity.issued_at == pytest.approx(timedelta(minutes=5), abs=timedelta(seconds=1))
    assert stat.S_IMODE((tmp_path / "auth.key").stat().st_mode) == 0o600
    assert at_the_door(run("make", "--user", "ann")).caller.roles == {"user"}


@pytest.mark.parametrize("words", [
    ("--user", ""),
    ("--user", "service:k1"),
    ("--user", "ann\n"),
    ("--user", "ann", "--role", "root"),
])  # fmt: skip
def test_bad_names_make_no_token(words: tuple[str, ...]) -> None:
    with pytest.raises(BadInput):
        run("make", *words)


def test_a_key_lives_until_it_is_revoked() -> None:
    secret = run("key", "add", "night batch", "--group", "hr", "--role", "user", "--days", "30")
    identity = at_the_door(secret)
    id_ = secret.split("_")[1]
    assert identity.caller.user == f"service:{id_}"
    listed = run("key", "list")
    assert all(part in listed for part in (id_, "night batch", "hr", "good"))
    assert secret.split("_", 2)[2] not in listed
    run("key", "revoke", id_)
    assert "revoked" in run("key", "list")
    with pytest.raises(NotAuthenticated):
        at_the_door(secret)
    with pytest.raises(NotFound):
        run("key", "revoke", "unknown")


def test_a_revoked_person_needs_a_new_token() -> None:
    token = run("make", "--user", "ann")
    run("revoke", "ann")
    with pytest.raises(NotAuthenticated) as refused:
        at_the_door(token)
    assert refused.value.data["reason"] == "revoked"
    at_the_door(run("make", "--user", "ann"))


def test_groups_of_a_person_are_set_and_given_back() -> None:
    token = run("make", "--user", "ann", "--group", "hr")
    assert "everyone, it" in run("groups", "ann", "--group", "it")
    assert at_the_door(token).caller.groups == {"everyone", "it"}
    run("groups", "ann")
    assert at_the_door(token).caller.groups == {"everyone"}
    run("groups", "ann", "--from-token")
    assert at_the_door(token).caller.groups == {"everyone", "hr"}
    with pytest.raises(BadInput):
        run("groups", "ann", "--group", "it", "--from-token")
    told = person("ann")
    assert told is not None
    assert told.groups is None


def test_a_database_that_is_not_there_is_not_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSISTANT_DATABASE__URL", f"sqlite:///{tmp_path / 'none.db'}")
    with pytest.raises(BadSetting):
        run("key", "list")
    assert not (tmp_path / "none.db").exists()
