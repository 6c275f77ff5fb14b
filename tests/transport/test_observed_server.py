"""A real server that is looked at: the trace of whoever comes reaches the turn, and the figures have their door."""

from __future__ import annotations

from pathlib import Path

import httpx
from opentelemetry import trace
from pydantic import SecretStr
from websockets.asyncio.client import connect
from websockets.typing import Origin

from assistant.config import ServerSettings
from tests.telemetry_seen import tracing
from tests.transport.house import PROTOCOL, at_home, receive, send

TRACES = ("0af7651916cd43dd8448eb211c80319c", "1bf7651916cd43dd8448eb211c80319d")


async def test_a_turn_belongs_to_the_trace_of_the_handshake_or_the_request(tmp_path: Path) -> None:
    socket_of, request_of = ({"traceparent": f"00-{one}-b7ad6b7169203331-01"} for one in TRACES)
    with tracing() as seen:
        async with at_home(tmp_path) as house:
            place = house.url.replace("http", "ws") + "/v1/ws"
            async with connect(
                place, subprotocols=[PROTOCOL], origin=Origin(house.url), additional_headers=socket_of
            ) as socket:
                await send(socket, "session.open", {"token": "t"})
                await send(socket, "turn.start", {"text": "What about leave?"})
                await receive(socket, "turn.done")
            async with httpx.AsyncClient(base_url=house.url) as http:
                session = (await http.post("/api/sessions")).json()["session_id"]
                headers = {"Idempotency-Key": "k1", **request_of}
                await http.post(f"/api/sessions/{session}/turns", json={"text": "And travel?"}, headers=headers)
    turns = [span.context for span in seen.get_finished_spans() if span.name == "turn"]
    assert [trace.format_trace_id(turn.trace_id) for turn in turns if turn] == list(TRACES)


async def test_the_figures_tell_of_requests_by_route_and_want_their_token(tmp_path: Path) -> None:
    settings = ServerSettings(metrics_token=SecretStr("let-me-see"))
    async with at_home(tmp_path, server=settings) as house, httpx.AsyncClient(base_url=house.url) as http:
        session = (await http.post("/api/sessions")).json()["session_id"]
        await http.get(f"/api/sessions/{session}")
        assert (await http.get("/api/sessions/none")).status_code == 404
        assert (await http.get("/metrics")).status_code == 401
        told = (await http.get("/metrics", headers={"Authorization": "Bearer let-me-see"})).text
    assert 'assistant_requests_total{method="GET",route="/api/sessions/{session}",status="200"}' in told
    assert 'assistant_errors_total{at="http",code="not_found"}' in told
    assert session not in told
    assert float(next(line for line in told.splitlines() if line.startswith("assistant_tasks ")).split()[1]) > 1


async def test_without_a_token_there_are_no_figures(tmp_path: Path) -> None:
    async with at_home(tmp_path) as house, httpx.AsyncClient(base_url=house.url) as http:
        assert (await http.get("/metrics")).status_code == 404
        ready = (await http.get("/readyz")).json()
    assert (ready["status"], ready["model_seen"]) == ("ready", "answers")
