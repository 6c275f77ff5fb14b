"""The images of document versions: kept with each version, given out under the rights of today."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import and_, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from assistant.codec import storable
from assistant.core.access import Caller
from assistant.core.evidence import ImageRef, Region
from assistant.core.messages import Image
from assistant.core.text import Span, without_unstorable
from assistant.errors import BadInput
from assistant.interfaces import DocumentDraft, ImageDraft
from assistant.store.rights import readable, rights
from assistant.store.tables import chunks, images

MOST_IMAGES: Final = 200
"""Images that are given out at once."""

MEDIA_TYPES: Final = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})
"""What models take."""

_HIGHEST: Final = 2**31 - 1  # of an integer column


def check_images(draft: DocumentDraft) -> None:
    """Raises BadInput for an image that is empty, of a type that no model takes, or whose caption or span cannot be."""
    for image in draft.images:
        storable(image.caption)
        if image.span.end > len(draft.text):
            raise BadInput("an image lies outside the text", reason="span")
        if not image.content or image.media_type not in MEDIA_TYPES:
            raise BadInput("an image is PNG, JPEG, WebP or GIF", reason="image")
        if image.region is not None and not _is_region(image.region):
            raise BadInput("a region lies within its page", reason="region")


def _is_region(region: Region) -> bool:
    left, top, right, bottom = region
    return 0.0 <= left < right <= 1.0 and 0.0 <= top < bottom <= 1.0


def image_rows(drafts: Sequence[ImageDraft]) -> list[dict[str, Any]]:
    """Rows of images without document and version. Hashes megabytes: not for the event loop."""
    return [
        {
            "position": position,
            "sha256": hashlib.sha256(image.content).hexdigest(),
            "media_type": image.media_type,
            "caption": image.caption,
            "span_start": image.span.start,
            "span_end": image.span.end,
            "page": image.page,
            "region": None if image.region is None else list(image.region),
            "content": image.content,
        }
        for position, image in enumerate(drafts)
    ]


_SHOWN: Final = ("sha256", "caption", "span_start", "span_end", "page", "region")


async def same_images(connection: AsyncConnection, document: str, version: int, rows: Sequence[dict[str, Any]]) -> bool:
    """Whether a version has exactly these images."""
    query = (
        select(*(images.c[name] for name in _SHOWN))
        .where(images.c.document == document, images.c.version == version)
        .order_by(images.c.position)
    )
    stored = [tuple(row) for row in await connection.execute(query)]
    return stored == [tuple(row[name] for name in _SHOWN) for row in rows]


async def read_image_refs(connection: AsyncConnection, ids: Sequence[int]) -> defaultdict[int, tuple[ImageRef, ...]]:
    """The images whose captions stand in these chunks, by chunk, in the order of the text. One query for all."""
    found: defaultdict[int, tuple[ImageRef, ...]] = defaultdict(tuple)
    if not ids:
        return found
    for row in await connection.execute(_REFS.where(chunks.c.id.in_(ids))):
        region: Region | None = None if row.region is None else tuple(row.region)
        span = Span(row.span_start, row.span_end)
        found[row.chunk] += (ImageRef(row.sha256, row.media_type, row.caption, span, row.page, region),)
    return found


_REFS: Final = (
    select(
        chunks.c.id.label("chunk"),
        images.c.sha256,
        images.c.media_type,
        images.c.caption,
        images.c.span_start,
        images.c.span_end,
        images.c.page,
        images.c.region,
    )
    .join(
        images,
        and_(
            images.c.document == chunks.c.document,
            images.c.version == chunks.c.version,
            images.c.span_start >= chunks.c.span_start,
            images.c.span_end <= chunks.c.span_end,
        ),
    )
    .order_by(chunks.c.id, images.c.position)
)


async def read_images(
    connection: AsyncConnection, caller: Caller, document: str, number: int, ids: Sequence[str]
) -> dict[str, Image]:
    """The images of a version by id, at most MOST_IMAGES; none when the caller may not read the document now."""
    wanted = [id_ for id_ in dict.fromkeys(ids) if without_unstorable(id_) == id_][:MOST_IMAGES]
    if not wanted or not 0 < number <= _HIGHEST or without_unstorable(document) != document:
        return {}
    dialect = connection.dialect.name
    query = select(images.c.sha256, images.c.media_type, images.c.content).where(
        images.c.document == document,
        images.c.version == number,
        images.c.sha256.in_(wanted),
        images.c.document.in_(text(readable(dialect))),
    )
    rows = await connection.execute(query, rights(dialect, caller, None, everywhere=True))
    return {row.sha256: Image(row.sha256, row.media_type, bytes(row.content)) for row in rows}
