"""Documents in: drafts of what was read, and where they are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final, Protocol

from assistant.core.access import Caller
from assistant.core.evidence import Authority, Region
from assistant.core.messages import Image
from assistant.core.text import Span
from assistant.interfaces.models import Vectors


@dataclass(frozen=True, slots=True)
class ChunkDraft:
    """A piece of a document version that can be found: span of its stored text, heading path, page, index terms."""

    span: Span
    section: str = ""
    page: int | None = None
    terms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ImageDraft:
    """An image found in a document: bytes in a form that models take (PNG, JPEG, WebP, GIF), and the span of its caption."""

    content: bytes
    media_type: str
    caption: str
    span: Span
    page: int | None = None
    region: Region | None = None


@dataclass(frozen=True, slots=True)
class DocumentDraft:
    """A document that was read in, ready to be stored as a new version.

    `uri` identifies the document inside its collection (for files: the path relative to the ingested folder, or a full
    URI); `sha256` is of the original bytes; `text` is what spans and citations refer to, stored unchanged.
    """

    uri: str
    title: str
    text: str
    sha256: str
    media_type: str
    language: str
    chunks: tuple[ChunkDraft, ...]
    date: date | None = None
    authority: Authority = Authority.MEDIUM
    access: frozenset[str] = frozenset({"everyone"})
    family: str | None = None
    owner: str | None = None
    images: tuple[ImageDraft, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk that waits for its vector: `text` is the title, section and text as the embedder should see them."""

    id: int
    text: str


@dataclass(frozen=True, slots=True)
class Lane:
    """A share of all chunks: those whose id leaves `number` when divided by `of`, above the id `after`. Lanes of one `of` never
    meet."""

    number: int = 0
    of: int = 1
    after: int = 0


ALL_CHUNKS: Final = Lane()


class ImageSource(Protocol):
    """Gives the images of documents."""

    async def images(self, caller: Caller, document: str, number: int, ids: Sequence[str]) -> dict[str, Image]:
        """The images of a version by id, those that are there; none when the caller may not read the document."""
        ...


class DocumentStore(Protocol):
    """Documents, their versions and chunks."""

    async def fingerprints(self, tenant: str, collection: str) -> Mapping[str, str]:
        """uri -> fingerprint of every live document of the collection (sha256 of bytes plus metadata given at ingest)."""
        ...

    async def put(self, tenant: str, collection: str, draft: DocumentDraft, *, fingerprint: str) -> int:
        """Store the draft as the current version and return its number; older versions stay, their chunks leave the index.

        Same text and images and other metadata: the metadata is updated and the number stays. One transaction.
        """
        ...

    async def delete(self, tenant: str, collection: str, uri: str) -> bool:
        """Mark a document deleted and take its chunks out of the index; its versions stay for old answers."""
        ...

    async def version_text(self, document: str, number: int) -> str:
        """The stored text of a version; NotFound when there is none."""
        ...

    async def images(self, caller: Caller, document: str, number: int, ids: Sequence[str]) -> dict[str, Image]:
        """The images of a version by id, those that are there; none when the caller may not read the document."""
        ...

    async def chunks_without_vectors(self, embedder: str, limit: int, lane: Lane = ALL_CHUNKS) -> list[StoredChunk]:
        """Chunks of the lane that still lack a vector of this embedder, oldest first."""
        ...

    async def missing_vectors(self, embedder: str, limit: int, after: int = 0) -> list[int]:
        """Ids of chunks above `after` that lack a vector of this embedder, ascending."""
        ...

    async def newest_chunk(self) -> int:
        """The highest id of all chunks; 0 where there are none."""
        ...

    async def put_vectors(self, embedder: str, ids: Sequence[int], vectors: Vectors) -> None:
        """Store vectors, one row per id; ids that are gone are ignored."""
        ...
