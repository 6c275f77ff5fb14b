"""The registry of parsers: what a file is, told by its bytes and then by its name, and who reads it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Final

from assistant.core.text import language, prompt_language
from assistant.errors import BadDocument
from assistant.knowledge import ocr
from assistant.knowledge.captions import captioned, illustrations
from assistant.knowledge.documents import Kind, Limits, Parsed, Piece, assemble, fold, refuse
from assistant.knowledge.html import parse_html
from assistant.knowledge.mail import parse_mail
from assistant.knowledge.markdown import parse_markdown
from assistant.knowledge.metadata import Properties, stem_title
from assistant.knowledge.office import is_generated_title, open_container
from assistant.knowledge.pdf import parse_pdf
from assistant.knowledge.pictures import decoded, encode
from assistant.knowledge.plain import decode, parse_plain
from assistant.knowledge.slides import parse_pptx
from assistant.knowledge.tables import parse_csv, parse_workbook
from assistant.knowledge.word import parse_docx

PARSER_VERSION: Final = "2"
"""Raised whenever the same bytes may give another text, so that a sync reads everything again."""


@dataclass(frozen=True, slots=True)
class Read:
    """What a reader found: pieces, what the author says in front matter, what the format says."""

    pieces: list[Piece]
    front: Properties = field(default_factory=Properties)
    embedded: Properties = field(default_factory=Properties)


Reader = Callable[[bytes, Limits], Read]


def _markdown(data: bytes, limits: Limits) -> Read:
    pieces, front = parse_markdown(decode(data), limits)
    return Read(pieces, front=front)


def _html(data: bytes, limits: Limits) -> Read:
    pieces, embedded = parse_html(decode(data, _declared(data)), limits)
    return Read(pieces, embedded=embedded)


def _declared(data: bytes) -> str | None:
    """The encoding that a page names in its first kilobyte."""
    head = data[:1024].lower()
    place = head.find(b"charset=")
    if place < 0:
        return None
    name = head[place + 8 :].lstrip(b"\"' ")[:40]
    return "".join(chr(code) for code in name.split(b">")[0] if chr(code).isalnum() or chr(code) in "-_") or None


def _mail(data: bytes, limits: Limits, depth: int = 0) -> Read:
    def attachment(inner: bytes, name: str) -> list[Piece]:
        kind = sniff(inner, name)
        if kind == _MAIL:
            return _mail(inner, limits, depth + 1).pieces if depth < 3 else []
        return READERS[kind](inner, limits).pieces

    pieces, embedded = parse_mail(data, limits, attachment)
    return Read(pieces, embedded=embedded)


def _with_properties(parse: Callable[[bytes, Limits], tuple[list[Piece], Properties]]) -> Reader:
    def read(data: bytes, limits: Limits) -> Read:
        pieces, embedded = parse(data, limits)
        return Read(pieces, embedded=embedded)

    return read


def _workbook(data: bytes, limits: Limits) -> Read:
    if data.startswith(_ZIP):
        open_container(data, limits).close()
    return Read(parse_workbook(data, limits))


def _picture(data: bytes, limits: Limits) -> Read:
    """A picture file: one image, and its text where it can be read."""
    found = decoded(data, limits)
    pieces = [Piece(Kind.IMAGE, "", picture=encode(found.image, lossless=found.lossless))]
    if ocr.is_installed():
        large = encode(decoded(data, limits, longest=ocr.LONGEST).image, lossless=True)
        pieces += parse_plain(ocr.text_of(large.content))
    return Read(pieces)


_OOXML: Final = "application/vnd.openxmlformats-officedocument."
_MARKDOWN, _HTML, _PLAIN, _MAIL, _PDF = "text/markdown", "text/html", "text/plain", "message/rfc822", "application/pdf"
_CSV, _TSV, _OLD_EXCEL = "text/csv", "text/tab-separated-values", "application/vnd.ms-excel"
_DOCX = f"{_OOXML}wordprocessingml.document"
_PPTX = f"{_OOXML}presentationml.presentation"
_XLSX = f"{_OOXML}spreadsheetml.sheet"
_ODS = "application/vnd.oasis.opendocument.spreadsheet"
_PICTURES: Final = {
    "image/png": b"\x89PNG",
    "image/jpeg": b"\xff\xd8\xff",
    "image/gif": b"GIF8",
    "image/webp": b"RIFF",
    "image/tiff": b"II*\0",
    "image/bmp": b"BM",
}

READERS: Final[Mapping[str, Reader]] = {
    _MARKDOWN: _markdown,
    _HTML: _html,
    _PLAIN: lambda data, _limits: Read(parse_plain(decode(data))),
    _CSV: lambda data, limits: Read(parse_csv(decode(data), limits)),
    _TSV: lambda data, limits: Read(parse_csv(decode(data), limits, delimiter="\t")),
    _MAIL: _mail,
    _PDF: _with_properties(parse_pdf),
    _DOCX: _with_properties(parse_docx),
    _PPTX: _with_properties(parse_pptx),
    _XLSX: _workbook,
    _ODS: _workbook,
    _OLD_EXCEL: _workbook,
    **dict.fromkeys(_PICTURES, _picture),
}
"""media type -> reader."""

_BY_NAME: Final = {
    **dict.fromkeys((".md", ".markdown", ".mdx", ".mkd"), _MARKDOWN),
    **dict.fromkeys((".html", ".htm", ".xhtml"), _HTML),
    **dict.fromkeys((".txt", ".text", ".log", ".rst", ".adoc", ".org", ""), _PLAIN),
    **dict.fromkeys((".csv",), _CSV),
    **dict.fromkeys((".tsv", ".tab"), _TSV),
    ".eml": _MAIL,
}
_BINARY_NAMES: Final = frozenset(str.split(".pdf .docx .docm .dotx .pptx .pptm .ppsx .xlsx .xlsm .xlsb .xls .ods"))
_PICTURE_NAMES: Final = frozenset(str.split(".png .jpg .jpeg .gif .webp .tif .tiff .bmp"))
SUFFIXES: Final = frozenset(_BY_NAME) | _BINARY_NAMES | _PICTURE_NAMES
"""The file name endings that can be read, lower case; empty for names without one."""

_ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06")
_OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_PACKED: Final = (b"\x1f\x8b", b"7z\xbc\xaf", b"Rar!", b"\x7fELF", b"RIFF")
_INSIDE: Final = (
    ("word/document.xml", _DOCX),
    ("ppt/presentation.xml", _PPTX),
    ("xl/workbook.xml", _XLSX),
    ("xl/workbook.bin", _XLSX),
)


def sniff(data: bytes, name: str, limits: Limits | None = None) -> str:
    """The media type of a file. The bytes decide where they can; among texts the name does.

    Raises BadDocument unsupported, corrupt (the name promises a format the bytes are not), encrypted or bomb.
    """
    start = data[:1024].lstrip(b"\xef\xbb\xbf \t\r\n")
    suffix = PurePosixPath(name.replace("\\", "/")).suffix.lower()
    if b"%PDF-" in data[:1024] and not start.startswith((b"<", b"#", b"-")):
        return _PDF
    if data.startswith(_ZIP):
        return _in_zip(data, limits or Limits())
    if data.startswith(_OLE):
        return _in_ole(data)
    if kind := picture_type(data, suffix):
        return kind
    if data.startswith(_PACKED):
        raise refuse("unsupported", "archives, sounds and programs are not read")
    if suffix in _BINARY_NAMES | _PICTURE_NAMES:
        raise refuse("corrupt" if data.strip(b"\0") else "empty", f"not what {suffix} promises")
    if suffix not in _BY_NAME:
        raise refuse("unsupported", f"no parser for {suffix[:20]}")
    if suffix in {".txt", ""} and start[:15].lower().startswith((b"<!doctype html", b"<html")):
        return _HTML
    return _BY_NAME[suffix]


def picture_type(data: bytes, suffix: str) -> str | None:
    """The media type of a picture, told by its first bytes; two letters are enough only where the name agrees."""
    if data.startswith(b"MM\0*"):
        return "image/tiff"
    for kind, start in _PICTURES.items():
        if data.startswith(start):
            wanted = {"image/webp": data[8:12] == b"WEBP", "image/bmp": suffix == ".bmp"}
            return kind if wanted.get(kind, True) else None
    return None


def _in_zip(data: bytes, limits: Limits) -> str:
    with open_container(data, limits, parts=False) as container:
        names = set(container.namelist())
        for member, kind in _INSIDE:
            if member in names:
                return kind
        if "mimetype" in names and container.read("mimetype").strip() == _ODS.encode():
            return _ODS
    raise refuse("unsupported", "a zip archive that is no office document")


def _in_ole(data: bytes) -> str:
    """Office files of before 2007, or a newer one that was encrypted ([MS-OFFCRYPTO])."""
    if "EncryptedPackage".encode("utf-16-le") in data:
        raise refuse("encrypted", "the office document needs a password")
    if "Workbook".encode("utf-16-le") in data or "Book".encode("utf-16-le") in data:
        return _OLD_EXCEL
    raise refuse("unsupported", "Word and PowerPoint files of before 2007 are not read")


def parse(data: bytes, name: str, *, limits: Limits | None = None, caption: str | None = None) -> Parsed:
    """Read a document. Blocking and without a clock: the time limit is kept by the process pool around it.

    `caption` says what a picture file shows; without one its name does. Raises BadDocument with `data["reason"]` in too_large, encrypted, corrupt, unsupported, empty, not_text, bomb,
    bad_metadata; nothing else, whatever the bytes are.
    """
    limits = limits or Limits()
    if len(data) > limits.bytes:
        raise refuse("too_large", f"more than {limits.bytes} bytes")
    if not data.strip(b"\0\t\r\n "):
        raise refuse("empty", "nothing in the file")
    media_type = sniff(data, name, limits)
    try:
        read = READERS[media_type](data, limits)
        named = _named(read.pieces, caption or stem_title(name)) if media_type in _PICTURES else read.pieces
        pieces = captioned(named, limits, chinese=_is_chinese(named))
        text, blocks = assemble(pieces, limits)
    except BadDocument:
        raise
    except MemoryError as error:
        raise refuse("too_large", "not enough memory") from error
    except Exception as error:
        raise refuse("corrupt", f"{media_type}: {type(error).__name__}") from error
    title = _title(read)
    embedded = replace(read.embedded, title=None)
    images = illustrations(pieces, blocks, text)
    return Parsed(title, text, blocks, media_type, language(text[:100_000]), read.front, embedded, images)


def _named(pieces: list[Piece], caption: str) -> list[Piece]:
    """The pieces of a picture file with what it shows."""
    return [replace(piece, text=caption) if piece.kind is Kind.IMAGE else piece for piece in pieces]


def _is_chinese(pieces: list[Piece]) -> bool:
    """Whether the lines that stand for images are to be Chinese. Raises BadDocument empty when there are no words at all."""
    words = " ".join(piece.text for piece in pieces if piece.text)[:100_000]
    if pieces and not words.strip():
        raise refuse("empty", "pictures without any text")
    return prompt_language(words) == "zh"


def _title(read: Read) -> str | None:
    """Front matter, the heading the document opens with, then the title among the properties."""
    said = read.embedded.title
    top = [piece for piece in read.pieces if piece.kind is Kind.HEADING and piece.level == 1]
    opening = next((piece for piece in read.pieces if piece.kind is not Kind.IMAGE), None)
    first = top[0] if len(top) == 1 or (top and top[0] is opening) else None
    heading = fold(first.text)[:300] if first else None
    return read.front.title or heading or (said if said and not is_generated_title(said) else None)
