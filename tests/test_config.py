from __future__ import annotations

from pathlib import Path

import pytest

from assistant.config import known_names, load_settings, variable_of
from assistant.errors import BadSetting


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in known_names():
        monkeypatch.delenv(variable_of(name), raising=False)
    monkeypatch.delenv("ASSISTANT_CONFIG", raising=False)


def test_defaults_need_nothing() -> None:
    settings = load_settings()
    assert settings.model.kind == "extractive"
    assert settings.auth.development_user == ""
    assert settings.server.host == "127.0.0.1"


def test_the_environment_wins_over_the_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "assistant.toml").write_text('[model]\nname = "from-file"\nwindow = 4096\n')
    monkeypatch.setenv("ASSISTANT_MODEL__NAME", "from-environment")
    settings = load_settings()
    assert (settings.model.name, settings.model.window) == ("from-environment", 4096)


@pytest.mark.parametrize(
    ("variable", "nearest"),
    [
        ("ASSISTANT_MODEL__NAEM", "ASSISTANT_MODEL__NAME"),
        ("ASSISTANT_DATABASE_URL", "ASSISTANT_DATABASE__URL"),
        ("ASSISTANT_QQQQQ__ZZZZZ", None),
    ],
)
def test_unknown_variables_are_refused_with_the_nearest_name(
    monkeypatch: pytest.MonkeyPatch, variable: str, nearest: str | None
) -> None:
    monkeypatch.setenv(variable, "x")
    with pytest.raises(BadSetting) as refused:
        load_settings()
    assert refused.value.data["nearest"] == nearest
    assert variable in refused.value.detail


def test_unknown_keys_of_the_file_are_refused_with_the_nearest_name(tmp_path: Path) -> None:
    (tmp_path / "assistant.toml").write_text("[retrieval]\nlimits = 3\n")
    with pytest.raises(BadSetting) as refused:
        load_settings()
    assert refused.value.data["nearest"] == "retrieval.limit"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("[server]\nport = 99999\n", "server.port"),
        ("[model]\nkind = 'magic'\n", "model.kind"),
        ("tenant = ''\n", "tenant"),
    ],
)
def test_values_out_of_range_are_named(tmp_path: Path, text: str, name: str) -> None:
    (tmp_path / "assistant.toml").write_text(text)
    with pytest.raises(BadSetting) as refused:
        load_settings()
    assert refused.value.data["setting"] == name


@pytest.mark.parametrize("data", [b"[model", b"\xff\xfe\x00", b"model = 3"])
def test_a_broken_file_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "assistant.toml").write_bytes(data)
    with pytest.raises(BadSetting):
        load_settings()


def test_a_named_file_must_exist(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ASSISTANT_CONFIG", str(tmp_path / "nowhere.toml"))
    with pytest.raises(BadSetting):
        load_settings()


def test_keys_do_not_show_in_representations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSISTANT_MODEL__API_KEY", "sk-very-secret")
    assert "very-secret" not in repr(load_settings())
