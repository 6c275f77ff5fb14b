"""The AsyncAPI document of the streams: the websocket, and the same frames as server-sent events."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from assistant import __version__
from assistant.transport.contracts.schemas import (
    COMMANDS,
    CONTROLS,
    EVENTS,
    Json,
    client_frames,
    definitions,
    server_frames,
    type_of,
)
from assistant.transport.errors import Close
from assistant.transport.protocol import SUBPROTOCOL, WITHHELD

_ABOUT: Final = """The streams of the assistant. docs/protocol.md says in which order frames come and what a client does with them.
Unknown types and fields are ignored. Offsets are Unicode code points of the exact text of the answer."""
_CLOSES: Final = "Close codes: 40xx come back, 45xx do not. " + ", ".join(
    f"{code.value} {code.name.lower().replace('_', ' ')}" for code in Close
)


def asyncapi() -> Json:
    """The document of this version."""
    sent, taken = server_frames(), client_frames()
    return {
        "asyncapi": "3.0.0",
        "info": {"title": "Assistant", "version": __version__, "description": _ABOUT},
        "defaultContentType": "application/json",
        "channels": _channels(sent, taken),
        "operations": {
            "command": _operation("receive", "socket", taken, "What a client asks for."),
            "tell": _operation("send", "socket", sent, "What a client is told."),
            "listen": _operation("send", "stream", _listened(sent), "The events of a session, as they come."),
            "answer": _operation("send", "turn", _numbered(sent), "The events of one turn."),
        },
        "components": {"messages": _messages({**taken, **sent}), "schemas": definitions()},
    }


def _channels(sent: Json, taken: Json) -> Json:
    session = {"session": {"description": "The id of a session of the caller."}}
    return {
        "socket": {
            "address": "/v1/ws",
            "title": "Websocket",
            "description": f"Subprotocol `{SUBPROTOCOL}`. {_CLOSES}.",
            "messages": _in_components([*taken, *sent]),
            "bindings": {"ws": {"method": "GET", "bindingVersion": "0.1.0"}},
        },
        "stream": {
            "address": "/api/sessions/{session}/stream",
            "title": "Server-sent events of a session",
            "description": "GET; Last-Event-ID (epoch:seq, as `id:` gave it) or after_seq says where to go on.",
            "parameters": session,
            "messages": _in_components(_listened(sent)),
        },
        "turn": {
            "address": "/api/sessions/{session}/turns/stream",
            "title": "Server-sent events of a turn",
            "description": "POST with the question (docs/openapi.json) and an Idempotency-Key; ends with turn.done.",
            "parameters": session,
            "messages": _in_components(_numbered(sent)),
        },
    }


def _numbered(sent: Json) -> list[str]:
    return [name for name, frame in sent.items() if "seq" in frame["properties"]]


def _listened(sent: Json) -> list[str]:
    return ["session.ready", "replay.done", "server.draining", *_numbered(sent)]


def _operation(action: str, channel: str, names: Iterable[str], summary: str) -> Json:
    return {
        "action": action,
        "channel": {"$ref": f"#/channels/{channel}"},
        "summary": summary,
        "messages": [{"$ref": f"#/channels/{channel}/messages/{message_id(name)}"} for name in names],
    }


def _in_components(names: Iterable[str]) -> Json:
    return {message_id(name): {"$ref": f"#/components/messages/{message_id(name)}"} for name in names}


def _messages(frames: Json) -> Json:
    about = _summaries()
    return {
        message_id(name): {"name": name, "title": name, "summary": about[name], "payload": payload}
        for name, payload in frames.items()
    }


def message_id(type_: str) -> str:
    """The key of a message: AsyncAPI allows no dots there."""
    return re.sub(r"\W", "_", type_)


def _summaries() -> dict[str, str]:
    """The first sentence of what each kind of frame says of itself."""
    kinds: list[tuple[str, Any]] = [(type_of(kind), kind) for kind in (*COMMANDS, *CONTROLS)]
    kinds += [(kind.type, kind) for kind in EVENTS]
    told = {name: (kind.__doc__ or "").split("\n")[0] for name, kind in kinds}
    return {**told, WITHHELD: "In place of an event of a turn whose sources the reader may no longer read."}
