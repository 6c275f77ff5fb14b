"""The library: documents as those who look after them see and change them, and the files that people attach to their sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any, Protocol

from assistant.core.access import Caller
from assistant.core.evidence import Authority, Place
from assistant.interfaces.documents import DocumentDraft


@dataclass(frozen=True, slots=True)
class CollectionView:
    """A collection with its live documents and their chunks; `updated_at` is the latest change of one of them."""

    name: str
    documents: int
    chunks: int
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class DocumentView:
    """A live document as it is now. `settings` are the fields that a person set; `uploaded` says whether its original is kept."""

    id: str
    collection: str
    uri: str
    title: str
    authority: Authority
    owner: str | None
    date: date | None
    language: str
    media_type: str
    version: int
    chunks: int
    created_at: datetime
    updated_at: datetime
    access: frozenset[str]
    settings: frozenset[str] = frozenset()
    uploaded: bool = False


@dataclass(frozen=True, slots=True)
class VersionView:
    """A kept version of a document, and how many kept answers cite it."""

    number: int
    sha256: str
    title: str
    date: date | None
    created_at: datetime
    answers: int


@dataclass(frozen=True, slots=True)
class TextPage:
    """A part of the text of a version: from `offset`, of `length` code points in all."""

    text: str
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """What is to be set about a document; fields that are not `given` stay. No date and no owner can be given too."""

    given: frozenset[str] = frozenset()
    access: frozenset[str] = frozenset()
    authority: Authority = Authority.MEDIUM
    date: date | None = None
    owner: str | None = None


@dataclass(frozen=True, slots=True)
class Noted:
    """Who does something to the library, as a pseudonym, and why; it goes on the record."""

    actor: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Original:
    """The file that a version was read from; `said` is what was said about it when it was sent in, as plain JSON values."""

    name: str
    media_type: str
    content: bytes
    said: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class KeptOriginal:
    """The original of the current version of a document, and where the document stands."""

    document: str
    collection: str
    uri: str
    version: int
    original: Original


@dataclass(frozen=True, slots=True)
class KnownDocument:
    """What is known of a live document before it is read again."""

    id: str
    version: int
    fingerprint: str
    settings: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class FileView:
    """A file of a session: `place` is all of its current text."""

    id: str
    title: str
    name: str
    media_type: str
    chunks: int
    place: Place
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that is sent in for a collection, and what is said about it (the keys of front matter, as plain JSON values)."""

    collection: str
    uri: str
    file: Path
    media_type: str = ""
    said: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class UploadReport:
    """What became of a file: `outcome` is added, updated, unchanged or skipped; a skipped one has a stable `reason`."""

    uri: str
    outcome: str
    document: str | None = None
    version: int | None = None
    reason: str | None = None


class Library(Protocol):
    """Documents of a tenant for those who look after them. Files of sessions are not among them.

    Every change is one transaction with its audit record; then those whose answers cite the document are told.
    """

    async def collections(self, tenant: str) -> list[CollectionView]:
        """All collections by name."""
        ...

    async def documents(
        self,
        tenant: str,
        *,
        collection: str | None = None,
        query: str = "",
        after: tuple[str, str] | None = None,
        limit: int = 50,
    ) -> list[DocumentView]:
        """Live documents by collection and uri, from behind `after` (both), whose title or uri holds `query` in any case."""
        ...

    async def document(self, tenant: str, id_: str) -> DocumentView:
        """A live document; NotFound when there is none."""
        ...

    async def versions(self, tenant: str, id_: str) -> list[VersionView]:
        """The kept versions of a live document, the latest first. Raises NotFound."""
        ...

    async def text(self, tenant: str, id_: str, number: int, offset: int, limit: int) -> TextPage:
        """At most `limit` code points of a version from `offset`. Raises NotFound."""
        ...

    async def known(self, tenant: str, collection: str, uri: str) -> KnownDocument | None:
        """What is known of the live document with this uri; None when there is none."""
        ...

    async def original(self, tenant: str, id_: str) -> KeptOriginal:
        """The original of the current version. Raises NotFound, and BadInput where none is kept."""
        ...

    async def put(
        self,
        tenant: str,
        collection: str,
        draft: DocumentDraft,
        *,
        fingerprint: str,
        original: Original,
        noted: Noted,
        what: str,
        released: frozenset[str] = frozenset(),
    ) -> KnownDocument:
        """Store a draft as `DocumentStore.put` does, with its original; fields `released` are no longer as a person set them."""
        ...

    async def change(self, tenant: str, id_: str, change: DocumentChange, noted: Noted) -> DocumentView:
        """Set fields of a live document, at once and for every later reading. Raises NotFound, BadInput without a group."""
        ...

    async def delete(self, tenant: str, id_: str, noted: Noted) -> None:
        """Delete a live document with its originals; its versions stay for old answers. Raises NotFound."""
        ...


class SessionFiles(Protocol):
    """The files of sessions. Every call raises NotFound when the session is not the caller's."""

    async def files(self, caller: Caller, session: str) -> list[FileView]:
        """The files of a session by name."""
        ...

    async def attached(self, caller: Caller, session: str, ids: Sequence[str]) -> list[FileView]:
        """These files of a session in this order; NotFound when one of them is not there."""
        ...

    async def put_file(
        self, caller: Caller, session: str, draft: DocumentDraft, *, fingerprint: str, most: int, noted: Noted
    ) -> FileView:
        """Store a file; one of the same name is replaced. BadInput too_many_files when there are `most` others already."""
        ...

    async def delete_file(self, caller: Caller, session: str, id_: str, noted: Noted) -> None:
        """Delete a file; NotFound when it is not there. What an answer was shown of it stays with the answer, else all goes."""
        ...


class DocumentDesk(Protocol):
    """What is done to documents. It checks no roles: that is for the door."""

    async def put(self, who: Caller, upload: Upload, reason: str) -> UploadReport:
        """Read a file into a collection. Raises Busy while too many are being read, BadInput for names that cannot be."""
        ...

    async def reingest(self, who: Caller, id_: str, reason: str) -> UploadReport:
        """Read the kept original anew. Raises NotFound, BadInput where none is kept, Busy."""
        ...

    async def change(self, who: Caller, id_: str, change: DocumentChange, reason: str) -> DocumentView:
        """Set fields of a document. Raises NotFound and BadInput."""
        ...

    async def delete(self, who: Caller, id_: str, reason: str) -> None:
        """Delete a document. Raises NotFound."""
        ...

    async def attach(self, who: Caller, session: str, name: str, file: Path, media_type: str) -> FileView:
        """Read a file into a session of the caller. Raises NotFound, Busy, BadInput too_many_files, BadDocument."""
        ...

    async def detach(self, who: Caller, session: str, id_: str) -> None:
        """Take a file out of a session of the caller. Raises NotFound."""
        ...
