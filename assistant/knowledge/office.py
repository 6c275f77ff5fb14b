"""Zip containers of office formats: what is inside, and is it safe to open; properties they share.

The central directory is judged before anything is inflated; then every part is inflated once against its declared size
and checksum, so that the parsers behind never meet a part that lies. Nothing is ever written to disk.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from datetime import date, datetime
from typing import Any, Final

from assistant.knowledge.documents import MEBIBYTE, Limits, refuse
from assistant.knowledge.metadata import Properties

_SMALL: Final = 8 * MEBIBYTE
_UNSAFE_NAME: Final = re.compile(r"(?:^|[/\\])\.\.(?:[/\\]|$)|^[/\\]|^[A-Za-z]:|\0")
_CORE_PROPERTIES: Final = "http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties"
_XML: Final = (".xml", ".rels", ".vml")
_GENERATED_TITLE: Final = re.compile(
    r"^(?:powerpoint.presentation|word.document|microsoft (?:word|powerpoint|excel)\b.*|untitled.*|slide 1|document\d*|"
    r"presentation\d*|pp?t.*模板|文档\d*|演示文稿\d*|.*\.(?:docx?|pptx?|xlsx?|pdf|rtf|indd|pages))$",
    re.IGNORECASE,
)


def open_container(data: bytes, limits: Limits, *, parts: bool = True) -> zipfile.ZipFile:
    """A zip container that passed every check; without `parts` only those of its directory.

    Raises BadDocument corrupt (broken, or a name leads out of the container), encrypted, or bomb (too many parts, too
    much to inflate, too high a ratio, XML with a document type).
    """
    try:
        container = zipfile.ZipFile(io.BytesIO(data))
        _check_directory(container, len(data), limits)
        if parts:
            _check_parts(container)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, UnicodeError, OSError) as error:
        raise refuse("corrupt", f"zip: {error}") from error
    except (RuntimeError, ValueError) as error:
        raise refuse("corrupt", f"zip: {type(error).__name__}") from error
    return container


def _check_directory(container: zipfile.ZipFile, size: int, limits: Limits) -> None:
    parts = container.infolist()
    if len(parts) > limits.members:
        raise refuse("bomb", f"more than {limits.members} parts")
    if any(part.flag_bits & 0x1 for part in parts):
        raise refuse("encrypted", "the container is encrypted")
    if any(_UNSAFE_NAME.search(part.filename) for part in parts):
        raise refuse("corrupt", "a part's name leads out of the container")
    total = sum(part.file_size for part in parts)
    if total > limits.unpacked or (total > _SMALL and total > size * limits.ratio):
        raise refuse("bomb", f"{size} bytes inflate to {total}")


def _check_parts(container: zipfile.ZipFile) -> None:
    """Inflate every part; zipfile compares size and checksum. Office XML has no document type, so none is allowed."""
    for part in container.infolist():
        with container.open(part) as stream:
            start = stream.read(4096)
            if part.filename.lower().endswith(_XML) and b"<!DOCTYPE" in start.replace(b"\0", b""):
                raise refuse("bomb", "XML with a document type")
            while stream.read(MEBIBYTE):
                pass


def properties_of(package: Any) -> Properties:
    """Title, author and last change of a Word or PowerPoint file; titles that the program made up are left out."""
    try:
        package.part.package.part_related_by(_CORE_PROPERTIES)
    except KeyError:
        return Properties()  # asking for the properties would make a part that says "now"
    core = package.core_properties
    title = (core.title or "").strip()
    stamp: datetime | None = core.modified or core.created
    return Properties(
        title=title if title and not is_generated_title(title) else None,
        owner=(core.author or "").strip() or None,
        date=date(stamp.year, stamp.month, stamp.day) if stamp and stamp.year > 1980 else None,
    )


def is_generated_title(title: str) -> bool:
    """Whether a title is one that a program sets by itself."""
    return bool(_GENERATED_TITLE.match(title.strip()))
