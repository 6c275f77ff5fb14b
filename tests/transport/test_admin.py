"""The library over REST: roles, hostile names and metadata, what becomes of files, and nothing of anybody's sessions."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Mapping
from itertools import product
from typing import Any
from urllib.parse import quote

import httpx
import pytest
import pytest_asyncio

from assistant.core.audit import AuditKind
from assistant.store import Store
from tests.knowledge.files import archive
from tests.store.filling import ANN, find
from tests.transport.houses import UPLOAD_BYTES, app_of, as_, client_of

LEAVE = b"# Leave\n\nEmployees get 20 days of leave."
ADA = as_("ada")
DOCUMENTS = "/api/admin/documents"


@pytest_asyncio.fixture
async def opened(sqlite_url: str) -> AsyncIterator[Store]:
    async with Store(sqlite_url) as store:
        yield store


@pytest_asyncio.fixture
async def http(opened: Store) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(app_of(opened)) as client:
        yield client


async def send(
    http: httpx.AsyncClient,
    data: bytes = LEAVE,
    uri: str = "leave.md",
    said: Any = None,
    headers: Mapping[str, str | bytes] | None = None,
) -> httpx.Response:
    told = {} if said is None else {"X-Metadata": json.dumps(said)}
    given = {**ADA, **told, **(headers or {})}
    raw = {name.encode(): value.encode() if isinstance(value, str) else value for name, value in given.items()}
    return await http.put(DOCUMENTS, params={"collection": "handbook", "uri": uri}, content=data, headers=raw)


ROUTES = [
    ("GET", "collections"),
    ("GET", "documents"),
    ("GET", "documents?limit=0"),
    ("PUT", "documents?collection=a&uri=a.md"),
    ("PUT", "documents"),
    ("GET", "documents/{id}"),
    ("PATCH", "documents/{id}"),
    ("DELETE", "documents/{id}"),
    ("POST", "documents/{id}/reingest"),
    ("GET", "documents/{id}/versions/1"),
    ("GET", "documents/{id}/versions/x"),
    ("GET", "people"),
    ("PUT", "people/ann/groups"),
    ("POST", "people/ann/revoke"),
    ("GET", "keys"),
    ("POST", "keys"),
    ("DELETE", "keys/k1"),
]


@pytest.mark.parametrize("who", ["ann", "ida", "rob", "none"])
async def test_for_those_without_the_role_there_is_nothing_here(
    http: httpx.AsyncClient, opened: Store, who: str
) -> None:
    id_ = (await send(http)).json()["id"]
    for (method, path), body in product(ROUTES, (b'{"access": ["hr"]}', b"{", b"")):
        url = f"/api/admin/{path.format(id=id_)}"
        refused = await http.request(method, url, content=body, headers=as_(who))
        assert refused.status_code == 404, (method, path, refused.text)
        assert refused.json() == {"error": {"code": "not_found", "retryable": False}}
    assert [one.access for one in await opened.library.documents("acme")] == [frozenset({"everyone"})]
    assert len(await opened.audit.records("acme")) == 1


async def test_an_admin_of_another_company_finds_nothing(http: httpx.AsyncClient) -> None:
    id_ = (await send(http)).json()["id"]
    assert (await http.get(DOCUMENTS, headers=as_("eve"))).json() == {"documents": [], "next": None}
    for method, path in (("GET", ""), ("DELETE", ""), ("GET", "/versions/1"), ("POST", "/reingest")):
        refused = await http.request(method, f"{DOCUMENTS}/{id_}{path}", headers=as_("eve"))
        assert refused.status_code == 404
    assert (await http.get(f"{DOCUMENTS}/{id_}", headers=ADA)).status_code == 200


async def test_a_document_from_its_coming_to_its_end(http: httpx.AsyncClient, opened: Store) -> None:
    why = {"X-Audit-Reason": quote("新规定")}
    added = (await send(http, said={"date": "2025-01-02", "owner": "人事部"}, headers=why)).json()
    assert (added["outcome"], added["version"], added["uri"]) == ("added", 1, "leave.md")
    assert (await send(http, said={"date": "2025-01-02", "owner": "人事部"})).json()["outcome"] == "unchanged"
    assert (await send(http, LEAVE + b" Or 25.")).json()["outcome"] == "updated"
    shown = (await http.get(f"{DOCUMENTS}/{added['id']}", headers=ADA)).json()
    assert (shown["title"], shown["owner"], shown["access"], shown["uploaded"]) == ("Leave", None, ["everyone"], True)
    assert [(one["number"], one["answers"]) for one in shown["versions"]] == [(2, 0), (1, 0)]
    (collection,) = (await http.get("/api/admin/collections", headers=ADA)).json()["collections"]
    assert (collection["name"], collection["documents"]) == ("handbook", 1)
    again = (await http.post(f"{DOCUMENTS}/{added['id']}/reingest", headers=ADA)).json()
    assert again["outcome"] == "unchanged"
    changed = await http.patch(f"{DOCUMENTS}/{added['id']}", json={"access": ["hr"], "date": None}, headers=ADA)
    assert (changed.json()["access"], changed.json()["settings"]) == (["hr"], ["access", "date"])
    assert await find(opened, "leave", ANN) == []
    assert (await http.delete(f"{DOCUMENTS}/{added['id']}", headers=ADA)).status_code == 204
    assert (await http.get(f"{DOCUMENTS}/{added['id']}", headers=ADA)).status_code == 404
    records = await opened.audit.records("acme")
    assert [record.body["what"] for record in records] == ["added", "updated", "reingested", "changed", "deleted"]
    assert {(record.kind, record.actor) for record in records} == {(AuditKind.DOCUMENT, "u-ada")}
    assert records[0].body["reason"] == "新规定"


async def test_text_comes_in_parts(http: httpx.AsyncClient) -> None:
    id_ = (await send(http, "# 员工手册\n\n年假二十天。😀 End.".encode(), "a.md")).json()["id"]
    whole, at = "", 0
    for _ in range(10):
        url = f"{DOCUMENTS}/{id_}/versions/1"
        part = (await http.get(url, params={"offset": at, "limit": 4}, headers=ADA)).json()
        assert len(part["text"]) <= 4
        whole, at = whole + part["text"], part["next"]
        if at is None:
            break
    assert whole == "# 员工手册\n\n年假二十天。😀 End."
    beyond = (await http.get(f"{DOCUMENTS}/{id_}/versions/1", params={"offset": 2**31 - 2}, headers=ADA)).json()
    assert (beyond["text"], beyond["next"]) == ("", None)
    for number in ("0", "2", str(2**31), "-1", "x"):
        assert (await http.get(f"{DOCUMENTS}/{id_}/versions/{number}", headers=ADA)).status_code in (404, 422)


async def test_pages_hold_every_document_once(http: httpx.AsyncClient) -> None:
    for n in range(5):
        await send(http, LEAVE, f"{n}.md")
    seen, cursor = [], None
    while True:
        query = {"limit": 2} | ({"cursor": cursor} if cursor else {})
        page = (await http.get(DOCUMENTS, params=query, headers=ADA)).json()
        seen += [one["uri"] for one in page["documents"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert seen == [f"{n}.md" for n in range(5)]
    forged = [base64.urlsafe_b64encode(raw).decode() for raw in (b"[1,2]", b'["a"]', b"{}", b'["a","\\u0000"]', b"7")]
    for bad in ("x", "%%%", *forged):
        refused = await http.get(DOCUMENTS, params={"cursor": bad}, headers=ADA)
        assert (refused.status_code, refused.json()["error"]["code"]) == (422, "bad_input"), bad


BAD_URIS = [
    "../etc/passwd",
    "a/../../b.md",
    "/etc/passwd",
    "..",
    ".",
    "a\\b.md",
    "a\r\nSet-Cookie: x.md",
    "a\0.md",
    "\u202e",
    "   ",
    "x" * 1001,
]


@pytest.mark.parametrize("uri", BAD_URIS)
async def test_names_that_lead_out_or_break_lines_are_refused(http: httpx.AsyncClient, opened: Store, uri: str) -> None:
    for given in ({"uri": uri}, {"name": uri}):
        refused = await http.put(DOCUMENTS, params={"collection": "handbook", **given}, content=LEAVE, headers=ADA)
        assert (refused.status_code, refused.json()["error"]["reason"]) == (422, "name")
    assert await opened.library.documents("acme") == []


async def test_odd_names_are_only_names(http: httpx.AsyncClient) -> None:
    odd = ["员工 手册.md", "a b/c'd\"e;<script>.md", "%2e%2e.md", "https://intranet/a?b=c#d.md", "a" * 990 + ".md"]
    for uri in odd:
        assert (await send(http, uri=uri)).json()["outcome"] == "added", uri
    listed = (await http.get(DOCUMENTS, headers=ADA)).json()["documents"]
    assert {one["uri"] for one in listed} == set(odd)


@pytest.mark.parametrize("collection", ["files:s1", "*", " ", "a\nb", "x" * 201])
async def test_collections_that_are_not_to_be_filled(http: httpx.AsyncClient, collection: str) -> None:
    query = {"collection": collection, "uri": "a.md"}
    refused = await http.put(DOCUMENTS, params=query, content=LEAVE, headers=ADA)
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "bad_input")


@pytest.mark.parametrize("header", ["{", "[]", "7", '"x"', "{" * 5000, "%7B%22a%22", "%FF", '{"a": NaN}'])
async def test_metadata_that_is_no_object_is_refused(http: httpx.AsyncClient, header: str) -> None:
    refused = await send(http, headers={"X-Metadata": header})
    assert (refused.status_code, refused.json()["error"]["reason"]) == (422, "metadata")


async def test_metadata_is_bounded_strict_and_in_any_language(http: httpx.AsyncClient) -> None:
    huge = await send(http, said={"title": "x" * 9000})
    assert (huge.status_code, huge.json()["error"]["code"]) == (422, "bad_input")
    for said, reason in (({"acess": ["hr"]}, "bad_metadata"), ({"access": []}, "bad_metadata")):
        assert (await send(http, said=said)).json() == {
            "uri": "leave.md", "outcome": "skipped", "id": None, "version": None, "reason": reason,
        }  # fmt: skip
    refused = await send(http, said={"access": ["person:abc"]})
    assert (refused.status_code, refused.json()["error"]["reason"]) == (422, "access")
    for header in (quote('{"title": "年假"}'), '{"title": "年假"}'.encode().decode("latin-1")):
        id_ = (await send(http, headers={"X-Metadata": header.encode("latin-1")})).json()["id"]
        assert (await http.get(f"{DOCUMENTS}/{id_}", headers=ADA)).json()["title"] == "年假"


@pytest.mark.parametrize(
    ("data", "uri", "reason"),
    [
        (b"", "a.md", "empty"),
        (archive({"word/document.xml": b"\0" * 30_000_000}), "a.docx", "bomb"),
        (b"no pdf", "a.pdf", "corrupt"),
        (b"\x7fELF", "a", "unsupported"),
    ],
)
async def test_what_cannot_be_read_is_skipped(http: httpx.AsyncClient, data: bytes, uri: str, reason: str) -> None:
    told = await send(http, data, uri, headers={"Content-Type": "text/markdown"})
    assert (told.status_code, told.json()["outcome"], told.json()["reason"]) == (200, "skipped", reason)


async def test_a_file_has_a_bound_of_its_own(http: httpx.AsyncClient) -> None:
    assert (await send(http, b"x " * 100_000)).json()["outcome"] == "added"
    refused = await send(http, b"x" * (UPLOAD_BYTES + 1))
    assert (refused.status_code, refused.json()["error"]["limit"]) == (413, UPLOAD_BYTES)


CHANGES = [
    "",
    "{",
    "[]",
    "{}",
    '{"title": "x"}',
    '{"access": []}',
    '{"access": [""]}',
    '{"access": "hr"}',
    '{"access": null}',
    '{"access": ["person:abc"]}',
    '{"access": ["a\\u0000"]}',
    '{"access": ["a\\ud800"]}',
    '{"authority": "highest"}',
    '{"date": "soon"}',
    '{"owner": ""}',
    '{"owner": "\\u0000"}',
    '{"access": ' + "[" * 3000,
]


@pytest.mark.parametrize("body", CHANGES)
async def test_changes_that_cannot_be_change_nothing(http: httpx.AsyncClient, opened: Store, body: str) -> None:
    id_ = (await send(http)).json()["id"]
    before = await opened.library.document("acme", id_)
    refused = await http.patch(f"{DOCUMENTS}/{id_}", content=body, headers=ADA)
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "bad_input"), refused.text
    assert await opened.library.document("acme", id_) == before


async def test_files_of_sessions_are_nobodys_to_look_after(http: httpx.AsyncClient, opened: Store) -> None:
    session = (await opened.conversations.open(ANN, None)).id
    sent = await http.post(
        f"/api/sessions/{session}/files",
        content=b"# Canary\n\nzebra 4711",
        headers=as_("ann", **{"X-File-Name": "mine.md"}),
    )
    id_ = sent.json()["id"]
    for path in ("collections", "documents", f"documents?collection=files:{session}", "documents?query=mine"):
        found = await http.get(f"/api/admin/{path}", headers=ADA)
        assert found.status_code == 200
        assert "mine" not in found.text.lower()
    for method, path in (("GET", ""), ("GET", "/versions/1"), ("DELETE", ""), ("POST", "/reingest")):
        refused = await http.request(method, f"{DOCUMENTS}/{id_}{path}", headers=ADA)
        assert refused.status_code == 404
        assert "zebra" not in refused.text
    patched = await http.patch(f"{DOCUMENTS}/{id_}", json={"access": ["everyone"]}, headers=ADA)
    assert patched.status_code == 404
    records = str(await opened.audit.records("acme"))
    assert "zebra" not in records
    assert "mine.md" not in records


async def test_a_reason_may_not_be_endless(http: httpx.AsyncClient, opened: Store) -> None:
    refused = await send(http, headers={"X-Audit-Reason": "x" * 2001})
    assert (refused.status_code, refused.json()["error"]["reason"]) == (422, "too_long")
    refused = await send(http, headers={"X-Audit-Reason": "%00"})
    assert refused.status_code == 422
    assert await opened.library.documents("acme") == []
