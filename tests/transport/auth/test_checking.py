"""Settings that do not say who may come in, and the file of the secret."""

from __future__ import annotations

import stat
import threading
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from assistant.config import AuthSettings, Settings
from assistant.errors import BadSetting
from assistant.transport.auth import check_identity
from assistant.transport.auth.secret import secret_at

SECRET = SecretStr("s" * 32)
OIDC = {"oidc_issuer": "https://id.example", "oidc_client": "c", "public_url": "https://chat.example"}


def settings(environment: Any = "production", **auth: Any) -> Settings:
    return Settings(environment=environment, auth=AuthSettings(**auth))


@pytest.mark.parametrize("auth", [
    {"portal_secret": SECRET},
    {"jwks_url": "https://keys.example/jwks"},
    {"jwks_file": Path("keys.json")},
    {"service_keys_only": True},
    OIDC,
    OIDC | {"public_url": "http://127.0.0.1:8000/", "oidc_issuer": "http://localhost:9/realms/x"},
    {"portal_secret": SECRET, "origins": ["https://portal.example", "http://localhost:3000"]},
    {"portal_secret": SECRET, "roles": {"chiefs": ["admin", "auditor"]}},
])  # fmt: skip
def test_production_with_an_identity(auth: dict[str, Any]) -> None:
    check_identity(settings(**auth))


@pytest.mark.parametrize(("auth", "named"), [
    ({}, "auth"),
    ({"development_user": "dev"}, "auth.development_user"),
    ({"development_user": "dev", "portal_secret": SECRET}, "auth.development_user"),
    ({"portal_secret": SecretStr("s" * 31)}, "auth.portal_secret"),
    ({"portal_secret": SecretStr("-----BEGIN PUBLIC KEY-----" + "A" * 40)}, "auth.portal_secret"),
    ({"jwks_url": "http://keys.example/jwks"}, "auth.jwks_url"),
    ({"jwks_url": "https://keys.example/jwks", "jwks_file": Path("keys.json")}, "auth.jwks_file"),
    (OIDC | {"oidc_client": ""}, "auth.oidc_client"),
    (OIDC | {"public_url": ""}, "auth.public_url"),
    (OIDC | {"public_url": "http://chat.example"}, "auth.public_url"),
    (OIDC | {"public_url": "https://chat.example/assistant"}, "auth.public_url"),
    (OIDC | {"oidc_issuer": "http://id.example"}, "auth.oidc_issuer"),
    (OIDC | {"oidc_scopes": "profile"}, "auth.oidc_scopes"),
    ({"portal_secret": SECRET, "origins": ["*"]}, "auth.origins"),
    ({"portal_secret": SECRET, "origins": ["null"]}, "auth.origins"),
    ({"portal_secret": SECRET, "origins": ["https://*.example"]}, "auth.origins"),
    ({"portal_secret": SECRET, "origins": ["https://portal.example/"]}, "auth.origins"),
    ({"portal_secret": SECRET, "origins": ["https://portal.example:443"]}, "auth.origins"),
    ({"portal_secret": SECRET, "origins": ["https://Portal.example"]}, "auth.origins"),
    ({"portal_secret": SECRET, "roles": {"chiefs": ["root"]}}, "auth.roles"),
])  # fmt: skip
def test_what_is_wrong_is_named(auth: dict[str, Any], named: str) -> None:
    with pytest.raises(BadSetting) as refused:
        check_identity(settings(**auth))
    assert refused.value.data["setting"] == named
    assert "s" * 31 not in str(refused.value)


@pytest.mark.parametrize(
    "auth", [{}, {"development_user": "dev"}, {"development_user": "dev", "portal_secret": SECRET}]
)
def test_development_takes_less(auth: dict[str, Any]) -> None:
    check_identity(settings("development", **auth))


def test_a_secret_is_made_once_and_for_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "var" / "auth.key"
    secret = secret_at(path)
    assert len(secret) == 32
    assert secret_at(path) == secret
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert list(path.parent.iterdir()) == [path]
    assert secret_at(tmp_path / "other.key") != secret


def test_processes_that_start_together_get_the_same(tmp_path: Path) -> None:
    found: list[bytes] = []
    gate = threading.Barrier(8)

    def start() -> None:
        gate.wait()
        found.append(secret_at(tmp_path / "auth.key"))

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1


@pytest.mark.parametrize(("content", "mode"), [
    (b"", 0o600),
    (b"ab" * 31, 0o600),
    (b"zz" * 32, 0o600),
    (b"\xff" * 64, 0o600),
    (b"ab" * 32, 0o644),
    (b"ab" * 32, 0o660),
])  # fmt: skip
def test_a_file_that_is_no_secret_is_refused(tmp_path: Path, content: bytes, mode: int) -> None:
    path = tmp_path / "auth.key"
    path.write_bytes(content)
    path.chmod(mode)
    with pytest.raises(BadSetting) as refused:
        secret_at(path)
    assert refused.value.data["setting"] == "auth.key"
    assert path.read_bytes() == content


def test_a_folder_is_no_secret(tmp_path: Path) -> None:
    with pytest.raises(BadSetting):
        secret_at(tmp_path)
