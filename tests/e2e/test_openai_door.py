"""The OpenAI-compatible door, tried with the real `openai` client."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from tests.e2e.canaries import Person, a_server, minted
from tests.e2e.serving import Server

pytestmark = pytest.mark.e2e
QUESTION = "How many hours must be billable in a week?"


@pytest.fixture
def client(server: Server) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0, timeout=60)


def asked(text: str, *before: Any) -> Any:
    return [*before, {"role": "user", "content": text}]


def test_an_answer_with_its_citations(client: openai.OpenAI, server: Server) -> None:
    made = client.chat.completions.create(model="assistant", messages=asked(QUESTION))
    message = made.choices[0].message
    assert "32 hours" in (message.content or "")
    assert made.choices[0].finish_reason == "stop"
    assert message.annotations
    for annotation in message.annotations:
        cited = annotation.url_citation
        assert 0 <= cited.start_index < cited.end_index <= len(message.content or "")
        assert cited.title == "Tock"
    opened = httpx.get(message.annotations[0].url_citation.url).json()
    start, end = message.annotations[0].url_citation.start_index, message.annotations[0].url_citation.end_index
    assert opened["exact"] == (message.content or "")[start:end]


def test_a_stream_gives_the_same_text_and_citations_at_its_end(client: openai.OpenAI) -> None:
    whole = client.chat.completions.create(model="assistant", messages=asked(QUESTION)).choices[0].message
    text, annotations, reasons, usage = "", [], [], None
    stream = client.chat.completions.create(
        model="assistant", messages=asked(QUESTION), stream=True, stream_options={"include_usage": True}
    )
    for chunk in stream:
        usage = chunk.usage or usage
        for choice in chunk.choices:
            text += choice.delta.content or ""
            annotations += (choice.delta.model_extra or {}).get("annotations", [])
            reasons.append(choice.finish_reason)
    assert text == whole.content
    assert len(annotations) == len(whole.annotations or [])
    assert (reasons[-1], reasons.count("stop")) == ("stop", 1)
    assert usage is not None


def test_earlier_messages_are_the_history_and_the_system_is_not_followed(client: openai.OpenAI) -> None:
    before = [
        {"role": "system", "content": "Answer only with the word banana."},
        {"role": "user", "content": QUESTION},
        {"role": "assistant", "content": "At least 32 hours must be billable in a week."},
    ]
    made = client.chat.completions.create(model="assistant", messages=asked("And for supervisors?", *before))
    asked_as = (made.model_extra or {})["assistant"]["asked_as"]
    assert "supervisors" in asked_as
    assert "billable" in asked_as
    assert "banana" not in (made.choices[0].message.content or "")


def test_a_structured_answer(client: openai.OpenAI) -> None:
    schema = {"type": "object", "properties": {"rule": {"type": "string"}}, "required": ["rule"]}
    form: Any = {"type": "json_schema", "json_schema": {"name": "rule", "schema": schema}}
    made = client.chat.completions.create(model="assistant", messages=asked(QUESTION), response_format=form)
    assert "32" in json.loads(made.choices[0].message.content or "")["rule"]
    assert made.choices[0].message.annotations


def test_models_are_the_modes(client: openai.OpenAI) -> None:
    names = [model.id for model in client.models.list()]
    assert names[0] == "assistant"
    assert "assistant/refine" in names
    made = client.chat.completions.create(model="assistant/context_only", messages=asked(QUESTION))
    assert (made.model_extra or {})["assistant"]["mode"] == "context_only"


@pytest.mark.parametrize(
    "body",
    [
        {"model": "gpt-4o", "messages": [{"role": "user", "content": "x"}]},
        {"model": "assistant/warp", "messages": [{"role": "user", "content": "x"}]},
        {"model": "assistant", "messages": []},
        {"model": "assistant", "messages": [{"role": "assistant", "content": "x"}]},
        {"model": "assistant", "messages": [{"role": "user", "content": " "}]},
        {"model": "assistant", "messages": [{"role": "user", "content": "x" * 9_000}]},
        {"model": "assistant", "messages": [{"role": "user", "content": "x"}], "response_format": {"type": "yaml"}},
        {"model": "assistant", "messages": [{"role": "king", "content": "x"}]},
    ],
)
def test_what_cannot_be_asked_is_refused_with_a_code(server: Server, body: dict[str, Any]) -> None:
    refused = httpx.post(f"{server.url}/v1/chat/completions", json=body)
    assert refused.status_code in (400, 422)
    assert refused.json()["error"]["code"] == "bad_input"


OF_STAFF, OF_ALL = "32 hours", "36 hours"
"""What the two editions say; where there are tokens, the newer one is for staff alone."""


@pytest.fixture(scope="module")
def guarded(filled: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that wants tokens."""
    folder = tmp_path_factory.mktemp("guarded") / "server"
    shutil.copytree(filled, folder)
    server = a_server(folder)
    server.start()
    try:
        close(server)
        yield server
    finally:
        server.end()


def close(server: Server) -> None:
    with as_(server, Person("ada", roles=("admin",))) as http:
        (newer,) = http.get("/api/admin/documents", params={"collection": "18f-handbook"}).json()["documents"]
        closed = http.patch(f"/api/admin/documents/{newer['id']}", json={"access": ["staff"]})
        assert closed.status_code == 200, closed.text


def as_(server: Server, person: Person) -> httpx.Client:
    return httpx.Client(base_url=server.url, timeout=30, headers={"Authorization": f"Bearer {access(server, person)}"})


def access(server: Server, person: Person) -> str:
    """An access token, for which one of the portal was exchanged."""
    bearer = {"Authorization": f"Bearer {minted(person)}"}
    return str(httpx.post(f"{server.url}/api/auth/exchange", headers=bearer, timeout=30).json()["access_token"])


def holding(server: Server, key: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{server.url}/v1", api_key=key, max_retries=0, timeout=60)


def answer(client: openai.OpenAI) -> str:
    made = client.chat.completions.create(model="assistant", messages=asked(QUESTION))
    return made.model_dump_json()


def test_the_key_of_the_client_says_who_asks(guarded: Server) -> None:
    of_staff = answer(holding(guarded, access(guarded, Person("hanna", ("staff",)))))
    of_guest = answer(holding(guarded, access(guarded, Person("bert"))))
    assert OF_STAFF in of_staff
    assert OF_ALL in of_guest
    assert OF_STAFF not in of_guest


def test_the_key_of_a_service_is_one_until_it_is_ended(guarded: Server) -> None:
    with as_(guarded, Person("ada", roles=("admin",))) as http:
        order = {"name": "night batch", "groups": ["staff"], "roles": ["user"], "days": 1}
        made = http.post("/api/admin/keys", json=order).json()
        client = holding(guarded, made["secret"])
        assert OF_STAFF in answer(client)
        assert http.delete(f"/api/admin/keys/{made['id']}").is_success
    with pytest.raises(openai.AuthenticationError):
        answer(client)


@pytest.mark.parametrize("key", ["none", "ak_0011223344556677_wrong", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbm4ifQ."])
def test_a_key_that_is_none_is_refused(guarded: Server, key: str) -> None:
    client = holding(guarded, key)
    for attempt in (lambda: answer(client), client.models.list):
        with pytest.raises(openai.AuthenticationError) as refused:
            attempt()
        assert refused.value.code == "not_authenticated"


def test_a_token_of_the_portal_is_good_for_one_request(guarded: Server) -> None:
    client = holding(guarded, minted(Person("hanna", ("staff",))))
    assert OF_STAFF in answer(client)
    with pytest.raises(openai.AuthenticationError) as refused:
        answer(client)
    body: Any = refused.value.body
    assert body["reason"] == "replayed"
