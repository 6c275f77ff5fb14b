from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from tests.e2e.browsing import chromium
from tests.e2e.serving import DEMO_PAGES, Server, a_server, run, started
from tests.e2e.workers import Stable

DEMO = Path(__file__).parents[2] / "assistant" / "demo"


def copy_pages(folder: Path) -> None:
    """Two editions of one real page, with the dates of their folders."""
    for page in DEMO_PAGES:
        collection = page.split("/")[0]
        target = folder / page
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(DEMO / page, target)
        shutil.copy(DEMO / collection / ".meta.yaml", folder / collection / ".meta.yaml")


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a migrated database that holds both editions."""
    folder = tmp_path_factory.mktemp("filled")
    copy_pages(folder)
    assert run(folder, "migrate").returncode == 0
    for collection in ("18f-handbook", "18f-handbook-2021"):
        done = run(folder, "ingest", collection, "--collection", collection)
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("1 added"), done.stdout
    return folder


@pytest.fixture
def folder(filled: Path, tmp_path: Path) -> Path:
    """A copy of the filled folder for one test."""
    shutil.copytree(filled, tmp_path / "server")
    return tmp_path / "server"


@pytest.fixture
def servers() -> Iterator[Stable]:
    """Servers that end with the test."""
    made = Stable()
    yield made
    made.end()


@pytest.fixture(scope="session")
def server(filled: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with the extractive model that tests share, begun as in production; each makes its own sessions."""
    folder = tmp_path_factory.mktemp("shared") / "server"
    shutil.copytree(filled, folder)
    made = a_server(folder, server__starts_per_minute="1000", server__running_turns_per_user="50")
    made.own_python = True
    with started(made):
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def chromium_of_the_file() -> AsyncIterator[Browser]:
    """One browser for all tests of a file."""
    async with chromium() as made:
        yield made


@pytest_asyncio.fixture(loop_scope="module")
async def browser(chromium_of_the_file: Browser) -> AsyncIterator[Browser]:
    """A browser that has no page open, for tests of which all have the loop of their module."""
    yield chromium_of_the_file
    for context in chromium_of_the_file.contexts:
        await context.close()
