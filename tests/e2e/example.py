"""The portal of docs/portal as a process of its own, and an assistant with the settings that stand beside it."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx
from playwright.async_api import Page, expect

from tests.e2e.serving import Server, environment, free_port

EXAMPLE: Final = Path(__file__).parents[2] / "docs" / "portal"


@dataclass(frozen=True, slots=True)
class Portal:
    """The running example, and the assistant that trusts it."""

    url: str
    assistant: Server


@contextlib.contextmanager
def example(folder: Path) -> Iterator[Portal]:
    """Portal and assistant over the database in `folder`, until the block ends. They share a secret, and nothing else."""
    url, secret = f"http://127.0.0.1:{free_port()}", secrets.token_urlsafe(32)
    moved = {"auth__origins": json.dumps([url]), "widget__portals": json.dumps([url])}
    settings = environment(
        retrieval__embedder="none", auth__portal_secret=secret, server__log_level="debug", **moved
    ) | {"ASSISTANT_CONFIG": str(EXAMPLE / "assistant.toml")}
    server = Server(folder, free_port(), settings)
    with _portal(url, {"PORTAL_SECRET": secret, "PORTAL_ASSISTANT": server.url}, folder / "portal.log"):
        server.start()
        try:
            yield Portal(url, server)
        finally:
            server.end()


@contextlib.contextmanager
def _portal(url: str, settings: dict[str, str], log: Path) -> Iterator[None]:
    command = [sys.executable, "-m", "uvicorn", "portal:app", "--app-dir", str(EXAMPLE), "--port", url.split(":")[-1]]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=log.parent, env={"PATH": os.environ["PATH"], **settings}, stdout=output, stderr=output
        )
    try:
        _wait(url, process, log)
        yield
    finally:
        process.terminate()
        process.wait(30)


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with contextlib.suppress(httpx.TransportError):
            if httpx.get(url, timeout=2).status_code == 200:
                return
        assert process.poll() is None, log.read_text("utf-8")
        time.sleep(0.1)
    raise AssertionError("the portal does not answer")


async def sign_in(page: Page, person: str) -> None:
    """Sign in to the portal, whose page is open."""
    await page.get_by_label("Who are you?").fill(person)
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.get_by_role("heading", name=f"Good morning, {person}")).to_be_visible()
