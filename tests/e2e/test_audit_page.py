"""The audit page in a real browser against a real server: find, open with a reason, then and now, verify, export."""

from __future__ import annotations

import asyncio
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from assistant.app import PAGE
from tests.e2e.conftest import DEMO
from tests.e2e.serving import Client, Server, run, serving

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="module")]
QUESTION = "How many hours must be billable in a week?"
NOWHERE = "What is the boiling point of tungsten? <img src=x onerror=alert(1)>"
REASON = "complaint 7, 投诉"
ROLES = '["user", "auditor", "exporter"]'
AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"


def read_in(folder: Path, edition: str) -> None:
    shutil.copy(DEMO / edition / "tools" / "tock.md", folder / "h" / "tock.md")
    done = run(folder, "ingest", "h", "--collection", "h")
    assert done.returncode == 0, done.stderr


async def ask_and_complain(server: Server) -> None:
    client = Client(server.url)
    await client.open()
    frames = await client.ask(QUESTION)
    said = {"turn": frames[0]["turn"], "rating": "down", "reason": "too old", "correction": "It is 32 hours."}
    await client.send("feedback.add", said)
    while (await client.receive())["type"] != "ack":
        pass
    await client.ask(NOWHERE)
    await client.close()


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Two answers, a correction of the first, and then another edition of the document that it cites."""
    folder = tmp_path_factory.mktemp("audited")
    (folder / "h").mkdir()
    assert run(folder, "migrate").returncode == 0
    read_in(folder, "18f-handbook-2021")
    with serving(folder, auth__development_roles=ROLES) as server:
        asyncio.run(ask_and_complain(server))
        read_in(folder, "18f-handbook")
        yield server


async def visit(browser: Browser, server: Server, complaints: list[str], fragment: str = "", **more: Any) -> Page:
    """The page; complaints are errors of the page, refusals of its content policy among them, and requests elsewhere."""
    assert (PAGE / "audit.html").is_file(), "the page is not built; run `make web`"
    context = await browser.new_context(**({"viewport": {"width": 1280, "height": 900}, "locale": "en-GB"} | more))
    page = await context.new_page()
    page.set_default_timeout(20_000)
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda sent: None if sent.url.startswith((server.url, "blob:")) else complaints.append(sent.url))
    await page.goto(f"{server.url}/audit.html{fragment}")
    return page


async def open_first_answer(page: Page) -> None:
    await page.get_by_role("button", name="Open record 1", exact=True).click()
    why = page.get_by_role("textbox", name="Reason")
    await why.fill(REASON)
    await why.press("Tab")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name="Record 1")).to_be_focused()


async def test_an_auditor_finds_opens_verifies_and_exports(browser: Browser, audited: Server, tmp_path: Path) -> None:
    complaints: list[str] = []
    page = await visit(browser, audited, complaints)
    rows = page.locator("tbody tr")
    await expect(rows).to_have_count(2)
    await expect(page.locator("table")).not_to_contain_text("tungsten")
    await expect(rows.last).to_contain_text("source changed")
    await expect(rows.last).to_contain_text("wrong")

    await page.locator("select[name=verdict]").select_option("supported")
    await page.get_by_role("button", name="Show", exact=True).click()
    await expect(rows).to_have_count(1)
    assert page.url.endswith("#verdict=supported")
    await page.reload()
    await expect(rows).to_have_count(1)
    await expect(page.locator("select[name=verdict]")).to_have_value("supported")
    await expect(page.locator("select[name=kind]")).to_have_value("turn")

    await open_first_answer(page)
    await expect(page.locator(".paper")).to_contain_text("36 hours")
    await page.locator(".paper button.cite").first.click()
    place = page.locator("#source-0")
    await expect(place).to_be_focused()
    await expect(place.locator("figure").first.locator("mark").first).to_contain_text("36 hours")
    await expect(place.locator("figure").last.locator("ins").filter(has_text="32 hours").first).to_be_visible()
    await expect(page.locator(".remark")).to_contain_text("It is 32 hours.")
    await expect(page.locator(".legend")).to_contain_text("Evidence")
    await expect(page.get_by_text("The log was not verified in this visit.")).to_be_visible()

    await page.get_by_role("button", name="Verify the log").click()
    await expect(page.locator(".verdict.good")).to_contain_text("Intact: all of")
    await expect(
        page.get_by_text("The log was verified in this visit: this record is what was written")
    ).to_be_visible()

    async with page.expect_download() as waiting:
        await page.get_by_role("button", name="Export what is shown").click()
    download = await waiting.value
    assert download.suggested_filename == "audit.zip"
    package = tmp_path / "audit.zip"
    await download.save_as(package)
    with zipfile.ZipFile(package) as zipped:
        assert "manifest.json" in zipped.namelist()
        assert REASON in zipped.read("manifest.json").decode()
        assert "36 hours" in zipped.read("texts.jsonl").decode()

    await page.keyboard.press("Escape")
    await expect(page.get_by_role("button", name="Back to the records")).to_have_count(0)
    await expect(page.get_by_role("button", name="Open record 1", exact=True)).to_be_focused()
    await expect(rows).to_contain_text([QUESTION])
    assert complaints == []


async def test_every_look_is_on_the_record_with_its_reason(browser: Browser, audited: Server) -> None:
    complaints: list[str] = []
    page = await visit(browser, audited, complaints)
    await open_first_answer(page)
    await expect(page.locator(".remark")).to_be_visible()
    await page.keyboard.press("Escape")
    await page.locator("select[name=kind]").select_option("view")
    await page.get_by_role("button", name="Show", exact=True).click()
    await expect(page.locator("tbody tr").first).to_contain_text("View")
    await page.locator("[data-record]").first.click()
    await expect(page.locator("dl").first).to_contain_text(REASON)
    await page.go_back()
    await page.get_by_role("button", name="Back to the records").click()
    await expect(page.locator("select[name=kind]")).to_have_value("turn")
    await expect(page.locator("tbody tr")).to_have_count(2)
    assert complaints == []


async def test_figures_are_drawn_and_told(browser: Browser, audited: Server) -> None:
    complaints: list[str] = []
    page = await visit(browser, audited, complaints)
    await page.get_by_text("Figures over time").click()
    chart = page.locator("figure[data-chart=answers]")
    await expect(chart.locator("canvas")).to_be_visible()
    box = await chart.locator("canvas").bounding_box()
    assert box is not None
    assert box["width"] > 200
    await chart.get_by_text("As a table").click()
    await expect(chart.locator("tbody tr")).to_have_count(1)
    await expect(chart.locator("td")).to_have_text("2")
    await expect(page.locator("figure[data-chart=refusals] .legend")).to_contain_text("found nothing 1")
    await page.locator("select[name=verdict]").select_option("contradicted")
    await page.get_by_role("button", name="Show", exact=True).click()
    await expect(page.get_by_text("No answer in this time.")).to_be_visible()
    assert complaints == []


async def test_markup_in_what_people_wrote_is_text(browser: Browser, audited: Server) -> None:
    complaints: list[str] = []
    page = await visit(browser, audited, complaints, "#verdict=%3Cimg%20src=x%3E&document=%22%3E%3Cimg%20src=x%3E")
    await expect(page.get_by_text("No record fits.")).to_be_visible()
    await page.get_by_role("button", name="Clear").click()
    await page.locator("[data-record]").first.click()
    await page.get_by_role("textbox", name="Reason").fill("<img src=x onerror=alert(1)>")
    await page.get_by_role("button", name="Go on").click()
    await expect(page.locator(".said").first).to_have_text(NOWHERE)
    assert await page.locator("assistant-audit img").count() == 0
    assert complaints == []


async def test_somebody_without_the_role_finds_nothing_here(browser: Browser, audited: Server) -> None:
    complaints: list[str] = []
    with serving(audited.folder) as other:
        page = await visit(browser, other, complaints)
        await expect(page.get_by_text("There is nothing here for you.")).to_be_visible()
    assert await page.locator("assistant-audit button, assistant-audit input").count() == 0
    assert all("404" in complaint for complaint in complaints)


@pytest.mark.parametrize(
    ("scheme", "direction", "locale", "forced"),
    [
        ("light", "ltr", "en-GB", "none"),
        ("dark", "ltr", "zh-CN", "none"),
        ("light", "rtl", "en-GB", "none"),
        ("dark", "ltr", "en-GB", "active"),
    ],
)
async def test_nobody_is_kept_out(
    browser: Browser, audited: Server, scheme: str, direction: str, locale: str, forced: str
) -> None:
    if not AXE.is_file():
        pytest.skip("axe-core is not installed in web/node_modules")
    complaints: list[str] = []
    page = await visit(browser, audited, complaints, color_scheme=scheme, locale=locale, forced_colors=forced)
    await page.evaluate("direction => { document.documentElement.dir = direction; }", direction)
    await page.locator(".figures > summary").click()
    await expect(page.locator("canvas").first).to_be_visible()
    await page.locator("figure details summary").first.click()
    assert await violations(page) == []
    await page.locator("[data-record]").last.click()
    assert await violations(page) == []
    await page.locator("dialog textarea").fill(REASON)
    await page.locator("dialog button").first.click()
    await expect(page.locator(".remark")).to_be_visible()
    assert await violations(page) == []
    narrow = await page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    assert narrow, "the page is wider than its window"
    assert complaints == []


async def violations(page: Page) -> list[str]:
    """What axe has to complain about; it is injected by the browser's own tools, which no content policy stops."""
    session = await page.context.new_cdp_session(page)
    await session.send("Runtime.evaluate", {"expression": AXE.read_text(encoding="utf-8")})
    found = await page.evaluate("async () => (await axe.run(document, { resultTypes: ['violations'] })).violations")
    return [f"{each['id']}: {node['html'][:200]}" for each in found for node in each["nodes"]]
