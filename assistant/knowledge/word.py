"""DOCX to pieces: python-docx opens the package and knows the styles; the walk below sees what its paragraphs skip.

Kept are inserted text, fields, content controls, text boxes, footnotes, comments, headers and footers (each once, at
the end). Left out are deleted and hidden text and the second copies that Word writes for older programs.
"""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator
from typing import Any, Final

import docx
from docx.oxml import parse_xml
from docx.oxml.ns import qn

from assistant.knowledge.documents import Kind, Limits, Piece, fold, refuse, table
from assistant.knowledge.metadata import Properties
from assistant.knowledge.office import open_container, properties_of
from assistant.knowledge.word_pictures import PICTURES, WordPictures

_P, _TBL, _TR, _TC = (qn(f"w:{name}") for name in ("p", "tbl", "tr", "tc"))
_TEXTS: Final = {qn("w:t")}
_MARKS: Final = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "ptab": "\t"}
_BREAKS: Final = {qn(f"w:{name}"): text for name, text in _MARKS.items()}
_NOT_READ: Final = ("del", "moveFrom", "rPr", "pPr", "instrText", "delText", "sectPr", "tblPr", "sdtPr")
_UNSEEN: Final = {
    *(qn(f"w:{name}") for name in _NOT_READ),
    "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback",
}
_APART: Final = qn("w:txbxContent")
_NOTES: Final = ("footnotes", "endnotes", "comments")


def parse_docx(data: bytes, limits: Limits) -> tuple[list[Piece], Properties]:
    """The pieces of a Word document and its core properties. Raises BadDocument as `open_container` does."""
    open_container(data, limits).close()
    try:
        document = docx.Document(io.BytesIO(data))
        core = properties_of(document)
        styles = _Styles(document)
        pictures = WordPictures(document, limits, lambda node: _text(node)[0], styles.is_caption)
        pieces = list(_body(document.element.body, styles, pictures))
        pieces += _running(document)
        pieces += [piece for name in _NOTES for piece in _notes(document, name)]
        return pieces, core
    except (KeyError, ValueError, AttributeError, TypeError, SyntaxError, IndexError, RecursionError) as error:
        raise refuse("corrupt", f"DOCX: {type(error).__name__}") from error


class _Styles:
    """What the styles say: which are headings, which are lists, which are captions."""

    def __init__(self, document: Any) -> None:
        self._levels: dict[str, int] = {}
        self._lists: set[str] = set()
        self._captions: set[str] = set()
        for style in document.styles.element.findall(qn("w:style")):
            key = style.get(qn("w:styleId")) or ""
            name = (style.find(qn("w:name")).get(qn("w:val")) if style.find(qn("w:name")) is not None else "").lower()
            self._levels[key] = _level(name, style)
            if name.startswith("list") or style.find(f"{qn('w:pPr')}/{qn('w:numPr')}") is not None:
                self._lists.add(key)
            if name == "caption":
                self._captions.add(key)

    def is_caption(self, paragraph: Any) -> bool:
        """Whether a paragraph has the style of captions."""
        return (_value(paragraph, "w:pStyle") or "") in self._captions

    def heading(self, paragraph: Any) -> int:
        """1..6 for a heading, else 0."""
        own = _value(paragraph, "w:outlineLvl")
        if own is not None and own.isdigit() and int(own) < 9:
            return min(6, int(own) + 1)
        return self._levels.get(_value(paragraph, "w:pStyle") or "", 0)

    def depth(self, paragraph: Any) -> int | None:
        """The depth of a list item, None for other paragraphs."""
        number = paragraph.find(f"{qn('w:pPr')}/{qn('w:numPr')}")
        if number is not None:
            if _of(number, "w:numId") == "0":
                return None
            level = _of(number, "w:ilvl") or "0"
            return int(level) if level.isdigit() else 0
        return 0 if (_value(paragraph, "w:pStyle") or "") in self._lists else None


def _level(name: str, style: Any) -> int:
    if name == "title":
        return 1
    if name.startswith("heading ") and name[8:].isdigit():
        return min(6, int(name[8:]))
    outline = style.find(f"{qn('w:pPr')}/{qn('w:outlineLvl')}")
    value = outline.get(qn("w:val")) if outline is not None else ""
    return min(6, int(value) + 1) if value and value.isdigit() and int(value) < 9 else 0


def _value(paragraph: Any, name: str) -> str | None:
    properties = paragraph.find(qn("w:pPr"))
    return None if properties is None else _of(properties, name)


def _of(parent: Any, name: str) -> str | None:
    found = parent.find(qn(name))
    value = None if found is None else found.get(qn("w:val"))
    return None if value is None else str(value)


def _body(root: Any, styles: _Styles, pictures: WordPictures) -> Iterator[Piece]:
    """Paragraphs and tables in order, through content controls and everything else that wraps them."""
    stack = list(reversed(root))
    while stack:
        node = stack.pop()
        if node.tag == _P:
            yield from _paragraph(node, styles, pictures)
        elif node.tag == _TBL:
            yield from table(_rows(node))
            yield from pictures.pieces(list(_within(node, PICTURES)), node)
        elif isinstance(node.tag, str) and node.tag not in _UNSEEN:
            stack.extend(reversed(node))


def _paragraph(node: Any, styles: _Styles, pictures: WordPictures) -> Iterator[Piece]:
    text, boxes = _text(node)
    level, depth = styles.heading(node), styles.depth(node)
    if text.strip():
        if level:
            yield Piece(Kind.HEADING, text, level)
        elif depth is not None:
            yield Piece(Kind.ITEM, text, depth)
        else:
            yield Piece(Kind.PARAGRAPH, text)
    yield from pictures.pieces(list(_within(node, PICTURES, apart=True)), node)
    for box in boxes:
        yield from _body(box, styles, pictures)


def _text(root: Any) -> tuple[str, list[Any]]:
    """The visible text under an element, and the text boxes in it, which are read after it."""
    parts: list[str] = []
    boxes: list[Any] = []
    stack = list(reversed(root))
    while stack:
        node = stack.pop()
        if node.tag in _TEXTS:
            parts.append(node.text or "")
        elif node.tag in _BREAKS:
            parts.append(_BREAKS[node.tag])
        elif node.tag == _APART:
            boxes.append(node)
        elif isinstance(node.tag, str) and node.tag not in _UNSEEN and not _vanishes(node):
            if node.tag == _P and parts:
                parts.append("\n")
            stack.extend(reversed(node))
    return "".join(parts), boxes


def _vanishes(node: Any) -> bool:
    """Whether a run is marked as hidden."""
    properties = node.find(qn("w:rPr"))
    mark = None if properties is None else properties.find(qn("w:vanish"))
    return mark is not None and (mark.get(qn("w:val")) or "true") not in {"0", "false", "off"}


def _rows(node: Any) -> Iterator[list[str]]:
    """The rows of a table; nested tables are read as the text of their cell, merged cells are repeated downwards."""
    above: list[str] = []
    for line in _within(node, {_TR}):
        cells: list[str] = []
        for cell in _within(line, {_TC}):
            text = _cell_text(cell)
            properties = cell.find(qn("w:tcPr"))
            merge = None if properties is None else properties.find(qn("w:vMerge"))
            hangs = merge is not None and merge.get(qn("w:val")) != "restart"
            cells.append(above[len(cells)] if hangs and len(cells) < len(above) else text)
            span = "1" if properties is None else _of(properties, "w:gridSpan") or "1"
            cells += [""] * (min(int(span), 50) - 1 if span.isdigit() else 0)
        above = cells
        yield cells


def _within(root: Any, tags: Collection[str], *, apart: bool = False) -> Iterator[Any]:
    """The elements of these tags below the root, not below each other; `apart` leaves out what text boxes hold."""
    stack = list(reversed(root))
    while stack:
        node = stack.pop()
        if node.tag in tags:
            yield node
        elif apart and node.tag == _APART:
            continue
        elif isinstance(node.tag, str) and node.tag not in _UNSEEN and not _vanishes(node):
            stack.extend(reversed(node))


def _cell_text(cell: Any) -> str:
    text, boxes = _text(cell)
    return " ".join([text, *(_text(box)[0] for box in boxes)])


def _running(document: Any) -> list[Piece]:
    """Headers and footers of all sections, each text once, after the body."""
    names = ("header", "first_page_header", "even_page_header", "footer", "first_page_footer", "even_page_footer")
    seen: dict[str, None] = {}
    for section in document.sections:
        for name in names:
            part = getattr(section, name)
            if not part.is_linked_to_previous:
                for node in _within(part._element, {_P}):  # noqa: SLF001  python-docx has no public door to text boxes
                    text, boxes = _text(node)
                    seen.update(dict.fromkeys(fold(one) for one in (text, *(_text(box)[0] for box in boxes))))
    return [Piece(Kind.PARAGRAPH, text) for text in seen if text]


def _notes(document: Any, name: str) -> Iterator[Piece]:
    """Footnotes, endnotes or comments, one paragraph each."""
    for relation in document.part.rels.values():
        if relation.is_external or not relation.reltype.endswith(f"/{name}"):
            continue
        root = parse_xml(relation.target_part.blob)
        for note in root:
            if isinstance(note.tag, str) and (text := fold(_text(note)[0])):
                yield Piece(Kind.PARAGRAPH, text)
