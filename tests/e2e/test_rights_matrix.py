"""Who meets which document, over every door: kinds of people x documents x paths, with a word of its own in every document.

A table says what each person may meet; what is met is compared with it, so that a document that is hidden from those who may
read it fails as well as a leak.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from ulid import ULID

from tests.e2e.canaries import (
    BICYCLES,
    BOATS,
    CANARIES,
    DOOR,
    LAMPS,
    PEOPLE,
    QUESTIONS,
    Company,
    Place,
    Sight,
    a_server,
    attach,
    fill,
    frames_until,
    met,
    send,
)
from tests.e2e.looking import administration, audit, audit_changes, meddling, ordinary, paths_of

pytestmark = pytest.mark.e2e

REASON = {"X-Audit-Reason": "the harbour was sold"}
BEFORE = {
    "hanna": {"open", "staff", "picture", "gone", "narrowed"},
    "bert": {"open", "gone", "narrowed", "file"},
    "rita": {"open", "staff", "picture", "gone", "narrowed"},
}
"""What they meet while they ask for the first time."""
AFTER: dict[str | None, set[str]] = {
    "hanna": {"open", "staff", "picture", "gone"},
    "bert": {"open", "gone", "file"},
    "rita": {"open", "gone"},
    "otto": {"open"},
    "audra": {"open"},
    "exa": {"open"},
    "ada": {"open"},
    "service": {"open"},
    "service of hr": {"open", "staff", "picture"},
    None: set(),
}
"""What they meet when the canteen is for the board alone, the bicycles are deleted (old answers keep what was quoted to them),
and rita is no longer of hr."""
SAID = {"open", "staff", "picture", "gone", "narrowed", "file"}


@dataclass(slots=True)
class Scene:
    """The company after its changes."""

    here: Company
    elsewhere: Company
    """Another tenant of the same database; its hanna is of hr, too."""
    documents: dict[str, str]
    places: dict[str, Place]
    before: dict[str, set[str]]


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    folder = tmp_path_factory.mktemp("company")
    here, elsewhere = Company(a_server(folder)), Company(a_server(folder, tenant="rival"))
    try:
        here.server.start()  # it makes the database
        elsewhere.server.start()
        yield asyncio.run(_played(here, elsewhere))
    finally:
        for company in (here, elsewhere):
            if company.server.process is not None and company.server.process.poll() is None:
                company.server.end()


async def _played(here: Company, elsewhere: Company) -> Scene:
    for person in PEOPLE.values():
        await here.sign_in(person)
    await elsewhere.sign_in(PEOPLE["hanna"])
    documents = await fill(here)
    places, before = {}, {}
    for name in BEFORE:
        places[name], before[name] = await _first_questions(here, name)
    async with here.http("ada") as http:
        for path, groups in (("service", []), ("service of hr", ["hr"])):
            made = await http.post("/api/admin/keys", headers=REASON, json={"name": path, "groups": groups})
            here.tokens[path] = made.json()["secret"]
        narrowed, gone = (f"/api/admin/documents/{documents[uri]}" for uri in ("door.md", "bicycles.md"))
        assert (await http.patch(narrowed, headers=REASON, json={"access": ["board"]})).status_code == 200
        assert (await http.delete(gone, headers=REASON)).status_code == 204
        changed = await http.put("/api/admin/people/rita/groups", headers=REASON, json={"groups": []})
        assert changed.status_code == 204
    return Scene(here, elsewhere, documents, places, before)


async def _first_questions(company: Company, name: str) -> tuple[Place, set[str]]:
    """Ask everything once; bert with a file of his own, and a remark."""
    socket, sight = await company.socket(name), Sight()
    ready = (await frames_until(socket, "replay.done"))[0]["d"]
    session, images = ready["session_id"], set()
    turns: dict[str, tuple[int, ...]] = {}
    files = [await attach(company, name, session)] if name == "bert" else []
    for question in QUESTIONS:
        await send(socket, "turn.start", {"text": question, "attachments": files if question == LAMPS else []})
        frames = await frames_until(socket, "turn.done", "error")
        assert frames[-1]["type"] == "turn.done", frames[-1]
        sight.add_frames(frames)
        cited = [item for frame in frames if frame["type"] == "citations" for item in frame["d"]["items"]]
        turns[frames[-1]["turn"]] = tuple(sorted({item["n"] for item in cited}))
        images |= {item["source"]["image"] for item in cited if item["source"].get("image")}
    await send(socket, "feedback.add", {"turn": next(iter(turns)), "rating": "down", "correction": f"says {name}"})
    await frames_until(socket, "ack", "error")
    await socket.close()
    return Place(name, session, ready["epoch"], turns, tuple(sorted(images)), tuple(files)), sight.met


def test_what_they_met_at_first(scene: Scene) -> None:
    assert scene.before == BEFORE
    assert scene.places["hanna"].images, "a picture was cited"


@pytest.mark.parametrize("name", AFTER)
async def test_each_meets_what_is_theirs_and_nothing_else(scene: Scene, name: str | None) -> None:
    sight = await ordinary(scene.here, name, list(scene.places.values()))
    assert sight.met == AFTER[name]
    for place in scene.places.values():
        statuses = {sight.statuses[path] for path in paths_of(place)}
        assert place.owner == name or statuses == ({404} if name else {401})
        assert sight.statuses[f"socket {place.session}"] == (200 if place.owner == name else 4504 if name else 4501)
    refused = {"socket": 4501, "model": 401, "sse": 401, "/api/sessions": 401, "/v1/models": 401}
    assert name or refused.items() <= sight.statuses.items()


async def test_another_tenant_meets_nothing(scene: Scene) -> None:
    assert (await ordinary(scene.elsewhere, "hanna", list(scene.places.values()))).met == set()
    _, opened = await audit(scene.elsewhere, "hanna")
    assert opened.met == set()
    assert (await meddling(scene.elsewhere, "hanna", scene.places["hanna"])).met == set()
    async with scene.elsewhere.http("hanna") as http:
        token = {"Authorization": f"Bearer {scene.here.tokens['hanna']}"}
        assert (await http.get("/api/sessions", headers=token)).status_code == 401, "a token of the other tenant"
        service = {"Authorization": f"Bearer {scene.here.tokens['service']}"}
        assert (await http.get("/api/sessions", headers=service)).status_code == 401


@pytest.mark.parametrize("name", ["hanna", "otto", "audra", "exa", "ada", "service of hr", None])
async def test_the_audit_is_for_auditors_and_exporters(scene: Scene, name: str | None) -> None:
    lists, opened = await audit(scene.here, name)
    refusal = 404 if name else 401
    assert lists.met == set(), "a list says nothing of what was said or quoted"
    assert set(lists.statuses.values()) == ({200} if name == "audra" else {refusal})
    assert opened.statuses.pop("/api/audit/export") == (200 if name == "exa" else refusal)
    assert set(opened.statuses.values()) == ({200} if name == "audra" else {refusal})
    assert opened.met == (SAID if name in ("audra", "exa") else set())
    assert set((await audit_changes(scene.here, name)).statuses.values()) == {refusal}, "no record, or no role for it"


@pytest.mark.parametrize("name", ["hanna", "audra", "exa", "ada", "service of hr", None])
async def test_the_administration_is_for_administrators(scene: Scene, name: str | None) -> None:
    (file,) = scene.places["bert"].files
    sight = await administration(scene.here, name, [*scene.documents.values(), file])
    statuses = {path: status for path, status in sight.statuses.items() if file not in path}
    gone = {path: status for path, status in statuses.items() if scene.documents["bicycles.md"] in path}
    assert {sight.statuses[path] for path in sight.statuses if file in path} == {404 if name else 401}
    if name == "ada":
        assert sight.met == {"open", "staff", "picture", "narrowed"}, "not the files of sessions"
        assert {status for path, status in statuses.items() if path not in gone} == {200}
    else:
        assert sight.met == set()
        assert set(statuses.values()) == {404 if name else 401}


@pytest.mark.parametrize("name", ["otto", "ada", "audra", "service of hr", None])
async def test_nobody_meddles_with_the_session_of_another(scene: Scene, name: str | None) -> None:
    place = scene.places["hanna" if name else "bert"]
    real = await meddling(scene.here, name, place)
    invented = await meddling(scene.here, name, Place("nobody", str(ULID()), "", {str(ULID()): ()}, files=place.files))
    assert set(real.statuses.values()) == {404 if name else 401}
    assert real.parts == invented.parts, "a refusal tells nobody whether there is such a session"
    async with scene.here.http(place.owner) as http:
        assert (await http.get(f"/api/sessions/{place.session}")).status_code == 200


async def test_what_was_withdrawn_is_withheld_on_every_path(scene: Scene) -> None:
    for name, hidden in (("rita", (LAMPS, DOOR, BOATS)), ("hanna", (DOOR,)), ("bert", (DOOR,))):
        place = scene.places[name]
        async with scene.here.http(name) as http:
            snapshot = (await http.get(f"/api/sessions/{place.session}")).json()["turns"]
            withheld = {turn["message"]["question"] for turn in snapshot if turn["message"]["withheld"]}
            assert withheld == set(hidden)
            for words in CANARIES["staff"] + CANARIES["narrowed"]:
                found = (await http.get("/api/sessions", params={"query": words})).json()["sessions"]
                may = name == "hanna" and words in CANARIES["staff"]
                assert may or found == [], "a search tells whether a withheld answer holds a word"
            for image in place.images:
                got = await http.get(f"/api/sessions/{place.session}/turns/{list(place.turns)[3]}/images/{image}")
                assert got.status_code == (200 if name == "hanna" else 404)


async def test_a_deleted_document_is_quoted_in_old_answers_and_found_in_no_new_one(scene: Scene) -> None:
    async with scene.here.http("bert") as http:
        place = scene.places["bert"]
        turn, numbers = list(place.turns.items())[2]
        at = f"/api/sessions/{place.session}/turns/{turn}/citations/{numbers[0]}/source"
        assert (await http.get(at)).json()["state"] == "deleted"
        key = {"Idempotency-Key": str(ULID())}
        asked = await http.post(f"/api/sessions/{place.session}/turns", json={"text": BICYCLES}, headers=key)
        assert "gone" not in met(asked.text)
        assert asked.json()["message"]["finish"] == "no_answer"


async def test_the_log_says_nothing_of_documents_questions_and_tokens(scene: Scene) -> None:
    """Last: everything above was logged, at level debug, by both servers."""
    log = scene.here.server.log()
    assert "refused" in log or "serving" in log
    assert met(log) == set()
    assert not [text for text in (*QUESTIONS, "says hanna") if text in log]
    assert "Traceback" not in log
    for company in (scene.here, scene.elsewhere):
        for token in (*company.tokens.values(), *company.portal_tokens):
            assert not [part for part in token.split(".") if len(part) > 20 and part in log]


def test_the_table_is_of_all_people() -> None:
    assert {name for name in AFTER if name} == {*PEOPLE, "service", "service of hr"}
