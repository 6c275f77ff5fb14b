"""The wire protocol `assistant.v1` as pure functions: decode client frames, encode server frames.

No input or output here; docs/protocol.md describes the exchange.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Annotated, Any, Final, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from assistant.codec import encode
from assistant.core.events import TurnAccepted, TurnFinished, UsageReported
from assistant.errors import AssistantError, BadInput
from assistant.interfaces import NumberedEvent

VERSION: Final = 1
SUBPROTOCOL: Final = "assistant.v1"
MAX_FRAME_BYTES: Final = 64 * 1024
"""Enough for a question of MAX_QUESTION_CHARS in any script, escaped or not."""
MAX_QUESTION_CHARS: Final = 8_000

WITHHELD: Final = "turn.withheld"
"""In place of an event of a turn whose sources the reader may no longer read."""
_WITHOUT_SOURCES: Final = (TurnAccepted, UsageReported, TurnFinished)

Ulid = Annotated[str, Field(pattern=r"^[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}$")]
Identifier = Annotated[str, Field(min_length=1, max_length=64)]


class _Wire(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class Resume(_Wire):
    """Where the client stands: the epoch it knows and the last number it applied."""

    epoch: str = Field(max_length=64)
    seq: int = Field(ge=0, le=2**53)


class ClientInfo(_Wire):
    """What the client calls itself."""

    name: str = Field("", max_length=100)
    version: str = Field("", max_length=100)


class OpenData(_Wire):
    """Identity, session and place to resume from; must be the first frame."""

    token: str | None = Field(None, max_length=8192)
    session_id: Identifier | None = None
    resume: Resume | None = None
    client: ClientInfo = ClientInfo()
    locale: str = Field("en", max_length=35)


class Scope(_Wire):
    """Which collections may be searched; empty means all."""

    collections: list[Annotated[str, Field(min_length=1, max_length=200)]] = Field(default_factory=list, max_length=100)


class StartData(_Wire):
    """A question; `mode` is auto or the name of a mode, `schema` the JSON schema of a structured answer."""

    text: str = Field(min_length=1, max_length=MAX_QUESTION_CHARS)
    mode: str = Field("auto", max_length=64)
    scope: Scope | None = None
    json_schema: dict[str, Any] | None = Field(None, alias="schema")
    attachments: list[Identifier] = Field(default_factory=list, max_length=10)


class CancelData(_Wire):
    """The turn to stop."""

    turn: Identifier


class FeedbackData(_Wire):
    """What a person says of an answer."""

    turn: Identifier
    rating: Literal["up", "down"]
    reason: str | None = Field(None, max_length=1000)
    correction: str | None = Field(None, max_length=4000)
    citation: int | None = Field(None, ge=1, le=1_000_000)


class PingData(_Wire):
    """The last number that the client applied."""

    seq: int = Field(0, ge=0, le=2**53)


class RefreshData(_Wire):
    """A newer token of the same person."""

    token: str = Field(min_length=1, max_length=8192)


class SessionOpen(_Wire):
    """Opens the socket's session."""

    type: Literal["session.open"]
    id: Ulid
    d: OpenData


class TurnStart(_Wire):
    """Asks a question; `id` is the idempotency key."""

    type: Literal["turn.start"]
    id: Ulid
    d: StartData


class TurnCancel(_Wire):
    """Stops a running turn."""

    type: Literal["turn.cancel"]
    id: Ulid
    d: CancelData


class AuthRefresh(_Wire):
    """Goes on with a newer token; of another person it closes the socket."""

    type: Literal["auth.refresh"]
    id: Ulid
    d: RefreshData


class FeedbackAdd(_Wire):
    """Rates an answer; acknowledged when it is stored."""

    type: Literal["feedback.add"]
    id: Ulid
    d: FeedbackData


class Ping(_Wire):
    """Keeps the socket alive."""

    type: Literal["ping"]
    id: Ulid
    d: PingData = PingData()


ClientFrame = SessionOpen | TurnStart | TurnCancel | AuthRefresh | FeedbackAdd | Ping
_CLIENT: Final[TypeAdapter[ClientFrame]] = TypeAdapter(Annotated[ClientFrame, Field(discriminator="type")])
CLIENT_TYPES: Final = frozenset({"session.open", "turn.start", "turn.cancel", "auth.refresh", "feedback.add", "ping"})


class Limits(_Wire):
    """What the server accepts on this socket."""

    frame_bytes: int = MAX_FRAME_BYTES
    question_chars: int = MAX_QUESTION_CHARS
    running_turns: int
    starts_per_minute: int


class SessionReady(_Wire):
    """The session is open; events after the client's number follow when `recovered`, else a snapshot must be loaded."""

    type: Literal["session.ready"] = "session.ready"
    session_id: str
    epoch: str
    head_seq: int
    recovered: bool
    replay_count: int
    heartbeat_ms: int
    auth_expires_at: datetime | None = None
    limits: Limits


class ReplayDone(_Wire):
    """All missed events were sent; what follows is live."""

    type: Literal["replay.done"] = "replay.done"
    head_seq: int


class Ack(_Wire):
    """A command was taken: `id` is the client frame's."""

    type: Literal["ack"] = "ack"
    id: str
    duplicate: bool = False
    turn: str | None = None


class Pong(_Wire):
    """Answer to a ping."""

    type: Literal["pong"] = "pong"
    head_seq: int


class ErrorShown(_Wire):
    """A command was refused, or the server failed; `message_key` is for translation, `incident` for the operator."""

    type: Literal["error"] = "error"
    code: str
    message_key: str
    retryable: bool
    retry_after_ms: int | None = None
    ref_id: str | None = None
    incident: str


def error_shown(error: AssistantError, incident: str, ref: str | None = None) -> ErrorShown:
    """What is told of an error; `ref` is the id of the command that met it."""
    return ErrorShown(
        code=error.code,
        message_key=f"error.{error.code}",
        retryable=error.retryable,
        retry_after_ms=error.retry_after_ms,
        ref_id=ref,
        incident=incident,
    )


class AuthExpiring(_Wire):
    """The token ends soon: send auth.refresh before, else the socket closes with 4003."""

    type: Literal["auth.expiring"] = "auth.expiring"
    expires_at: datetime


class ServerDraining(_Wire):
    """This server stops: the socket closes with 4002; come back after the given time."""

    type: Literal["server.draining"] = "server.draining"
    reconnect_after_ms: int


Control = SessionReady | ReplayDone | Ack | Pong | AuthExpiring | ServerDraining | ErrorShown


def decode(data: str | bytes) -> ClientFrame | None:
    """Read a client frame; None for a type that this version does not know.

    Raises BadInput with `reason` not_json, too_large, version or the name of the field that is wrong; the text of the
    frame is never part of the error.
    """
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    if len(raw) > MAX_FRAME_BYTES:
        raise BadInput("frame too large", reason="too_large", limit=MAX_FRAME_BYTES)
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        raise BadInput("frame is not JSON", reason="not_json") from None
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        raise BadInput("frame has no type", reason="type")
    if value.get("v", VERSION) != VERSION:
        raise BadInput("unknown protocol version", reason="version")
    if value["type"] not in CLIENT_TYPES:
        return None
    try:
        return _CLIENT.validate_python(value)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"][1:])
        raise BadInput("frame field is wrong", reason=where or "frame", ref_id=_reference(value)) from None


def _reference(value: dict[str, Any]) -> str | None:
    return value["id"] if isinstance(value.get("id"), str) and len(value["id"]) <= 64 else None


def encode_numbered(session: str, numbered: NumberedEvent, withheld: Collection[str] = ()) -> bytes:
    """A durable event as a frame. Of the turns in `withheld` it says nothing but what their sources have no part in."""
    return orjson.dumps({"v": VERSION, "sid": session, **event_fields(numbered, withheld)})


def event_fields(numbered: NumberedEvent, withheld: Collection[str] = ()) -> dict[str, Any]:
    """Type, number, turn, time and data of a durable event; WITHHELD without data where the turn is withheld."""
    hidden = numbered.turn in withheld and not isinstance(numbered.event, _WITHOUT_SOURCES)
    return {
        "type": WITHHELD if hidden else numbered.event.type,
        "seq": numbered.seq,
        "turn": numbered.turn,
        "ts": _timestamp(numbered.at),
        "d": {} if hidden else encode(numbered.event),
    }


def encode_control(session: str, control: Control, at: datetime) -> bytes:
    """A control message as a frame, without a number."""
    payload = control.model_dump(mode="json", exclude={"type"}, exclude_none=True)
    return orjson.dumps({"v": VERSION, "type": control.type, "sid": session, "ts": _timestamp(at), "d": payload})


def encode_client(frame: ClientFrame) -> bytes:
    """A client frame as bytes; decode gives the same frame back."""
    return orjson.dumps({"v": VERSION, **frame.model_dump(mode="json", by_alias=True)})


def _timestamp(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
