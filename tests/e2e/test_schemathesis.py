"""Every operation of the OpenAPI, with requests that fit and requests that do not: no status of 500, no stack trace."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.core.result import Ok
from structlog.testing import capture_logs

from tests.transport.house import BOARD, House, at_home

pytestmark = pytest.mark.e2e

EXAMPLES: Final = 3
"""Of each operation and way; there are more than fifty operations."""
ROLES: Final = frozenset({"user", "auditor", "exporter", "admin"})
ENDLESS: Final = "/api/sessions/{session}/stream"
"""Of a session that there is it ends with the token; it is asked for sessions that are not there."""
ALL: Final = {"X-Audit-Reason": "test", "Authorization": "Bearer t"}
quick: Final = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@dataclass(slots=True)
class Asked:
    """One request and what came of it."""

    operation: str
    status: int
    text: str


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A server in a thread; its caller may do everything."""
    started: Future[House] = Future()
    stop = threading.Event()
    thread = threading.Thread(
        target=lambda: asyncio.run(_serve(tmp_path_factory.mktemp("house"), started, stop)), daemon=True
    )
    thread.start()
    try:
        yield started.result(60)
    finally:
        stop.set()
        thread.join(30)


async def _serve(folder: Path, started: Future[House], stop: threading.Event) -> None:
    try:
        async with at_home(folder) as house:
            house.portal.caller = replace(BOARD, roles=ROLES)
            house.doors.limiter.per_minute = 100_000
            started.set_result(house)
            await asyncio.to_thread(stop.wait)
    except BaseException as error:
        if not started.done():
            started.set_exception(error)
        raise


class Client:
    """Sends what is made of an operation; some of it about things that there are."""

    def __init__(self, house: House) -> None:
        self.url = house.url
        self.asked: list[Asked] = []
        self.http = httpx.Client(base_url=house.url, headers=ALL, timeout=120)

    def existing(self, path: str) -> dict[str, str]:
        """Ids of things that there are, for the parameters of the path; made anew, as an operation may delete them."""
        found: dict[str, str] = {}
        if "{session}" in path and path != ENDLESS:
            found["session"] = self.http.post("/api/sessions").json()["session_id"]
        if "{turn}" in path:
            turns = f"/api/sessions/{found['session']}/turns"
            asked = self.http.post(turns, json={"text": "How often?"}, headers={"Idempotency-Key": "k"})
            found["turn"] = asked.json()["turn"]
        if "{document}" in path:
            put = self.http.put(
                "/api/admin/documents", params={"collection": "c", "uri": "lamps.md"}, content=b"# Lamps\n\nTested."
            )
            found["document"] = put.json()["id"]
        return {name: value for name, value in found.items() if f"{{{name}}}" in path}

    def attack(self, operation: Any, mode: GenerationMode, fixed: dict[str, str]) -> None:
        """Send requests of one way."""

        @quick
        @given(case=operation.as_strategy(generation_mode=mode, path_parameters=fixed or None))
        def send(case: Any) -> None:
            got = case.call(base_url=self.url, headers=ALL, timeout=120)
            self.asked.append(Asked(operation.label, got.status_code, got.text if got.content[:2] != b"PK" else ""))

        try:
            send()
        except Unsatisfiable:  # nothing of this operation can be wrong
            return


def test_no_operation_fails(house: House) -> None:
    document = httpx.get(f"{house.url}/openapi.json", timeout=120).json()
    client = Client(house)
    with capture_logs() as logged:
        for result in schemathesis.openapi.from_dict(document).get_all_operations():
            assert isinstance(result, Ok), "the OpenAPI is well formed"
            operation = result.ok()
            fixed = client.existing(operation.path)
            client.attack(operation, GenerationMode.POSITIVE, fixed)
            client.attack(operation, GenerationMode.NEGATIVE, client.existing(operation.path))
    assert [asked for asked in client.asked if asked.status >= 500] == []
    assert [asked for asked in client.asked if "Traceback" in asked.text or 'File "' in asked.text] == []
    assert [line for line in logged if line.get("exc_info") or line["log_level"] in ("error", "critical")] == []
    tried = {asked.operation for asked in client.asked}
    operations = sum(len(methods) for methods in document["paths"].values())
    assert len(tried) == operations
    fine = {asked.operation for asked in client.asked if asked.status < 300}
    assert len(fine) > len(tried) // 2, f"most operations are reached, not only refused: {sorted(tried - fine)}"
