"""The portal of docs/portal as a process of its own, a real assistant beside it, and people in a real Chromium."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.async_api import Browser, Page, Response, expect

from tests.e2e.browsing import ask, axe, open_page
from tests.e2e.example import Portal, example, sign_in
from tests.e2e.serving import run

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="module")]
QUESTION = "How many hours must be billable in a week?"
OF_STAFF, OF_ALL = "32 hours", "36 hours"
"""What the two editions of the handbook say: the newer one is for staff alone."""


@pytest.fixture(scope="module")
def portal(filled: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    """The example beside both editions of a page; the newer one is closed to all but staff."""
    folder = tmp_path_factory.mktemp("example") / "server"
    shutil.copytree(filled, folder)
    closed = run(folder, "ingest", "18f-handbook", "--collection", "18f-handbook", "--access", "staff")
    assert closed.stdout.startswith("0 added, 1 updated"), closed.stderr
    with example(folder) as started:
        yield started


async def signed_in(browser: Browser, portal: Portal, person: str, complaints: list[str]) -> Page:
    """The first page of the portal as this person sees it, in a browser of their own."""
    page = await open_page(browser, portal.url, complaints, locale="en-GB")
    page.set_default_timeout(20_000)
    await sign_in(page, person)
    return page


def overheard(page: Page) -> list[str]:
    """What comes to a page from now on: bodies of the assistant, and frames of its sockets."""
    heard: list[str] = []

    async def body(response: Response) -> None:
        if "/api/" in response.url:
            with contextlib.suppress(Exception):  # a body that the browser did not keep
                heard.append(await response.text())

    page.on("response", body)
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: heard.append(str(frame))))
    return heard


async def test_who_is_signed_in_asks_and_opens_a_citation(browser: Browser, portal: Portal) -> None:
    complaints: list[str] = []
    page = await signed_in(browser, portal, "ann", complaints)
    assert await axe(page) == []
    await page.get_by_role("button", name="Ask a question").click()
    await ask(page, QUESTION)
    await expect(page.locator(".answer").last).to_contain_text(OF_STAFF)
    await expect(page.locator(".conflict")).to_contain_text("The documents disagree")
    assert await axe(page) == []
    await page.locator("button.cite").first.click()
    await expect(page.locator("assistant-source mark").first).to_contain_text("hours")
    await expect(page.locator("assistant-source")).to_contain_text("Unchanged since this answer")
    assert await axe(page) == []
    assert complaints == []


async def test_another_person_sees_only_what_their_groups_allow(browser: Browser, portal: Portal) -> None:
    complaints: list[str] = []
    page = await signed_in(browser, portal, "ann", complaints)
    await page.get_by_role("button", name="Ask a question").click()
    await ask(page, QUESTION)
    await expect(page.locator(".answer").last).to_contain_text(OF_STAFF)
    await page.get_by_role("button", name="Sign out ann").click(force=True)

    heard = overheard(page)
    await sign_in(page, "bob")
    await page.get_by_role("button", name="Ask a question").click()
    await expect(page.locator("assistant-composer textarea")).to_be_enabled()
    await expect(page.get_by_role("article")).to_have_count(0)
    await ask(page, QUESTION)
    await expect(page.locator(".answer").last).to_contain_text(OF_ALL)
    await expect(page.locator(".conflict")).to_have_count(0)
    seen = "\n".join(heard)
    assert OF_ALL in seen, "nothing was overheard"
    assert OF_STAFF not in seen + await page.locator("body").inner_text()
    assert all("404" in complaint for complaint in complaints), complaints


async def test_a_frame_on_a_page_that_takes_no_script_from_elsewhere(browser: Browser, portal: Portal) -> None:
    complaints: list[str] = []
    page = await signed_in(browser, portal, "ann", complaints)
    await page.get_by_role("link", name="Assistant in a frame").click()
    frame = page.frame_locator("iframe")
    await frame.locator("assistant-composer textarea").fill(QUESTION)
    await page.keyboard.press("Enter")
    await expect(frame.locator(".answer").last).to_contain_text(OF_STAFF, timeout=30_000)
    assert complaints == []


async def test_who_has_signed_out_elsewhere_is_told(browser: Browser, portal: Portal) -> None:
    page = await signed_in(browser, portal, "ann", [])
    await page.request.post(f"{portal.url}/sign-out")
    await page.get_by_role("button", name="Ask a question").click()
    await expect(page.get_by_role("alert")).to_contain_text("You are not signed in")


async def test_nobody_is_let_in_without_a_session_of_the_portal(portal: Portal) -> None:
    async with httpx.AsyncClient(base_url=portal.url, follow_redirects=True) as http:
        assert (await http.get("/token")).status_code == 401
        for stranger in ("mallory", "", "ann'--", "\x00"):
            page = await http.post("/sign-in", data={"person": stranger})
            assert "Who are you?" in page.text
        assert (await http.post("/sign-in", content=b"person=\xff&person")).status_code == 200
        assert (await http.get("/token")).status_code == 401


async def test_its_token_is_for_one_use_and_ends_with_the_session(portal: Portal) -> None:
    async with httpx.AsyncClient(base_url=portal.url, follow_redirects=True) as http:
        await http.post("/sign-in", data={"person": "bob"})
        first, other = [(await http.get("/token")).json()["token"] for _ in range(2)]
        assert first != other
        assert (await exchanged(portal, first)).status_code == 200
        replayed = await exchanged(portal, first)
        assert (replayed.status_code, replayed.json()["error"]["reason"]) == (401, "replayed")
        held = http.cookies["portal"]
        await http.post("/sign-out")
        http.cookies.set("portal", held)
        assert (await http.get("/token")).status_code == 401
        assert "Who are you?" in (await http.get("/")).text
    assert first not in portal.assistant.log()
    assert other not in portal.assistant.log()


async def exchanged(portal: Portal, token: str) -> httpx.Response:
    async with httpx.AsyncClient(base_url=portal.assistant.url) as http:
        return await http.post("/api/auth/exchange", headers={"Authorization": f"Bearer {token}"})


async def test_its_policies_allow_what_is_documented_and_no_more(portal: Portal) -> None:
    async with httpx.AsyncClient(base_url=portal.url, follow_redirects=True) as http:
        assert "script-src" not in policy_of(await http.get("/"))
        await http.post("/sign-in", data={"person": "ann"})
        chat, frame = policy_of(await http.get("/")), policy_of(await http.get("/frame"))
    assistant = portal.assistant.url
    assert chat["script-src"] == [assistant]
    assert chat["connect-src"] == ["'self'", assistant, assistant.replace("http", "ws")]
    assert (frame["script-src"], frame["connect-src"], frame["frame-src"]) == (["'self'"], ["'self'"], [assistant])
    for policy in (chat, frame):
        assert policy["default-src"] == ["'none'"]
        assert not [word for words in policy.values() for word in words if "unsafe" in word or word == "*"]


def policy_of(response: httpx.Response) -> dict[str, list[str]]:
    rules = [rule.split() for rule in response.headers["content-security-policy"].split(";")]
    return {name: words for name, *words in rules}
