"""What auditors decide over REST: dry runs of retention, answers of record; for whom, and that it is on the record."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import httpx
import pytest
import pytest_asyncio
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError

from assistant.audit.desk import AuditDesk, Notary
from assistant.audit.retaining import Retainer
from assistant.audit.targets import Targets
from assistant.core.access import Caller
from assistant.core.audit import AuditKind
from assistant.core.keeping import Retained, RetentionPolicy
from assistant.errors import AssistantError
from assistant.interfaces import Identity
from assistant.store import Store
from assistant.transport.audit import router
from assistant.transport.http import refuse, refuse_request
from tests.store.audit_filling import all_records, ask
from tests.store.filling import ANN, draft, put

ROLES = {"ann": {"user"}, "ida": {"user", "auditor"}, "bos": {"user", "admin"}, "ada": {"user", "auditor", "admin"}}
WHY = {"X-Audit-Reason": "complaint 7"}
LATER = datetime.now(UTC) + timedelta(days=100)


class Named:
    """Whoever the token names is let in, with the roles above."""

    async def authenticate(self, token: str | None) -> Identity:
        return Identity(Caller("acme", token or "ann", ANN.groups, frozenset(ROLES[token or "ann"])), "t")


@pytest_asyncio.fixture
async def kept(sqlite_url: str) -> AsyncIterator[Store]:
    async with Store(sqlite_url) as store:
        await put(store, draft("Everyone has 20 days of leave."))
        await ask(store, ANN, "t1", "How many days")
        yield store


@pytest_asyncio.fixture
async def http(kept: Store) -> AsyncIterator[httpx.AsyncClient]:
    policies = [RetentionPolicy(what, 30) for what in Retained]
    desk = AuditDesk(
        kept.audit,
        kept.audited,
        Notary(Targets(), {}),
        pseudonym=kept.audit.names.of,
        clock=lambda: LATER,
        retainer=Retainer(kept.retention, kept.audit, policies, lambda: LATER),
        answers=kept.records_of_answer,
    )
    app = FastAPI()
    app.state.doors = SimpleNamespace(authenticator=Named(), audit=desk)
    app.add_exception_handler(AssistantError, refuse)
    app.add_exception_handler(RequestValidationError, refuse_request)
    app.include_router(router)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://test") as client:
        yield client


def as_(name: str, **headers: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {name}", **headers}


async def correction(store: Store) -> str:
    return next(record.id for record in await all_records(store.audit) if record.kind is AuditKind.CORRECTION)


@pytest.mark.parametrize(
    ("method", "path", "refused"),
    [
        ("GET", "retention", {"ann", "bos"}),
        ("GET", "answers", {"ann", "bos"}),
        ("POST", "answers", {"ann", "bos", "ida"}),
        ("DELETE", "answers/x", {"ann", "bos", "ida"}),
    ],
)
async def test_for_those_without_the_roles_there_is_nothing_here(
    http: httpx.AsyncClient, method: str, path: str, refused: set[str]
) -> None:
    for name in ROLES:
        given = {"correction": "x"} if method == "POST" else None
        answer = await http.request(method, f"/api/audit/{path}", headers=as_(name), json=given)
        nothing = answer.status_code == 404 and answer.json()["error"] == {"code": "not_found", "retryable": False}
        assert nothing == (name in refused), (name, answer.text)


async def test_a_dry_run_tells_what_would_go_and_is_on_the_record(kept: Store, http: httpx.AsyncClient) -> None:
    assert (await http.get("/api/audit/retention", headers=as_("ida"))).status_code == 422
    told = (await http.get("/api/audit/retention", headers=as_("ida", **WHY))).json()["policies"]
    assert [(each["what"], each["keep_days"], each["gone"], each["held"]) for each in told] == [
        ("conversations", 30, 1, 0), ("texts", 30, 2, 0), ("versions", 30, 0, 0),
    ]  # fmt: skip
    view = (await all_records(kept.audit))[-1]
    assert (view.kind, view.body) == (AuditKind.VIEW, {"reason": "complaint 7", "what": "retention"})
    assert len(await kept.conversations.conversations(ANN)) == 1


async def test_a_correction_is_adopted_listed_and_revoked(kept: Store, http: httpx.AsyncClient) -> None:
    id_ = await correction(kept)
    made = await http.post("/api/audit/answers", headers=as_("ada", **WHY), json={"correction": id_})
    assert made.status_code == 201
    answer = made.json()
    assert (answer["question"], answer["text"], answer["correction"], answer["revoked_at"]) == (
        "How many days standalone", "How many days instead", id_, None,
    )  # fmt: skip
    (listed,) = (await http.get("/api/audit/answers", headers=as_("ida"))).json()["answers"]
    assert listed["id"] == answer["id"]
    assert await kept.records_of_answer.find(ANN, "How many days standalone")
    gone = await http.delete(f"/api/audit/answers/{answer['id']}", headers=as_("ada", **WHY))
    assert gone.json()["revoked_at"]
    assert (await http.get("/api/audit/answers", headers=as_("ida"))).json() == {"answers": []}
    again = await http.delete(f"/api/audit/answers/{answer['id']}", headers=as_("ada", **WHY))
    assert again.status_code == 404
    kinds = [record.kind for record in await all_records(kept.audit)]
    assert kinds.count(AuditKind.ADOPTION) == 2


@pytest.mark.parametrize(
    "body", [{}, {"correction": ""}, {"correction": "x" * 65}, {"correction": 7}, {"correction": "x", "more": 1}, []]
)
async def test_what_is_malformed_is_refused_and_nothing_changes(
    kept: Store, http: httpx.AsyncClient, body: object
) -> None:
    before = len(await all_records(kept.audit))
    assert (await http.post("/api/audit/answers", headers=as_("ada", **WHY), json=body)).status_code == 422
    unreasoned = await http.post("/api/audit/answers", headers=as_("ada"), json={"correction": await correction(kept)})
    assert unreasoned.status_code == 422
    assert len(await all_records(kept.audit)) == before
