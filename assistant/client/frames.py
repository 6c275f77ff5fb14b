"""Frames of the server, read. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final, get_args

import orjson
from pydantic import BaseModel, ValidationError

from assistant.codec import EVENT_TYPES
from assistant.codec import decode as decode_event
from assistant.core.events import TurnEvent
from assistant.errors import BadInput
from assistant.transport.protocol import VERSION, WITHHELD, Control


@dataclass(frozen=True, slots=True)
class Withheld:
    """In place of an event of a turn that rests on documents the reader may no longer read."""

    type: ClassVar[str] = WITHHELD


@dataclass(frozen=True, slots=True)
class Told:
    """A numbered event of a turn; None for one of a type that this version does not know."""

    seq: int
    turn: str
    event: TurnEvent | Withheld | None


_CONTROLS: Final[dict[str, type[BaseModel]]] = {kind.model_fields["type"].default: kind for kind in get_args(Control)}


def read(data: str | bytes) -> Told | Control | None:
    """A frame of the server; None for a control frame of a type that this version does not know.

    Raises BadInput for what is no frame of this version, or has not the form of its type.
    """
    try:
        frame = orjson.loads(data)
    except orjson.JSONDecodeError:
        raise BadInput("a frame is not JSON", reason="not_json") from None
    if not isinstance(frame, dict) or frame.get("v") != VERSION or not isinstance(frame.get("d"), dict):
        raise BadInput("this is no frame", reason="frame")
    return _control(frame) if frame.get("seq") is None else _told(frame)


def _control(frame: dict[str, Any]) -> Control | None:
    kind = _CONTROLS.get(frame.get("type", ""))
    if kind is None:
        return None
    try:
        control: Control = kind.model_validate(frame["d"])  # type: ignore[assignment]
    except ValidationError:
        raise BadInput("a frame has not the form of its type", reason="frame", type=kind.__name__) from None
    return control


def _told(frame: dict[str, Any]) -> Told:
    seq, turn, type_ = frame["seq"], frame.get("turn"), frame.get("type")
    if type(seq) is not int or not isinstance(turn, str) or not isinstance(type_, str):
        raise BadInput("this is no frame", reason="frame")
    if type_ == WITHHELD:
        return Told(seq, turn, Withheld())
    return Told(seq, turn, decode_event(type_, frame["d"]) if type_ in EVENT_TYPES else None)
