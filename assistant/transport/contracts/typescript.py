"""TypeScript types made from JSON schemas: objects, enums, unions, arrays, tuples, null."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from assistant.transport.contracts.openapi import references
from assistant.transport.contracts.schemas import (
    COMMANDS,
    CONTROLS,
    EVENTS,
    REF,
    Json,
    definitions,
    type_of,
)
from assistant.transport.contracts.shapes import Snapshot
from assistant.transport.protocol import SUBPROTOCOL, VERSION, WITHHELD

_HEAD: Final = """/**
 * Made from the code of the server by `assistant contracts`: not to be changed by hand.
 * Dates are ISO 8601 strings.
 */
"""
_PLAIN: Final = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
    "object": "Record<string, unknown>",
}


def typescript() -> str:
    """The module of the types of all frames and of the snapshot."""
    schemas = definitions([Snapshot])
    names = _in_order([kind.__name__ for kind in (*EVENTS, *CONTROLS, *COMMANDS)] + ["Snapshot"], schemas)
    commands = {type_of(kind): f"{kind.__name__}['d']" for kind in COMMANDS}
    parts = [
        _HEAD,
        f"export const VERSION = {VERSION};\nexport const SUBPROTOCOL = '{SUBPROTOCOL}';\n",
        *(_declared(name, schemas[name]) for name in names),
        _map("Numbered", "Numbered events by type.", {**_of(EVENTS), WITHHELD: "Record<string, never>"}),
        _map("Control", "Control frames by type; they have no `seq` and are not replayed.", _controls()),
        _map("Commands", "Commands by type, sent by the client.", commands),
    ]
    return "\n".join(parts)


def _of(kinds: Sequence[Any]) -> dict[str, str]:
    return {kind.type: kind.__name__ for kind in kinds}


def _controls() -> dict[str, str]:
    return {type_of(kind): kind.__name__ for kind in CONTROLS}


def _map(name: str, about: str, fields: Mapping[str, str]) -> str:
    lines = "".join(f"  {_key(key)}: {kind};\n" for key, kind in fields.items())
    return f"/** {about} */\nexport interface {name} {{\n{lines}}}\n"


def _in_order(names: Sequence[str], schemas: Mapping[str, Json]) -> list[str]:
    """These and all that they are made of, each once, the parts first."""
    found: dict[str, None] = {}

    def add(name: str) -> None:
        for part in references(schemas[name]):
            if part not in found and part != name:
                add(part)
        found[name] = None

    for name in names:
        add(name)
    return list(found)


def _declared(name: str, schema: Json) -> str:
    about = _comment(schema.get("description"))
    if "properties" not in schema:
        return f"{about}export type {name} = {_type(schema)};\n"
    return f"{about}export interface {name} {{\n{''.join(_fields(schema))}}}\n"


def _fields(schema: Json, indent: str = "  ") -> Iterator[str]:
    required = schema.get("required", ())
    for name, field in schema["properties"].items():
        mark = "" if name in required else "?"
        yield f"{indent}{_key(name)}{mark}: {_type(field, indent)};\n"


def _key(name: str) -> str:
    return name if name.isidentifier() else f"'{name}'"


def _type(schema: Json, indent: str = "  ") -> str:
    match schema:
        case {"$ref": str(target)}:
            return target.removeprefix(REF)
        case {"const": value}:
            return _literal(value)
        case {"enum": list(values)}:
            return " | ".join(_literal(value) for value in values)
        case {"anyOf": list(kinds)} | {"oneOf": list(kinds)}:
            return " | ".join(dict.fromkeys(_type(kind, indent) for kind in kinds))
        case {"prefixItems": list(kinds)}:
            return f"readonly [{', '.join(_type(kind, indent) for kind in kinds)}]"
        case {"type": "array", "items": dict(item)}:
            inner = _type(item, indent)
            return f"readonly ({inner})[]" if " " in inner else f"readonly {inner}[]"
        case {"type": "object", "additionalProperties": dict(value)}:
            return f"Record<string, {_type(value, indent)}>"
        case {"type": str(plain)} if plain in _PLAIN:
            return _PLAIN[plain]
    return "unknown"


def _literal(value: str | int) -> str:
    return f"'{value}'" if isinstance(value, str) else json.dumps(value)


def _comment(text: str | None) -> str:
    """What the server says of a thing, as a comment."""
    if not text:
        return ""
    lines = text.replace("*/", "* /").split("\n")
    if len(lines) == 1:
        return f"/** {lines[0]} */\n"
    return "/**\n" + "".join(f" * {line}".rstrip() + "\n" for line in lines) + " */\n"
