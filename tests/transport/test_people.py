"""People and service keys over REST: what is done is on the record, and hostile names change nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from urllib.parse import quote

import httpx
import pytest
import pytest_asyncio

from assistant.core.audit import AuditKind
from assistant.interfaces import service_user
from assistant.store import Store
from assistant.store.identity import SqlIdentity
from assistant.transport.auth.service_keys import holder
from tests.store.filling import ANN
from tests.transport.houses import app_of, as_, client_of

ADA = as_("ada", **{"X-Audit-Reason": "left the team"})


@pytest_asyncio.fixture
async def opened(sqlite_url: str) -> AsyncIterator[Store]:
    async with Store(sqlite_url) as store:
        yield store


@pytest_asyncio.fixture
async def http(opened: Store) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(app_of(opened)) as client:
        yield client


async def test_people_are_listed_in_pages(http: httpx.AsyncClient, opened: Store) -> None:
    for name in ("ann", "ben/dover", "王伟"):
        await opened.conversations.open(replace(ANN, user=name), None)
    await opened.conversations.open(replace(ANN, tenant="rival", user="eve"), None)
    seen, after = [], None
    for _ in range(4):
        query = {"limit": 2} | ({"after": after} if after else {})
        page = (await http.get("/api/admin/people", params=query, headers=ADA)).json()
        seen += [person["user"] for person in page["people"]]
        after = page["next"]
    assert sorted(set(seen)) == ["ann", "ben/dover", "王伟"]
    found = (await http.get("/api/admin/people", params={"query": "王"}, headers=ADA)).json()
    assert found == {"people": [{"user": "王伟", "groups": None, "not_before": None}], "next": None}
    assert (await http.get("/api/admin/people", params={"query": "\0"}, headers=ADA)).status_code == 422


@pytest.mark.parametrize("user", ["ann", "auth0|x/y", "王伟", "a?b#c%"])
async def test_groups_and_revocation(http: httpx.AsyncClient, opened: Store, user: str) -> None:
    url, identity = f"/api/admin/people/{quote(user, safe='')}", SqlIdentity(opened.database)
    assert (await http.put(f"{url}/groups", json={"groups": ["hr", "it"]}, headers=ADA)).status_code == 204
    assert (await http.post(f"{url}/revoke", headers=ADA)).status_code == 204
    person = await identity.person("acme", user)
    assert person is not None
    assert person.groups is not None
    assert {"hr", "it"} <= person.groups
    assert person.not_before is not None
    listed = (await http.get("/api/admin/people", headers=ADA)).json()["people"]
    assert [(one["user"], one["not_before"] is not None) for one in listed] == [(user, True)]
    assert (await http.put(f"{url}/groups", json={"groups": None}, headers=ADA)).status_code == 204
    again = await identity.person("acme", user)
    assert again is not None
    assert again.groups is None
    records = await opened.audit.records("acme")
    assert [(one.kind, one.body["what"]) for one in records] == [
        (AuditKind.IDENTITY, "groups"), (AuditKind.IDENTITY, "revoked"), (AuditKind.IDENTITY, "groups"),
    ]  # fmt: skip
    assert {(one.actor, one.subject, one.body["reason"]) for one in records} == {
        ("u-ada", f"u-{user}", "left the team")
    }


async def test_a_key_is_made_shown_once_and_ended(http: httpx.AsyncClient, opened: Store) -> None:
    given = {"name": "wiki bot", "groups": ["wiki"], "roles": ["user"], "days": 30}
    made = (await http.post("/api/admin/keys", json=given, headers=ADA)).json()
    identity, now = SqlIdentity(opened.database), datetime.now(UTC)
    assert (await holder(made["secret"], "acme", identity, now)).caller.user == service_user(made["id"])
    listed = await http.get("/api/admin/keys", headers=ADA)
    assert made["secret"] not in listed.text
    assert made["secret"] not in str(await opened.audit.records("acme"))
    assert [(key["id"], key["revoked_at"]) for key in listed.json()["keys"]] == [(made["id"], None)]
    assert (await http.get("/api/admin/keys", headers=as_("eve"))).json() == {"keys": []}
    assert (await http.delete(f"/api/admin/keys/{made['id']}", headers=as_("eve"))).status_code == 404
    assert (await http.delete(f"/api/admin/keys/{made['id']}", headers=ADA)).status_code == 204
    (key,) = (await http.get("/api/admin/keys", headers=ADA)).json()["keys"]
    assert key["revoked_at"] is not None
    for missing in ("k0", "%00"):
        assert (await http.delete(f"/api/admin/keys/{missing}", headers=ADA)).status_code == 404
    records = [record.body for record in await opened.audit.records("acme")]
    assert [(body["what"], body["key"]) for body in records] == [("key_added", made["id"]), ("key_revoked", made["id"])]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "people/ann/groups", '{"groups": [""]}'),
        ("PUT", "people/ann/groups", '{"groups": "hr"}'),
        ("PUT", "people/ann/groups", "{}"),
        ("PUT", "people/ann/groups", '{"groups": ["person:abc"]}'),
        ("PUT", "people/ann/groups", '{"groups": ["a\\u0000"]}'),
        ("PUT", "people/a%00/groups", '{"groups": ["hr"]}'),
        ("PUT", "people/%20/groups", '{"groups": ["hr"]}'),
        ("POST", "people/a%09b/revoke", ""),
        ("POST", "keys", '{"name": ""}'),
        ("POST", "keys", '{"name": "a\\u0000"}'),
        ("POST", "keys", '{"name": "x", "roles": ["root"]}'),
        ("POST", "keys", '{"name": "x", "groups": ["person:abc"]}'),
        ("POST", "keys", '{"name": "x", "days": 0}'),
        ("POST", "keys", '{"name": "x", "tenant": "rival"}'),
    ],
)
async def test_what_cannot_be_changes_nothing_and_is_not_on_the_record(
    http: httpx.AsyncClient, opened: Store, method: str, path: str, body: str
) -> None:
    refused = await http.request(method, f"/api/admin/{path}", content=body, headers=ADA)
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "bad_input"), refused.text
    assert await opened.audit.records("acme") == []
    assert (await http.get("/api/admin/people", headers=ADA)).json()["people"] == []
    assert (await http.get("/api/admin/keys", headers=ADA)).json() == {"keys": []}
