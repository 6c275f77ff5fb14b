"""The sources of old answers over REST: their form, and that nothing tells a hidden source from a missing one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from types import SimpleNamespace

import httpx
import pytest
import pytest_asyncio
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError

from assistant.core.access import Caller
from assistant.errors import AssistantError
from assistant.interfaces import Identity
from assistant.store import Store
from assistant.store.past_sources import SqlPastSources
from assistant.transport.http import refuse, refuse_request
from assistant.transport.sources import router
from tests.store.filling import ANN, draft, put
from tests.store.test_shown import NEW, OLD, answered


class Named:
    """Whoever the token names is let in, in Ann's groups."""

    async def authenticate(self, token: str | None) -> Identity:
        return Identity(Caller("acme", token or "ann", ANN.groups), "t")


@pytest_asyncio.fixture
async def opened(sqlite_url: str) -> AsyncIterator[Store]:
    async with Store(sqlite_url) as store:
        yield store


@pytest_asyncio.fixture
async def http(opened: Store) -> AsyncIterator[httpx.AsyncClient]:
    app = FastAPI()
    app.state.doors = SimpleNamespace(authenticator=Named(), sources=SqlPastSources(opened.database))
    app.add_exception_handler(AssistantError, refuse)
    app.add_exception_handler(RequestValidationError, refuse_request)
    app.include_router(router)
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        yield client


async def test_a_changed_source_is_given_with_both_versions(opened: Store, http: httpx.AsyncClient) -> None:
    await put(opened, draft(OLD))
    session = await answered(opened)
    await put(opened, draft(NEW))
    shown = (await http.get(f"/api/sessions/{session}/turns/t1/citations/1/source")).json()
    assert set(shown) == {
        "title", "uri", "version", "date", "media_type", "section", "page", "region", "image",
        "before", "exact", "after", "state", "current", "diff",
    }  # fmt: skip
    assert (shown["state"], shown["version"], shown["current"]["version"]) == ("changed", 1, 2)
    assert "".join(part["old"] for part in shown["diff"]) == shown["before"] + shown["exact"] + shown["after"]
    badges = (await http.get(f"/api/sessions/{session}/sources")).json()["sources"]
    assert {"turn": "t1", "n": 1, "state": "changed"} in badges


async def test_hidden_missing_and_foreign_sources_answer_alike(opened: Store, http: httpx.AsyncClient) -> None:
    await put(opened, draft(OLD))
    session = await answered(opened)
    await put(opened, draft(OLD, access=["hr"]))
    answers = [
        await http.get(f"/api/sessions/{session}/turns/{turn}/citations/{n}/source", headers=headers)
        for turn, n, headers in (
            ("t1", 1, {}),
            ("t1", 77, {}),
            ("t9", 1, {}),
            ("t1", 1, {"Authorization": "Bearer bob"}),
        )
    ]
    assert {(answer.status_code, answer.text) for answer in answers} == {(404, answers[0].text)}
    badges = (await http.get(f"/api/sessions/{session}/sources")).json()["sources"]
    assert {badge["state"] for badge in badges} == {"not_available"}
    foreign = await http.get(f"/api/sessions/{session}/sources", headers={"Authorization": "Bearer bob"})
    assert (foreign.status_code, foreign.json()["error"]["code"]) == (404, "not_found")


@pytest.mark.parametrize(
    "place", ["t1/citations/0", "t1/citations/x", "t1/citations/1000001", "t1/citations/1/source?start=-1"]
)
async def test_numbers_of_the_wrong_form_are_refused(http: httpx.AsyncClient, place: str) -> None:
    path = place if "?" in place else f"{place}/source"
    refused = await http.get(f"/api/sessions/s/turns/{path}")
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "bad_input")
