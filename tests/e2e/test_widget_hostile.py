from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Browser, Page, Route, WebSocketRoute, expect

from tests.e2e.browsing import open_page
from tests.e2e.hostile import PAYLOADS
from tests.e2e.serving import Frame, Server

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="module")]

_INSIDE = """(selector) => {
  const found = [];
  const look = (root) => {
    found.push(...root.querySelectorAll(selector));
    for (const element of root.querySelectorAll('*')) if (element.shadowRoot) look(element.shadowRoot);
  };
  look(document.querySelector('assistant-chat').shadowRoot);
  return found.map((element) => element.outerHTML.slice(0, 200));
}"""
_LINKS = """() => {
  const found = [];
  const look = (root) => {
    for (const link of root.querySelectorAll('a[href]')) found.push([link.protocol, link.rel]);
    for (const element of root.querySelectorAll('*')) if (element.shadowRoot) look(element.shadowRoot);
  };
  look(document.querySelector('assistant-chat').shadowRoot);
  return found;
}"""
_OPEN = """() => {
  const turns = [...document.querySelector('assistant-chat').shadowRoot.querySelectorAll('assistant-turn')];
  for (const turn of turns.filter((_, i) => i % 22 === 0))
    for (const details of turn.shadowRoot.querySelectorAll('details')) details.open = true;
}"""
_CITE = """(i) => document.querySelector('assistant-chat').shadowRoot.querySelectorAll('assistant-turn')[i]
  .shadowRoot.querySelector('button.cite').click()"""
_QUESTIONS = """() => [...document.querySelector('assistant-chat').shadowRoot.querySelectorAll('assistant-turn')]
  .map((turn) => turn.shadowRoot.querySelector('.question p').textContent)"""


@dataclass(slots=True)
class Seen:
    """Everything that must not happen."""

    run: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


def a_source(text: str) -> dict[str, Any]:
    where = {"uri": text, "section": f"{text} > {text}", "start": 0, "end": 1, "exact": text, "page": 1}
    return {"document": "d", "version": 1, "sha256": "", "title": text, "date": text, "authority": "high", **where}


def a_message(text: str) -> dict[str, Any]:
    """A finished turn that has this text wherever a text of others can stand."""
    span = {"start": 0, "end": len(text), "verdict": "supported", "score": 1.0}
    side = {"evidence": "e", "n": 1, "claim": text, "title": text, "date": text, "authority": "high", "preferred": True}
    conflict = {
        "topic": text,
        "kind": text,
        "sides": [side, side],
        "resolution": "newer",
        "note": text,
        "followed": text,
    }
    budget = dict.fromkeys(("window", "system", "history", "evidence", "question", "output", "margin"), 1)
    dropped = [{"kind": text, "ref": text, "tokens": 1, "reason": text}]
    shown = {"id": text, "n": 1, "title": text, "uri": text, "section": text, "date": text, "authority": "high"}
    plan: dict[str, Any] = {
        **dict.fromkeys(("standalone", "mode", "reason", "reason_code", "language"), text),
        "budget": {**budget, "dropped": dropped},
        "evidence": [{**shown, "score": 1.0, "tokens": 1, "conflicts": [], "preferred": None, "flags": [text]}],
        "searched": [text],
    }
    return {
        "question": text,
        "text": text,
        "status": "completed",
        "stage": "done",
        "finish": "stop",
        "sha256": hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
        "model": text,
        "prompt": text,
        "error": text,
        "plan": plan,
        "steps": [{"stage": text, "done": 1, "total": 2, "text": text, "failed": text}],
        "citations": {
            "status": "partial",
            "items": [{"n": 1, "evidence": "e", "source": a_source(text), **span}],
            "unsupported": [{**span, "verdict": "unsupported"}],
            "agreement": 3,
        },
        "conflicts": {"items": [conflict]},
        "usage": None,
        "audit_id": text,
        "record_hash": text,
        "attachments": [text],
        "from_cache": text,
        "changes": [],
    }


def a_server(payloads: tuple[str, ...]) -> dict[str, Any]:
    """Bodies by path, each full of hostile text."""
    text = payloads[0]
    past = {"version": 1, "date": text, "before": text, "exact": text, "after": text, "state": "changed"}
    now = {"version": 2, "date": text, "before": text, "exact": text, "after": text}
    item = {"created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z", "turns": 1}
    call = {"purpose": text, "model": text, "messages": [{"role": text, "text": text}], "text": text, "ended": text}
    return {
        "/api/config": {
            "model": text,
            "title": text,
            "examples": [text],
            "languages": ["en"],
            "modes": ["auto", text],
            "collections": [text, "b"],
        },
        "/api/sessions": {
            "sessions": [{"session_id": f"s{i}", "title": one, **item} for i, one in enumerate(payloads)],
            "next": None,
        },
        "/api/sessions/s1": {
            "session_id": "s1",
            "epoch": "e",
            "as_of_seq": 1,
            "turns": [{"turn": f"t{i}", "message": a_message(one)} for i, one in enumerate(payloads)],
        },
        "/api/sessions/s1/sources": {"sources": []},
        "source": {**past, "current": now, "diff": None},
        "calls": {"calls": [call]},
    }


async def hostile_page(browser: Browser, server: Server, payloads: tuple[str, ...]) -> tuple[Page, Seen]:
    """The real page under its real policy; what its server says is hostile."""
    seen, bodies = Seen(), a_server(payloads)
    page = await open_page(browser, "about:blank", seen.complaints, locale="en-GB")
    await page.expose_function("hit", lambda *given: seen.run.append(str(given)))
    page.on("dialog", lambda dialog: seen.run.append(dialog.message))
    page.on("request", lambda request: seen.requests.append(request.url))

    async def answer(route: Route) -> None:
        path = urlsplit(route.request.url).path
        body = bodies.get(path) or bodies.get(path.rsplit("/", 1)[-1])
        await route.fulfill(status=200 if body else 404, json=body or {})

    def socket(ws: WebSocketRoute) -> None:
        def heard(message: str | bytes) -> None:
            if json.loads(message)["type"] != "session.open":
                return
            ready = {
                "session_id": "s1",
                "epoch": "e",
                "head_seq": 1,
                "recovered": True,
                "replay_count": 0,
                "heartbeat_ms": 60_000,
            }
            for kind, d in (("session.ready", ready), ("replay.done", {"head_seq": 1})):
                ws.send(json.dumps(a_frame(kind, d)))

        ws.on_message(heard)

    await page.route("**/api/**", answer)
    await page.route_web_socket("**/v1/ws", socket)
    await page.add_init_script("sessionStorage.setItem(`assistant:${location.origin}:session`, 's1')")
    await page.goto(server.url)
    await expect(page.get_by_role("article")).to_have_count(len(payloads), timeout=30_000)
    return page, seen


def a_frame(kind: str, d: dict[str, Any]) -> Frame:
    return {"v": 1, "type": kind, "sid": "s1", "ts": "2026-01-01T00:00:00Z", "d": d}


async def test_nothing_of_others_runs_or_calls_out(browser: Browser, server: Server) -> None:
    assert len(PAYLOADS) >= 200
    page, seen = await hostile_page(browser, server, PAYLOADS)
    assert await page.evaluate(_QUESTIONS) == list(PAYLOADS)
    await page.evaluate(_OPEN)
    await expect(page.locator("assistant-making section").last).to_be_attached(timeout=30_000)
    for turn in range(0, len(PAYLOADS), 45):
        await page.evaluate(_CITE, turn)
        await expect(page.locator("assistant-source .versions")).to_be_visible(timeout=20_000)
    await page.locator("assistant-composer .tool").first.click()
    await page.locator("assistant-conversations .dots").first.click()

    for event in ("mouseover", "focus", "toggle", "load", "error"):
        await page.evaluate(
            "type => { for (const at of document.querySelectorAll('assistant-chat')) at.dispatchEvent(new Event(type)); }",
            event,
        )
    assert (
        await page.evaluate(
            _INSIDE, "script, iframe, object, embed, img, link, meta, base, video, audio, style, form[action]"
        )
        == []
    )
    assert await page.evaluate(_INSIDE, "[onerror], [onload], [onfocus], [onmouseover], [ontoggle], [style*=url]") == []
    for protocol, rel in await page.evaluate(_LINKS):
        assert protocol in {"http:", "https:", "mailto:"}
        assert "noopener" in rel
    assert seen.run == []
    assert seen.complaints == [], "nothing was even tried"
    own = urlsplit(server.url).netloc
    assert [url for url in seen.requests if urlsplit(url).netloc not in {own, ""}] == []
    assert page.url == f"{server.url}/"
