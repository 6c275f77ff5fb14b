"""The OpenAPI document: FastAPI's, with what the routes answer and how they refuse."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache, partial
from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from assistant.transport.contracts.routes import EVENT_LIST, OTHER, SHAPES
from assistant.transport.contracts.schemas import REF, Json, definitions, event_frames, ref, untitled, whole
from assistant.transport.contracts.shapes import ErrorBody

_TAGS: Final = {
    "/api/audit": "audit",
    "/api/admin": "admin",
    "/api/auth": "identity",
    "/auth": "identity",
    "/v1": "openai",
    "/api": "sessions",
}
_ABOUT: Final = """Questions are answered from documents, with citations. Offsets are Unicode code points.
A refusal has a stable code (`ErrorBody`). Fields may be added; ignore those you do not know."""
_OWN_NAMES: Final = {"_Completion": "ChatCompletion", "_Message": "ChatMessage", "_Part": "ChatPart"}


def describe(app: FastAPI) -> None:
    """Let an application tell this document at /openapi.json; it is made when it is first asked for, and kept."""
    app.openapi = cache(partial(openapi_of, app))  # type: ignore[method-assign]


def openapi_of(app: FastAPI) -> Json:
    """The document of an application. Routes that `routes.py` does not know are described as FastAPI sees them."""
    document: Json = untitled(get_openapi(title=app.title, version=app.version, description=_ABOUT, routes=app.routes))
    document["info"]["title"] = app.title
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            _describe(f"{method.upper()} {path}", operation)
    document["paths"].pop("/", None)  # the page, where it is not built
    components = document.setdefault("components", {})
    schemas = components.get("schemas", {}) | definitions({ErrorBody, *SHAPES.values()})
    schemas["Event"] = {"description": "A numbered event.", "oneOf": list(event_frames().values())}
    components["schemas"] = {name: schemas[name] for name in sorted(_reached(document["paths"], schemas))}
    components["securitySchemes"] = {"bearer": {"type": "http", "scheme": "bearer"}}
    document["security"] = [{"bearer": []}, {}]
    renamed: Json = _renamed(document)
    return renamed


def _describe(route: str, operation: Json) -> None:
    path = route.partition(" ")[2]
    operation["operationId"] = _operation_id(route)
    operation["tags"] = [next((tag for start, tag in _TAGS.items() if path.startswith(start)), "health")]
    parameters = [each for each in operation.get("parameters", ()) if each["name"] != "authorization"]
    operation.pop("parameters", None)
    if parameters:
        operation["parameters"] = parameters
    responses = operation["responses"]
    responses.pop("422", None)
    content = _content(route)
    if content is not None:
        responses[next(iter(responses))]["content"] = content
    if route == "GET /readyz":
        responses["503"] = {"description": "Not ready", "content": content}
    if operation["tags"] != ["health"]:
        refused = {"application/json": {"schema": ref("ErrorBody")}}
        responses["4XX"] = {"description": "Refused", "content": refused}


def _content(route: str) -> Mapping[str, Any] | None:
    if route in SHAPES:
        return {"application/json": {"schema": ref(SHAPES[route].__name__)}}
    if route == EVENT_LIST:
        return {"application/json": {"schema": whole(events={"type": "array", "items": ref("Event")})}}
    return OTHER.get(route)


def _operation_id(route: str) -> str:
    """The method and the words of the path, as in `get_api_sessions_session_turns`; unique as the route is."""
    return re.sub(r"\W+", "_", route).strip("_").lower()


def _reached(value: Any, schemas: Mapping[str, Any]) -> set[str]:
    """The names of the schemas that are used from here on."""
    found: set[str] = set()
    waiting = [*references(value)]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += references(schemas[name])
    return found


def references(value: Any) -> Iterator[str]:
    """The names of the schemas that this value refers to."""
    match value:
        case {"$ref": str(target)}:
            yield target.removeprefix(REF)
        case dict():
            for part in value.values():
                yield from references(part)
        case list():
            for part in value:
                yield from references(part)


def _renamed(value: Any) -> Any:
    """Names that are private to a module, made fit to be seen."""
    match value:
        case {"$ref": str(target)}:
            name = target.removeprefix(REF)
            return {**value, "$ref": REF + _OWN_NAMES.get(name, name)}
        case dict():
            return {_OWN_NAMES.get(name, name): _renamed(part) for name, part in value.items()}
        case list():
            return [_renamed(part) for part in value]
    return value
