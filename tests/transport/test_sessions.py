"""One's own sessions over REST: list, search, titles, deletion, exports and usage, against a real store."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
import pytest_asyncio
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError

from assistant.core.access import Caller
from assistant.core.allowance import DayLimits
from assistant.core.events import AnswerDelta, AnswerFinished, AnswerStarted, TurnEvent, TurnFinished
from assistant.core.turn import fold
from assistant.errors import AssistantError, NotFound
from assistant.interfaces import Identity
from assistant.store import Store
from assistant.store.conversations_list import SqlSessions
from assistant.store.usage import Meter, SqlUsage
from assistant.store.withholding import SqlRights
from assistant.transport.http import refuse, refuse_request
from assistant.transport.presence import Presence
from assistant.transport.sessions import router
from tests.store.filling import ANN, answer_of, draft, found_evidence, plan_of, put

NOW = datetime(2026, 3, 1, 18, tzinfo=UTC)


class Named:
    """Whoever the token names is let in, in Ann's groups."""

    async def authenticate(self, token: str | None) -> Identity:
        return Identity(Caller("acme", token or "ann", ANN.groups), "t")


class Live:
    """Remembers what was to be cancelled."""

    def __init__(self) -> None:
        self.cancelled: list[tuple[str, str, str]] = []

    async def cancel(self, caller: Caller, session: str, turn: str) -> bool:
        self.cancelled.append((caller.user, session, turn))
        return True


@pytest_asyncio.fixture
async def opened(sqlite_url: str) -> AsyncIterator[Store]:
    async with Store(sqlite_url) as store:
        yield store


@pytest.fixture
def doors(opened: Store) -> SimpleNamespace:
    return SimpleNamespace(
        authenticator=Named(),
        sessions=SqlSessions(opened.database),
        usage=SqlUsage(opened.database, Meter(DayLimits(user_turns=5, tenant_cost=9.5)), clock=lambda: NOW),
        rights=SqlRights(opened.database),
        events=opened.events,
        live=Live(),
        presence=Presence(),
        now=lambda: NOW,
    )


@pytest_asyncio.fixture
async def http(doors: SimpleNamespace) -> AsyncIterator[httpx.AsyncClient]:
    app = FastAPI()
    app.state.doors = doors
    app.add_exception_handler(AssistantError, refuse)
    app.add_exception_handler(RequestValidationError, refuse_request)
    app.include_router(router)
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        yield client


BOB = {"Authorization": "Bearer bob"}


async def asked(store: Store, question: str = "How many days of leave?", turn: str = "t1") -> str:
    session = (await store.conversations.open(ANN, None)).id
    await store.conversations.begin_turn(ANN, session, turn=turn, client_id=turn, text=question, mode="auto", limit=99)
    return session


async def answered(store: Store, turn: str = "t1") -> str:
    """A session whose answer cites all it found, with its events as a running turn leaves them."""
    session = await asked(store, turn=turn)
    evidence = await found_evidence(store, "annual leave")
    message = answer_of(evidence, question="How many days of leave?", text="20 days. <b>!")
    assert message.citations is not None
    assert message.conflicts is not None
    assert message.usage is not None
    await store.conversations.save_plan(turn, plan_of(evidence), evidence, [])
    events: list[TurnEvent] = [
        plan_of(evidence),
        AnswerStarted("m", "p1"),
        AnswerDelta(0, message.text),
        AnswerFinished(len(message.text), message.sha256 or "", "stop"),
        message.citations,
        message.conflicts,
        message.usage,
    ]
    await store.events.append(session, turn, events)
    await store.conversations.finish_turn(session, turn, message)
    await store.events.append(session, turn, [TurnFinished("completed")])
    return session


async def test_sessions_are_listed_in_pages(opened: Store, http: httpx.AsyncClient) -> None:
    made = [await asked(opened, f"question {n}", f"t{n}") for n in range(5)]
    seen: list[str] = []
    params: dict[str, str] = {"limit": "2"}
    while True:
        page = (await http.get("/api/sessions", params=params)).json()
        seen += [item["session_id"] for item in page["sessions"]]
        if page["next"] is None:
            break
        params["cursor"] = page["next"]
    assert seen == made[::-1]
    assert set(page["sessions"][0]) == {"session_id", "title", "created_at", "updated_at", "turns"}
    assert (await http.get("/api/sessions", headers=BOB)).json() == {"sessions": [], "next": None}


async def test_a_query_picks_sessions(opened: Store, http: httpx.AsyncClient) -> None:
    session = await asked(opened, "Wie viel Urlaub? 年假 100%", "t1")
    await asked(opened, "Something else", "t2")
    for query in ("URLAUB", "年假", "0%", "viel wie"):
        listed = (await http.get("/api/sessions", params={"query": query})).json()["sessions"]
        assert [item["session_id"] for item in listed] == [session], query
    assert (await http.get("/api/sessions", params={"query": "urlaub"}, headers=BOB)).json()["sessions"] == []


@pytest.mark.parametrize(
    "query",
    [
        "query=" + "x" * 201,
        "query=a%00b",
        "limit=0",
        "limit=201",
        "limit=x",
        "cursor=",
        "cursor=%ff",
        "cursor=" + "A" * 401,
        "cursor=MS4",
    ],
)
async def test_a_list_of_the_wrong_form_is_refused(http: httpx.AsyncClient, query: str) -> None:
    refused = await http.get(f"/api/sessions?{query}")
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "bad_input")


async def test_a_session_gets_another_title(opened: Store, http: httpx.AsyncClient) -> None:
    session = await asked(opened)
    renamed = await http.patch(f"/api/sessions/{session}", json={"title": "  Leave <b> 年假 "})
    assert (renamed.status_code, renamed.json()["title"]) == (200, "Leave <b> 年假")
    assert (await http.get("/api/sessions")).json()["sessions"] == [renamed.json()]


@pytest.mark.parametrize(
    "body",
    [
        {"title": ""},
        {"title": "   "},
        {"title": "x" * 121},
        {"title": "x" * 100_000},
        {"title": "a\x00"},
        {"title": 7},
        {"title": None},
        {"title": "x", "user": "bob"},
        {},
        [],
    ],
)
async def test_a_title_of_the_wrong_form_is_refused(opened: Store, http: httpx.AsyncClient, body: Any) -> None:
    session = await asked(opened)
    refused = await http.patch(f"/api/sessions/{session}", json=body)
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "bad_input")
    assert (await http.get("/api/sessions")).json()["sessions"][0]["title"] == "How many days of leave?"


async def test_a_lone_surrogate_in_a_title_is_refused(opened: Store, http: httpx.AsyncClient) -> None:
    session = await asked(opened)
    raw = b'{"title": "\\ud800"}'
    refused = await http.patch(f"/api/sessions/{session}", content=raw, headers={"Content-Type": "application/json"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "bad_input")


async def test_a_deleted_session_is_gone_and_its_turns_are_stopped(
    opened: Store, http: httpx.AsyncClient, doors: SimpleNamespace
) -> None:
    session = await asked(opened)
    with doors.presence.here(ANN) as bell:
        deleted = await http.delete(f"/api/sessions/{session}")
        assert bell.is_set()
    assert (deleted.status_code, deleted.content) == (204, b"")
    assert doors.live.cancelled == [("ann", session, "t1")]
    assert (await http.get("/api/sessions")).json()["sessions"] == []
    for again in (
        await http.delete(f"/api/sessions/{session}"),
        await http.get(f"/api/sessions/{session}/export"),
        await http.patch(f"/api/sessions/{session}", json={"title": "x"}),
    ):
        assert (again.status_code, again.json()["error"]["code"]) == (404, "not_found")
    assert len(doors.live.cancelled) == 1
    with pytest.raises(NotFound):
        await opened.conversations.open(ANN, session)


@pytest.mark.parametrize("id_", ["nobody", "a%00b", "%25", "x" * 64])
async def test_sessions_of_others_and_of_nobody_look_the_same(
    opened: Store, http: httpx.AsyncClient, doors: SimpleNamespace, id_: str
) -> None:
    session = await asked(opened)
    answers = [
        await http.request(method, f"/api/sessions/{place}", json=body, headers=headers)
        for place, headers in ((id_, {}), (session, BOB))
        for method, body in (("DELETE", None), ("PATCH", {"title": "x"}))
    ]
    answers += [
        await http.get(f"/api/sessions/{place}/export", params={"format": form}, headers=headers)
        for place, headers in ((id_, {}), (session, BOB))
        for form in ("markdown", "json")
    ]
    assert {(answer.status_code, answer.text) for answer in answers} == {(404, answers[0].text)}
    assert doors.live.cancelled == []
    assert (await http.get("/api/sessions")).json()["sessions"][0]["title"] == "How many days of leave?"


async def test_markdown_has_the_conversation_with_footnotes(opened: Store, http: httpx.AsyncClient) -> None:
    await put(opened, draft("Annual leave is 20 days.", uri="https://wiki.example/leave"))
    session = await answered(opened)
    exported = await http.get(f"/api/sessions/{session}/export")
    assert exported.headers["content-type"] == "text/markdown; charset=utf-8"
    assert exported.headers["content-disposition"] == 'attachment; filename="conversation.md"'
    assert exported.headers["cache-control"] == "no-store"
    text = exported.text
    assert text.startswith("# How many days of leave?\n")
    assert "> How many days of leave?" in text
    assert "> 20 da \\[1\\]ys *(not supported by the sources)*. \\<b\\>!" in text
    assert "- \\[1\\] **Leave**, Section, version 1, [wiki.example](<https://wiki.example/leave>)" in text
    chinese = (await http.get(f"/api/sessions/{session}/export", params={"language": "zh"})).text
    assert "## 问题 1" in chinese


async def test_json_has_what_the_snapshot_has(opened: Store, http: httpx.AsyncClient) -> None:
    await put(opened, draft("Annual leave is 20 days."))
    session = await answered(opened)
    exported = await http.get(f"/api/sessions/{session}/export", params={"format": "json"})
    assert exported.headers["content-disposition"] == 'attachment; filename="conversation.json"'
    found = exported.json()
    (turn,) = found["turns"]
    events = await opened.events.read(session)
    message = fold(item.event for item in events)
    assert (found["session_id"], found["title"], found["turns"][0]["turn"]) == (
        session,
        "How many days of leave?",
        "t1",
    )
    assert (found["as_of_seq"], found["exported_at"]) == (events[-1].seq, NOW.isoformat())
    assert turn["message"]["text"] == message.text
    assert turn["message"]["citations"]["items"][0]["source"]["exact"] == "Annual leave is 20 days."
    assert turn["message"]["conflicts"]["items"]
    assert turn["message"]["plan"]["evidence"]
    assert turn["message"]["withheld"] is False


async def test_what_may_not_be_read_now_is_in_no_export(opened: Store, http: httpx.AsyncClient) -> None:
    await put(opened, draft("Annual leave is 20 days."))
    session = await answered(opened)
    await put(opened, draft("Annual leave is 20 days.", access=["hr"]))
    for form in ("markdown", "json"):
        text = (await http.get(f"/api/sessions/{session}/export", params={"format": form})).text
        assert "How many days of leave?" in text
        for word in ("20 da", "Section", "leave.md"):
            assert word not in text
    assert "withheld" in text
    assert json.loads(text)["turns"][0]["message"]["withheld"] is True


async def test_an_empty_session_can_be_exported(opened: Store, http: httpx.AsyncClient) -> None:
    session = (await opened.conversations.open(ANN, None)).id
    assert (await http.get(f"/api/sessions/{session}/export")).text.startswith("# Conversation\n")
    assert (await http.get(f"/api/sessions/{session}/export?format=json")).json()["turns"] == []


@pytest.mark.parametrize("query", ["format=pdf", "format=", "language=fr", "format=markdown%00"])
async def test_an_export_of_an_unknown_form_is_refused(http: httpx.AsyncClient, query: str) -> None:
    refused = await http.get(f"/api/sessions/s/export?{query}")
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "bad_input")


async def test_one_is_told_what_one_used(opened: Store, http: httpx.AsyncClient, doors: SimpleNamespace) -> None:
    meter = Meter()
    async with opened.database.write() as connection:
        for _ in range(5):
            await meter.count_turn(connection, ANN, NOW)
    told = (await http.get("/api/usage")).json()
    limits = dict.fromkeys(("user_tokens", "user_cost", "tenant_turns", "tenant_tokens"))
    assert told == {
        "day": "2026-03-01",
        "used": {"turns": 5, "tokens": 0, "cost": 0.0},
        "limits": {"user_turns": 5, "tenant_cost": 9.5, **limits},
        "reached": "user_turns",
        "resets_in_ms": 6 * 3_600_000,
    }
    assert (await http.get("/api/usage", headers=BOB)).json()["used"]["turns"] == 0


async def test_lists_and_deletions_at_once_never_fail(opened: Store, http: httpx.AsyncClient) -> None:
    made = [await asked(opened, "days", f"t{n}") for n in range(6)]
    answers = await asyncio.gather(
        *(http.delete(f"/api/sessions/{session}") for session in made + made),
        *(http.get("/api/sessions", params={"query": "days"}) for _ in made),
    )
    assert sorted(answer.status_code for answer in answers) == [200] * 6 + [204] * 6 + [404] * 6
