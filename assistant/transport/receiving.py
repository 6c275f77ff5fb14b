"""Files as they come in over HTTP: the body into a file of its own, names and headers made safe to keep."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any, Final
from unicodedata import category, normalize
from urllib.parse import unquote

import orjson
from fastapi import Request
from starlette.requests import ClientDisconnect

from assistant.core.text import remove_invisible
from assistant.errors import BadInput

LONGEST_NAME: Final = 200
"""Code points of a file name."""

LONGEST_URI: Final = 1000
"""Code points of the uri of a document."""

RAW_BODY: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}
"""How OpenAPI describes a body that is a file as it is."""


@asynccontextmanager
async def received(request: Request) -> AsyncGenerator[Path, None]:
    """The body of a request in a file that is gone at the end; never more of it in memory than one piece.

    Raises BadInput when the body breaks off.
    """
    folder = await asyncio.to_thread(TemporaryDirectory, prefix="assistant-upload-")
    try:
        path = Path(folder.name) / "body"
        sink = await asyncio.to_thread(path.open, "wb")
        try:
            async for piece in request.stream():
                await asyncio.to_thread(sink.write, piece)
        except ClientDisconnect:
            raise BadInput("the body broke off", reason="incomplete") from None
        finally:
            await asyncio.to_thread(sink.close)
        yield path
    finally:
        await asyncio.to_thread(folder.cleanup)


def header_text(value: str) -> str:
    """The text of a header. Headers hold bytes: UTF-8 is taken as it is and where it is percent-encoded."""
    try:
        text = value.encode("latin-1").decode()
    except UnicodeError:
        text = value
    return unquote(text)


def file_name(value: str) -> str:
    """The name of a file from a header, percent-encoded UTF-8. It is a label and never becomes a path.

    Raises BadInput with `reason` "name" for a path, for control characters, and for what is too long or no UTF-8.
    """
    try:
        name = unquote(value, errors="strict")
    except UnicodeError:
        raise _bad_name("a file name is percent-encoded UTF-8") from None
    name = _label(name, LONGEST_NAME)
    if "/" in name or "\\" in name or not name.strip("."):
        raise _bad_name("a file name is no path")
    return name


def document_uri(value: str) -> str:
    """The uri of a document: a path with / or a full URI. Raises BadInput with `reason` "name" for what leads out or upwards."""
    uri = _label(value, LONGEST_URI)
    parts = PurePosixPath(uri).parts
    if uri.startswith("/") or "\\" in uri or ".." in parts or not uri.strip("./"):
        raise _bad_name("the uri of a document leads neither out nor upwards")
    return uri


def _label(text: str, longest: int) -> str:
    """The text in composed form without invisible characters."""
    label = remove_invisible(normalize("NFC", text)).strip() if len(text) <= longest * 4 else ""
    if not 0 < len(label) <= longest or any(category(char) in ("Cc", "Cs", "Zl", "Zp") for char in label + text):
        raise _bad_name("a name is one short line of text")
    return label


def _bad_name(detail: str) -> BadInput:
    return BadInput(detail, reason="name")


def metadata_of(header: str) -> Mapping[str, Any]:
    """What a header says about a document: a JSON object, percent-encoded or not. Raises BadInput for anything else."""
    if not header.strip():
        return {}
    try:
        text = header if header.lstrip().startswith("{") else unquote(header, errors="strict")
        said = orjson.loads(text.encode("latin-1") if header is text else text)
    except (UnicodeError, orjson.JSONDecodeError):
        raise BadInput("the metadata is no JSON", reason="metadata") from None
    if not isinstance(said, dict):
        raise BadInput("the metadata is no object", reason="metadata")
    return said
