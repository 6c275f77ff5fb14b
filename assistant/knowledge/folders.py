"""Folders of documents: which files count, and what the sidecar files beside them say. Blocking; run in a thread."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Final

from assistant.errors import BadDocument
from assistant.knowledge.metadata import KEYS, Properties, load_yaml, properties_of
from assistant.knowledge.parsers import SUFFIXES

SIDECARS: Final = (".meta.yaml", ".meta.yml")
"""`NAME.meta.yaml` (with or without the ending of NAME) speaks of one file, `.meta.yaml` of its folder and below."""

IGNORED: Final = ("node_modules", "__pycache__", "__MACOSX", "~$*", "Thumbs.db", "desktop.ini")
_SIDECAR_BYTES: Final = 256 * 1024


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that was not read in: its uri, a stable reason, and a detail for logs."""

    uri: str
    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """A file to read in: its uri (path below the root, with /), where it lies, and its modification time in seconds."""

    uri: str
    path: Path
    modified: float


@dataclass(slots=True)
class Scan:
    """What a folder holds. `unseen` are folders that could not be listed: nothing is known about what is in them."""

    root: Path
    files: list[Found] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)


def scan_folder(root: Path, ignore: Sequence[str] = ()) -> Scan:
    """All files below a folder in a stable order. Hidden and ignored ones are left out, links out of the folder too.

    `ignore` holds globs over names and over paths below the root. Linked folders are not entered.
    """
    scan = Scan(root.resolve())
    patterns = (*IGNORED, *ignore)

    def failed(error: OSError) -> None:
        folder = Path(error.filename or scan.root)
        uri = "" if folder == scan.root else folder.relative_to(scan.root).as_posix() + "/"
        scan.unseen.append(uri)
        scan.skipped.append(Skipped(uri or ".", "unreadable", type(error).__name__))

    for folder, folders, names in os.walk(scan.root, onerror=failed):
        below = PurePosixPath(Path(folder).relative_to(scan.root).as_posix())
        folders[:] = sorted(name for name in folders if not _ignored(below / name, patterns))
        for name in sorted(names):
            if not _ignored(below / name, patterns):
                _consider(scan, Path(folder, name), str(below / name))
    return scan


def scan_file(path: Path) -> Scan:
    """One file, named by its name alone."""
    scan = Scan(path.parent.resolve())
    _consider(scan, scan.root / path.name, path.name)
    return scan


def _ignored(path: PurePosixPath, patterns: Sequence[str]) -> bool:
    if path.name.startswith(".") or path.name.endswith(SIDECARS):
        return True
    return any(fnmatchcase(path.name, pattern) or fnmatchcase(str(path), pattern) for pattern in patterns)


def _consider(scan: Scan, path: Path, uri: str) -> None:
    """Add a file to the scan, or to what was skipped with the reason."""
    try:
        uri.encode()
        if path.is_symlink() and not path.resolve().is_relative_to(scan.root):
            scan.skipped.append(Skipped(uri, "outside", "a link that leads out of the folder"))
            return
        state = path.stat()
    except UnicodeEncodeError:
        scan.skipped.append(Skipped(uri.encode("utf-8", "replace").decode(), "bad_name", "a name that is not Unicode"))
    except (OSError, RuntimeError) as error:
        scan.skipped.append(Skipped(uri, "unreadable", type(error).__name__))
    else:
        if not stat.S_ISREG(state.st_mode):
            scan.skipped.append(Skipped(uri, "unsupported", "not a regular file"))
        elif PurePosixPath(uri).suffix.lower() not in SUFFIXES:
            scan.skipped.append(Skipped(uri, "unsupported", PurePosixPath(uri).suffix.lower()[:20]))
        else:
            scan.files.append(Found(uri, path, state.st_mtime))


class Sidecars:
    """Reads sidecar files, each once."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._folders: dict[Path, Properties | BadDocument] = {}

    def of(self, path: Path) -> Properties:
        """What the sidecars say about a file: its own first, then its folder's and those above up to the root.

        Raises BadDocument bad_metadata when one of them cannot be understood: it may have been there to protect.
        """
        known = _first(path.with_name(name + end) for name in (path.name, path.stem) for end in SIDECARS)
        for folder in self._up(path.parent):
            known = known.over(self._folder(folder))
        return known

    def _up(self, folder: Path) -> Iterator[Path]:
        while True:
            yield folder
            if folder == self._root or folder == folder.parent:
                return
            folder = folder.parent

    def _folder(self, folder: Path) -> Properties:
        if folder not in self._folders:
            try:
                self._folders[folder] = _first(folder / end for end in SIDECARS)
            except BadDocument as error:
                self._folders[folder] = error
        found = self._folders[folder]
        if isinstance(found, BadDocument):
            raise BadDocument(found.detail, reason="bad_metadata")
        return found


def _first(paths: Iterable[Path]) -> Properties:
    """What the first of these files that exists says; nothing when there is none."""
    return next((said for path in paths if (said := _read(path)) is not None), Properties())


def _read(path: Path) -> Properties | None:
    """One sidecar. A key that is not understood is refused: it may be `access` with a slip in it."""
    try:
        if path.stat().st_size > _SIDECAR_BYTES:
            raise BadDocument(f"{path.name} is too large", reason="bad_metadata")
        values = load_yaml(path.read_text("utf-8-sig"))
        if unknown := sorted(values.keys() - KEYS):
            raise BadDocument(f"{path.name}: unknown key {unknown[0][:40]}", reason="bad_metadata")
        return properties_of(values)
    except FileNotFoundError:
        return None
    except (OSError, UnicodeError) as error:
        raise BadDocument(f"{path.name}: {type(error).__name__}", reason="bad_metadata") from error
