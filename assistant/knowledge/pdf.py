"""PDF to pieces, page by page, by PDFium (pypdfium2).

PDFium gives the characters in reading order, broken into lines. The place and size of the characters tell what it does
not say: which lines are wrapping, which gaps are columns, which lines are headings, headers, footers.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import pypdfium2
import pypdfium2.raw as raw

from assistant.knowledge.dates import parse_date
from assistant.knowledge.documents import Limits, Piece, refuse
from assistant.knowledge.metadata import Properties
from assistant.knowledge.pdf_layout import Line, Page, to_pieces
from assistant.knowledge.pdf_pictures import Looker, Seen, draw

_PASSWORD: Final = raw.FPDF_ERR_PASSWORD
_BLANK: Final = frozenset({9, 32, 160})
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
        pages = _illustrated(document, list(_pages(document, limits)), limits)
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


def _illustrated(document: Any, pages: list[tuple[Page, list[Seen]]], limits: Limits) -> list[Page]:
    figures = draw(document, {page.number - 1: seen for page, seen in pages if seen}, limits)
    return [replace(page, figures=figures.get(page.number - 1, ())) for page, _ in pages]


def _pages(document: Any, limits: Limits) -> Iterator[tuple[Page, list[Seen]]]:
    """The lines of each page, and the images that were seen on it."""
    total = 0
    looker = Looker(limits)
    for number in range(len(document)):
        page = document[number]
        text = page.get_textpage()
        total += text.count_chars()
        if total > limits.characters:
            raise refuse("too_large", f"more than {limits.characters} characters of text")
        yield Page(number + 1, page.get_height(), tuple(_lines(text))), looker.look(page)
        text.close()
        page.close()


class _Letters:
    """The characters of a page by index: their code points, boxes and sizes in points."""

    def __init__(self, text: Any) -> None:
        self._text = text.raw
        self.codes = _codes(self._text, text.count_chars())
        self._rect = raw.FS_RECTF()
        self._place = ctypes.byref(self._rect)

    def box(self, index: int) -> tuple[float, float, float, float]:
        """left, bottom, right, top from the lower left corner, as wide as the letter advances and as high as its font."""
        raw.FPDFText_GetLooseCharBox(self._text, index, self._place)
        return self._rect.left, self._rect.bottom, self._rect.right, self._rect.top

    def bold(self, index: int) -> bool:
        """Whether the font is a bold one."""
        return bool(raw.FPDFText_GetFontWeight(self._text, index) >= 600)


def _codes(text: Any, total: int) -> list[int]:
    """All code points of a page; in one call where PDFium's text has one UTF-16 unit for each character."""
    buffer = (ctypes.c_ushort * (total + 1))()
    if raw.FPDFText_GetText(text, 0, total, buffer) == total + 1:
        return list(buffer)[:total]
    return [raw.FPDFText_GetUnicode(text, index) for index in range(total)]


def _lines(text: Any) -> Iterator[Line]:
    """The lines of a page; a line end is a CR or LF that PDFium set."""
    letters = _Letters(text)
    first = 0
    for index, code in enumerate([*letters.codes, 10]):
        if code in {10, 13}:
            if line := _line(letters, first, index):
                yield line
            first = index + 1


def _line(letters: _Letters, first: int, stop: int) -> Line | None:
    """A line with its box; gaps wider than a letter part its cells."""
    codes = letters.codes
    while first < stop and codes[first] in _BLANK:
        first += 1
    while stop > first and codes[stop - 1] in _BLANK:
        stop -= 1
    if first >= stop:
        return None
    left, bottom, _, top = letters.box(first)
    size = round(top - bottom, 1) if top > bottom else 10.0
    hyphenated = codes[stop - 1] in _HYPHENS
    return Line(
        cells=tuple(_cells(letters, first, stop, 1.2 * size)),
        left=left,
        right=letters.box(stop - 1 - hyphenated)[2],
        top=top,
        bottom=bottom,
        size=size,
        bold=letters.bold(first),
        hyphenated=hyphenated,
    )


def _cells(letters: _Letters, first: int, stop: int, wide: float) -> Iterator[str]:
    """The text between gaps wider than `wide`."""
    begin = first
    for index in range(first + 1, stop - 1):
        if letters.codes[index] in _BLANK and _gap(letters, index) > wide:
            yield from filter(None, [_text(letters.codes[begin:index])])
            begin = index + 1
    yield from filter(None, [_text(letters.codes[begin:stop])])


def _text(codes: list[int]) -> str:
    return "".join(_letter(code) for code in codes if code and code not in _HYPHENS).strip()


def _letter(code: int) -> str:
    return chr(code) if code < 0x110000 else "\ufffd"


def _gap(letters: _Letters, index: int) -> float:
    """The white between the letters on both sides of a blank; 0 beside another blank, which is asked in its turn."""
    codes = letters.codes
    after = index + 1
    while codes[after] in _BLANK:
        after += 1
    if codes[index - 1] in _BLANK:
        return 0.0
    return letters.box(after)[0] - letters.box(index - 1)[2]
