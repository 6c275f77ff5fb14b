"""From bytes to a `DocumentDraft`, the form in which stores take documents."""

from __future__ import annotations

import hashlib

from assistant.core.access import EVERYONE
from assistant.core.evidence import Authority
from assistant.interfaces import ChunkDraft, DocumentDraft, ImageDraft
from assistant.knowledge.chunking import PATH, ChunkSize
from assistant.knowledge.documents import Limits
from assistant.knowledge.metadata import family
from assistant.knowledge.reading import Reading, Sources, read


def draft(
    data: bytes,
    uri: str,
    *,
    sources: Sources | None = None,
    limits: Limits | None = None,
    size: ChunkSize | None = None,
) -> DocumentDraft:
    """Read a document in. Blocking, in this process; raises BadDocument as `parsers.parse` does.

    `uri` names the document in its collection and its ending the format.
    """
    return draft_of(read(data, uri, sources=sources, limits=limits, size=size), data, uri)


def draft_of(reading: Reading, data: bytes, uri: str) -> DocumentDraft:
    """The draft of a document that was read. Where nobody says who may read, everyone may."""
    known = reading.known
    return DocumentDraft(
        uri=uri,
        title=reading.title,
        text=reading.text,
        sha256=hashlib.sha256(data).hexdigest(),
        media_type=reading.media_type,
        language=reading.language,
        chunks=tuple(
            ChunkDraft(one.span, _below(reading.title, one.section), one.page, one.terms) for one in reading.chunks
        ),
        date=known.date,
        authority=known.authority or Authority.MEDIUM,
        access=frozenset({EVERYONE}) if known.access is None else known.access,
        family=family(uri),
        owner=known.owner,
        images=tuple(
            ImageDraft(one.picture.content, one.picture.media_type, one.caption, one.span, one.page, one.picture.region)
            for one in reading.images
        ),
    )


def _below(title: str, section: str) -> str:
    """The heading path below the title, which is shown beside it anyway."""
    return "" if section == title else section.removeprefix(title + PATH)
