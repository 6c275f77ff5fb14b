"""The desk where documents come in one by one: read in a reader process, stored with their originals, every change on the record."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Final, Protocol

from assistant.core.access import PRIVATE, Caller
from assistant.core.attachments import FILES, SHARED
from assistant.core.evidence import Authority
from assistant.errors import BadDocument, BadInput, Busy
from assistant.interfaces import (
    DocumentChange,
    DocumentDraft,
    DocumentView,
    FileView,
    Library,
    Noted,
    Original,
    SessionFiles,
    Upload,
    UploadReport,
)
from assistant.knowledge.chunking import ChunkSize
from assistant.knowledge.documents import Limits
from assistant.knowledge.metadata import Properties
from assistant.knowledge.parsers import SUFFIXES
from assistant.knowledge.reading import Sources
from assistant.knowledge.said import plain_of, properties_said
from assistant.knowledge.sync import UPLOADED, fingerprint_of
from assistant.knowledge.worker import Job
from assistant.telemetry.figures import DOCUMENTS

RETRY_MS: Final = 3000
"""When to come back while too many documents are being read, in milliseconds."""

LONGEST_NAME: Final = 200
"""Characters of the name of a collection or a group."""


class Readers(Protocol):
    """Who reads documents: a `ReaderPool`."""

    async def read(self, job: Job, data: bytes) -> DocumentDraft:
        """The draft of a document. Raises BadDocument."""
        ...


@dataclass(frozen=True, slots=True)
class DeskPolicy:
    """What one document may cost, how it is cut, how many are read at once, and how many files a session may have."""

    limits: Limits = Limits()
    size: ChunkSize = ChunkSize()
    at_once: int = 2
    files: int = 10


class KnowledgeDesk:
    """The DocumentDesk over a library. `pseudonym` names people on the record."""

    def __init__(
        self,
        library: Library,
        files: SessionFiles,
        readers: Readers,
        *,
        pseudonym: Callable[[Caller], str],
        policy: DeskPolicy | None = None,
    ) -> None:
        self._library = library
        self._files = files
        self._readers = readers
        self._pseudonym = pseudonym
        self._policy = policy or DeskPolicy()
        self._reading = 0

    async def put(self, who: Caller, upload: Upload, reason: str) -> UploadReport:
        """Read a file into a collection, when it or what is said about it changed.

        A file that cannot be read is skipped with the reason. Raises BadInput for a collection or group that cannot be, Busy
        while too many documents are being read, NotFound never.
        """
        check_collection(upload.collection)
        try:
            said = properties_said(upload.said)
            check_groups(said.access)
            with self._slot():
                report = await self._put(who, upload, said, reason)
        except BadDocument as error:
            report = UploadReport(upload.uri, "skipped", reason=str(error.data.get("reason")))
        DOCUMENTS.labels(report.outcome).inc()
        return report

    async def _put(self, who: Caller, upload: Upload, said: Properties, reason: str) -> UploadReport:
        original = Original(
            PurePosixPath(upload.uri).name, upload.media_type, await self._bytes(upload.file), plain_of(said)
        )
        before = await self._library.known(who.tenant, upload.collection, upload.uri)
        fingerprint = await self._fingerprint(original, said)
        spoken = frozenset(plain_of(said))
        if before is not None and before.fingerprint == fingerprint and not spoken & before.settings:
            return UploadReport(upload.uri, "unchanged", before.id, before.version)
        what = "added" if before is None else "updated"
        draft = await self._draft(original, upload.uri, Sources(said))
        stored = await self._library.put(
            who.tenant,
            upload.collection,
            draft,
            fingerprint=fingerprint,
            original=original,
            noted=self._noted(who, reason),
            what=what,
            released=spoken,
        )
        return UploadReport(upload.uri, what, stored.id, stored.version)

    async def reingest(self, who: Caller, id_: str, reason: str) -> UploadReport:
        """Read the kept original of a document anew, as the parsers are today; unchanged when the same text came of it.

        Raises NotFound, BadInput with `reason` "no_original" where none is kept, Busy.
        """
        kept = await self._library.original(who.tenant, id_)
        said = properties_said(kept.original.said)
        try:
            with self._slot():
                draft = await self._draft(kept.original, kept.uri, Sources(said))
                stored = await self._library.put(
                    who.tenant,
                    kept.collection,
                    draft,
                    fingerprint=await self._fingerprint(kept.original, said),
                    original=kept.original,
                    noted=self._noted(who, reason),
                    what="reingested",
                )
        except BadDocument as error:
            return UploadReport(kept.uri, "skipped", id_, kept.version, str(error.data.get("reason")))
        outcome = "unchanged" if stored.version == kept.version else "updated"
        return UploadReport(kept.uri, outcome, id_, stored.version)

    async def change(self, who: Caller, id_: str, change: DocumentChange, reason: str) -> DocumentView:
        """Set fields of a document, for search at once and for every later reading. Raises NotFound and BadInput."""
        if "access" in change.given:
            check_groups(change.access)
        return await self._library.change(who.tenant, id_, change, self._noted(who, reason))

    async def delete(self, who: Caller, id_: str, reason: str) -> None:
        """Delete a document; its versions stay while answers cite them. Raises NotFound."""
        await self._library.delete(who.tenant, id_, self._noted(who, reason))

    async def attach(self, who: Caller, session: str, name: str, file: Path, media_type: str) -> FileView:
        """Read a file into a session of the caller, for the caller alone, whatever the file says about itself.

        Raises NotFound when the session is not theirs, BadInput with `reason` "too_many_files", BadDocument, Busy.
        """
        await self._files.files(who, session)
        with self._slot():
            original = Original(name, media_type, await self._bytes(file))
            # What a person brings must not outweigh the documents of the house, whatever its front matter claims.
            alone = Properties(access=frozenset({who.private_group}), authority=Authority.LOW)
            draft = await self._draft(original, name, Sources(alone))
            fingerprint = await self._fingerprint(original, alone)
            return await self._files.put_file(
                who, session, draft, fingerprint=fingerprint, most=self._policy.files, noted=self._noted(who, "")
            )

    async def detach(self, who: Caller, session: str, id_: str) -> None:
        """Take a file out of a session of the caller. Raises NotFound."""
        await self._files.delete_file(who, session, id_, self._noted(who, ""))

    @contextmanager
    def _slot(self) -> Iterator[None]:
        """A place at the readers. Raises Busy when there is none: who waits here would hold the file in memory."""
        if self._reading >= self._policy.at_once:
            raise Busy("too many documents are being read", reason="uploads", retry_after_ms=RETRY_MS)
        self._reading += 1
        try:
            yield
        finally:
            self._reading -= 1

    async def _bytes(self, file: Path) -> bytes:
        most = self._policy.limits.bytes
        if (await asyncio.to_thread(file.stat)).st_size > most:
            raise BadDocument(f"more than {most} bytes", reason="too_large")
        return await asyncio.to_thread(file.read_bytes)

    async def _draft(self, original: Original, uri: str, sources: Sources) -> DocumentDraft:
        named = readable_name(uri, original.media_type)
        job = Job(named, sources, self._policy.limits, self._policy.size)
        draft = await self._readers.read(job, original.content)
        return replace(draft, uri=uri)

    async def _fingerprint(self, original: Original, said: Properties) -> str:
        sources = Sources(said)
        return UPLOADED + await asyncio.to_thread(fingerprint_of, original.content, sources, self._policy.size)

    def _noted(self, who: Caller, reason: str) -> Noted:
        return Noted(self._pseudonym(who), reason)


_ENDINGS: Final[Mapping[str, str]] = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "text/markdown": ".md",
    "text/plain": ".txt",
    "text/csv": ".csv",
    "text/tab-separated-values": ".tsv",
    "message/rfc822": ".eml",
}


def readable_name(uri: str, media_type: str) -> str:
    """The uri with an ending that tells the format: its own where that is known, else that of the declared type.

    The bytes decide wherever they can; a declared type only tells texts apart whose names do not.
    """
    kind = media_type.partition(";")[0].strip().lower()
    suffix = PurePosixPath(uri).suffix.lower()
    return uri if suffix and suffix in SUFFIXES else uri + _ENDINGS.get(kind, "")


def check_collection(name: str) -> None:
    """Raises BadInput for a collection that nothing may be sent in for: that of a session, or a name that is none."""
    if not name.strip() or len(name) > LONGEST_NAME or name != name.strip() or not name.isprintable():
        raise BadInput("a collection has a short name", reason="collection")
    if name.startswith(FILES) or name == SHARED:
        raise BadInput("this collection is not to be filled like this", reason="collection")


def check_groups(groups: frozenset[str] | None) -> None:
    """Raises BadInput for groups that nobody can be given: private ones, and names that are none."""
    for group in groups or ():
        if not group.strip() or len(group) > LONGEST_NAME or not group.isprintable() or group.startswith(PRIVATE):
            raise BadInput("there can be no such group", reason="access")
