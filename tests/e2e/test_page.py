from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from assistant.app import PAGE
from tests.e2e.browsing import ask, open_page
from tests.e2e.serving import Server

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="module")]
QUESTION = "How many hours must be billable in a week?"


async def test_a_person_asks_reads_checks_and_comes_back(browser: Browser, server: Server, tmp_path: Path) -> None:
    assert (PAGE / "index.html").is_file(), "the page is not built; run `make web`"
    complaints: list[str] = []
    page = await open_page(browser, server.url, complaints, locale="en-GB")
    await ask(page, QUESTION)
    answer = page.locator(".answer").last
    await expect(answer).to_contain_text("32 hours")
    await expect(page.locator(".conflict")).to_contain_text("The documents disagree")

    await page.locator("button.cite").first.click()
    source = page.get_by_role("heading", name="Tock")
    await expect(source).to_be_visible()
    await expect(page.get_by_role("dialog").locator("mark")).to_contain_text("hours")
    await expect(page.get_by_text("Unchanged since this answer")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(source).to_be_hidden()

    await page.locator("details.plan summary").last.click()
    await expect(page.locator(".legend").last).to_contain_text("Evidence")
    await ask(page, "And for a four day week?")
    await expect(page.get_by_role("article")).to_have_count(2)

    await page.reload()
    await expect(page.get_by_role("article")).to_have_count(2)
    await expect(page.locator(".answer").first).to_contain_text("32 hours")
    assert complaints == []


async def test_the_page_speaks_chinese(browser: Browser, server: Server) -> None:
    complaints: list[str] = []
    page = await open_page(browser, server.url, complaints, locale="zh-CN")
    await ask(page, "钨的沸点是多少？")
    await expect(page.locator(".answer").last).to_contain_text("根据现有信息无法回答")
    await expect(page.get_by_role("navigation", name="对话")).to_be_attached()
    assert complaints == []


async def test_markup_in_a_question_is_text(browser: Browser, server: Server) -> None:
    complaints: list[str] = []
    page = await open_page(browser, server.url, complaints, locale="en-GB")
    hostile = "<img src=x onerror=alert(1)> <script>alert(2)</script> How many hours must be billable?"
    await ask(page, hostile)
    await expect(page.locator(".question").last).to_contain_text("<img src=x onerror=alert(1)>")
    assert await page.locator("assistant-chat img").count() == 0
    assert complaints == []


async def test_the_policy_on_every_response(browser: Browser, server: Server) -> None:
    page = await (await browser.new_context()).new_page()
    for path in ("/", "/assistant-chat.js", "/healthz", "/nothing-here"):
        response = await page.request.get(server.url + path)
        policy = response.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "require-trusted-types-for 'script'" in policy
        assert "unsafe" not in policy
        assert response.headers["x-content-type-options"] == "nosniff"
