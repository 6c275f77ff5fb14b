from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest
import structlog
from fastapi import FastAPI, WebSocket
from opentelemetry import trace

from assistant.errors import AssistantError, BadSetting
from assistant.telemetry.figures import MOST_VALUES, bounded, count_tasks
from assistant.telemetry.tracing import step
from assistant.transport.http import refuse
from assistant.transport.metrics import Observed, add_metrics, serve_metrics
from tests.telemetry_seen import figure, tracing

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}


def application(token: str = "let-me-see") -> FastAPI:
    app = FastAPI()
    app.add_middleware(Observed)
    app.add_exception_handler(AssistantError, refuse)
    add_metrics(app, token)

    @app.get("/api/things/{thing}")
    async def thing(thing: str) -> dict[str, str]:
        with step("look"):
            structlog.get_logger("assistant.test").info("looked")
        return {"thing": thing}

    @app.websocket("/v1/ws")
    async def socket(websocket: WebSocket) -> None:
        await websocket.accept()
        with step("socket"):
            assert figure("assistant_sockets") == 1
        await websocket.close(4002)

    return app


def client(app: FastAPI) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://here")


async def test_a_request_is_one_line_by_its_route_without_path_and_query() -> None:
    async with client(application()) as http:
        with structlog.testing.capture_logs([structlog.contextvars.merge_contextvars]) as lines:
            answer = await http.get("/api/things/qzsecret?q=qzquery", headers={"X-Request-Id": "r-1"})
    assert answer.headers["x-request-id"] == "r-1"
    looked, told = lines
    assert (looked["event"], looked["request"]) == ("looked", "r-1")
    assert {key: told[key] for key in ("event", "method", "route", "status", "request")} == {
        "event": "request", "method": "GET", "route": "/api/things/{thing}", "status": 200, "request": "r-1",
    }  # fmt: skip
    assert told["ms"] >= 0
    assert "qz" not in str(lines)


@pytest.mark.parametrize("given", ["", "a" * 65, "x y", "<script>", "é"])
async def test_an_id_that_is_none_is_replaced(given: str) -> None:
    async with client(application()) as http:
        answer = await http.get("/api/things/1", headers=[(b"x-request-id", given.encode())])
    assert len(answer.headers["x-request-id"]) == 32


async def test_what_no_route_answers_fills_no_label() -> None:
    before = figure("assistant_requests_total", method="GET", route="other", status="404")
    odd = figure("assistant_requests_total", method="other", route="other", status="404")
    async with client(application()) as http:
        for n in range(5):
            await http.get(f"/nowhere/{n}")
        await http.request("BREW", "/nowhere")
    assert figure("assistant_requests_total", method="GET", route="other", status="404") == before + 5
    assert figure("assistant_requests_total", method="other", route="other", status="404") == odd + 1


async def test_a_request_belongs_to_the_trace_of_its_caller() -> None:
    with tracing() as seen:
        async with client(application()) as http:
            await http.get("/api/things/1", headers=PARENT)
            await http.get("/api/things/1")
    first, second = (span.context for span in seen.get_finished_spans())
    assert trace.format_trace_id(first.trace_id) == TRACE
    assert trace.format_trace_id(second.trace_id) != TRACE


async def test_a_socket_belongs_to_the_trace_of_its_handshake_and_is_told_when_it_ends() -> None:
    with tracing() as seen, structlog.testing.capture_logs() as lines:
        await _through(application(), PARENT)
    (span,) = seen.get_finished_spans()
    assert trace.format_trace_id(span.context.trace_id) == TRACE
    assert [(line["event"], line["route"], line["code"]) for line in lines] == [("socket", "/v1/ws", 4002)]
    assert figure("assistant_sockets") == 0


async def _through(app: Callable[..., Awaitable[None]], headers: dict[str, str]) -> None:
    """A socket as a server hands it to an application."""
    heard: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    heard.put_nowait({"type": "websocket.connect"})

    async def send(message: dict[str, Any]) -> None:
        pass

    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {
        "type": "websocket", "path": "/v1/ws", "raw_path": b"/v1/ws", "query_string": b"", "headers": raw,
        "subprotocols": [], "scheme": "ws", "client": ("127.0.0.1", 1), "server": ("here", 80), "root_path": "",
    }  # fmt: skip
    await app(scope, heard.get, send)


async def test_the_figures_want_their_token() -> None:
    async with client(await asyncio.to_thread(application)) as http:
        await http.get("/api/things/1")
        for given in ({}, {"Authorization": "Bearer no"}, {"Authorization": "let-me-see"}, {"Authorization": "é"}):
            raw = [(name.encode(), value.encode()) for name, value in given.items()]
            assert (await http.get("/metrics", headers=raw)).status_code == 401
        answer = await http.get("/metrics", headers={"Authorization": "Bearer let-me-see"})
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=")
    assert 'assistant_requests_total{method="GET",route="/api/things/{thing}",status="200"}' in answer.text


async def test_without_a_token_there_is_no_such_door() -> None:
    async with client(application("")) as http:
        assert (await http.get("/metrics", headers={"Authorization": "Bearer "})).status_code == 404


async def test_a_port_of_their_own() -> None:
    port = await asyncio.to_thread(serve_metrics, "127.0.0.1", 0)
    async with httpx.AsyncClient() as http:
        answer = await http.get(f"http://127.0.0.1:{port}/metrics")
    assert "assistant_running_turns 0.0" in answer.text
    with pytest.raises(BadSetting):
        await asyncio.to_thread(serve_metrics, "127.0.0.1", port)


def test_a_label_has_a_bound_number_of_values() -> None:
    told = {bounded("of a test", f"value {n}") for n in range(10 * MOST_VALUES)}
    assert len(told) == MOST_VALUES + 1
    assert "other" in told
    assert bounded("of a test", "value 1") == "value 1"


async def test_tasks_are_counted_when_the_figures_are_read_from_whatever_thread() -> None:
    count_tasks(asyncio.get_running_loop())
    before, end = figure("assistant_tasks"), asyncio.Event()
    assert before == len(asyncio.all_tasks())
    waiting = [asyncio.create_task(end.wait()) for _ in range(7)]
    assert figure("assistant_tasks") == before + 7
    assert await asyncio.to_thread(figure, "assistant_tasks") == before + 7
    end.set()
    await asyncio.gather(*waiting)
    assert figure("assistant_tasks") == before
