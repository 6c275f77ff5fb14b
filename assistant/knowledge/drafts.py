"""From bytes to a `DocumentDraft`: parse, decide what is known about the document, cut into chunks."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from assistant.core.access import EVERYONE
from assistant.core.evidence import Authority
from assistant.interfaces import DocumentDraft
from assistant.knowledge.chunking import ChunkSize, chunk
from assistant.knowledge.documents import Limits, refuse
from assistant.knowledge.metadata import Properties, family
from assistant.knowledge.parsers import parse


@dataclass(frozen=True, slots=True)
class Sources:
    """What is known from outside a file: `options` win over its front matter, `sidecar` is next, `file` is last."""

    options: Properties = field(default_factory=Properties)
    sidecar: Properties = field(default_factory=Properties)
    file: Properties = field(default_factory=Properties)


def draft(
    data: bytes,
    uri: str,
    *,
    sources: Sources | None = None,
    limits: Limits | None = None,
    size: ChunkSize | None = None,
) -> DocumentDraft:
    """Read a document in. Blocking; raises BadDocument as `parsers.parse` does.

    `uri` names the document in its collection and its ending the format; where nobody says who may read, everyone may.
    """
    sources = sources or Sources()
    parsed = parse(data, PurePosixPath(uri).name, limits=limits)
    known = sources.options.over(parsed.front).over(sources.sidecar)
    title = known.title or parsed.title or stem_title(uri)
    known = known.over(parsed.embedded).over(sources.file)
    return DocumentDraft(
        uri=uri,
        title=title,
        text=parsed.text,
        sha256=hashlib.sha256(data).hexdigest(),
        media_type=parsed.media_type,
        language=parsed.language,
        chunks=chunk(parsed, title, size),
        date=known.date,
        authority=known.authority or Authority.MEDIUM,
        access=frozenset({EVERYONE}) if known.access is None else known.access,
        family=family(uri),
        owner=known.owner,
    )


@dataclass(frozen=True, slots=True)
class ChunkPreview:
    """A chunk as a person looks at it."""

    section: str
    page: int | None
    text: str


def parse_document(path: Path, *, limits: Limits | None = None) -> DocumentDraft:
    """Read one file as an ingest without sidecars and options would. Blocking; raises BadDocument."""
    limits = limits or Limits()
    if path.stat().st_size > limits.bytes:
        raise refuse("too_large", f"more than {limits.bytes} bytes")
    return draft(path.read_bytes(), path.name, limits=limits)


def chunk_preview(document: DocumentDraft) -> list[ChunkPreview]:
    """The chunks of a draft with their text."""
    return [
        ChunkPreview(one.section, one.page, document.text[one.span.start : one.span.end]) for one in document.chunks
    ]


def stem_title(uri: str) -> str:
    """A title made of the file's name."""
    path = PurePosixPath(uri)
    return " ".join((path.stem or path.name).replace("_", " ").replace("-", " ").split()) or uri
