from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import SecretStr

from assistant.commands.doctor import Finding, examine
from assistant.config import AuthSettings, DatabaseSettings, Settings

SECRET = SecretStr("a secret of thirty-two bytes, or more")


async def identity(folder: Path, environment: Literal["development", "production"], **auth: Any) -> Finding:
    settings = Settings(
        environment=environment,
        database=DatabaseSettings(url=f"sqlite+aiosqlite:///{folder}/none.db"),
        auth=AuthSettings(**auth),
    )
    (found,) = [finding for finding in await examine(settings) if finding.what == "identity"]
    return found


@pytest.mark.parametrize(
    ("auth", "says"),
    [
        ({"portal_secret": SECRET}, "people come in by auth.portal_secret"),
        ({"jwks_file": "keys.json", "service_keys_only": True}, "people come in by auth.jwks_file, auth.service_keys_only"),
    ],
)  # fmt: skip
async def test_says_by_what_people_come_in(tmp_path: Path, auth: dict[str, Any], says: str) -> None:
    assert await identity(tmp_path, "production", **auth) == Finding("identity", True, says)


async def test_everyone_is_the_development_user(tmp_path: Path) -> None:
    found = await identity(tmp_path, "development", development_user="ann")
    assert found.ok
    assert "everyone is ann" in found.says


@pytest.mark.parametrize(
    ("environment", "auth", "word"),
    [
        ("production", {}, "set portal_secret"),
        ("production", {"development_user": "ann"}, "production takes no development identity"),
        ("production", {"portal_secret": SecretStr("short")}, "less than 32 bytes"),
        ("development", {}, "ASSISTANT_AUTH__DEVELOPMENT_USER"),
    ],
)
async def test_says_what_the_server_would_refuse(
    tmp_path: Path, environment: Literal["development", "production"], auth: dict[str, Any], word: str
) -> None:
    found = await identity(tmp_path, environment, **auth)
    assert not found.ok
    assert word in found.says
