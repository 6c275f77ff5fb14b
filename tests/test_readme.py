"""What the pages for people say is so: links lead somewhere, settings and commands exist, examples run."""

from __future__ import annotations

import ast
import re
import shlex
import textwrap
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from assistant.app import PAGE
from assistant.cli import app
from assistant.config import Settings

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"\]\(([^)\s]+)\)")
BLOCK = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"(?:^|`)(?:[A-Z_]+=\S+ )*assistant ([a-z][^`\n#]*)", re.MULTILINE)
MOST_BYTES = 200_000


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def read(page: Path) -> str:
    return page.read_text("utf-8")


def anchors(page: Path) -> set[str]:
    """The anchors of the headings of a page, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", read(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(read(page)):
        if link.startswith(("http:", "https:", "mailto:")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_pictures_are_shown_and_small() -> None:
    shown = {
        (page.parent / link).resolve() for page in PAGES for link in LINK.findall(read(page)) if link.endswith(".png")
    }
    kept = set((ROOT / "docs" / "pictures").iterdir())
    assert kept == shown
    assert [picture.name for picture in kept if picture.stat().st_size > MOST_BYTES] == []


def settings_shown() -> Iterator[Any]:
    for page in (ROOT / "README.md", *(ROOT / "docs" / f"{name}.md" for name in ("audit", "embedding", "identity"))):
        for n, (language, text) in enumerate(BLOCK.findall(read(page))):
            if language == "toml":
                yield pytest.param(textwrap.dedent(text), id=f"{page.name}-{n}")
    yield pytest.param(read(ROOT / "docs" / "portal" / "assistant.toml"), id="docs/portal/assistant.toml")


@pytest.mark.parametrize("text", list(settings_shown()))
def test_settings_that_are_shown_are_settings(text: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    shown = tomllib.loads(text)
    assert shown
    Settings(**shown)


def commands_shown() -> Iterator[Any]:
    for page in (ROOT / "README.md", ROOT / "docs" / "identity.md", ROOT / "docs" / "portal" / "README.md"):
        for n, said in enumerate(COMMAND.findall(read(page))):
            yield pytest.param(said.rstrip(" &"), id=f"{page.name}-{n}")


@pytest.mark.parametrize("said", list(commands_shown()))
def test_commands_that_are_shown_are_commands(said: str) -> None:
    command: Any = get_command(app)
    words = shlex.split(re.sub(r"[\[\]]", " ", said))
    for word in words:
        if not hasattr(command, "commands"):
            break
        found = command.get_command(None, word)
        assert found is not None or word == "|", said
        command = found or command
        if "|" in words:
            return named_in(words, command, said)
    known = {option for parameter in command.params for option in [*parameter.opts, *parameter.secondary_opts]}
    assert [word for word in words if word.startswith("--") and word not in known] == []
    return None


def named_in(words: list[str], command: Any, said: str) -> None:
    """`audit list | show | verify`: each is a command of the group."""
    names = [word for word in words[1:] if word != "|"]
    assert names, said
    assert [name for name in names if name not in command.commands] == []


async def test_the_example_of_the_readme_runs() -> None:
    (text,) = [text for language, text in BLOCK.findall(read(ROOT / "README.md")) if language == "python"]
    seen: dict[str, Any] = {}
    await eval(compile(text, "README.md", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), seen)
    assert "20 days" in seen["answer"].text


def test_the_portal_is_small_and_its_copy_is_the_script_of_today() -> None:
    folder = ROOT / "docs" / "portal"
    assert len([line for line in read(folder / "portal.py").splitlines() if line.strip()]) <= 60
    assert (folder / "static" / "embed-host.js").read_bytes() == (PAGE / "embed-host.js").read_bytes()


@pytest.mark.parametrize("said", ["ingest . --colection x", "digest .", "audit list | shew"])
def test_a_command_that_is_none_would_be_seen(said: str) -> None:
    with pytest.raises(AssertionError):
        test_commands_that_are_shown_are_commands(said)
