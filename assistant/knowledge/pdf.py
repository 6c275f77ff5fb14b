"""PDF to pieces, page by page, by PDFium (pypdfium2).

PDFium gives the characters in reading order, broken into lines. The place and size of the characters tell what it does
not say: which lines are wrapping, which gaps are columns, which lines are headings, headers, footers.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any, Final

import pypdfium2
import pypdfium2.raw as raw

from assistant.knowledge.dates import parse_date
from assistant.knowledge.documents import Limits, Piece, refuse
from assistant.knowledge.metadata import Properties
from assistant.knowledge.pdf_layout import Line, Page, to_pieces

_PASSWORD: Final = raw.FPDF_ERR_PASSWORD
_HYPHENS: Final = {0xFFFE, 0x0002, 0x00AD}
_NO_VALUE: Final = frozenset({"", "(anonymous)", "(unspecified)", "untitled", "anonymous", "unspecified"})


def parse_pdf(data: bytes, limits: Limits) -> tuple[list[Piece], Properties]:
    """The pieces of a PDF with their pages, and its title, author and date.

    Raises BadDocument encrypted (a password is needed), corrupt, too_large (pages). A scan without text gives nothing.
    """
    document = _open(data)
    try:
        if len(document) > limits.pages:
            raise refuse("too_large", f"more than {limits.pages} pages")
        pages = list(_pages(document, limits))
        said = document.get_metadata_dict()
    except pypdfium2.PdfiumError as error:
        raise refuse("corrupt", f"PDF: {error}") from error
    finally:
        document.close()
    return to_pieces(pages), _properties(said)


def _open(data: bytes) -> Any:
    try:
        return pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == _PASSWORD or "password" in str(error).lower():
            raise refuse("encrypted", "the PDF needs a password") from error
        raise refuse("corrupt", f"PDF: {error}") from error


def _properties(said: dict[str, str]) -> Properties:
    kept = {key: value.strip() for key, value in said.items() if value.strip().lower() not in _NO_VALUE}
    stamp = parse_date(kept.get("ModDate", "")) or parse_date(kept.get("CreationDate", ""))
    return Properties(title=kept.get("Title"), owner=kept.get("Author"), date=stamp)


def _pages(document: Any, limits: Limits) -> Iterator[Page]:
    total = 0
    for number in range(len(document)):
        page = document[number]
        text = page.get_textpage()
        total += text.count_chars()
        if total > limits.characters:
            raise refuse("too_large", f"more than {limits.characters} characters of text")
        yield Page(number + 1, page.get_height(), tuple(_lines(text)))
        text.close()
        page.close()


def _lines(text: Any) -> Iterator[Line]:
    """The lines of a page; a line end is a CR or LF that PDFium set."""
    first = 0
    total = text.count_chars()
    codes = [raw.FPDFText_GetUnicode(text, index) for index in range(total)]
    for index, code in enumerate([*codes, 10]):
        if code in {10, 13}:
            if line := _line(text, codes, first, index):
                yield line
            first = index + 1


def _line(text: Any, codes: list[int], first: int, stop: int) -> Line | None:
    """A line with its box; gaps wider than a letter part its cells."""
    while first < stop and codes[first] in {9, 32, 160}:
        first += 1
    while stop > first and codes[stop - 1] in {9, 32, 160}:
        stop -= 1
    if first >= stop:
        return None
    hyphenated = codes[stop - 1] in _HYPHENS
    size = _size(text, first)
    cells: list[str] = []
    letters: list[str] = []
    for index in range(first, stop):
        code = codes[index]
        if code in {32, 160} and letters and _gap(text, codes, index) > 1.2 * size:
            cells.append("".join(letters))
            letters = []
        elif code not in _HYPHENS and code:
            letters.append(chr(code) if code < 0x110000 else "\ufffd")
    cells.append("".join(letters))
    left, bottom, _, top = _box(text, first)
    return Line(
        cells=tuple(cell.strip() for cell in cells if cell.strip()),
        left=left,
        right=_box(text, stop - 1 - hyphenated)[2],
        top=top,
        bottom=bottom,
        size=size,
        bold=raw.FPDFText_GetFontWeight(text, first) >= 600,
        hyphenated=hyphenated,
    )


def _size(text: Any, first: int) -> float:
    """The size of the letters in points: the font's size as the page scales it, from the box when that is missing."""
    box = raw.FS_RECTF()
    if raw.FPDFText_GetLooseCharBox(text, first, ctypes.byref(box)) and box.top > box.bottom:
        return round(float(box.top - box.bottom), 1)
    return round(float(raw.FPDFText_GetFontSize(text, first)), 1) or 10.0


def _gap(text: Any, codes: list[int], index: int) -> float:
    """The white between the letters on both sides of a space."""
    after = index + 1
    while after < len(codes) and codes[after] in {32, 160}:
        after += 1
    before = index - 1
    if after >= len(codes) or before < 0:
        return 0.0
    return float(_box(text, after)[0] - _box(text, before)[2])


def _box(text: Any, index: int) -> tuple[float, float, float, float]:
    """left, bottom, right, top of a character in points from the lower left corner."""
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    raw.FPDFText_GetCharBox(text, index, *map(ctypes.byref, (left, right, bottom, top)))
    return left.value, bottom.value, right.value, top.value
