"""Files attached to questions over REST: for their owner in their session alone, whatever is tried."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from urllib.parse import quote

import httpx
import pytest
import pytest_asyncio

from assistant.core.attachments import search_scope
from assistant.knowledge.desk import DeskPolicy
from assistant.retrieval.hybrid import HybridRetriever
from assistant.store import Store
from tests.knowledge.desks import Here
from tests.knowledge.files import archive
from tests.store.filling import ANN, BOB
from tests.transport.houses import UPLOAD_BYTES, app_of, as_, client_of

CANARY = b"# Canary\n\nThe zebra code is 4711."


@pytest_asyncio.fixture
async def opened(sqlite_url: str) -> AsyncIterator[Store]:
    async with Store(sqlite_url) as store:
        yield store


@pytest_asyncio.fixture
async def http(opened: Store) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(app_of(opened, policy=DeskPolicy(files=2))) as client:
        yield client


@pytest_asyncio.fixture
async def session(opened: Store) -> str:
    return (await opened.conversations.open(ANN, None)).id


async def attach(
    http: httpx.AsyncClient, session: str, data: bytes = CANARY, name: str = "mine.md", who: str = "ann"
) -> httpx.Response:
    headers = as_(who, **{"X-File-Name": name})
    return await http.post(f"/api/sessions/{session}/files", content=data, headers=headers)


async def test_a_file_comes_is_listed_and_goes(http: httpx.AsyncClient, session: str) -> None:
    sent = await attach(http, session, name=quote("员工 手册.md"))
    assert sent.status_code == 201
    file = sent.json()
    assert (file["title"], file["name"], file["chunks"]) == ("Canary", "员工 手册.md", 1)
    listed = (await http.get(f"/api/sessions/{session}/files", headers=as_("ann"))).json()
    assert listed == {"files": [file]}
    url = f"/api/sessions/{session}/files/{file['id']}"
    assert (await http.delete(url, headers=as_("ann"))).status_code == 204
    assert (await http.get(f"/api/sessions/{session}/files", headers=as_("ann"))).json() == {"files": []}
    assert (await http.delete(url, headers=as_("ann"))).status_code == 404


async def test_of_anothers_session_there_is_nothing(http: httpx.AsyncClient, opened: Store, session: str) -> None:
    id_ = (await attach(http, session)).json()["id"]
    bobs = (await opened.conversations.open(BOB, None)).id
    for who in ("bob", "ada", "ida", "eve"):
        answers = [
            await http.get(f"/api/sessions/{session}/files", headers=as_(who)),
            await http.delete(f"/api/sessions/{session}/files/{id_}", headers=as_(who)),
            await http.delete(f"/api/sessions/{bobs}/files/{id_}", headers=as_(who)),
            await attach(http, session, who=who),
            await attach(http, session, who=who, name="../x"),  # what was sent is not looked at
        ]
        for refused in answers:
            assert refused.status_code == 404
            assert refused.json() == {"error": {"code": "not_found", "retryable": False}}
    found = await HybridRetriever(opened.index).search(["zebra code"], BOB, collections=search_scope(session, None))
    assert found == []
    own = await HybridRetriever(opened.index).search(["zebra code"], ANN, collections=search_scope(session, None))
    assert [passage.text for passage in own] == [CANARY.decode()]


@pytest.mark.parametrize(
    "name",
    [
        "..%2F..%2Fetc%2Fpasswd",
        "a%2Fb.md",
        "a%5Cb.md",
        "..",
        "a%0D%0AX-Evil%3A%201.md",
        "a%00.md",
        "%E2%80%AE",
        "%20",
        "%FF.md",
        "x" * 201,
        "%E2%80%A8.md",
    ],
)
async def test_names_that_are_paths_or_break_lines_are_refused(
    http: httpx.AsyncClient, opened: Store, session: str, name: str
) -> None:
    refused = await attach(http, session, name=name)
    assert (refused.status_code, refused.json()["error"]["reason"]) == (422, "name")
    assert await opened.files.files(ANN, session) == []


async def test_a_file_needs_a_name_of_some_length(http: httpx.AsyncClient, session: str) -> None:
    url = f"/api/sessions/{session}/files"
    for headers in (as_("ann"), as_("ann", **{"X-File-Name": ""}), as_("ann", **{"X-File-Name": "x" * 4001})):
        refused = await http.post(url, content=CANARY, headers=headers)
        assert (refused.status_code, refused.json()["error"]["code"]) == (422, "bad_input")


@pytest.mark.parametrize(
    ("data", "name", "reason"),
    [
        (b"", "a.md", "empty"),
        (archive({"word/document.xml": b"\0" * 30_000_000}), "a.docx", "bomb"),
        (archive({"x": b"y"}), "a.md", "unsupported"),
        (b"%PDF-1.7 broken", "a.pdf", "corrupt"),
        (b"\x7fELF", "a.md", "unsupported"),
        (b"x", "a.exe", "unsupported"),
    ],
)
async def test_what_cannot_be_read_is_refused_with_the_reason(
    http: httpx.AsyncClient, session: str, data: bytes, name: str, reason: str
) -> None:
    refused = await attach(http, session, data, name)
    error = refused.json()["error"]
    assert (refused.status_code, error["code"], error["reason"]) == (422, "bad_document", reason)
    assert name not in refused.text


async def test_a_session_has_so_many_files_and_each_is_so_large(http: httpx.AsyncClient, session: str) -> None:
    assert [(await attach(http, session, name=f"{n}.md")).status_code for n in range(3)] == [201, 201, 422]
    refused = (await attach(http, session, name="9.md")).json()["error"]
    assert (refused["reason"], refused["limit"]) == ("too_many_files", 2)
    assert (await attach(http, session, name="1.md")).status_code == 201
    large = await attach(http, session, b"x" * (UPLOAD_BYTES + 1))
    assert large.status_code == 413


async def test_while_two_are_read_a_third_is_told_to_come_back(opened: Store, session: str) -> None:
    gate = asyncio.Event()
    readers = Here(gate)
    async with client_of(app_of(opened, readers)) as http:
        running = [asyncio.create_task(attach(http, session, name=f"{n}.md")) for n in range(2)]
        while len(readers.jobs) < 2:
            await asyncio.sleep(0.001)
        refused = await attach(http, session, name="3.md")
        assert (refused.status_code, refused.json()["error"]["code"]) == (429, "busy")
        assert int(refused.headers["Retry-After"]) > 0
        gate.set()
        assert [answer.status_code for answer in await asyncio.gather(*running)] == [201, 201]


async def test_files_of_one_person_in_two_sessions_do_not_meet(
    http: httpx.AsyncClient, opened: Store, session: str
) -> None:
    other = (await opened.conversations.open(ANN, None)).id
    first, second = await attach(http, session, name="same.md"), await attach(http, other, name="same.md")
    assert first.json()["id"] != second.json()["id"]
    wrong = f"/api/sessions/{other}/files/{first.json()['id']}"
    assert (await http.delete(wrong, headers=as_("ann"))).status_code == 404
    thief = replace(BOB, groups=BOB.groups | {ANN.private_group})
    assert await HybridRetriever(opened.index).search(["zebra"], thief, collections=search_scope(other, None)) == []


async def test_files_count_as_starts_of_a_minute(opened: Store, session: str) -> None:
    async with client_of(app_of(opened, starts=2)) as http:
        answers = [await attach(http, session, b"", name="a.md") for _ in range(3)]
        assert [answer.status_code for answer in answers] == [422, 422, 429]
