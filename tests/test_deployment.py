"""What the image and the compose file say fits the program: every variable is a setting, nothing runs as root or writes its own tree."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from assistant.config import known_names, variable_of

IMAGE = Path("Dockerfile").read_text("utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load(Path("docs/deploy/compose.yaml").read_text("utf-8"))
OURS = sorted(name for name in COMPOSE["services"] if name != "database")
KNOWN = {variable_of(name) for name in known_names()}


def test_every_variable_is_a_setting() -> None:
    said = set(re.findall(r"\b(ASSISTANT_\w+)=", IMAGE))
    for name in OURS:
        said |= {key for key in COMPOSE["services"][name]["environment"] if key.startswith("ASSISTANT_")}
    assert said - KNOWN == set()
    assert len(said) > 8


def test_the_image_runs_in_production_and_not_as_root() -> None:
    last = IMAGE.rpartition("\nFROM ")[2]
    assert re.search(r"^USER 10001:10001$", last, re.MULTILINE)
    assert "ASSISTANT_ENVIRONMENT=production" in last
    assert "/healthz" in last
    assert last.index("USER ") < last.index("CMD")


def test_what_the_image_copies_is_there() -> None:
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", IMAGE, re.MULTILINE)
    missing = [name for line in copied for name in line.split() if not Path(name).exists()]
    assert missing == []


@pytest.mark.parametrize("name", OURS)
def test_every_service_of_ours_has_a_tree_that_is_read_only(name: str) -> None:
    service = COMPOSE["services"][name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["tmpfs"] == ["/tmp"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert not any(str(port).startswith(("0.0.0.0", "8")) for port in service.get("ports", ()))


def test_no_secret_has_a_value_of_its_own() -> None:
    text = Path("docs/deploy/compose.yaml").read_text("utf-8")
    secret = re.findall(r"(?:PASSWORD|SECRET|API_KEY): (.+)", text)
    assert len(secret) >= 3
    assert [value for value in secret if not value.startswith(("${", "/data/keys/"))] == []
