from __future__ import annotations

import re
from uuid import uuid4

import pytest
from playwright.async_api import Browser, Page, expect

from tests.e2e.browsing import ask, axe, focused, open_page, tab_to
from tests.e2e.serving import Server

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="module")]
QUESTION = "How many hours must be billable in a week?"


async def test_everything_is_done_by_keyboard_alone(browser: Browser, server: Server) -> None:
    complaints: list[str] = []
    page = await open_page(browser, server.url, complaints, locale="en-GB")
    await tab_to(page, "Ask a question")
    await page.keyboard.type(QUESTION)
    await page.keyboard.press("Enter")
    await expect(page.locator("[aria-busy=false] .footer")).to_be_visible(timeout=30_000)
    await expect(page.locator(".conflict")).to_contain_text("The documents disagree")
    await expect(page.locator(".conflict .side time").first).to_contain_text(re.compile(r"20\d\d"))

    await tab_to(page, "Source 1", key="Shift+Tab")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("dialog")).to_contain_text("Unchanged since this answer")
    await page.keyboard.press("Escape")
    assert "Source 1" in await focused(page)

    await tab_to(page, "Good answer")
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("Thank you, noted.")).to_be_visible()

    await rename_and_delete(page)
    assert complaints == []


async def rename_and_delete(page: Page) -> None:
    name = f"Billable hours {uuid4().hex[:6]}"
    await tab_to(page, "New conversation", key="Shift+Tab")
    await tab_to(page, "More for")  # the latest comes first
    await page.keyboard.press("Enter")
    await tab_to(page, "Rename")
    await page.keyboard.press("Enter")
    await page.keyboard.press("Control+A")
    await page.keyboard.type(name)
    await page.keyboard.press("Enter")
    await expect(page.locator("assistant-conversations .name").first).to_contain_text(name)
    assert await focused(page) == f"More for “{name}”"

    await page.keyboard.press("Enter")
    await tab_to(page, "Delete…")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("dialog", name="Delete this conversation?")).to_be_visible()
    assert await focused(page) == "Cancel", "what does no harm comes first"
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await expect(page.get_by_text(name)).to_have_count(0)
    await expect(page.get_by_role("article")).to_have_count(0)


async def test_search_finds_and_says_so(browser: Browser, server: Server) -> None:
    complaints: list[str] = []
    page = await open_page(browser, server.url, complaints, locale="en-GB")
    await ask(page, QUESTION)
    await page.get_by_role("searchbox").fill("zebra crossing")
    await expect(page.get_by_text("No conversation holds these words.")).to_be_visible()
    await page.get_by_role("searchbox").fill("billable")
    await expect(page.locator("assistant-conversations .name").first).to_contain_text("billable")
    assert complaints == []


async def test_a_conversation_is_saved_as_a_file(browser: Browser, server: Server) -> None:
    complaints: list[str] = []
    page = await open_page(browser, server.url, complaints, locale="en-GB")
    await ask(page, QUESTION)
    await page.locator("assistant-conversations .dots").first.click()
    async with page.expect_download() as started:
        await page.get_by_role("button", name="Save as Markdown").click()
    saved = await started.value
    assert saved.suggested_filename.endswith(".md")
    text = (await saved.path()).read_text("utf-8")
    assert QUESTION in text
    assert complaints == []


@pytest.mark.parametrize(
    ("scheme", "direction", "locale"),
    [("light", "ltr", "en-GB"), ("dark", "ltr", "en-GB"), ("light", "rtl", "en-GB"), ("dark", "rtl", "zh-CN")],
)
async def test_axe_finds_nothing(browser: Browser, server: Server, scheme: str, direction: str, locale: str) -> None:
    complaints: list[str] = []
    page = await open_page(browser, server.url, complaints, locale=locale, color_scheme=scheme, reduced_motion="reduce")
    await page.evaluate("direction => (document.documentElement.dir = direction)", direction)
    assert await axe(page) == [], "nothing asked yet"
    await ask(page, QUESTION)
    await page.locator("details.plan summary").last.click()
    await page.locator("assistant-composer .tool").first.click()
    await page.locator(".footer .tool").last.click()
    await page.locator("assistant-conversations .dots").first.click()
    assert await axe(page) == [], "an answer with its plan, options, feedback, the actions of the list"
    await page.locator("button.cite").first.click()
    await expect(page.locator("assistant-source .state")).to_be_visible()
    assert await axe(page) == [], "a source beside it"
    await page.set_viewport_size({"width": 420, "height": 800})
    assert await axe(page) == [], "on a small screen"
    assert complaints == []


async def test_nothing_leaves_the_screen_from_right_to_left(browser: Browser, server: Server) -> None:
    page = await open_page(browser, server.url, [], locale="en-GB")
    await ask(page, QUESTION)
    for direction in ("ltr", "rtl"):
        for width in (1280, 700, 360):
            await page.set_viewport_size({"width": width, "height": 800})
            await page.evaluate("direction => (document.documentElement.dir = direction)", direction)
            wide = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert wide == 0, (direction, width)


async def test_in_forced_colours_marks_have_borders(browser: Browser, server: Server) -> None:
    page = await open_page(browser, server.url, [], locale="en-GB", forced_colors="active")
    await ask(page, QUESTION)
    style = "element => getComputedStyle(element).borderTopStyle"
    assert await page.locator("button.cite").first.evaluate(style) == "solid"
    assert await page.locator(".coverage i").first.evaluate(style) == "solid"
    await page.locator("details.plan summary").last.click()
    adjusted = "element => getComputedStyle(element).forcedColorAdjust"
    assert await page.locator("assistant-plan .bar").first.evaluate(adjusted) == "none"
