"""Tables to pieces: CSV by the standard library, workbooks (XLSX, XLSM, XLSB, XLS, ODS) by calamine."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from typing import Final

from python_calamine import CalamineError, CalamineWorkbook, SheetVisibleEnum

from assistant.knowledge.documents import Kind, Limits, Piece, readable, refuse, table

_DELIMITERS: Final = ",;\t|"
_CELL_CHARACTERS: Final = 1_000_000


def parse_csv(text: str, limits: Limits, *, delimiter: str | None = None) -> list[Piece]:
    """One table, its first row the header. The delimiter is the one of , ; tab | that cuts the first lines alike."""
    csv.field_size_limit(_CELL_CHARACTERS)
    text = readable(text)
    try:
        return titled(_bounded(csv.reader(io.StringIO(text), delimiter=delimiter or _delimiter(text)), limits))
    except csv.Error as error:
        raise refuse("corrupt", f"not CSV: {error}") from error


def _bounded(rows: Iterator[list[str]], limits: Limits) -> Iterator[list[str]]:
    total = 0
    for cells in rows:
        total += sum(map(len, cells)) + len(cells)
        if total > limits.characters:
            raise refuse("too_large", f"more than {limits.characters} characters of cells")
        yield cells


def _delimiter(text: str) -> str:
    """The delimiter that gives the most columns on which the first lines agree."""

    def agreement(mark: str) -> int:
        rows = list(csv.reader(io.StringIO(text[:20_000]), delimiter=mark))[:20]
        counts = [len(cells) for cells in rows if cells]
        return max((n * counts.count(n) for n in set(counts) if n > 1), default=0)

    return max(_DELIMITERS, key=agreement)


def parse_workbook(data: bytes, limits: Limits) -> list[Piece]:
    """Each visible sheet as a heading and a table; sheets count as pages.

    Cells hold their values, not their display: 0.15 shown as 15 % is read as 0.15. Raises BadDocument corrupt.
    """
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(data))
        names = [sheet.name for sheet in book.sheets_metadata if sheet.visible == SheetVisibleEnum.Visible]
        return [piece for page, name in enumerate(names, start=1) for piece in _sheet(book, name, page, limits)]
    except CalamineError as error:
        raise refuse("corrupt", f"workbook: {error}") from error


def titled(rows: Iterator[list[str]], page: int | None = None) -> list[Piece]:
    """A table under lines of one cell, which are its title and not its header."""
    lines = [cells for cells in rows if any(cell.strip() for cell in cells)]
    place = 0
    wide = any(_filled(cells) > 1 for cells in lines)
    while wide and _filled(lines[place]) == 1:
        place += 1
    titles = [Piece(Kind.PARAGRAPH, " ".join(cells), page=page) for cells in lines[:place]]
    return titles + table(lines[place:], page)


def _filled(cells: list[str]) -> int:
    return sum(bool(cell.strip()) for cell in cells)


def _sheet(book: CalamineWorkbook, name: str, page: int, limits: Limits) -> Iterator[Piece]:
    sheet = book.get_sheet_by_name(name)
    if sheet.total_height * max(1, sheet.total_width) > limits.characters:
        raise refuse("too_large", "a sheet has too many cells")
    rows = ([shown(cell) for cell in line] for line in sheet.iter_rows())
    found = titled(_bounded(rows, limits), page)
    if found:
        yield Piece(Kind.HEADING, name, 2, page)
        yield from found


def shown(value: object) -> str:
    """A cell as text: whole numbers without a decimal point, dates in ISO form."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(round(value, 12))
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(" ", "minutes")
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value) if isinstance(value, timedelta) else str(value or "")
