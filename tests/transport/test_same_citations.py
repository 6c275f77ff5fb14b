"""One object, every path renders from it: socket, stream, reload, turn over REST, own export, audit record, audit export, OpenAI door."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select
from ulid import ULID

from assistant.store import Store
from assistant.store.tables import document_versions
from tests.conversation.answering import LEAVE, OLD_LEAVE, TRAVEL
from tests.store.filling import draft, put
from tests.transport.house import BOARD, House, at_home, read_stream, receive, send

QUESTIONS = (
    "How many days of annual leave do employees get?",
    "Who approves travel?",
    "Is sick leave limited?",
    "What of flights over six hours?",
    "员工有多少天年假？",
)
HOSTILE = "Café ☕️ leave: שלום 20 days 🏝️ of “annual” leave.\r\nUnused days of naïve employees e\u0301 may be carried over until March."
Cited = list[tuple[int, int, int, str, str, int, int, str]]


def of(citations: Any) -> Cited:
    """Number, span in the answer, verdict, and place in the source of each citation."""
    items = citations["items"] if citations else []
    return [
        (
            item["n"],
            item["start"],
            item["end"],
            item["verdict"],
            item["source"]["document"],
            item["source"]["start"],
            item["source"]["end"],
            item["source"]["exact"],
        )
        for item in items
    ]


async def fill(house: House) -> dict[str, str]:
    """Put documents; the text of each by its id."""
    url = house.doors.store._database.engine.url.render_as_string()  # type: ignore[attr-defined]
    texts = {"leave.md": LEAVE, "old.md": OLD_LEAVE, "travel.md": TRAVEL, "hostile.md": HOSTILE}
    async with Store(url) as store:
        for uri, text in texts.items():
            await put(store, draft(text, uri, title=uri))
        async with store.database.read() as connection:
            versions = select(document_versions.c.document, document_versions.c.text)
            return {row.document: row.text for row in await connection.execute(versions)}


async def all_paths(house: House, http: httpx.AsyncClient, asked: list[str], texts: dict[str, str]) -> None:
    socket, ready = await house.socket()
    session = ready["d"]["session_id"]
    by_turn: dict[str, Cited] = {}
    for question in asked:
        await send(socket, "turn.start", {"text": question})
        frame = await receive(socket, "citations", "error")
        by_turn[frame["turn"]] = of(frame["d"])
        await receive(socket, "turn.done")
    await socket.close()
    snapshot = (await http.get(f"/api/sessions/{session}")).json()
    assert {turn["turn"]: of(turn["message"]["citations"]) for turn in snapshot["turns"]} == by_turn
    streamed: dict[str, Cited] = {}
    async for _, frame in read_stream(http, f"/api/sessions/{session}/stream?after_seq=0"):
        if frame["type"] == "citations":
            streamed[frame["turn"]] = of(frame["d"])
        if frame["type"] == "replay.done":
            break
    assert streamed == by_turn
    exported = (await http.get(f"/api/sessions/{session}/export?format=json")).json()
    assert {turn["turn"]: of(turn["message"]["citations"]) for turn in exported["turns"]} == by_turn
    for turn in snapshot["turns"]:
        spans_are_right(by_turn[turn["turn"]], turn["message"]["text"], texts)
        record = await http.get(f"/api/audit/records/{turn['message']['audit_id']}", headers={"X-Audit-Reason": "test"})
        assert of(record.json()["record"]["body"]["citations"]) == by_turn[turn["turn"]]
    numbers = {(item[0], item[4]) for cited in by_turn.values() for item in cited}
    assert len({n for n, _ in numbers}) == len(numbers), "a number stands for two documents"
    await audit_export(http, by_turn)


def spans_are_right(cited: Cited, text: str, texts: dict[str, str]) -> None:
    for _, start, end, _, document, source_start, source_end, exact in cited:
        assert 0 <= start < end <= len(text)
        assert texts[document][source_start:source_end] == exact


async def audit_export(http: httpx.AsyncClient, by_turn: dict[str, Cited]) -> None:
    package = await http.get("/api/audit/export", headers={"X-Audit-Reason": "test"})
    with zipfile.ZipFile(io.BytesIO(package.content)) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith("records.jsonl")]
        records = [json.loads(line) for line in archive.read(name).splitlines()]
    told = {
        record["turn"]: of(record["body"]["citations"])
        for record in records
        if record["kind"] == "turn" and record["turn"] in by_turn
    }
    assert told == by_turn


async def test_every_path_tells_the_same_citations(tmp_path: Path) -> None:
    async with at_home(tmp_path) as house:
        house.portal.caller = replace(BOARD, roles=frozenset({"user", "auditor", "exporter"}))
        texts = await fill(house)
        async with httpx.AsyncClient(base_url=house.url, timeout=30) as http:
            await all_paths(house, http, list(QUESTIONS), texts)
            await all_paths(house, http, [QUESTIONS[1], QUESTIONS[0], QUESTIONS[1]], texts)


async def test_the_openai_door_and_a_turn_over_rest_cite_the_same_places(tmp_path: Path) -> None:
    async with at_home(tmp_path) as house:
        texts = await fill(house)
        async with httpx.AsyncClient(base_url=house.url, timeout=30) as http:
            for question in QUESTIONS:
                session = (await http.post("/api/sessions")).json()["session_id"]
                key = {"Idempotency-Key": str(ULID())}
                turn = await http.post(f"/api/sessions/{session}/turns", json={"text": question}, headers=key)
                message = turn.json()["message"]
                body = {"model": "assistant", "messages": [{"role": "user", "content": question}]}
                said = (await http.post("/v1/chat/completions", json=body)).json()["choices"][0]["message"]
                assert said["content"] == message["text"]
                cited = of(message["citations"])
                spans_are_right(cited, message["text"], texts)
                annotated = [item["url_citation"] for item in said["annotations"]]
                assert [(item["start_index"], item["end_index"]) for item in annotated] == [item[1:3] for item in cited]
                for item, place in zip(annotated, cited, strict=True):
                    path = urlsplit(item["url"]).path
                    assert path.endswith(f"/citations/{place[0]}/source")
                    assert (await http.get(path)).status_code == 200


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(asked=st.lists(st.sampled_from(QUESTIONS), min_size=1, max_size=4))
def test_whatever_is_asked_in_whatever_order(asked: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    import asyncio

    async def run() -> None:
        async with at_home(tmp_path_factory.mktemp("house")) as house:
            house.portal.caller = replace(BOARD, roles=frozenset({"user", "auditor", "exporter"}))
            texts = await fill(house)
            async with httpx.AsyncClient(base_url=house.url, timeout=30) as http:
                await all_paths(house, http, asked, texts)

    asyncio.run(run())
