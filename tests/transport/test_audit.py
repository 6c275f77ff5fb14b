"""The audit over REST: roles, reasons, that every look is on the record first, and packages that verify."""

from __future__ import annotations

import asyncio
import io
import json
import zipfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import httpx
import pytest
import pytest_asyncio
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError

from assistant.audit.checkpointing import Checkpointer
from assistant.audit.desk import AuditDesk, Notary, Replaying
from assistant.audit.package import verify_package
from assistant.audit.signing import Signer, signer_at
from assistant.audit.targets import Targets
from assistant.core.access import Caller
from assistant.core.audit import AuditKind
from assistant.core.replaying import compare_answers
from assistant.core.turn import TurnMessage
from assistant.errors import AssistantError, ModelUnavailable
from assistant.interfaces import Identity
from assistant.llm.scripted import ScriptedModel
from assistant.store import Store
from assistant.store.pseudonyms import pseudonym
from assistant.transport.audit import router
from assistant.transport.http import refuse, refuse_request
from tests.conversation.answering import LEAVE, sit_down
from tests.store.filling import ANN, draft, put

ROLES = {"ida": {"user", "auditor"}, "rob": {"user", "auditor", "exporter"}, "ann": {"user"}}
WHY = {"X-Audit-Reason": "complaint 7"}
ANSWER = "Employees get 20 days of annual leave."
AGAIN = "Employees get 25 days of annual leave."


class Named:
    """Whoever the token names is let in, with the roles above; eve audits another company."""

    async def authenticate(self, token: str | None) -> Identity:
        if token == "eve":
            return Identity(Caller("rival", "eve", roles=frozenset({"auditor", "exporter"})), "t")
        return Identity(Caller("acme", token or "ann", ANN.groups, frozenset(ROLES[token or "ann"])), "t")


def as_(name: str, **headers: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {name}", **headers}


@pytest_asyncio.fixture
async def opened(sqlite_url: str) -> AsyncIterator[Store]:
    async with Store(sqlite_url) as store:
        yield store


@pytest.fixture
def signer(tmp_path: Path) -> Signer:
    return signer_at(tmp_path / "audit.pem")


@dataclass(frozen=True)
class Told:
    """An answer and what came of it the second time."""

    old: TurnMessage
    new: TurnMessage

    def as_json(self) -> dict[str, Any]:
        return compare_answers(self.old, self.new).as_json()


class Answering:
    """Answers again while it is free, and knows what it was asked; the model "gone" is out of reach."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str | None]] = []
        self.begun, self.free = asyncio.Event(), asyncio.Event()
        self.free.set()

    async def __call__(self, turn: str, model: str | None) -> Told:
        self.asked.append((turn, model))
        self.begun.set()
        await self.free.wait()
        if model == "gone":
            raise ModelUnavailable("it does not answer")
        return Told(TurnMessage(text=ANSWER, model="m"), TurnMessage(text=AGAIN, model=model or "m"))


@pytest_asyncio.fixture
async def answering() -> Answering:
    return Answering()


def desk_of(store: Store, signer: Signer, replaying: Replaying | None = None) -> AuditDesk:
    def clock() -> datetime:
        return datetime.now(UTC)

    notary = Notary(Targets(), {signer.key_id: signer.public}, signer, Checkpointer(signer, clock))
    return AuditDesk(store.audit, store.audited, notary, pseudonym=pseudonym, clock=clock, replaying=replaying)


@pytest_asyncio.fixture
async def http(opened: Store, signer: Signer, answering: Answering) -> AsyncIterator[httpx.AsyncClient]:
    app = FastAPI()
    app.state.doors = SimpleNamespace(authenticator=Named(), audit=desk_of(opened, signer, answering))
    app.add_exception_handler(AssistantError, refuse)
    app.add_exception_handler(RequestValidationError, refuse_request)
    app.include_router(router)
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        yield client


async def asked(store: Store) -> str:
    """An answered question of Ann; the id of its record."""
    desk = await sit_down(store, ScriptedModel([ANSWER]))
    message = await desk.answer("How many days of annual leave does Zebediah get?")
    assert message.audit_id is not None
    return message.audit_id


async def kinds(store: Store) -> list[AuditKind]:
    return [record.kind for record in await store.audit.records("acme")]


@pytest.mark.parametrize("path", ["records", "records/x", "records?limit=-1", "verify", "export", "export?since=never"])
async def test_for_those_without_the_role_there_is_nothing_here(http: httpx.AsyncClient, path: str) -> None:
    refused = await http.get(f"/api/audit/{path}", headers=as_("ann", **WHY))
    assert refused.status_code == 404
    assert refused.json() == {"error": {"code": "not_found", "retryable": False}}
    if path.startswith("export"):
        assert (await http.get(f"/api/audit/{path}", headers=as_("ida", **WHY))).status_code == 404


async def test_the_list_tells_nothing_that_was_said(opened: Store, http: httpx.AsyncClient) -> None:
    id_ = await asked(opened)
    listed = await http.get("/api/audit/records", headers=as_("ida"))
    (record,) = listed.json()["records"]
    assert (record["id"], record["kind"], record["verdict"], record["mode"]) == (
        id_, "turn", "supported", "simple_summarize",
    )  # fmt: skip
    assert listed.json()["next"] is None
    assert "20 days" not in listed.text
    assert "Zebediah" not in listed.text
    assert await kinds(opened) == [AuditKind.TURN]


async def test_a_record_opens_with_everything_and_the_look_is_on_the_record(
    opened: Store, http: httpx.AsyncClient
) -> None:
    id_ = await asked(opened)
    await put(opened, draft(LEAVE.replace("20 days", "30 days"), "leave.md"))
    shown = (await http.get(f"/api/audit/records/{id_}", headers=as_("ida", **WHY))).json()
    assert shown["texts"]["answer"] == ANSWER
    assert "Zebediah" in shown["texts"]["question"]
    assert (shown["erased"], shown["tampered"]) == (False, False)
    assert any("20 days" in each["exact"] for each in shown["evidence"])
    (source,) = shown["sources"]
    assert (source["state"], source["exact"], source["version"]) == ("changed", ANSWER, 1)
    assert "30" in "".join(part["new"] for part in source["diff"])
    assert shown["record"]["body"]["citations"]["items"][0]["source"]["exact"] == ANSWER
    (_, view) = await opened.audit.records("acme")
    assert (view.kind, view.actor) == (AuditKind.VIEW, pseudonym(Caller("acme", "ida")))
    assert view.body == {"reason": "complaint 7", "record": id_, "seq": 1}
    assert view.subject == pseudonym(ANN)


async def test_an_auditor_sees_what_was_withdrawn_from_everybody(opened: Store, http: httpx.AsyncClient) -> None:
    id_ = await asked(opened)
    await put(opened, draft(LEAVE, "leave.md", access=["board"]))
    shown = (await http.get(f"/api/audit/records/{id_}", headers=as_("ida", **WHY))).json()
    assert any("20 days" in each["exact"] for each in shown["evidence"])
    assert [source["exact"] for source in shown["sources"]] == [ANSWER]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("投诉".encode(), "投诉"),
        (quote("投诉 7").encode(), "投诉 7"),
        ("Beschwerde Müller".encode("latin-1"), "Beschwerde Müller"),
        (b"100 % sure", "100 % sure"),
    ],
)
async def test_reasons_in_any_language_arrive(opened: Store, http: httpx.AsyncClient, given: bytes, kept: str) -> None:
    id_ = await asked(opened)
    headers = {b"Authorization": b"Bearer ida", b"X-Audit-Reason": given}
    assert (await http.get(f"/api/audit/records/{id_}", headers=headers)).status_code == 200
    assert (await opened.audit.records("acme"))[-1].body["reason"] == kept


@pytest.mark.parametrize("reason", ["", "   ", "%20%09", "x" * 3000, "%00"])
async def test_without_a_usable_reason_nothing_is_shown(opened: Store, http: httpx.AsyncClient, reason: str) -> None:
    id_ = await asked(opened)
    for path in (f"records/{id_}", "export"):
        refused = await http.get(f"/api/audit/{path}", headers=as_("rob", **{"X-Audit-Reason": reason}))
        assert (refused.status_code, refused.json()["error"]["code"]) == (422, "bad_input")
    assert await kinds(opened) == [AuditKind.TURN]


async def test_foreign_and_missing_records_are_alike_and_leave_no_look(opened: Store, http: httpx.AsyncClient) -> None:
    id_ = await asked(opened)
    missing = await http.get("/api/audit/records/nothing", headers=as_("ida", **WHY))
    foreign = await http.get(f"/api/audit/records/{id_}", headers=as_("eve", **WHY))
    assert (missing.status_code, missing.text) == (foreign.status_code, foreign.text) == (404, missing.text)
    assert await kinds(opened) == [AuditKind.TURN]
    assert (await http.get("/api/audit/records", headers=as_("eve"))).json()["records"] == []


async def test_filters_and_pages(opened: Store, http: httpx.AsyncClient) -> None:
    id_ = await asked(opened)
    for _ in range(3):
        await http.get(f"/api/audit/records/{id_}", headers=as_("ida", **WHY))

    async def found(**query: Any) -> list[int]:
        answer = await http.get("/api/audit/records", headers=as_("ida"), params=query)
        assert answer.status_code == 200, answer.text
        return [record["seq"] for record in answer.json()["records"]]

    first = (await http.get("/api/audit/records", headers=as_("ida"), params={"limit": 2})).json()
    assert ([record["seq"] for record in first["records"]], first["next"]) == ([4, 3], 3)
    assert await found(limit=2, before=3) == [2, 1]
    assert await found(kind="turn") == [1]
    assert await found(kind="view", person=pseudonym(ANN)) == [4, 3, 2]
    assert await found(conflict=True) == [1]
    assert await found(changed=False, kind="turn") == [1]
    assert await found(changed=True) == []
    assert await found(verdict="contradicted") == []
    assert await found(since="2999-01-01") == []
    assert await found(until="2999-01-01T00:00:00+08:00", kind="turn") == [1]
    for bad in ({"before": 99}, {"kind": "x"}, {"since": "0001-01-01T00:00:00+14:00"}, {"limit": 0}, {"before": 2**60}):
        refused = await http.get("/api/audit/records", headers=as_("ida"), params=bad)
        assert (refused.status_code, refused.json()["error"]["code"]) == (422, "bad_input"), bad


async def test_an_export_is_on_the_record_covered_and_verifies(
    opened: Store, http: httpx.AsyncClient, signer: Signer, tmp_path: Path
) -> None:
    await asked(opened)
    got = await http.get("/api/audit/export", headers=as_("rob", **WHY))
    assert (got.status_code, got.headers["content-type"]) == (200, "application/zip")
    package = tmp_path / "got.zip"
    package.write_bytes(got.content)
    found = await verify_package(package, {signer.key_id: signer.public})
    assert (found.ok, found.records, found.covered, found.signed) == (True, 2, 2, True)
    with zipfile.ZipFile(io.BytesIO(got.content)) as zipped:
        manifest = json.loads(zipped.read("manifest.json"))
        assert ANSWER in zipped.read("passages.jsonl").decode()
    assert (manifest["reason"], manifest["by"]) == ("complaint 7", pseudonym(Caller("acme", "rob")))
    assert await kinds(opened) == [AuditKind.TURN, AuditKind.EXPORT]
    some = await http.get("/api/audit/export", headers=as_("rob", **WHY), params={"kind": "turn"})
    package.write_bytes(some.content)
    found = await verify_package(package, {signer.key_id: signer.public})
    assert (found.ok, found.records, found.covered) == (True, 1, 3)
    assert (await opened.audit.records("acme"))[-1].body["filters"] == {"kind": "turn"}


async def test_verify_says_ok_or_the_first_record_that_does_not_fit(opened: Store, http: httpx.AsyncClient) -> None:
    id_ = await asked(opened)
    await http.get("/api/audit/export", headers=as_("rob", **WHY))
    well = (await http.get("/api/audit/verify", headers=as_("ida"))).json()
    assert (well["ok"], well["checked"], well["covered"]) == (True, 2, 2)
    async with opened.database.write() as connection:
        await connection.exec_driver_sql(f"UPDATE audit_records SET actor = 'nobody' WHERE id = '{id_}'")
    ill = (await http.get("/api/audit/verify", headers=as_("ida"))).json()
    assert (ill["ok"], ill["seq"], ill["reason"]) == (False, 1, "wrong_hash")


async def test_a_text_that_was_tampered_with_is_said_and_the_rest_shown(opened: Store, http: httpx.AsyncClient) -> None:
    id_ = await asked(opened)
    async with opened.database.write() as connection:
        await connection.exec_driver_sql("UPDATE audit_records SET sealed = x'0102'")
    shown = (await http.get(f"/api/audit/records/{id_}", headers=as_("ida", **WHY))).json()
    assert (shown["texts"], shown["tampered"]) == (None, True)
    assert shown["evidence"]


async def test_only_one_verification_runs_at_a_time(opened: Store, signer: Signer) -> None:
    desk = desk_of(opened, signer)
    async with desk._verifying:
        with pytest.raises(AssistantError) as refused:
            await desk.verified(ANN)
    assert refused.value.code == "busy"


async def again(http: httpx.AsyncClient, id_: str, who: str = "ida", **more: Any) -> httpx.Response:
    """A record answered again; `more` is the body."""
    return await http.post(f"/api/audit/records/{id_}/replay", headers=as_(who, **WHY), json=more)


async def test_an_answer_given_again_is_compared_and_on_the_record(
    opened: Store, http: httpx.AsyncClient, answering: Answering
) -> None:
    id_ = await asked(opened)
    told = await again(http, id_, model="m-2")
    assert told.status_code == 200
    assert (told.json()["same"], told.json()["old"], told.json()["new"]) == (False, ANSWER, AGAIN)
    assert told.json()["model"] == {"old": "m", "new": "m-2"}
    assert {"op": "replace", "old": "20", "new": "25"} in told.json()["text"]
    (turn, replay) = await opened.audit.records("acme")
    assert answering.asked == [(turn.turn, "m-2")]
    assert (replay.kind, replay.actor, replay.subject) == (
        AuditKind.REPLAY,
        pseudonym(Caller("acme", "ida")),
        turn.subject,
    )
    assert (replay.body["reason"], replay.body["record"], replay.body["seq"]) == ("complaint 7", id_, 1)
    assert replay.body["difference"]["model"] == {"old": "m", "new": "m-2"}
    assert "days" not in json.dumps(replay.body)
    assert await opened.audit.open_sealed(replay) == {"answer": AGAIN}


async def test_only_auditors_of_the_house_have_answers_given_again(
    opened: Store, http: httpx.AsyncClient, answering: Answering
) -> None:
    id_ = await asked(opened)
    for who in ("ann", "eve"):
        refused = await again(http, id_, who)
        assert (refused.status_code, refused.json()["error"]["code"]) == (404, "not_found"), who
    assert (answering.asked, await kinds(opened)) == ([], [AuditKind.TURN])


@pytest.mark.parametrize(
    ("reason", "body"),
    [("", {}), ("%20", {}), ("why", {"model": ""}), ("why", {"model": "x" * 201}), ("why", {"more": 1}), ("why", [])],
)
async def test_without_a_reason_or_in_another_form_nothing_is_answered_again(
    opened: Store, http: httpx.AsyncClient, answering: Answering, reason: str, body: object
) -> None:
    id_ = await asked(opened)
    headers = as_("ida", **{"X-Audit-Reason": reason})
    refused = await http.post(f"/api/audit/records/{id_}/replay", headers=headers, json=body)
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "bad_input")
    assert (answering.asked, await kinds(opened)) == ([], [AuditKind.TURN])


async def test_what_is_not_an_answer_cannot_be_given_again(
    opened: Store, http: httpx.AsyncClient, answering: Answering
) -> None:
    id_ = await asked(opened)
    await http.get(f"/api/audit/records/{id_}", headers=as_("ida", **WHY))
    (_, view) = await opened.audit.records("acme")
    for each in (view.id, "nothing"):
        refused = await again(http, each)
        assert (refused.status_code, refused.json()["error"]["code"]) == (404, "not_found")
    assert (answering.asked, await kinds(opened)) == ([], [AuditKind.TURN, AuditKind.VIEW])


async def test_one_answer_is_given_again_at_a_time(
    opened: Store, http: httpx.AsyncClient, answering: Answering
) -> None:
    id_ = await asked(opened)
    answering.free.clear()
    first = asyncio.create_task(again(http, id_))
    await answering.begun.wait()
    refused = await again(http, id_)
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "busy")
    assert int(refused.headers["Retry-After"]) > 0
    answering.free.set()
    assert (await first).status_code == 200
    assert len(answering.asked) == 1


async def test_a_model_out_of_reach_is_said_and_leaves_the_next_free(opened: Store, http: httpx.AsyncClient) -> None:
    id_ = await asked(opened)
    refused = await again(http, id_, model="gone")
    assert (refused.status_code, refused.json()["error"]) == (503, {"code": "model_unavailable", "retryable": True})
    assert await kinds(opened) == [AuditKind.TURN]
    assert (await again(http, id_)).status_code == 200
