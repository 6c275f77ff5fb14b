"""Files of an export: written line by line and hashed as they grow, put in place only when all are there."""

from __future__ import annotations

import csv
import hashlib
import io
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from assistant.errors import BadInput

_CHUNK: Final = 1 << 20
_BOM: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What the manifest says of a file: size in bytes, sha256, and how many lines or rows it has."""

    name: str
    size: int
    sha256: str
    lines: int


class HashedFile:
    """A file that knows its hash; readable by its owner alone."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: BinaryIO = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
        self._hash = hashlib.sha256()
        self._size = 0
        self._lines = 0

    def write(self, content: bytes, lines: int = 0) -> None:
        """More bytes, which hold so many lines."""
        self._file.write(content)
        self._hash.update(content)
        self._size += len(content)
        self._lines += lines

    def write_lines(self, lines: Iterable[str]) -> None:
        """More lines; each must be free of line ends."""
        encoded = [line.encode() + b"\n" for line in lines]
        self.write(b"".join(encoded), len(encoded))

    def close(self) -> FileFacts:
        """Put everything on the disk and say what the file holds."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        return FileFacts(self._path.name, self._size, self._hash.hexdigest(), self._lines)

    def discard(self) -> None:
        """Close the file as it is."""
        self._file.close()


def csv_start(columns: Sequence[str]) -> bytes:
    """The beginning of a CSV file: the byte order mark that spreadsheets need to read UTF-8, and the row of names."""
    return _BOM + csv_rows([columns])


def csv_rows(rows: Iterable[Sequence[str]]) -> bytes:
    """Rows as RFC 4180 has them: CRLF, quotes doubled."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows(rows)
    return text.getvalue().encode()


def start(target: Path) -> Path:
    """A new folder of this user alone, beside the target; BadInput when the target exists or its folder does not."""
    if target.exists():
        raise BadInput("there is something already where the export should go", reason="exists")
    if not target.parent.is_dir():
        raise BadInput("there is no folder to export into", reason="no_folder")
    return Path(tempfile.mkdtemp(prefix=f".{target.name[:40]}.", dir=target.parent))


def finish(folder: Path, target: Path) -> None:
    """Make the written folder the target, in one step."""
    if target.suffix.lower() != ".zip":
        folder.rename(target)
        return
    packed = folder / ".zip"
    _pack(folder, packed)
    packed.rename(target)
    shutil.rmtree(folder)


def discard(folder: Path) -> None:
    """Remove what was begun."""
    shutil.rmtree(folder, ignore_errors=True)


def _pack(folder: Path, packed: Path) -> None:
    """A zip of the files of a folder, each read in pieces."""
    descriptor = os.open(packed, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    names = sorted(path for path in folder.iterdir() if path != packed)
    with (
        os.fdopen(descriptor, "wb") as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as zipped,
    ):
        for path in names:
            with path.open("rb") as source, zipped.open(path.name, "w", force_zip64=True) as entry:
                shutil.copyfileobj(source, entry, _CHUNK)
        file.flush()
    with packed.open("rb") as written:
        os.fsync(written.fileno())
