"""Traces of a real server, sent as OTLP over a real socket: what a collector, or Langfuse, gets of a question."""

from __future__ import annotations

import asyncio
import contextlib
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from assistant.llm.scripted_http import Behaviour, running_provider
from tests.e2e.collector import Collector, collecting, told, tree
from tests.e2e.serving import Server, environment, free_port

pytestmark = pytest.mark.e2e

QUESTION = "How many hours must be billable in a week?"
ANSWER = "You must bill 32 hours a week. [1]"
KEYS = b64encode(b"pk-lf-1:sk-lf-2").decode()
TRACE = "0af7651916cd43dd8448eb211c80319c"


@contextlib.contextmanager
def traced(folder: Path, endpoint: str, **settings: str) -> Iterator[Server]:
    """A server that sends its spans to a collector, as an operator sets it for Langfuse."""
    with running_provider() as provider:
        provider.behave(Behaviour(text=ANSWER))
        model = {"kind": "openai", "name": "test-model", "base_url": provider.url, "window": "8192", "rewrite": "false"}
        given = {f"model__{name}": value for name, value in model.items()} | settings
        env = environment(auth__development_user="ann", retrieval__embedder="none", model__summaries="false", **given)
        env |= {
            "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
            "OTEL_EXPORTER_OTLP_HEADERS": f"Authorization=Basic%20{quote(KEYS)},x-langfuse-ingestion-version=4",
            "OTEL_BSP_SCHEDULE_DELAY": "100",
        }
        server = Server(folder, free_port(), env)
        server.start()
        try:
            yield server
        finally:
            if server.process is not None and server.process.poll() is None:
                server.end()


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as made:
        yield made


def ask(server: Server, traceparent: str = "") -> str:
    """Ask; the turn, which completed."""
    return asyncio.run(_ask(server, {"traceparent": traceparent} if traceparent else {}))


async def _ask(server: Server, headers: dict[str, str]) -> str:
    async with asyncio.timeout(30), httpx.AsyncClient(base_url=server.url) as http:
        session = (await http.post("/api/sessions")).json()["session_id"]
        key = {"Idempotency-Key": "k"}
        body = {"text": QUESTION, "mode": "compact"}
        answer = (await http.post(f"/api/sessions/{session}/turns", json=body, headers=key | headers)).json()
    assert answer["message"]["status"] == "completed", answer
    return str(answer["turn"])


def test_a_question_is_one_trace_without_a_word_of_it(folder: Path, collector: Collector) -> None:
    with traced(folder, f"{collector.url}/api/public/otel") as server:
        turn = ask(server)
        collector.wait_for("turn")
        ask(server, traceparent=f"00-{TRACE}-b7ad6b7169203331-01")
        collector.wait_for("turn", 2)
    assert collector.paths == {"/api/public/otel/v1/traces"}
    assert collector.services == {"assistant"}
    for headers in collector.headers:
        assert headers["authorization"] == f"Basic {KEYS}"
        assert headers["x-langfuse-ingestion-version"] == "4"
        assert headers["content-type"] == "application/x-protobuf"

    (whole,) = [span for span in collector.spans if told(span).get("assistant.turn") == turn]
    spans = collector.of_trace(whole.trace_id)
    seen = tree(spans)
    steps = {("turn", name) for name in ("rewrite", "plan", "store", "write", "cite", "commit")}
    assert {("", "turn"), ("plan", "search"), ("write", "chat test-model"), *steps} == set(seen)
    assert seen.count(("turn", "store")) == 3  # the plan, the calls, the answer with its record
    assert whole.end_time_unix_nano == max(span.end_time_unix_nano for span in spans)
    (call,) = [told(span) for span in spans if span.name == "chat test-model"]
    assert call["gen_ai.operation.name"] == "chat"
    assert call["gen_ai.provider.name"] == "openai"
    assert call["gen_ai.request.model"] == "test-model"
    assert (call["gen_ai.usage.input_tokens"], call["gen_ai.usage.output_tokens"]) == (11, 7)
    assert call["gen_ai.response.finish_reasons"] == ("stop",)

    outside = collector.of_trace(bytes.fromhex(TRACE))
    assert [name for name in tree(outside) if name[0] == "outside"] == [("outside", "turn")]
    everything = b"".join(span.SerializeToString() for span in collector.spans).lower()
    for words in (b"billable", b"32 hours", b"tock", b"handbook"):
        assert words not in everything


def test_what_was_said_is_sent_where_that_is_set(folder: Path, collector: Collector) -> None:
    with traced(folder, collector.url, telemetry__content="true") as server:
        ask(server)
        collector.wait_for("turn")
    assert collector.paths == {"/v1/traces"}
    (call,) = [told(span) for span in collector.spans if span.name == "chat test-model"]
    assert QUESTION in call["gen_ai.input.messages"]
    assert ANSWER in call["gen_ai.output.messages"]


def test_a_collector_that_hangs_or_is_away_holds_nothing_up(folder: Path, collector: Collector) -> None:
    collector.answers.clear()
    with traced(folder, collector.url) as server:
        ask(server)
        assert collector.came.wait(20), "nothing was sent"
        for _ in range(3):  # while the request before is not answered
            ask(server)
        assert not collector.answers.is_set()
        collector.answers.set()
        collector.wait_for("turn", 4)  # nothing was lost


def test_without_a_collector_turns_are_answered(folder: Path) -> None:
    with traced(folder, f"http://127.0.0.1:{free_port()}") as server:
        for _ in range(3):
            ask(server)
