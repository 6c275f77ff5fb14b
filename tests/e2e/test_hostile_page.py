"""Hostile text on its real way, in a real Chromium under our policy: typed, uploaded, written by a model, streamed, audited, exported.

tests/e2e/test_widget_hostile.py gives the page one payload a turn from a server that is played; here a real server stores and
sends them, a model writes them in pieces, and the same text is opened on the audit page and in the page of an export.
"""

from __future__ import annotations

import asyncio
import io
import json
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlsplit

import httpx
import pytest
from playwright.async_api import Browser, Page, Route, expect
from ulid import ULID

from assistant.llm.scripted_http import Behaviour, Provider, running_provider
from tests.e2e.hostile import PAYLOADS
from tests.e2e.serving import Client, Server, serving

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="module")]

OWN: Final = tuple(
    line.replace("⏎", "\n")
    for line in (Path(__file__).parents[1] / "data" / "payloads.txt").read_text("utf-8").splitlines()
    if line and not line.startswith(";;")
)
ALL: Final = tuple(dict.fromkeys(one for one in (*OWN, *PAYLOADS) if "\0" not in one))
FACT: Final = "The harbour lamps are tested every 3 weeks."
QUESTION: Final = "How often are the harbour lamps tested?"
BATCH: Final = 40
LONGEST: Final = 7_900
PATIENCE_MS: Final = 30_000
ROLES: Final = '["user", "auditor", "exporter", "admin"]'
REASON: Final = {"X-Audit-Reason": quote("<img src=x onerror=hit(1)>")}

_WATCH: Final = """
window.violations = [];
document.addEventListener('securitypolicyviolation', (event) =>
  window.violations.push(`${event.effectiveDirective} ${event.blockedURI} ${event.sample}`));
"""
_EACH: Final = """(look) => {
  const found = [];
  const walk = (root) => {
    for (const element of root.querySelectorAll('*')) {
      const said = look(element);
      if (said) found.push(said);
      if (element.shadowRoot) walk(element.shadowRoot);
    }
  };
  walk(document);
  return found;
}"""
_FOREIGN: Final = f"""() => ({_EACH})((element) => {{
  const leads = ['src', 'srcset', 'href', 'xlink:href', 'data', 'poster', 'action'].map((name) => element.getAttribute(name) ?? '');
  const bad =
    element.matches('iframe, object, embed, base, video, audio, form[action], portal, math, foreignObject, animate') ||
    element.matches('meta[http-equiv=refresh], template[shadowrootmode], frameset, applet') ||
    [...element.attributes].some((one) => /^on/i.test(one.name)) ||
    /url\\(|image-set/i.test(element.getAttribute('style') ?? '') ||
    leads.some((to) => /^\\s*(javascript|vbscript|data:text)/i.test(to) || (/evil|hit\\(/i.test(to) && !element.matches('a')));
  return bad && element.outerHTML.slice(0, 200);
}})"""
_LINKS: Final = f"""() => {{ const said = (link) =>
  (link.getRootNode().host?.localName === 'assistant-source' ? link.parentElement : link).textContent;
  return ({_EACH})((element) => element.matches('a[href]') &&
  [element.protocol, element.rel, element.host || element.pathname, said(element), element.target]); }}"""
_OPEN: Final = f"""() => void ({_EACH})((element) => {{ if (element.matches('details')) element.open = true; }})"""
_RUN: Final = """(payloads) => {
  for (const payload of payloads) {
    const place = document.body.appendChild(document.createElement('div'));
    place.innerHTML = payload;
  }
}"""


def batches(payloads: tuple[str, ...], size: int, longest: int) -> list[str]:
    """The payloads below each other, so many in one text."""
    made: list[str] = [""]
    count = 0
    for payload in payloads:
        if count == size or len(made[-1]) + len(payload) + 2 > longest:
            made.append("")
            count = 0
        made[-1] += f"{payload}\n\n"
        count += 1
    return made


@dataclass(slots=True)
class Hostile:
    """A server full of hostile text."""

    server: Server
    provider: Provider
    session: str = ""
    turns: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Seen:
    """Everything that must not happen."""

    run: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hostile]:
    with running_provider() as provider:
        chosen = {
            "model__kind": "openai",
            "model__name": "test-model",
            "model__base_url": provider.url,
            "model__api_key": "k",
            "model__summaries": "false",
            "cache__enabled": "false",
            "auth__development_roles": ROLES,
            "limits__files_per_session": "50",
            "server__starts_per_minute": "1000",
        }
        with serving(tmp_path_factory.mktemp("hostile"), **chosen) as server:
            made = Hostile(server, provider)
            asyncio.run(_filled(made))
            yield made


async def _filled(made: Hostile) -> None:
    """Documents, files, questions, answers, a title and a remark, all of them hostile."""
    async with httpx.AsyncClient(base_url=made.server.url, timeout=60) as http:
        for number, text in enumerate(batches(ALL, 150, 1_000_000)):
            title = f"Lamps {OWN[number]} &lt;img src=x onerror=hit(4)&gt; ![x](https://evil.example/title)"
            said = {"title": title, "access": ["everyone"], "owner": "Ann <svg onload=hit(4) [x](javascript:hit(4))"}
            put = await http.put(
                "/api/admin/documents",
                params={
                    "collection": f"<img src=x onerror=hit({number})>",
                    "uri": f"https://evil.example/{number}?<script>hit(0)</script>.md",
                },
                content=f"# <svg onload=hit(7)>\n\n## ![x](https://evil.example/h{number})\n\n{FACT}\n\n{text}".encode(),
                headers={**REASON, "X-Metadata": quote(json.dumps(said))},
            )
            assert put.json().get("outcome") == "added", put.text
        client = Client(made.server.url)
        await client.open()
        assert client.session
        made.session = client.session
        base = f"/api/sessions/{client.session}"
        for name in [one for one in ALL if "/" not in one and "\\" not in one and "\n" not in one][:60:8]:
            sent = await http.post(
                f"{base}/files", content=b"# Notes\n\nNothing.", headers={"X-File-Name": quote(f"{name[:150]}.md")}
            )
            assert sent.status_code in (201, 422), sent.text
        for text in batches(ALL, BATCH, LONGEST - len(QUESTION)):
            made.provider.behave(Behaviour(text=f"{FACT} [1]\n\n{text}", piece=400))
            asked = await http.post(
                f"{base}/turns", json={"text": f"{QUESTION}\n{text}"}, headers={"Idempotency-Key": str(ULID())}
            )
            assert asked.json().get("message", {}).get("status") == "completed", asked.text
            made.turns.append(asked.json()["turn"])
        remark = {"rating": "down", "reason": "".join(OWN[:20])[:1000], "correction": "".join(OWN)[:4000]}
        await client.send("feedback.add", {"turn": made.turns[0], **remark})
        assert (await client.until("ack", "error"))["type"] == "ack"
        await client.close()
        assert (
            await http.patch(base, json={"title": "<img src=x onerror=hit(2)>![x](https://evil.example/t)"})
        ).status_code == 200


async def watched(browser: Browser, url: str, *, script: str = "", net: bool = True) -> tuple[Page, Seen]:
    """A page of which everything is told that must not happen; nothing leaves this machine, also where it is tried."""
    seen = Seen()
    context = await browser.new_context(viewport={"width": 1280, "height": 900}, locale="en-GB", accept_downloads=True)
    here = urlsplit(url).netloc

    async def route(asked: Route) -> None:
        at = urlsplit(asked.request.url)
        if at.netloc == here or at.scheme in ("blob", "data") or (at.scheme == "file" and asked.request.url == url):
            await asked.continue_()
        else:
            seen.outside.append(asked.request.url)
            await asked.abort()

    page = await context.new_page()
    page.set_default_timeout(30_000)
    if net:
        await context.route("**/*", route)
    await page.expose_function("hit", lambda *given: seen.run.append(str(given)))
    page.on("dialog", lambda dialog: seen.run.append(dialog.message))
    page.on("pageerror", lambda error: seen.complaints.append(str(error)))
    context.on("page", lambda other: seen.opened.append(other.url))
    await page.add_init_script(_WATCH + script)
    await page.goto(url)
    return page, seen


async def nothing_happened(page: Page, seen: Seen, url: str) -> None:
    """Nothing ran, nothing was asked of anybody else, nothing was even tried; links say where they lead."""
    assert seen.run == []
    assert seen.outside == []
    assert seen.opened == []
    assert await page.evaluate("window.violations") == [], "nothing was even tried"
    assert await page.evaluate(_FOREIGN) == []
    assert page.url.split("#")[0] == url
    for protocol, rel, host, text, target in await page.evaluate(_LINKS):
        if host == urlsplit(url).netloc or protocol == "blob:":
            continue
        assert protocol in {"http:", "https:", "mailto:"}, text
        assert target == "_blank", text
        assert {"noopener", "noreferrer"} <= set(rel.split()), text
        assert host in text, "a link shows where it leads"


async def test_the_conversation_as_it_was_stored(browser: Browser, hostile: Hostile) -> None:
    assert len(ALL) >= 400
    key = f"sessionStorage.setItem(`assistant:${{location.origin}}:session`, '{hostile.session}');"
    url = f"{hostile.server.url}/"
    page, seen = await watched(browser, url, script=key)
    await expect(page.get_by_role("article")).to_have_count(len(hostile.turns), timeout=PATIENCE_MS)
    await page.evaluate(_OPEN)
    cites = page.locator("button.cite")
    await expect(cites.first).to_be_attached(timeout=PATIENCE_MS)
    await cites.first.click()
    await expect(page.get_by_role("dialog").locator("mark")).to_contain_text(FACT, timeout=PATIENCE_MS)
    await nothing_happened(page, seen, url)
    await page.keyboard.press("Escape")
    await expect(page.locator("assistant-conversations")).to_be_attached(timeout=PATIENCE_MS)
    await nothing_happened(page, seen, url)
    assert seen.complaints == []
    await page.context.close()


async def test_an_answer_while_it_is_written(browser: Browser, hostile: Hostile) -> None:
    """Every state of half written markup is drawn, too."""
    text = "".join(batches(OWN, 1_000, 100_000))
    hostile.provider.behave(Behaviour(text=f"{FACT} [1]\n\n{text}", piece=37, delay=0.003))
    url = f"{hostile.server.url}/"
    page, seen = await watched(browser, url)
    await page.locator("assistant-composer textarea").fill(f"{QUESTION} {OWN[0]}")
    await page.keyboard.press("Enter")
    await expect(page.locator("[aria-busy=false]").last.locator(".footer")).to_be_visible(timeout=2 * PATIENCE_MS)
    await expect(page.locator(".answer").last).to_contain_text("cmd|", timeout=PATIENCE_MS)
    await page.evaluate(_OPEN)
    await nothing_happened(page, seen, url)
    assert seen.complaints == []
    await page.context.close()


async def test_the_audit_page(browser: Browser, hostile: Hostile) -> None:
    url = f"{hostile.server.url}/audit.html"
    page, seen = await watched(browser, url)
    await page.locator("[data-record]").last.click()
    await page.get_by_role("textbox", name="Reason").fill("<img src=x onerror=hit(3)>")
    await page.get_by_role("button", name="Go on").click()
    await expect(page.locator(".paper")).to_be_visible(timeout=PATIENCE_MS)
    await page.evaluate(_OPEN)
    await nothing_happened(page, seen, url)
    assert seen.complaints == []
    await page.context.close()


async def test_the_page_of_an_export(browser: Browser, hostile: Hostile, tmp_path: Path) -> None:
    async with httpx.AsyncClient(base_url=hostile.server.url, timeout=60) as http:
        package = (await http.get("/api/audit/export", headers=REASON)).content
    await asyncio.to_thread(_unpack, package, tmp_path)
    url = (tmp_path / "audit.html").as_uri()
    page, seen = await watched(browser, url)
    await expect(page.locator(".verdict:not(.busy)")).to_be_visible(timeout=PATIENCE_MS)
    rows = page.locator(".list .row")
    for row in range(await rows.count()):
        await rows.nth(row).click()
        assert seen.run == []
    await page.evaluate(_OPEN)
    await nothing_happened(page, seen, url)
    assert seen.complaints == []
    await page.context.close()


async def test_what_the_doors_say_is_never_a_page(hostile: Hostile) -> None:
    """Texts of others come as what no browser takes for a page, and as files to be saved where they are files."""
    base = f"/api/sessions/{hostile.session}"
    async with httpx.AsyncClient(base_url=hostile.server.url, timeout=60) as http:
        for path in (
            base,
            f"{base}/events",
            f"{base}/files",
            f"{base}/export",
            f"{base}/export?format=json",
            "/api/sessions",
        ):
            got = await http.get(path)
            assert got.headers["content-type"].split(";")[0] in {"application/json", "text/markdown"}
            assert got.headers["x-content-type-options"] == "nosniff"
            assert "'unsafe" not in got.headers["content-security-policy"]
            assert "export" not in path or got.headers["content-disposition"].startswith("attachment")
        refused = await http.get("/api/sessions/%3Cscript%3Ehit(1)%3C%2Fscript%3E")
        assert "<script" not in refused.text


async def test_the_net_catches_what_runs(browser: Browser) -> None:
    """Without our page and its policy such payloads run and call out: what is looked for above can be found."""
    page, seen = await watched(browser, "about:blank")
    await page.evaluate(
        _RUN, [one for one in ALL if one.lower().startswith(("<img", "<video", "<details", "<picture"))]
    )
    async with asyncio.timeout(20):
        while len(seen.run) < 10 or not seen.outside:
            await page.wait_for_timeout(50)
    await page.context.close()


def _unpack(package: bytes, folder: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(package)) as zipped:
        zipped.extractall(folder)
