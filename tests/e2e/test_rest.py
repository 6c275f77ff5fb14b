from __future__ import annotations

import json

import httpx
import pytest

from tests.e2e.serving import Server

pytestmark = pytest.mark.e2e
QUESTION = "How many hours must be billable in a week?"


@pytest.fixture
def http(server: Server) -> httpx.Client:
    return httpx.Client(base_url=server.url, timeout=30)


def ask(http: httpx.Client, key: str, **body: object) -> httpx.Response:
    session = http.post("/api/sessions").json()["session_id"]
    return http.post(f"/api/sessions/{session}/turns", headers={"Idempotency-Key": key}, json=body)


def test_a_question_over_rest_gets_the_folded_turn(http: httpx.Client) -> None:
    session = http.post("/api/sessions").json()["session_id"]
    url, header = f"/api/sessions/{session}/turns", {"Idempotency-Key": "one"}
    first = http.post(url, headers=header, json={"text": QUESTION}).json()
    again = http.post(url, headers=header, json={"text": QUESTION}).json()
    assert first["message"]["status"] == "completed"
    assert first["message"]["citations"]["items"]
    assert (again["turn"], again["duplicate"], again["message"]) == (first["turn"], True, first["message"])
    events = http.get(f"/api/sessions/{session}/events", params={"after_seq": 2}).json()["events"]
    assert [event["seq"] for event in events] == list(range(3, 3 + len(events)))
    other = http.post(url, headers=header, json={"text": "Something else?"})
    assert (other.status_code, other.json()["error"]["code"]) == (409, "idempotency_mismatch")


@pytest.mark.parametrize(
    "raw",
    [
        b'{"text": NaN}',
        b'{"text": "\\ud800"}',
        b'{"text": "a\\u0000b"}',
        b'{"text": ""}',
        b'{"text": 3}',
        b"[" * 5000,
        b"\xff",
        b'{"text": "x", "more": 1}',
    ],
)
def test_hostile_bodies_are_refused_with_a_code_and_not_repeated(http: httpx.Client, raw: bytes) -> None:
    session = http.post("/api/sessions").json()["session_id"]
    headers = {"Idempotency-Key": "k", "Content-Type": "application/json"}
    refused = http.post(f"/api/sessions/{session}/turns", headers=headers, content=raw)
    assert refused.status_code in (400, 422)
    assert len(refused.content) < 500


def test_a_large_body_is_cut_off(http: httpx.Client) -> None:
    assert ask(http, "k", text="x" * 500_000).status_code == 413


@pytest.mark.parametrize(
    "path",
    [
        "/api/sessions/nobody",
        "/api/sessions/nobody/events",
        "/api/sessions/a%00b",
        "/api/sessions/nobody/turns/t/citations/1",
    ],
)
def test_what_is_not_there_is_not_found(http: httpx.Client, path: str) -> None:
    refused = http.get(path)
    assert (refused.status_code, refused.json()["error"]["code"]) == (404, "not_found")


def test_empty_sessions_are_not_listed(http: httpx.Client) -> None:
    session = http.post("/api/sessions").json()["session_id"]
    assert session not in [item["session_id"] for item in http.get("/api/sessions").json()["sessions"]]


def test_health_and_readiness(http: httpx.Client) -> None:
    assert http.get("/healthz").json() == {"status": "ok"}
    ready = http.get("/readyz").json()
    assert (ready["status"], ready["model"], ready["documents"]) == ("ready", "extractive", 2)


def test_how_an_answer_was_made_can_be_read_by_its_owner(http: httpx.Client) -> None:
    session = http.post("/api/sessions").json()["session_id"]
    body = {"text": "What does each page say about billable hours?", "mode": "accumulate"}
    asked = http.post(f"/api/sessions/{session}/turns", headers={"Idempotency-Key": "k"}, json=body).json()
    message = asked["message"]
    calls = http.get(f"/api/sessions/{session}/turns/{asked['turn']}/calls").json()["calls"]
    assert (
        1 < len(calls) == message["usage"]["calls"] <= len(message["plan"]["evidence"])
    )  # conflicts are read together
    assert [step["done"] for step in message["steps"]] == list(range(1, len(calls) + 1))
    assert all(
        call["messages"][0]["role"] == "system" and "<evidence " in call["messages"][-1]["text"] for call in calls
    )
    (shown,) = http.get(f"/api/sessions/{session}").json()["turns"]
    assert shown["message"] == message


def test_a_structured_answer_and_schemas_that_cannot_be_used(http: httpx.Client) -> None:
    schema = {"type": "object", "properties": {"rule": {"type": "string"}}, "required": ["rule"]}
    message = ask(http, "k", text=QUESTION, schema=schema).json()["message"]
    rule = json.loads(message["text"])["rule"]
    assert "32" in rule
    cited = message["citations"]["items"][0]
    assert message["text"][cited["start"] : cited["end"]] in message["text"]
    for bad in ({"type": "nonsense"}, {"pattern": "(a+)+$"}, {"$ref": "http://127.0.0.1/"}):
        refused = ask(http, "k", text=QUESTION, schema=bad)
        assert (refused.status_code, refused.json()["error"]["code"]) == (422, "bad_input")
    assert ask(http, "k", text=QUESTION, schema=[]).status_code in (400, 422)


@pytest.mark.parametrize("image", ["0" * 64, "../../etc/passwd", "x"])
def test_an_image_that_was_not_cited_is_not_given(http: httpx.Client, image: str) -> None:
    session = http.post("/api/sessions").json()["session_id"]
    header = {"Idempotency-Key": "k"}
    turn = http.post(f"/api/sessions/{session}/turns", headers=header, json={"text": QUESTION}).json()["turn"]
    assert http.get(f"/api/sessions/{session}/turns/{turn}/images/{image}").status_code in (400, 404, 422)
