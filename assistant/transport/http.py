"""REST twins of the protocol: sessions, snapshots, turns, cited passages, configuration, health."""

from __future__ import annotations

from typing import Annotated, Any, Final

import structlog
from fastapi import APIRouter, Depends, Header, Path, Query, Request, WebSocket
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from assistant.codec import adapter, encode
from assistant.core.access import Caller
from assistant.core.calls import ModelCall
from assistant.core.citations import Citation
from assistant.core.turn import TurnMessage, fold, without_sources
from assistant.errors import AssistantError, BadInput, NotAuthenticated, NotFound
from assistant.interfaces import Identity, NumberedEvent
from assistant.telemetry.figures import ERRORS, bounded
from assistant.transport.asking import read_question
from assistant.transport.doors import Doors
from assistant.transport.errors import http_status, retry_after
from assistant.transport.protocol import MAX_QUESTION_CHARS, Identifier, Scope, event_fields
from assistant.transport.websocket import serve_socket

log = structlog.get_logger(__name__)

SessionId = Annotated[str, Path(min_length=1, max_length=64)]
TurnId = Annotated[str, Path(min_length=1, max_length=64)]
Json = dict[str, Any]
_BEFORE_COMING_IN: Final = ("title", "languages", "portals", "sign_in")
_CALLS: Final = adapter(list[ModelCall])
_PLAIN: Final = (
    "question",
    "text",
    "status",
    "stage",
    "finish",
    "sha256",
    "model",
    "prompt",
    "error",
    "retry_after_ms",
    "audit_id",
    "record_hash",
    "from_cache",
)


class NewTurn(BaseModel):
    """A question over REST; the idempotency key is a header."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(min_length=1, max_length=MAX_QUESTION_CHARS)
    mode: str = Field("auto", max_length=64)
    scope: Scope | None = None
    json_schema: dict[str, Any] | None = Field(None, alias="schema", description="JSON schema of a structured answer")
    attachments: list[Identifier] = Field(default_factory=list, max_length=10)
    wait: bool = Field(True, description="Answer when the turn has ended, with its message; else at once")


router = APIRouter()


def _doors(request: Request) -> Doors:
    doors: Doors = request.app.state.doors
    return doors


DoorsHere = Annotated[Doors, Depends(_doors)]


async def _identity(doors: DoorsHere, authorization: Annotated[str | None, Header()] = None) -> Identity:
    return await doors.authenticator.authenticate(bearer(authorization))


def bearer(authorization: str | None) -> str | None:
    """The token of an Authorization header; None where it holds none."""
    scheme, _, token = (authorization or "").partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


WhoWith = Annotated[Identity, Depends(_identity)]


async def _caller(identity: WhoWith) -> Caller:
    return identity.caller


Who = Annotated[Caller, Depends(_caller)]


def with_role(who: Caller, role: str) -> Caller:
    """The caller, who has this role. Raises NotFound: for others there is nothing here."""
    if role not in who.roles:
        raise NotFound("there is nothing here for this role")
    return who


@router.websocket("/v1/ws")
async def socket(websocket: WebSocket) -> None:
    """The streaming protocol."""
    await serve_socket(websocket, websocket.app.state.doors)


@router.get("/healthz")
async def healthz() -> Json:
    """The process lives."""
    return {"status": "ok"}


@router.get("/readyz")
async def readyz(request: Request) -> Response:
    """The server can answer: database, migrations, model and index are usable."""
    if request.app.state.doors.presence.draining:
        return JSONResponse({"status": "draining"}, 503)
    try:
        return JSONResponse({"status": "ready", **await request.app.state.ready()})
    except Exception as error:
        log.warning("not ready", error=type(error).__name__)
        return JSONResponse({"status": "not_ready", "code": getattr(error, "code", "internal")}, 503)


@router.get("/api/config")
async def config(doors: DoorsHere, authorization: Annotated[str | None, Header()] = None) -> Json:
    """What the page shows before the first question, and what the caller may do; to nobody only how to come in."""
    token = bearer(authorization)
    try:
        who = (await doors.authenticator.authenticate(token)).caller
    except NotAuthenticated:
        if token is not None:
            raise
        return {name: doors.page[name] for name in _BEFORE_COMING_IN}
    return {**doors.page, "roles": sorted(who.roles)}


@router.post("/api/sessions", status_code=201)
async def open_session(doors: DoorsHere, who: Who) -> Json:
    """Open a new session."""
    opened = await doors.store.open(who, None)
    return {"session_id": opened.id, "epoch": opened.epoch, "as_of_seq": opened.head_seq}


@router.get("/api/sessions/{session}")
async def snapshot(doors: DoorsHere, who: Who, session: SessionId) -> Json:
    """The whole session as of a sequence number."""
    opened = await doors.store.open(who, session)
    events = await doors.events.read(session)
    withheld = await doors.rights.withheld(who, session)
    return {
        "session_id": session,
        "epoch": opened.epoch,
        "as_of_seq": events[-1].seq if events else 0,
        "turns": [
            {"turn": turn, "message": encode_message(message, withheld=turn in withheld)}
            for turn, message in _by_turn(events)
        ],
    }


@router.get("/api/sessions/{session}/events")
async def events(
    doors: DoorsHere, who: Who, session: SessionId, after_seq: Annotated[int, Query(ge=0, le=2**53)] = 0
) -> Json:
    """Numbered events after a number, at most 1000 at a time."""
    await doors.store.open(who, session)
    found = await doors.events.read(session, after=after_seq, limit=1000)
    withheld = await doors.rights.withheld(who, session)
    return {"events": [event_fields(item, withheld) for item in found]}


@router.post("/api/sessions/{session}/turns")
async def new_turn(
    doors: DoorsHere,
    identity: WhoWith,
    session: SessionId,
    body: NewTurn,
    idempotency_key: Annotated[str, Header(min_length=1, max_length=64)],
) -> Json:
    """Ask a question; the same key again gives the same turn."""
    asked = await read_question(doors, identity.caller, session, client_id=idempotency_key, data=body)
    begun = await doors.live.start(identity.caller, session, asked)
    if not body.wait:
        return {"turn": begun.turn, "duplicate": begun.duplicate}
    message = await doors.live.finished(session, begun.turn)
    now = await doors.authenticator.recheck(identity)  # who was sent away meanwhile, or lost a group, is not told
    withheld = begun.turn in await doors.rights.withheld(now.caller, session)
    return {"turn": begun.turn, "duplicate": begun.duplicate, "message": encode_message(message, withheld=withheld)}


@router.post("/api/sessions/{session}/turns/{turn}/cancel")
async def cancel(doors: DoorsHere, who: Who, session: SessionId, turn: TurnId) -> Json:
    """Stop a running turn."""
    await doors.store.open(who, session)
    return {"turn": turn, "cancelled": await doors.live.cancel(who, session, turn)}


@router.get("/api/sessions/{session}/turns/{turn}/citations/{n}")
async def citation(
    doors: DoorsHere,
    who: Who,
    session: SessionId,
    turn: TurnId,
    n: Annotated[int, Path(ge=1, le=1_000_000)],
    start: Annotated[int | None, Query(ge=0)] = None,
) -> Json:
    """The cited passage as it was, and what has become of its source; `start` picks one of several places."""
    passage, state = await doors.store.cited_passage(who, session, turn, n)
    cited = _cited(await _turn_message(doors, session, turn), n, start)
    lead, tail = cited.source.start - passage.span.start, cited.source.end - passage.span.start
    return {
        "title": passage.source.title,
        "uri": passage.source.uri,
        "section": passage.section,
        "page": passage.page,
        "version": passage.source.number,
        "date": passage.source.date.isoformat() if passage.source.date else None,
        "authority": passage.source.authority.value,
        "before": passage.text[: max(0, lead)],
        "exact": cited.source.exact,
        "after": passage.text[max(0, tail) :],
        "state": state,
    }


@router.get("/api/sessions/{session}/turns/{turn}/images/{image}")
async def image(
    doors: DoorsHere,
    who: Who,
    session: SessionId,
    turn: TurnId,
    image: Annotated[str, Path(pattern="^[0-9a-f]{64}$")],
) -> Response:
    """The bytes of an image among the evidence of a turn; NotFound when its document may no longer be read."""
    await doors.store.open(who, session)
    message = await _turn_message(doors, session, turn)
    items = message.citations.items if message.citations else ()
    cited = next((item.source for item in items if item.source.image == image), None)
    found = await doors.images.images(who, cited.document, cited.version, [image]) if cited else {}
    if image not in found:
        raise NotFound("no such image")
    headers = {"Cache-Control": "private, max-age=3600", "Content-Disposition": "inline"}
    return Response(found[image].content, media_type=found[image].media_type, headers=headers)


@router.get("/api/sessions/{session}/turns/{turn}/calls")
async def calls(doors: DoorsHere, who: Who, session: SessionId, turn: TurnId) -> Json:
    """How the answer was made: every call of a model with its prompt, its text and its cost."""
    return {"calls": _CALLS.dump_python(await doors.store.calls_of(who, session, turn), mode="json")}


async def _turn_message(doors: Doors, session: str, turn: str) -> TurnMessage:
    found = [item.event for item in await doors.events.read(session, turn=turn)]
    if not found:
        raise NotFound("no such turn")
    return fold(found)


def _by_turn(events: list[NumberedEvent]) -> list[tuple[str, TurnMessage]]:
    turns: dict[str, list[NumberedEvent]] = {}
    for item in events:
        turns.setdefault(item.turn, []).append(item)
    return [(turn, fold(item.event for item in items)) for turn, items in turns.items()]


def _cited(message: TurnMessage, n: int, start: int | None) -> Citation:
    items = [item for item in message.citations.items if item.n == n] if message.citations else []
    chosen = [item for item in items if item.source.start == start] or items
    if not chosen:
        raise NotFound("no such citation")
    return chosen[0]


def encode_message(message: TurnMessage, *, withheld: bool = False) -> Json:
    """The fold of a turn as JSON; its parts are the `d` of their events. A withheld one says only what was asked and its end."""
    if withheld:
        message = without_sources(message)
    parts = {name: getattr(message, name) for name in ("plan", "citations", "conflicts", "usage")}
    return {
        **{name: getattr(message, name) for name in _PLAIN},
        **{name: encode(part) if part is not None else None for name, part in parts.items()},
        "attachments": list(message.attachments),
        "steps": [encode(step) for step in message.steps],
        "changes": [encode(change) for change in message.changes],
        "withheld": withheld,
    }


async def refuse_request(request: Request, error: Exception) -> Response:
    """Turn a request of the wrong form into a typed refusal that names the field and repeats nothing of the input."""
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for this type only
    where = ".".join(str(part) for part in error.errors()[0]["loc"])
    return await refuse(request, BadInput("the request has not the promised form", reason=where))


async def refuse(request: Request, error: Exception) -> Response:
    """Turn a typed error into a response with its code; no text of documents or stack in it."""
    assert isinstance(error, AssistantError)  # noqa: S101 - registered for this type only
    ERRORS.labels("http", bounded("code", error.code)).inc()
    headers = retry_after(error.retry_after_ms)
    if isinstance(error, NotAuthenticated):
        headers["WWW-Authenticate"] = 'Bearer error="invalid_token"'  # RFC 6750
    body = {"error": {"code": error.code, "retryable": error.retryable, **error.data}}
    return JSONResponse(body, http_status(error), headers)
