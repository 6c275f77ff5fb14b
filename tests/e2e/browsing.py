"""A real Chromium, what it complains about, and the accessibility of what it shows."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from playwright.async_api import Browser, Page, async_playwright, expect

CHROMIUM: Final = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
QUIET: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--no-first-run",
    "--disable-component-update",
)
AXE: Final = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
_RUN_AXE: Final = """async () => {
  const { violations } = await axe.run(document, { resultTypes: ['violations'] });
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target, failureSummary }) => `${target.flat(9).join(' ')} ${failureSummary}`).join('; ')}`);
}"""


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """A browser for the block."""
    assert CHROMIUM, "no Chromium on this machine; run `make browser`"
    async with async_playwright() as playwright:
        started = await playwright.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        yield started
        await started.close()


async def open_page(browser: Browser, url: str, complaints: list[str], **more: Any) -> Page:
    """A page in a context of its own; errors of scripts and of the policy are added to `complaints`."""
    context = await browser.new_context(viewport={"width": 1280, "height": 900}, **more)
    page = await context.new_page()
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    await page.goto(url)
    return page


async def ask(page: Page, question: str) -> None:
    """Ask and wait for the whole answer."""
    await page.locator("assistant-composer textarea").fill(question)
    await page.keyboard.press("Enter")
    await expect(page.locator("[aria-busy=false]").last.locator(".footer")).to_be_visible(timeout=30_000)


async def axe(page: Page) -> list[str]:
    """What axe-core finds wrong with the page as it is; its script comes by the debugger, which no policy stops."""
    assert AXE.is_file(), "axe-core is not installed; run `make web`"
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(await asyncio.to_thread(AXE.read_text, "utf-8"))
    found: list[str] = await page.evaluate(_RUN_AXE)
    return found


async def focused(page: Page) -> str:
    """The name of what has the focus: its label, else its text."""
    named: str = await page.evaluate(
        """() => {
          let at = document.activeElement;
          while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
          return (at?.getAttribute('aria-label') ?? at?.textContent ?? '').trim().replace(/\\s+/g, ' ');
        }"""
    )
    return named


async def tab_to(page: Page, name: str, *, key: str = "Tab", most: int = 200) -> None:
    """Press a key until what has the focus is called so."""
    for _ in range(most):
        if name in await focused(page):
            return
        await page.keyboard.press(key)
    raise AssertionError(f"{name!r} cannot be reached by {key}; the focus is at {await focused(page)!r}")
