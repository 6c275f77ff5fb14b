"""The secret file: made once, for its owner only, refused when it is anything else."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from assistant.audit.secrets import secret_at
from assistant.errors import BadSetting


def test_a_secret_is_made_once_for_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "var" / "audit.secret"
    made = secret_at(path)
    assert len(made) == 32
    assert secret_at(path, make=False) == made
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert secret_at(tmp_path / "other.secret") != made


def test_processes_that_start_together_have_the_same(tmp_path: Path) -> None:
    path = tmp_path / "audit.secret"
    with ThreadPoolExecutor(8) as threads:
        assert len(set(threads.map(lambda _: secret_at(path), range(16)))) == 1


@pytest.mark.parametrize("content", [b"", b"short", b"g" * 64, b"0" * 63, b"0" * 65, b"\xff" * 64, b"AB" * 32])
def test_anything_else_is_no_secret(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "audit.secret"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(BadSetting) as refused:
        secret_at(path)
    assert refused.value.data["setting"] == "audit.secret"
    assert path.read_bytes() == content


@pytest.mark.parametrize("mode", [0o604, 0o640 | 0o020, 0o666])
def test_a_secret_that_others_can_read_is_refused(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "audit.secret"
    secret_at(path)
    path.chmod(mode)
    with pytest.raises(BadSetting):
        secret_at(path)


def test_a_missing_one_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadSetting):
        secret_at(tmp_path / "audit.secret", make=False)
    (tmp_path / "file").write_text("x")
    with pytest.raises(BadSetting):
        secret_at(tmp_path / "file" / "audit.secret")
