"""Small files of each format, made on the spot."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import docx
import pptx
import xlsxwriter  # type: ignore[import-untyped]
from pptx.util import Inches

OFFICE = Path(__file__).parent.parent / "data" / "office"


def office(name: str) -> bytes:
    """A real file of tests/data/office."""
    return (OFFICE / name).read_bytes()


def archive(members: Mapping[str, bytes | str]) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in members.items():
            out.writestr(name, content)
    return sink.getvalue()


def rewritten(data: bytes, changes: Mapping[str, bytes | str]) -> bytes:
    """A zip container with some members put in place of others."""
    with zipfile.ZipFile(io.BytesIO(data)) as source:
        members: dict[str, bytes | str] = {name: source.read(name) for name in source.namelist()}
    return archive({**members, **changes})


def word(paragraphs: Sequence[tuple[str, str]], *, title: str = "", rows: Sequence[Sequence[str]] = ()) -> bytes:
    """A DOCX of (style, text) paragraphs and one table."""
    document = docx.Document()
    document.core_properties.title = title
    for style, text in paragraphs:
        document.add_paragraph(text, style=style)
    if rows:
        table = document.add_table(len(rows), len(rows[0]))
        for line, cells in zip(table.rows, rows, strict=True):
            for cell, text in zip(line.cells, cells, strict=True):
                cell.text = text
    sink = io.BytesIO()
    document.save(sink)
    return sink.getvalue()


def slides(pages: Sequence[tuple[str, Sequence[str], str]]) -> bytes:
    """A PPTX of (title, bullets, notes) slides."""
    deck = pptx.Presentation()
    for title, bullets, notes in pages:
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = "\n".join(bullets)
        slide.notes_slide.notes_text_frame.text = notes
    sink = io.BytesIO()
    deck.save(sink)
    return sink.getvalue()


def slide_with_table(rows: Sequence[Sequence[str]]) -> bytes:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    shape = slide.shapes.add_table(len(rows), len(rows[0]), Inches(1), Inches(1), Inches(5), Inches(2))
    for place, cells in enumerate(rows):
        for column, text in enumerate(cells):
            shape.table.cell(place, column).text = text
    sink = io.BytesIO()
    deck.save(sink)
    return sink.getvalue()


def workbook(sheets: Mapping[str, Sequence[Sequence[object]]], hidden: Sequence[str] = ()) -> bytes:
    sink = io.BytesIO()
    with xlsxwriter.Workbook(sink, {"default_date_format": "yyyy-mm-dd"}) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for place, cells in enumerate(rows):
                sheet.write_row(place, 0, cells)
            if name in hidden:
                sheet.hide()
    return sink.getvalue()


Placed = tuple[float, float, float, str]
"""x and y in points from the lower left corner, letter size, text."""


_FONT = "/Resources<</Font<</F1 3 0 R>>>>"


def pdf(pages: Sequence[Sequence[Placed]]) -> bytes:
    """A PDF in Helvetica, its cross-reference left to the reader's repair."""
    kids = " ".join(f"{10 + 2 * place} 0 R" for place in range(len(pages)))
    objects = [
        "1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj",
        f"2 0 obj <</Type/Pages/Kids[{kids}]/Count {len(pages)}>> endobj",
        "3 0 obj <</Type/Font/Subtype/Type1/BaseFont/Helvetica>> endobj",
    ]
    for place, lines in enumerate(pages):
        number = 10 + 2 * place
        stream = "".join(f"BT /F1 {size} Tf {x} {y} Td ({text}) Tj ET\n" for x, y, size, text in lines)
        objects += [
            f"{number} 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]{_FONT}/Contents {number + 1} 0 R>> endobj",
            f"{number + 1} 0 obj <</Length {len(stream)}>> stream\n{stream}endstream endobj",
        ]
    return ("%PDF-1.4\n" + "\n".join(objects) + "\ntrailer <</Root 1 0 R>>\n%%EOF").encode("latin-1")
