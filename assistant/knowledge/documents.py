"""What a parser gives back: one clean text, and blocks that say which span of it is a heading, a row, an item.

Parsers emit `Piece`s in reading order. `assemble` joins them into the text that is stored, cited and never changed
again: paragraphs separated by an empty line, headings as `## `, list items as `- `, table rows as `| a | b |`. Words
are never changed; only white space, invisible characters and markup go.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from assistant.core.evidence import Region
from assistant.core.text import CJK, Span, remove_invisible
from assistant.errors import BadDocument
from assistant.knowledge.metadata import Properties

MEBIBYTE: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """What one document may cost. Sizes in bytes, characters in code points, time in seconds.

    `unpacked` and `ratio` bound what a zip container (DOCX, PPTX, XLSX) may inflate to; `depth` bounds the nesting of
    HTML; `memory` bounds the address space of a reading process where the system can enforce it. `images` and
    `image_bytes` bound the pictures that are kept, as they are kept; `pixels` bounds one picture before it is decoded.
    """

    bytes: int = 64 * MEBIBYTE
    characters: int = 5_000_000
    pages: int = 5_000
    members: int = 10_000
    unpacked: int = 512 * MEBIBYTE
    ratio: int = 200
    depth: int = 2_000
    seconds: float = 60.0
    memory: int = 3_072 * MEBIBYTE
    images: int = 200
    image_bytes: int = 20 * MEBIBYTE
    pixels: int = 50_000_000


class Kind(StrEnum):
    """What a block is. A `HEADER` is the first row of a table and starts it; `ROW`s follow. An `IMAGE` stands for one."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    ITEM = "item"
    HEADER = "header"
    ROW = "row"
    CODE = "code"
    IMAGE = "image"


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture as it is kept: PNG or JPEG without metadata, and where it stands on its page when the format says so."""

    content: bytes
    media_type: str
    region: Region | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """A block before it has a place: `level` is 1..6 for headings and the depth from 0 for items.

    The text of an image is its caption, empty when nobody wrote one; without a `picture` it could not be shown.
    """

    kind: Kind
    text: str
    level: int = 0
    page: int | None = None
    mark: str = "-"
    picture: Picture | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """A block of the text: its span, the headings above it (itself included when it is one), its page.

    `header` is the text of the table's header row for rows, else empty.
    """

    kind: Kind
    span: Span
    path: tuple[str, ...] = ()
    page: int | None = None
    header: str = ""


@dataclass(frozen=True, slots=True)
class Illustration:
    """A picture of a document: the caption that stands for it, and the span of the line that holds the caption."""

    picture: Picture
    caption: str
    span: Span
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Parsed:
    """A document that was read: the text everything refers to, its blocks, and what the document says about itself.

    `front` was written by the author for us (front matter) and may hold access groups; `embedded` comes from the
    format (core properties, HTML meta, mail headers) and never does.
    """

    title: str | None
    text: str
    blocks: tuple[Block, ...]
    media_type: str
    language: str
    front: Properties = field(default_factory=Properties)
    embedded: Properties = field(default_factory=Properties)
    images: tuple[Illustration, ...] = ()


def refuse(reason: str, detail: str = "") -> BadDocument:
    """The error of a document that cannot be read.

    `reason` is one of too_large, encrypted, corrupt, unsupported, empty, not_text, bomb, too_slow, bad_metadata.
    """
    return BadDocument(detail or reason, reason=reason)


_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_LINE_END: Final = re.compile("\r\n?|[\u0085\u2028\u2029\v\f]")
_BLANKS: Final = re.compile(r"[^\S\n]+")
_CJK_MARK: Final = rf"{CJK}\u3000-\u303f\uff00-\uffef\u2018-\u201f\u2026\u2014"
_CJK_BREAK: Final = re.compile(rf"(?<=[{_CJK_MARK}])[^\S\n]*\n[^\S\n]*(?=[{_CJK_MARK}])")


def readable(text: str) -> str:
    """The text with line ends as LF and without invisible characters and lone surrogates; words are untouched."""
    return remove_invisible(_LINE_END.sub("\n", _SURROGATE.sub("\ufffd", text)))


def fold(text: str) -> str:
    """One line of running text: every run of white space is one space; a break between Chinese characters is none."""
    return " ".join(_CJK_BREAK.sub("", text).split())


def fold_lines(text: str) -> str:
    """The lines of a text, each folded, without empty ones."""
    return "\n".join(line for line in (_BLANKS.sub(" ", line).strip() for line in text.split("\n")) if line)


def row(cells: Sequence[str]) -> str:
    """A table row as text, without empty cells at its end; empty when no cell holds anything."""
    filled = [fold(cell) for cell in cells]
    while filled and not filled[-1]:
        filled.pop()
    return "| " + " | ".join(filled) + " |" if filled else ""


def table(rows: Iterable[Sequence[str]], page: int | None = None) -> list[Piece]:
    """The pieces of a table; the first row that holds anything is its header."""
    pieces: list[Piece] = []
    for cells in rows:
        if text := row(cells):
            pieces.append(Piece(Kind.ROW if pieces else Kind.HEADER, text, page=page))
    return pieces


def assemble(pieces: Iterable[Piece], limits: Limits) -> tuple[str, tuple[Block, ...]]:
    """Join pieces into the text and its blocks. Raises BadDocument empty or too_large."""
    parts: list[str] = []
    blocks: list[Block] = []
    headings: list[tuple[int, str]] = []
    header, offset, before = "", 0, None
    for piece in pieces:
        body = _written(piece)
        if not body:
            continue
        gap = _gap(before, piece.kind)
        start = offset + len(gap)
        if piece.kind is Kind.HEADING:
            headings = [*(one for one in headings if one[0] < piece.level), (piece.level, fold(readable(piece.text)))]
        header = body if piece.kind is Kind.HEADER else header if piece.kind is Kind.ROW else ""
        path = tuple(text for _, text in headings)
        shown = header if piece.kind is Kind.ROW else ""
        blocks.append(Block(piece.kind, Span(start, start + len(body)), path, piece.page, shown))
        parts += [gap, body]
        offset, before = start + len(body), piece.kind
        if offset > limits.characters:
            raise refuse("too_large", f"more than {limits.characters} characters of text")
    if not blocks:
        raise refuse("empty", "no text in the document")
    return "".join(parts), tuple(blocks)


def _written(piece: Piece) -> str:
    """The text of a piece as it stands in the document, empty when there is nothing to read."""
    text = readable(piece.text)
    if piece.kind is Kind.CODE:
        lines = [line.rstrip() for line in text.expandtabs(4).split("\n")]
        return "\n".join(line for line in lines if line.strip())
    body = fold_lines(text)
    if piece.kind is Kind.HEADING:
        return "#" * min(max(piece.level, 1), 6) + " " + fold(body) if body else ""
    if piece.kind is Kind.ITEM:
        return "  " * min(piece.level, 8) + f"{piece.mark} " + fold(body) if body else ""
    return fold(body) if piece.kind in {Kind.ROW, Kind.HEADER} else body


_TIGHT: Final = {Kind.ITEM: {Kind.ITEM}, Kind.ROW: {Kind.ROW, Kind.HEADER}}


def _gap(before: Kind | None, kind: Kind) -> str:
    if before is None:
        return ""
    return "\n" if before in _TIGHT.get(kind, set()) else "\n\n"
