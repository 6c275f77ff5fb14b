"""Everything that a person can see of the assistant, over every door, of sessions of their own and of others."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from typing import Any

import httpx
from ulid import ULID

from tests.e2e.canaries import LAMPS, QUESTIONS, Company, Place, Sight, frames_until, send


def paths_of(place: Place) -> Iterator[str]:
    """What can be read of a session."""
    base = f"/api/sessions/{place.session}"
    yield from (base, f"{base}/events", f"{base}/sources", f"{base}/files", f"{base}/export")
    yield f"{base}/export?format=json"
    for turn, numbers in place.turns.items():
        at = f"{base}/turns/{turn}"
        yield f"{at}/calls"
        for n in numbers:
            yield from (f"{at}/citations/{n}", f"{at}/citations/{n}/source")
        yield from (f"{at}/images/{image}" for image in place.images)


async def ordinary(company: Company, name: str | None, places: list[Place]) -> Sight:
    """What everybody may try: lists, sessions, streams, and new questions over every door."""
    sight = Sight()
    async with company.http(name) as http:
        for path in ("/api/sessions", "/api/config", "/api/usage", "/v1/models", "/readyz"):
            await _get(http, path, sight)
        for place in places:
            for path in paths_of(place):
                await _get(http, path, sight)
            await _stream(http, f"/api/sessions/{place.session}/stream?after_seq=0", sight)
            await _stream(http, f"/api/sessions/{place.session}/stream", sight, **{"Last-Event-ID": f"{place.epoch}:0"})
            await _resume(company, name, place, sight)
        await _ask_over_rest(http, sight)
        await _ask_as_model(http, sight)
    await _ask_over_socket(company, name, sight)
    return sight


async def audit(company: Company, name: str | None) -> tuple[Sight, Sight]:
    """What the audit shows: its lists and figures, and its opened records and export."""
    lists, opened = Sight(), Sight()
    reason = {"X-Audit-Reason": "complaint 7"}
    async with company.http(name) as http:
        for path in ("records?limit=200", "figures", "verify", "answers"):
            await _get(http, f"/api/audit/{path}", lists)
        await _get(http, "/api/audit/retention", lists, **reason)
        found = await http.get("/api/audit/records?limit=200")
        for record in found.json().get("records", [{"id": "r1"}]):
            await _get(http, f"/api/audit/records/{record['id']}", opened, **reason)
        exported = await http.get("/api/audit/export", headers=reason)
        text = _unzipped(exported.content) if exported.status_code == 200 else exported.text
        opened.add(text, "/api/audit/export", exported.status_code)
    return lists, opened


async def audit_changes(company: Company, name: str | None) -> Sight:
    """What would change something by way of the audit, for records that are not there."""
    sight, reason = Sight(), {"X-Audit-Reason": "complaint 7"}
    async with company.http(name) as http:
        for method, path, body in (
            ("POST", "records/nothing/replay", {}),
            ("POST", "answers", {"correction": "nothing"}),
            ("DELETE", "answers/nothing", None),
        ):
            got = await http.request(method, f"/api/audit/{path}", json=body, headers=reason)
            sight.add(got.text, f"{method} {path}", got.status_code)
    return sight


async def administration(company: Company, name: str | None, documents: list[str]) -> Sight:
    """What the administration shows, of these documents among others."""
    sight = Sight()
    async with company.http(name) as http:
        for path in ("collections", "documents?limit=200", "documents?query=qz", "people", "keys"):
            await _get(http, f"/api/admin/{path}", sight)
        for document in documents:
            await _get(http, f"/api/admin/documents/{document}", sight)
            await _get(http, f"/api/admin/documents/{document}/versions/1", sight)
    return sight


async def meddling(company: Company, name: str | None, place: Place) -> Sight:
    """What would change something of the session of another."""
    base, sight = f"/api/sessions/{place.session}", Sight()
    key = {"Idempotency-Key": str(ULID())}
    async with company.http(name) as http:
        for method, path, more in (
            ("PATCH", base, {"json": {"title": "mine"}}),
            ("DELETE", base, {}),
            ("POST", f"{base}/turns", {"json": {"text": LAMPS}, "headers": key}),
            ("POST", f"{base}/turns/stream", {"json": {"text": LAMPS}, "headers": key}),
            ("POST", f"{base}/turns/{next(iter(place.turns))}/cancel", {}),
            ("POST", f"{base}/files", {"content": b"x", "headers": {"X-File-Name": "x.md"}}),
            *(("DELETE", f"{base}/files/{file}", {}) for file in place.files),
        ):
            got = await http.request(method, path, **more)  # type: ignore[arg-type]
            sight.add(got.text, f"{method} {path}", got.status_code)
    return sight


async def _get(http: httpx.AsyncClient, path: str, sight: Sight, **headers: str) -> None:
    got = await http.get(path, headers=headers)
    sight.add(got.text, path, got.status_code)


async def _stream(http: httpx.AsyncClient, path: str, sight: Sight, **headers: str) -> None:
    """An event stream up to the end of what is past."""
    frames: list[Any] = []
    async with http.stream("GET", path, headers=headers) as response:
        sight.statuses[path] = response.status_code
        async for line in response.aiter_lines():
            if line.startswith("data: "):
                frames.append(json.loads(line[6:]))
            if frames and frames[-1]["type"] == "replay.done":
                break
    sight.add_frames(frames)


async def _resume(company: Company, name: str | None, place: Place, sight: Sight) -> None:
    """The session over a socket, as by a page that has seen nothing of it yet."""
    resume = {"epoch": place.epoch, "seq": 0}
    socket = await company.socket(name, session_id=place.session, resume=resume)
    frames = await frames_until(socket, "replay.done")
    sight.add_frames(frames)
    await socket.close()
    last = frames[-1]
    sight.statuses[f"socket {place.session}"] = last["d"]["code"] if last["type"] == "closed" else 200


async def _ask_over_rest(http: httpx.AsyncClient, sight: Sight) -> None:
    """New questions in a session of one's own: answered whole, and streamed."""
    opened = await http.post("/api/sessions")
    session = opened.json().get("session_id", "none")
    for question in QUESTIONS:
        body, key = {"text": question}, {"Idempotency-Key": str(ULID())}
        got = await http.post(f"/api/sessions/{session}/turns", json=body, headers=key)
        sight.add(got.text, f"rest {question}", got.status_code)
        if got.status_code == 200:
            await _get(http, f"/api/sessions/{session}/turns/{got.json()['turn']}/calls", sight)
    frames: list[Any] = []
    body, key = {"text": LAMPS, "mode": "compact"}, {"Idempotency-Key": str(ULID())}
    async with http.stream("POST", f"/api/sessions/{session}/turns/stream", json=body, headers=key) as streamed:
        sight.statuses["sse"] = streamed.status_code
        async for line in streamed.aiter_lines():
            if line.startswith("data: "):
                frames.append(json.loads(line[6:]))
    sight.add_frames(frames)


async def _ask_as_model(http: httpx.AsyncClient, sight: Sight) -> None:
    body = {"model": "assistant", "messages": [{"role": "user", "content": LAMPS}]}
    got = await http.post("/v1/chat/completions", json=body)
    sight.add(got.text, "model", got.status_code)
    streamed = await http.post("/v1/chat/completions", json={**body, "stream": True})
    sight.add(streamed.text, "model stream", streamed.status_code)
    deltas = [json.loads(line[6:]) for line in streamed.text.splitlines() if line.startswith("data: {")]
    choices = [choice for delta in deltas for choice in delta.get("choices", ())]
    sight.add("".join(choice["delta"].get("content") or "" for choice in choices))


async def _ask_over_socket(company: Company, name: str | None, sight: Sight) -> None:
    socket = await company.socket(name)
    sight.add_frames(frames := await frames_until(socket, "replay.done"))
    if frames[-1]["type"] == "closed":
        sight.statuses["socket"] = frames[-1]["d"]["code"]
        return
    scope = {"collections": ["shelf", "qzstaffshelf", "files:" + frames[0]["d"]["session_id"]]}
    for more in ({}, {"scope": scope}, {"mode": "accumulate"}):
        await send(socket, "turn.start", {"text": LAMPS, **more})
        sight.add_frames(await frames_until(socket, "turn.done", "error"))
    await socket.close()
    sight.statuses["socket"] = 200


def _unzipped(content: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(content)) as zipped:
        return "\n".join(zipped.read(name).decode("utf-8", "replace") for name in zipped.namelist())
