"""Makes the pictures of the documentation anew, from the real pages and the demo documents: `make pictures`."""

from __future__ import annotations

import asyncio
import io
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final

from PIL import Image
from playwright.async_api import Browser, Locator, Page, expect

from tests.e2e.browsing import ask, chromium, open_page
from tests.e2e.conftest import DEMO
from tests.e2e.example import Portal, example, sign_in
from tests.e2e.serving import Server, run, serving

PICTURES: Final = Path(__file__).parents[2] / "docs" / "pictures"
MOST_BYTES: Final = 200_000
QUESTION: Final = "How many hours must be billable in a week?"
OTHERS: Final = (
    "How do I report a security incident?",
    "Can I carry over annual leave to the next year?",
    "What is the boiling point of tungsten?",
)
HIDE: Final = "buttons => buttons.forEach(button => (button.style.visibility = 'hidden'))"
TALL: Final = 1600


def main() -> None:
    """Start what is needed in a folder of its own, and write every picture."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "server"
        (folder / "handbook").mkdir(parents=True)
        _read_in(folder, "18f-handbook-2021", "handbook")
        with serving(folder, auth__development_roles='["user", "auditor", "exporter"]') as server:
            asyncio.run(_before(server))
            _read_in(folder, "18f-handbook", "handbook")
            _read_in(folder, "18f-handbook-2021", "handbook-2021")
            asyncio.run(_of_server(server))
        with example(folder) as portal:
            asyncio.run(_of_portal(portal))


def _read_in(folder: Path, edition: str, collection: str) -> None:
    shutil.copytree(DEMO / edition, folder / collection, dirs_exist_ok=True)
    for command in (["migrate"], ["ingest", collection, "--collection", collection]):
        done = run(folder, *command)
        assert done.returncode == 0, done.stderr


async def _before(server: Server) -> None:
    """Ask for an answer from the older edition, whose source changes then."""
    async with chromium() as browser:
        page = await _page(browser, server.url)
        await ask(page, QUESTION)


async def _of_server(server: Server) -> None:
    async with chromium() as browser:
        page = await _page(browser, server.url)
        for n, question in enumerate(OTHERS, 1):
            await ask(page, question)
            await expect(page.locator(".answer[aria-busy=false]")).to_have_count(n, timeout=30_000)
        page = await _page(browser, server.url)
        await ask(page, QUESTION)
        await page.locator("button.cite").first.click()
        await expect(page.get_by_text("Unchanged since this answer")).to_be_visible()
        await page.locator(".question").first.scroll_into_view_if_needed()
        await _keep("chat", page)
        await _keep("citation", page.locator("assistant-source").first)
        await page.keyboard.press("Escape")
        await page.set_viewport_size({"width": 1280, "height": TALL})
        await _keep("conflict", page.locator(".conflict").first)
        await _audit(await _page(browser, f"{server.url}/audit.html"))


async def _audit(page: Page) -> None:
    await expect(page.locator("tbody tr")).to_have_count(len(OTHERS) + 2)
    await _keep("audit", page)
    await page.get_by_role("button", name="Open record 1", exact=True).click()
    await page.get_by_role("textbox", name="Reason").fill("a complaint about hours")
    await page.get_by_role("button", name="Go on").click()
    await expect(page.get_by_role("heading", name="Record 1")).to_be_visible()
    await page.locator(".paper button.cite").first.click()
    await _keep("then-and-now", page.locator("#source-0"))


async def _of_portal(portal: Portal) -> None:
    async with chromium() as browser:
        page = await _page(browser, portal.url)
        await sign_in(page, "ann")
        await page.get_by_role("button", name="Ask a question").click()
        await ask(page, QUESTION)
        await page.locator(".question").first.scroll_into_view_if_needed()
        await _keep("portal", page)


async def _page(browser: Browser, url: str) -> Page:
    page = await open_page(browser, url, [], locale="en-GB", color_scheme="light", reduced_motion="reduce")
    page.set_default_timeout(30_000)
    return page


async def _keep(name: str, shown: Page | Locator) -> None:
    """Write a picture, with 256 colours and therefore small.

    The name of the other language is left out: the machine may have no font for it. No style sheet of ours would do it,
    the policy of the page stops them.
    """
    whole = shown if isinstance(shown, Page) else shown.page
    await whole.locator("button[lang]").evaluate_all(HIDE)
    taken = await shown.screenshot(animations="disabled", caret="hide")
    size = await asyncio.to_thread(_write, PICTURES / f"{name}.png", taken)
    assert size <= MOST_BYTES, f"{name} is too large: {size}"
    sys.stdout.write(f"{name}.png {size}\n")


def _write(path: Path, taken: bytes) -> int:
    drawn = Image.open(io.BytesIO(taken)).convert("RGB")
    drawn.quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
    return path.stat().st_size


if __name__ == "__main__":
    main()
