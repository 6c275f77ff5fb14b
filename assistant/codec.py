"""Turn events as JSON and back: the same for the store, the wire and the transcripts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Final, get_args, get_type_hints

from pydantic import TypeAdapter, ValidationError

from assistant.core.events import AnswerDelta, TurnEvent
from assistant.errors import BadInput


def adapter(kind: Any) -> TypeAdapter[Any]:
    """A pydantic adapter for a dataclass of the core.

    A slotted class with a field named `date` of type `date` hides the type behind the slot, and pydantic looks into the
    class first; so the annotations are evaluated here, where the module comes first.
    """
    _evaluate_annotations(kind)
    return TypeAdapter(kind)


def _evaluate_annotations(kind: Any) -> None:
    for part in get_args(kind):
        _evaluate_annotations(part)
    if not is_dataclass(kind) or not any(isinstance(field.type, str) for field in fields(kind)):
        return
    hints = get_type_hints(kind)
    for field in fields(kind):
        field.type = hints[field.name]
        _evaluate_annotations(field.type)


_CLASSES: Final[tuple[type[TurnEvent], ...]] = get_args(TurnEvent)
_ADAPTERS: Final[dict[str, TypeAdapter[Any]]] = {kind.type: adapter(kind) for kind in _CLASSES}

EVENT_TYPES: Final = frozenset(_ADAPTERS)
"""The types of the events this version knows."""


_LARGEST: Final = 2**53 - 1  # what every JSON reader keeps exactly


def encode(event: TurnEvent) -> dict[str, Any]:
    """The fields of an event as plain JSON values: the `d` of its frame and of its row.

    Raises BadInput for what JSON or a database cannot hold: NaN, infinity, integers beyond 2**53, U+0000, lone
    surrogates.
    """
    if isinstance(event, AnswerDelta):  # nearly all events are deltas
        return {"off": event.off, "text": storable(event.text)}
    values: dict[str, Any] = _ADAPTERS[event.type].dump_python(event, mode="json")
    _check(values)
    return values


def decode(type_: str, d: Mapping[str, Any]) -> TurnEvent:
    """The event of a type with these fields; unknown fields are ignored (protocol rule 7).

    Raises BadInput with `reason` "unknown_event" for a type this version does not know and "malformed_event" for
    fields that do not fit the type.
    """
    form = _ADAPTERS.get(type_)
    if form is None:
        raise BadInput("unknown event type", reason="unknown_event", type=type_[:40])
    try:
        event: TurnEvent = form.validate_python(dict(d))
    except (ValidationError, TypeError, ValueError) as error:
        raise BadInput("an event does not have the form of its type", reason="malformed_event", type=type_) from error
    return event


def storable(text: str) -> str:
    """The text itself; BadInput when no database and no UTF-8 frame can hold it (U+0000, lone surrogates)."""
    if "\x00" in text:
        raise BadInput("the text holds U+0000", reason="nul")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise BadInput("the text holds a lone surrogate", reason="surrogate") from error
    return text


def _check(value: object) -> None:
    match value:
        case str():
            storable(value)
        case float() if not math.isfinite(value):
            raise BadInput("a number is not finite", reason="number")
        case int() if abs(value) > _LARGEST:
            raise BadInput("a number is too large", reason="number")
        case dict():
            for part in value.values():
                _check(part)
        case list():
            for part in value:
                _check(part)
