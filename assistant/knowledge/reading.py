"""Reading a document: parse it, decide what is known about it, cut it into chunks.

Knows nothing of interfaces and stores, so that a reader process starts fast.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from assistant.knowledge.chunking import Chunk, ChunkSize, chunk
from assistant.knowledge.documents import Illustration, Limits, fold, readable
from assistant.knowledge.metadata import Properties, stem_title
from assistant.knowledge.parsers import parse


@dataclass(frozen=True, slots=True)
class Sources:
    """What is known from outside a file: `options` win over its front matter, `sidecar` is next, `file` is last."""

    options: Properties = field(default_factory=Properties)
    sidecar: Properties = field(default_factory=Properties)
    file: Properties = field(default_factory=Properties)


@dataclass(frozen=True, slots=True)
class Reading:
    """A document as it was read: the text, its chunks, its pictures, and everything that is known about it."""

    title: str
    text: str
    media_type: str
    language: str
    chunks: tuple[Chunk, ...]
    known: Properties
    images: tuple[Illustration, ...] = ()


def read(
    data: bytes,
    uri: str,
    *,
    sources: Sources | None = None,
    limits: Limits | None = None,
    size: ChunkSize | None = None,
) -> Reading:
    """Read a document. Blocking; raises BadDocument as `parsers.parse` does. The ending of `uri` tells the format."""
    sources = sources or Sources()
    outside = sources.options.over(sources.sidecar)
    caption = _line(outside.caption or outside.title or stem_title(uri))
    parsed = parse(data, PurePosixPath(uri).name, limits=limits, caption=caption)
    known = sources.options.over(parsed.front).over(sources.sidecar)
    title = _line(known.title or parsed.title or "") or _line(stem_title(uri))
    known = known.over(parsed.embedded).over(sources.file)
    known = replace(known, title=title, owner=_line(known.owner or "") or None)
    chunks = chunk(parsed, title, size)
    return Reading(title, parsed.text, parsed.media_type, parsed.language, chunks, known, parsed.images)


def _line(text: str) -> str:
    """One line without invisible characters, as long as a line may be."""
    return fold(readable(text))[:500]
