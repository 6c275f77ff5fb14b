from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.async_api import Browser, Page, expect

from tests.e2e.browsing import axe, open_page
from tests.e2e.portal import Portal, portal, settings_for
from tests.e2e.serving import Server, environment, free_port

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="module")]
QUESTION = "How many hours must be billable in a week?"


@pytest.fixture(scope="module")
def shown(filled: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Portal, Server]]:
    """A portal and the server that it trusts."""
    folder = tmp_path_factory.mktemp("portal") / "server"
    shutil.copytree(filled, folder)
    with portal() as made:
        server = Server(folder, free_port(), environment(**settings_for(made, folder)))
        server.start()
        made.assistant = server.url
        yield made, server
        server.end()


@pytest.fixture
def entrance(shown: tuple[Portal, Server]) -> Portal:
    """The portal, with its person signed in and no token given yet."""
    made, _ = shown
    made.person = "ann"
    made.given.clear()
    return made


async def ask(page: Page, question: str) -> None:
    await page.locator("assistant-composer textarea").fill(question)
    await page.keyboard.press("Enter")
    await expect(page.locator("[aria-busy=false] .footer").last).to_be_visible(timeout=30_000)


async def test_a_launcher_on_a_page_of_another_origin(browser: Browser, entrance: Portal) -> None:
    complaints: list[str] = []
    page = await open_page(browser, "about:blank", complaints, locale="en-GB")
    urls: list[str] = []
    page.on("request", lambda request: urls.append(request.url))
    page.on("websocket", lambda socket: urls.append(socket.url))
    await page.goto(entrance.url)
    knob = page.get_by_role("button", name="Ask a question")
    await expect(knob).to_be_visible()
    assert not [url for url in urls if "/api/" in url], "nothing is asked before it is opened"
    await knob.click()
    await ask(page, QUESTION)
    await expect(page.locator(".answer").last).to_contain_text("32 hours")

    assert len(entrance.given) == 1, "one token of the portal is enough"
    held = await page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, location.href])")
    for token in entrance.given:
        assert token not in held + " ".join(urls)
    assert "eyJ" not in held + " ".join(urls), "nor one of the server"

    assert await axe(page) == []
    await page.evaluate("document.documentElement.dir = 'rtl'")
    assert await axe(page) == []
    await page.keyboard.press("Escape")
    await expect(page.locator(".panel")).to_be_hidden()
    assert complaints == []


async def test_a_reloaded_page_comes_back_with_another_token(browser: Browser, entrance: Portal) -> None:
    complaints: list[str] = []
    page = await open_page(browser, entrance.url, complaints, locale="en-GB")
    await page.get_by_role("button", name="Ask a question").click()
    await ask(page, QUESTION)
    await page.reload()
    await page.get_by_role("button", name="Ask a question").click()
    await expect(page.locator(".answer").last).to_contain_text("32 hours")
    assert len(set(entrance.given)) == 2
    assert complaints == []


async def test_who_is_signed_out_of_the_portal_is_told(browser: Browser, entrance: Portal) -> None:
    entrance.person = ""
    page = await open_page(browser, entrance.url, [], locale="en-GB")
    await page.get_by_role("button", name="Ask a question").click()
    await expect(page.get_by_role("alert")).to_contain_text("You are not signed in")
    entrance.person = "ann"
    await page.get_by_role("button", name="Reconnect").click()
    await expect(page.get_by_role("alert")).to_have_count(0)
    await ask(page, QUESTION)


async def test_a_frame_for_portals_that_take_no_script(browser: Browser, entrance: Portal) -> None:
    complaints: list[str] = []
    page = await open_page(browser, f"{entrance.url}/frame", complaints, locale="en-GB")
    frame = page.frame_locator("iframe")
    chat = frame.locator("assistant-chat")
    await expect(chat).to_have_attribute("theme", "dark")
    await expect(chat).to_have_attribute("locale", "zh")
    await frame.locator("assistant-composer textarea").fill(QUESTION)
    await page.keyboard.press("Enter")
    await expect(frame.locator(".answer").last).to_contain_text("32 hours", timeout=30_000)
    assert entrance.given
    await page.evaluate("window.look({ theme: 'light' })")
    await expect(chat).to_have_attribute("theme", "light")
    assert complaints == []


async def test_no_other_page_may_frame_it(browser: Browser, shown: tuple[Portal, Server]) -> None:
    made, server = shown
    policy = httpx.get(f"{server.url}/embed.html").headers["content-security-policy"]
    assert f"frame-ancestors 'self' {made.url};" in f"{policy};"
    assert "frame-ancestors 'self';" in httpx.get(server.url).headers["content-security-policy"] + ";"
    with portal() as stranger:
        stranger.assistant = server.url
        complaints: list[str] = []
        page = await open_page(browser, f"{stranger.url}/frame", complaints, locale="en-GB")
        await expect(page.frame_locator("iframe").locator("assistant-chat")).to_have_count(0)
        assert any("frame-ancestors" in complaint for complaint in complaints)
        assert stranger.given == []


async def test_no_other_page_may_call_it(browser: Browser, shown: tuple[Portal, Server]) -> None:
    _, server = shown
    with portal() as stranger:
        stranger.assistant = server.url
        page = await open_page(browser, stranger.url, [], locale="en-GB")
        refused = "url => fetch(url).then(() => false, () => true)"
        assert await page.evaluate(refused, f"{server.url}/api/config")
        assert await page.evaluate(refused, f"{server.url}/api/sessions")


async def test_one_citation_on_a_page_of_the_portal(browser: Browser, entrance: Portal) -> None:
    complaints: list[str] = []
    page = await open_page(browser, entrance.url, complaints, locale="en-GB")
    await page.get_by_role("button", name="Ask a question").click()
    await ask(page, QUESTION)
    place = (
        "[...document.querySelector('assistant-chat').shadowRoot.querySelectorAll('assistant-turn')].at(-1).turn.turn"
    )
    turn = await page.evaluate(place)
    stored = json.loads(await page.evaluate("JSON.stringify({...sessionStorage})"))
    session = next(value for key, value in stored.items() if key.endswith(":session"))
    await page.goto(f"{entrance.url}/citation?session={session}&turn={turn}&n=1")
    await expect(page.locator("assistant-source")).to_contain_text("Unchanged since this answer")
    await expect(page.locator("assistant-source mark").first).to_contain_text("hours")
    assert await axe(page) == []
    await page.goto(f"{entrance.url}/citation?session={session}&turn={turn}&n=99")
    await expect(page.locator("assistant-citation")).to_contain_text("not available to you")
    entrance.person = "bob"
    await page.goto(f"{entrance.url}/citation?session={session}&turn={turn}&n=1")
    await expect(page.locator("assistant-citation")).to_contain_text("not available to you")
    assert all("404" in complaint for complaint in complaints), complaints
