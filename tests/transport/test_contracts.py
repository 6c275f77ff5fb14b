"""The generated contracts are what the code makes, are valid, and say what a running server sends."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import httpx
import pytest
from hypothesis import given, settings
from jsonschema import Draft202012Validator
from schemathesis.specs.openapi.definitions import OPENAPI_31_VALIDATOR
from ulid import ULID

from assistant.commands.contracts import write_contracts
from assistant.core.access import EVERYONE, Caller
from assistant.errors import BadInput
from assistant.knowledge.desk import KnowledgeDesk
from assistant.transport.contracts import documents
from assistant.transport.contracts.asyncapi import message_id
from assistant.transport.contracts.openapi import describe
from assistant.transport.contracts.routes import EVENT_LIST, OTHER, SHAPES
from assistant.transport.protocol import (
    MAX_QUESTION_CHARS,
    Ack,
    AuthExpiring,
    Control,
    ErrorShown,
    Limits,
    Pong,
    ReplayDone,
    ServerDraining,
    SessionReady,
    StartData,
    TurnStart,
    decode,
    encode_client,
    encode_control,
)
from assistant.transport.server import make_app
from tests.knowledge.desks import Here, alias
from tests.transport.house import House, at_home, receive
from tests.transport.test_protocol import frames
from tests.transport.test_transcripts import FILES, frames_of

ROOT: Final = Path(__file__).parents[2]
Json = dict[str, Any]
OPENAPI: Final[Json] = json.loads((ROOT / "docs/openapi.json").read_text("utf-8"))
ASYNCAPI: Final[Json] = json.loads((ROOT / "docs/asyncapi.json").read_text("utf-8"))
AT = datetime(2026, 11, 30, 12, tzinfo=UTC)
EVERYTHING = Caller("acme", "ann", frozenset({EVERYONE}), frozenset({"user", "admin", "auditor", "exporter"}))
WHY = {"X-Audit-Reason": "complaint 7"}
PAGE = b"# Leave\n\nEmployees get 20 days of annual leave."


def test_what_is_generated_is_what_the_code_makes() -> None:
    assert write_contracts(ROOT, check=True) == [], "run `make contracts-docs`"


def test_generating_says_what_was_stale_and_makes_it_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "GENERATED", {"a.json": lambda: "{}", "b.json": lambda: "é\n"})
    assert documents.generate(tmp_path, write=False) == ["a.json", "b.json"]
    assert documents.generate(tmp_path) == ["a.json", "b.json"]
    (tmp_path / "b.json").write_text("{}", "utf-8")
    assert documents.generate(tmp_path) == ["b.json"]
    assert documents.generate(tmp_path) == []
    assert (tmp_path / "b.json").read_text("utf-8") == "é\n"


def test_contracts_are_written_in_the_repository_only(tmp_path: Path) -> None:
    with pytest.raises(BadInput):
        write_contracts(tmp_path)


def test_an_application_that_is_described_tells_the_same() -> None:
    app = make_app(lambda: pytest.fail("not to be opened"), ROOT / "none")
    describe(app)
    assert app.openapi() == OPENAPI
    assert app.openapi() is app.openapi()


def test_both_documents_are_valid() -> None:
    assert [str(error) for error in OPENAPI_31_VALIDATOR.iter_errors(OPENAPI)] == []
    for document in (OPENAPI, ASYNCAPI):
        for schema in document["components"]["schemas"].values():
            Draft202012Validator.check_schema(schema)
        for target in references(document):
            assert at(document, target), target


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for part in value.values():
            yield from references(part)
    elif isinstance(value, list):
        for part in value:
            yield from references(part)


def at(document: Json, pointer: str) -> Any:
    found: Any = document
    for step in pointer.removeprefix("#/").split("/"):
        found = found[step]
    return found


def test_every_route_says_what_it_answers_and_none_is_told_of_that_is_not_there() -> None:
    routes = {f"{method.upper()} {path}" for path, methods in OPENAPI["paths"].items() for method in methods}
    told = {*SHAPES, *OTHER, EVENT_LIST}
    assert told - routes == set()
    for route in sorted(routes - told):
        method, _, path = route.partition(" ")
        answers = OPENAPI["paths"][path][method.lower()]["responses"]
        assert "204" in answers or path.startswith("/auth/"), route


def test_operations_have_names_of_their_own() -> None:
    names = [operation["operationId"] for methods in OPENAPI["paths"].values() for operation in methods.values()]
    assert len(names) == len(set(names))
    assert all(re.fullmatch(r"[a-z0-9_]+", name) for name in names)


def test_nothing_private_is_shown() -> None:
    assert not [name for name in OPENAPI["components"]["schemas"] if name.startswith("_")]
    assert "localhost" not in json.dumps(OPENAPI)


def payload(type_: str) -> Json:
    schema: Json = ASYNCAPI["components"]["messages"][message_id(type_)]["payload"]
    return schema


def strict(schema: Any) -> Any:
    """The schema without room for what it does not name, so that a field that nobody described is found."""
    match schema:
        case dict():
            made = {name: strict(part) for name, part in schema.items()}
            if isinstance(schema.get("properties"), dict) and "type" in schema:
                made.setdefault("additionalProperties", False)
            return made
        case list():
            return [strict(part) for part in schema]
    return schema


def validator(schema: Json, document: Json) -> Draft202012Validator:
    return Draft202012Validator(strict({**schema, "components": {"schemas": document["components"]["schemas"]}}))


def faults(schema: Json, document: Json, value: Any) -> list[str]:
    return [f"{error.json_path}: {error.message[:300]}" for error in validator(schema, document).iter_errors(value)]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_recorded_frames_have_the_form_that_is_promised(file: Path) -> None:
    known: dict[str, Draft202012Validator] = {}
    for frame in frames_of(file):
        form = known.setdefault(frame["type"], validator(payload(frame["type"]), ASYNCAPI))
        assert [error.message for error in form.iter_errors(frame)] == []


CONTROLS: Final[list[Control]] = [
    SessionReady(
        session_id="s",
        epoch="e",
        head_seq=1,
        recovered=True,
        replay_count=0,
        heartbeat_ms=20_000,
        limits=Limits(running_turns=2, starts_per_minute=30),
    ),
    ReplayDone(head_seq=1),
    Ack(id="1", turn="t"),
    Ack(id="1"),
    Pong(head_seq=2),
    AuthExpiring(expires_at=AT),
    ServerDraining(reconnect_after_ms=1000),
    ErrorShown(code="busy", message_key="error.busy", retryable=True, retry_after_ms=5, ref_id="1", incident="i"),
    ErrorShown(code="internal", message_key="error.internal", retryable=False, incident="i"),
]


@pytest.mark.parametrize("control", CONTROLS, ids=lambda control: control.type)
def test_control_frames_have_the_form_that_is_promised(control: Control) -> None:
    assert faults(payload(control.type), ASYNCAPI, json.loads(encode_control("s", control, AT))) == []


@settings(max_examples=40)
@given(frames)
def test_commands_have_the_form_that_is_promised(frame: Any) -> None:
    loose = {**payload(frame.type), "components": ASYNCAPI["components"]}
    assert not list(Draft202012Validator(loose).iter_errors(json.loads(encode_client(frame))))


def test_what_no_server_takes_is_not_promised() -> None:
    loose = Draft202012Validator({**payload("turn.start"), "components": ASYNCAPI["components"]})
    good: Json = {"v": 1, "type": "turn.start", "id": str(ULID()), "d": {"text": "x"}}
    assert loose.is_valid(good)
    wrongs: list[Json] = [
        {"id": "1"},
        {"v": 2},
        {"d": {}},
        {"d": {"text": "x" * (MAX_QUESTION_CHARS + 1)}},
        {"type": "ping"},
    ]
    for wrong in wrongs:
        assert not loose.is_valid({**good, **wrong}), wrong


def test_a_schema_goes_with_its_question() -> None:
    asked = StartData(text="x", schema={"type": "object"})
    frame = TurnStart(type="turn.start", id=str(ULID()), d=asked)
    assert json.loads(encode_client(frame))["d"]["schema"] == {"type": "object"}
    assert decode(encode_client(frame)) == frame


async def test_a_running_server_answers_in_the_form_that_is_promised(tmp_path: Path) -> None:
    async with at_home(tmp_path) as house, httpx.AsyncClient(base_url=house.url) as http:
        house.portal.caller = EVERYTHING
        desk = KnowledgeDesk(house.doors.library, house.doors.files, Here(), pseudonym=alias)
        object.__setattr__(house.doors, "desk", desk)  # reads here instead of in a process of its own
        asked = Asking(http)
        await walk(asked, house)
        assert {*SHAPES, EVENT_LIST} - asked.seen <= NOT_WALKED


# Those of /auth and exchange need a provider; answers of record a correction (tests/transport/test_audit_rulings.py).
NOT_WALKED = {
    "POST /api/auth/exchange",
    "GET /auth/token",
    "POST /api/audit/answers",
    "DELETE /api/audit/answers/{answer}",
    "POST /api/admin/documents/{document}/reingest",
}


class Asking:
    """Asks a server and holds every answer against its contract."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http
        self.seen: set[str] = set()

    async def __call__(self, route: str, *, status: int = 200, query: str = "", send: Any = None, **names: Any) -> Any:
        method, _, template = route.partition(" ")
        path = re.sub(r"\{(\w+)\}", lambda found: quote(str(names[found[1]])), template) + query
        body = {"content": send} if isinstance(send, bytes) else {"json": send} if send is not None else {}
        headers = {**WHY, "Idempotency-Key": str(ULID()), "X-File-Name": "mine.md"}
        answer = await self._http.request(method, path, headers=headers, **body)
        assert answer.status_code == status, (route, answer.text)
        described = OPENAPI["paths"][template][method.lower()]["responses"]
        schema = described[str(status) if status < 400 else "4XX"]["content"]["application/json"]["schema"]
        assert faults(schema, OPENAPI, answer.json()) == [], route
        self.seen.add(route)
        return answer.json()


async def walk(ask: Asking, house: House) -> None:
    """Every route that there is, in the order in which a person would come by."""
    for route in ("GET /healthz", "GET /readyz", "GET /api/config", "GET /v1/models"):
        await ask(route)
    put = await ask("PUT /api/admin/documents", query="?collection=handbook&uri=leave.md", send=PAGE)
    session = (await ask("POST /api/sessions", status=201))["session_id"]
    await ask("POST /api/sessions/{session}/files", status=201, send=b"# Mine\n\nZebras.", session=session)
    said = {"text": "How many days of annual leave do employees get?"}
    begun = await ask("POST /api/sessions/{session}/turns", send=said, session=session)
    assert begun["message"]["citations"]["items"]
    place = {"session": session, "turn": begun["turn"], "n": 1}
    await ask("POST /api/sessions/{session}/turns", send={**said, "wait": False}, session=session)
    await ask("POST /api/sessions/{session}/turns/{turn}/cancel", **place)
    await of_a_session(ask, place)
    await of_a_socket(house, session)
    await of_the_audit(ask)
    await of_the_library(ask, put["id"])


async def of_a_session(ask: Asking, place: Json) -> None:
    newer = PAGE.replace(b"20", b"25")
    await ask("PUT /api/admin/documents", query="?collection=handbook&uri=leave.md", send=newer)
    source = await ask("GET /api/sessions/{session}/turns/{turn}/citations/{n}/source", **place)
    assert source["state"] == "changed"
    for route in (
        "GET /api/sessions",
        "GET /api/sessions/{session}",
        "GET /api/sessions/{session}/events",
        "GET /api/sessions/{session}/files",
        "GET /api/sessions/{session}/sources",
        "GET /api/sessions/{session}/turns/{turn}/citations/{n}",
        "GET /api/sessions/{session}/turns/{turn}/calls",
        "GET /api/usage",
    ):
        await ask(route, **place)
    await ask("PATCH /api/sessions/{session}", send={"title": "Leave"}, **place)
    await ask("GET /api/sessions/{session}", status=404, session="x")


async def of_a_socket(house: House, session: str) -> None:
    socket, ready = await house.socket(session_id=session)
    assert faults(payload("session.ready"), ASYNCAPI, ready) == []
    done = await receive(socket)
    assert faults(payload("replay.done"), ASYNCAPI, done) == []
    await socket.close()


async def of_the_audit(ask: Asking) -> None:
    records = (await ask("GET /api/audit/records"))["records"]
    for record in records:
        await ask("GET /api/audit/records/{record}", record=record["id"])
    assert {record["kind"] for record in records} >= {"turn", "document"}
    answer = min((record for record in records if record["kind"] == "turn"), key=lambda record: record["seq"])
    await ask("POST /api/audit/records/{record}/replay", send={}, record=answer["id"])
    for route in ("figures", "verify", "retention", "answers"):
        await ask(f"GET /api/audit/{route}")


async def of_the_library(ask: Asking, document: str) -> None:
    await ask("GET /api/admin/collections")
    await ask("GET /api/admin/documents")
    await ask("GET /api/admin/documents/{document}", document=document)
    await ask("PATCH /api/admin/documents/{document}", send={"owner": "hr"}, document=document)
    await ask("GET /api/admin/documents/{document}/versions/{number}", document=document, number=1)
    await ask("GET /api/admin/people")
    await ask("GET /api/admin/jobs")
    await ask("POST /api/admin/keys", status=201, send={"name": "crawler"})
    await ask("GET /api/admin/keys")
