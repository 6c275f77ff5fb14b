"""JSON schemas of what goes over the wire, made from the models and dataclasses that write and read it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final, Literal, get_args

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import core_schema

from assistant.codec import adapter
from assistant.core.conflicts import ConflictKind, Resolution
from assistant.core.events import TurnEvent
from assistant.transport.protocol import VERSION, WITHHELD, ClientFrame, Control

Json = dict[str, Any]
Mode = Literal["validation", "serialization"]

REF: Final = "#/components/schemas/"
EVENTS: Final[tuple[Any, ...]] = get_args(TurnEvent)
CONTROLS: Final[tuple[type[BaseModel], ...]] = get_args(Control)
COMMANDS: Final[tuple[type[BaseModel], ...]] = get_args(ClientFrame)

VALUES: Final[Mapping[tuple[str, str], tuple[str, ...]]] = {
    ("AnswerFinished", "finish"): ("stop", "length", "cancelled", "no_answer", "error"),
    ("TurnFinished", "status"): ("completed", "cancelled", "failed"),
    ("SourceChanged", "change"): ("updated", "deleted", "access_revoked"),
    ("ConflictShown", "kind"): tuple(ConflictKind),
    ("ConflictShown", "resolution"): tuple(Resolution),
    ("ConflictShown", "followed"): ("preferred", "both", "other", "silent"),
}
"""The values of fields that the events hold as plain text."""


class _Sent(GenerateJsonSchema):
    """Schemas without made-up titles, in which everything that is always sent is required."""

    def field_is_required(
        self,
        field: core_schema.ModelField | core_schema.DataclassField | core_schema.TypedDictField,
        total: bool,
    ) -> bool:
        """What is read may be left out where it has a default; what is sent only where null stands for absent."""
        if self.mode == "validation":
            return super().field_is_required(field, total)
        inner: Any = field["schema"]
        return field["type"] != "model-field" or inner["type"] != "default" or inner.get("default") is not None

    def field_title_should_be_set(self, schema: Any) -> bool:
        """The name of a field says as much."""
        return False


def definitions(shapes: Collection[type[BaseModel]] = ()) -> dict[str, Json]:
    """The schemas of all events, control frames and commands, and of these shapes of responses, by name."""
    inputs: list[tuple[str, Mode, TypeAdapter[Any]]] = [
        *((kind.__name__, "serialization", adapter(kind)) for kind in EVENTS),
        *((kind.__name__, "serialization", TypeAdapter(kind)) for kind in (*CONTROLS, *shapes)),
        *((kind.__name__, "validation", TypeAdapter(kind)) for kind in COMMANDS),
    ]
    _, made = TypeAdapter.json_schemas(inputs, ref_template=REF + "{model}", schema_generator=_Sent)
    found: dict[str, Json] = {name: untitled(schema) for name, schema in made["$defs"].items()}
    for (name, field), values in VALUES.items():
        found[name]["properties"][field] = {"type": "string", "enum": [str(value) for value in values]}
    for kind in (*CONTROLS, *shapes):
        found[kind.__name__] = _said(found[kind.__name__], without_type=kind in CONTROLS)
    return dict(sorted(found.items()))


def _said(schema: Json, *, without_type: bool) -> Json:
    """What is not always said is absent and never null; the type of a control frame stands in the frame."""
    required = [name for name in schema.get("required", ()) if not (without_type and name == "type")]
    fields = {
        name: field if name in required else _not_null(field)
        for name, field in schema["properties"].items()
        if not (without_type and name == "type")
    }
    return {**schema, "properties": fields, "required": required}


def _not_null(field: Json) -> Json:
    kinds = [kind for kind in field.get("anyOf", ()) if kind != {"type": "null"}]
    rest = {name: value for name, value in field.items() if name not in ("anyOf", "default")}
    return {**rest, **kinds[0]} if len(kinds) == 1 else field


def untitled(schema: Any) -> Any:
    """The schema without the titles that are made of names; a field that is named title stays."""
    match schema:
        case dict():
            return {
                name: untitled(value)
                for name, value in schema.items()
                if not (name == "title" and isinstance(value, str))
            }
        case list():
            return [untitled(part) for part in schema]
    return schema


def type_of(kind: type[BaseModel]) -> str:
    """The type of a control frame or of a command."""
    return str(get_args(kind.model_fields["type"].annotation)[0])


def event_frames() -> dict[str, Json]:
    """The numbered frames by type, as they are listed over REST: without version and session."""
    data = {kind.type: ref(kind.__name__) for kind in EVENTS} | {WITHHELD: {"type": "object", "maxProperties": 0}}
    return {name: whole(type=const(name), seq=_SEQ, turn=_TEXT, ts=_TIME, d=d) for name, d in data.items()}


def server_frames() -> dict[str, Json]:
    """All frames of the server by type."""
    around = {"v": const(VERSION), "sid": _TEXT}
    numbered = {name: whole(**around, **frame["properties"]) for name, frame in event_frames().items()}
    controls = {
        type_of(kind): whole(**around, type=const(type_of(kind)), ts=_TIME, d=ref(kind.__name__)) for kind in CONTROLS
    }
    return {**controls, **numbered}


def client_frames() -> dict[str, Json]:
    """All commands by type; their version may be left out."""
    return {
        type_of(kind): {"allOf": [ref(kind.__name__), {"type": "object", "properties": {"v": const(VERSION)}}]}
        for kind in COMMANDS
    }


def ref(name: str) -> Json:
    """A reference to a schema by its name."""
    return {"$ref": REF + name}


def const(value: str | int) -> Json:
    """The schema of one value."""
    return {"type": "integer" if isinstance(value, int) else "string", "const": value}


def whole(**fields: Json) -> Json:
    """An object with all of these fields; further ones are allowed, as later versions may send them."""
    return {"type": "object", "properties": fields, "required": list(fields)}


_TEXT: Final[Json] = {"type": "string"}
_SEQ: Final[Json] = {"type": "integer", "minimum": 1}
_TIME: Final[Json] = {"type": "string", "format": "date-time"}
