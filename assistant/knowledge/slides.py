"""PPTX to pieces by python-pptx: a slide is a page, its title a heading; shapes, tables, charts, diagrams and notes."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any, Final

from pptx import Presentation
from pptx.exc import PackageNotFoundError
from pptx.oxml import parse_xml
from pptx.oxml.ns import qn

from assistant.knowledge.documents import Kind, Limits, Piece, refuse, table
from assistant.knowledge.metadata import Properties
from assistant.knowledge.office import open_container, properties_of
from assistant.knowledge.slide_pictures import PICTURE, SlidePictures, flat

_DIAGRAM: Final = "/diagramData"


def parse_pptx(data: bytes, limits: Limits) -> tuple[list[Piece], Properties]:
    """The pieces of a presentation and its core properties. Raises BadDocument as `open_container` does."""
    open_container(data, limits).close()
    try:
        deck = Presentation(io.BytesIO(data))
        core = properties_of(deck)
        if len(deck.slides) > limits.pages:
            raise refuse("too_large", f"more than {limits.pages} slides")
        pictures = SlidePictures(deck, limits)
        pieces = [piece for page, slide in enumerate(deck.slides, start=1) for piece in _slide(slide, page, pictures)]
        return pieces, core
    except (PackageNotFoundError, KeyError, ValueError, AttributeError, TypeError, SyntaxError, IndexError) as error:
        raise refuse("corrupt", f"PPTX: {type(error).__name__}") from error


def _slide(slide: Any, page: int, pictures: SlidePictures) -> Iterator[Piece]:
    title = slide.shapes.title
    if title is not None and title.text_frame.text.strip():
        yield Piece(Kind.HEADING, title.text_frame.text, 2, page)
    shapes = [shape for shape in flat(slide.shapes) if title is None or shape.shape_id != title.shape_id]
    for shape in sorted(shapes, key=_place):
        if shape.element.tag == PICTURE:
            yield from pictures.piece(shape, shapes, page)
        else:
            yield from _shape(shape, page)
    yield from _diagrams(slide, page)
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        yield from _frame(slide.notes_slide.notes_text_frame, page, listed=False)


def _place(shape: Any) -> tuple[int, int]:
    """Reading order: bands of about a centimetre from the top, then from the left; unplaced shapes first."""
    return (shape.top or 0) // 360_000, shape.left or 0


def _shape(shape: Any, page: int) -> Iterator[Piece]:
    if getattr(shape, "has_table", False) and shape.has_table:
        yield from table(([cell.text for cell in line.cells] for line in shape.table.rows), page)
    elif getattr(shape, "has_chart", False) and shape.has_chart:
        yield from _chart(shape.chart, page)
    elif shape.has_text_frame:
        yield from _frame(shape.text_frame, page, listed=shape.is_placeholder and len(shape.text_frame.paragraphs) > 1)


def _frame(frame: Any, page: int, *, listed: bool) -> Iterator[Piece]:
    """The paragraphs of a shape; those of a body placeholder, and indented ones, are list items."""
    for paragraph in frame.paragraphs:
        text = paragraph.text.replace("\v", "\n")
        if text.strip():
            item = listed or paragraph.level > 0
            yield Piece(Kind.ITEM if item else Kind.PARAGRAPH, text, paragraph.level if item else 0, page)


def _chart(chart: Any, page: int) -> Iterator[Piece]:
    """A chart as the table behind it."""
    if chart.has_title and chart.chart_title.has_text_frame:
        yield from _frame(chart.chart_title.text_frame, page, listed=False)
    for plot in chart.plots:
        names = [str(series.name) for series in plot.series]
        columns = [list(series.values) for series in plot.series]
        lines = [
            [
                str(category),
                *("" if place >= len(column) or column[place] is None else f"{column[place]:g}" for column in columns),
            ]
            for place, category in enumerate(plot.categories)
        ]
        yield from table([["", *names], *lines], page)


def _value(column: list[float | None], place: int) -> str:
    value = column[place] if place < len(column) else None
    return "" if value is None else f"{value:g}"


def _diagrams(slide: Any, page: int) -> Iterator[Piece]:
    """The words of SmartArt, which stand in a part of their own."""
    for relation in slide.part.rels.values():
        if relation.is_external or not relation.reltype.endswith(_DIAGRAM):
            continue
        for paragraph in parse_xml(relation.target_part.blob).iter(qn("a:p")):
            text = "".join(run.text or "" for run in paragraph.iter(qn("a:t")))
            if text.strip():
                yield Piece(Kind.ITEM, text, 0, page)
