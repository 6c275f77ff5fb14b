"""Where checkpoints are written beside the database, so that a restored old database or a rewritten one shows.

A target is a file on this machine or a URL of any fsspec file system. It is only ever added to. Best is one that the owner of the
database cannot change: another machine, a bucket with object lock.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final, Protocol
from urllib.parse import quote, urlsplit

import structlog
from fsspec import AbstractFileSystem, get_filesystem_class
from fsspec.core import url_to_fs
from fsspec.implementations.local import LocalFileSystem

from assistant.audit.checkpoints import MOST_LINE_BYTES, Checkpoint, checkpoint_in
from assistant.errors import BadInput, BadSetting

log = structlog.get_logger(__name__)

APPENDING: Final = frozenset({"memory", "sftp", "ssh", "smb", "hdfs", "arrow_hdfs"})
"""File systems whose files really grow when opened to append. Object stores take the mode and copy or replace the object."""

_OBJECTS_AT_ONCE: Final = 100


@dataclass(frozen=True, slots=True)
class ReadBack:
    """What a target holds of a tenant, in the order written; `damaged` counts what in it is no checkpoint (a torn line)."""

    checkpoints: tuple[Checkpoint, ...] = ()
    damaged: int = 0


class Target(Protocol):
    """A place that checkpoints are added to. `name` is for logs and holds no credentials. May raise what its file system raises."""

    @property
    def name(self) -> str:
        """What people know it by."""
        ...

    async def append(self, checkpoints: Sequence[Checkpoint]) -> None:
        """Add these; when it returns they are there to stay."""
        ...

    async def read(self, tenant: str) -> ReadBack:
        """Everything it holds of the tenant; nothing where it is not there yet."""
        ...


def target_at(where: str) -> Target:
    """The target at a path or a URL; raises BadSetting where no installed file system serves the URL.

    A path and `file:` get a file that grows, so do the file systems of APPENDING; all others get a folder with an object for each checkpoint.
    """
    if "://" not in where:
        return FileTarget(Path(where))
    protocols = _protocols(where)
    if "file" in protocols:
        return FileTarget(Path(LocalFileSystem._strip_protocol(where)))  # noqa: SLF001
    return GrowingUrl(where) if protocols & APPENDING else FolderUrl(where)


def _protocols(url: str) -> frozenset[str]:
    """The names of the file system that serves a URL (the first of a chain); nothing is connected to yet."""
    named = url.partition("://")[0].partition("::")[0]
    if not named:
        raise BadSetting("this URL names no file system", setting="audit.targets")
    try:
        served = get_filesystem_class(named).protocol
    except (ImportError, ValueError) as error:
        raise BadSetting(f"no file system serves this URL: {error}", setting="audit.targets") from error
    return frozenset({served} if isinstance(served, str) else served)


class FileTarget:
    """A file of lines on this machine, for its owner only (0600); each addition is on the disk before `append` returns."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.name: Final = path.name

    async def append(self, checkpoints: Sequence[Checkpoint]) -> None:
        """Add these as lines; a line that a crash tore off is ended first. Raises OSError."""
        await asyncio.to_thread(self._append, b"".join(checkpoint.line() for checkpoint in checkpoints))

    async def read(self, tenant: str) -> ReadBack:
        """Everything the file holds of the tenant. Raises OSError where it is there and cannot be read."""
        return await asyncio.to_thread(self._read, tenant)

    def _append(self, lines: bytes) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        new = not self._path.exists()
        descriptor = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(descriptor, "r+b", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            torn = size > 0 and os.pread(file.fileno(), 1, size - 1) != b"\n"
            _write_all(file.fileno(), b"\n" + lines if torn else lines)
            os.fsync(file.fileno())
        if new:
            _sync_folder(self._path.parent)

    def _read(self, tenant: str) -> ReadBack:
        try:
            with self._path.open("rb") as file:
                return _parsed(iter(lambda: file.readline(MOST_LINE_BYTES), b""), tenant)
        except FileNotFoundError:
            return ReadBack()


class _Remote:
    """A place on a remote file system, connected to when it is first used and kept. `place` blocks."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._place: tuple[AbstractFileSystem, str] | None = None
        self.name: Final = _without_credentials(url)

    def place(self) -> tuple[AbstractFileSystem, str]:
        """The file system and the path on it; raises what the file system raises."""
        if self._place is None:
            self._place = url_to_fs(self._url)
        return self._place


class GrowingUrl(_Remote):
    """A file of lines on a remote file system that can append."""

    async def append(self, checkpoints: Sequence[Checkpoint]) -> None:
        """Add these as lines; raises what the file system raises."""
        await asyncio.to_thread(self._append, b"".join(checkpoint.line() for checkpoint in checkpoints))

    async def read(self, tenant: str) -> ReadBack:
        """Everything the file holds of the tenant."""
        return await asyncio.to_thread(self._read, tenant)

    def _append(self, lines: bytes) -> None:
        system, path = self.place()
        system.makedirs(path.rpartition("/")[0] or "/", exist_ok=True)
        whole = not system.exists(path) or system.tail(path, 1) in (b"", b"\n")
        with system.open(path, "ab") as file:
            file.write(lines if whole else b"\n" + lines)

    def _read(self, tenant: str) -> ReadBack:
        system, path = self.place()
        system.invalidate_cache()
        if not system.exists(path):
            return ReadBack()
        with system.open(path, "rb") as file:
            return _parsed(iter(lambda: file.readline(MOST_LINE_BYTES), b""), tenant)


class FolderUrl(_Remote):
    """A folder with an object for each checkpoint, for object stores. Its name is made of what it holds: nothing is ever replaced by other content."""

    async def append(self, checkpoints: Sequence[Checkpoint]) -> None:
        """Add each as an object; raises what the file system raises."""
        await asyncio.to_thread(self._append, checkpoints)

    async def read(self, tenant: str) -> ReadBack:
        """Everything the folder holds of the tenant."""
        return await asyncio.to_thread(self._read, tenant)

    def _append(self, checkpoints: Sequence[Checkpoint]) -> None:
        system, path = self.place()
        for checkpoint in checkpoints:
            line = checkpoint.line()
            folder = _folder(path, checkpoint.tenant)
            system.makedirs(folder, exist_ok=True)
            name = f"{folder}/{checkpoint.size:016d}-{sha256(line).hexdigest()[:16]}.json"
            if not system.exists(name):
                system.pipe_file(name, line)

    def _read(self, tenant: str) -> ReadBack:
        system, path = self.place()
        system.invalidate_cache()
        folder = _folder(path, tenant)
        names = sorted(system.find(folder)) if system.exists(folder) else []
        lines: list[bytes] = []
        for at in range(0, len(names), _OBJECTS_AT_ONCE):
            found = system.cat(names[at : at + _OBJECTS_AT_ONCE])
            lines.extend(found[name] for name in sorted(found))
        return _parsed(lines, tenant)


def _folder(path: str, tenant: str) -> str:
    """Dots are quoted too: no tenant's name leads out of the folder."""
    return f"{path.rstrip('/')}/tenant-{quote(tenant, safe='').replace('.', '%2E')}"


class Targets:
    """All targets of a server. One that fails is tried again at the next checkpoint, with everything that it lacks by then."""

    def __init__(self, targets: Sequence[Target] = (), deadline_s: float = 30.0) -> None:
        self._targets = tuple(targets)
        self._deadline_s = deadline_s
        self._complete: set[tuple[int, str]] = set()

    async def write(
        self, checkpoint: Checkpoint, stored: Callable[[], Awaitable[Sequence[Checkpoint]]]
    ) -> tuple[str, ...]:
        """Bring a checkpoint that the database holds to every target; the names of those that failed, which are logged.

        `stored` gives all checkpoints of the tenant in the database. It is asked at the first checkpoint and after a failure: what a target lacks
        is seen from what it holds, so that neither a failure nor a restart loses any.
        """
        outcomes = [await self._write(number, checkpoint, stored) for number in range(len(self._targets))]
        return tuple(target.name for target, done in zip(self._targets, outcomes, strict=True) if not done)

    async def read(self, tenant: str) -> tuple[ReadBack, ...]:
        """What each target holds of the tenant. Raises what its file system raises: an auditor must know that one is not there."""
        return tuple([await target.read(tenant) for target in self._targets])

    async def _write(
        self, number: int, checkpoint: Checkpoint, stored: Callable[[], Awaitable[Sequence[Checkpoint]]]
    ) -> bool:
        target, place = self._targets[number], (number, checkpoint.tenant)
        complete = place in self._complete
        self._complete.discard(place)
        try:
            async with asyncio.timeout(self._deadline_s):
                missing = [checkpoint] if complete else await _missing(target, checkpoint.tenant, await stored())
                await target.append(missing)
        except Exception as error:
            # Any file system raises its own errors; none of them may end the turn or the other targets.
            log.error("audit.target.failed", target=target.name, size=checkpoint.size, error=type(error).__name__)
            return False
        self._complete.add(place)
        return True


async def _missing(target: Target, tenant: str, stored: Sequence[Checkpoint]) -> list[Checkpoint]:
    held = await target.read(tenant)
    if held.damaged:
        log.warning("audit.target.damaged", target=target.name, damaged=held.damaged)
    theirs = {checkpoint.state() for checkpoint in held.checkpoints}
    strange = theirs - {checkpoint.state() for checkpoint in stored}
    if strange:
        log.error("audit.target.ahead", target=target.name, tenant=tenant, size=min(size for size, _, _ in strange))
    return [checkpoint for checkpoint in stored if checkpoint.state() not in theirs]


def _parsed(lines: Iterable[bytes], tenant: str) -> ReadBack:
    found: list[Checkpoint] = []
    damaged = 0
    for line in lines:
        try:
            found += [checkpoint_in(line)] if line.strip() else []
        except BadInput:
            damaged += 1
    return ReadBack(tuple(checkpoint for checkpoint in found if checkpoint.tenant == tenant), damaged)


def _write_all(descriptor: int, content: bytes) -> None:
    while content:
        content = content[os.write(descriptor, content) :]


def _sync_folder(folder: Path) -> None:
    """So that a new file's name survives a power cut; only POSIX can open a folder for that."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _without_credentials(url: str) -> str:
    parts = urlsplit(url.rpartition("::")[2])
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
