"""The pictures of a Word document: embedded ones that say something, each with the caption that belongs to it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any, Final

from docx.oxml.ns import qn

from assistant.knowledge.captions import is_caption, written
from assistant.knowledge.documents import Kind, Limits, Piece, fold
from assistant.knowledge.pictures import Crop, Gallery
from assistant.knowledge.repeats import repeated

_A: Final = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_PIC: Final = "{http://schemas.openxmlformats.org/drawingml/2006/picture}"
_EMBED: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}embed"
_ID: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_DRAWN: Final = f"{_PIC}pic"
_OLD: Final = "{urn:schemas-microsoft-com:vml}imagedata"
_FRAMES: Final = {qn("wp:inline"), qn("wp:anchor")}

PICTURES: Final = frozenset({_DRAWN, _OLD})
"""The elements that hold a picture, of today and of before 2007."""


class WordPictures:
    """Reads the pictures of one document; `text_of` gives the text of a paragraph, `is_caption_style` knows its style."""

    def __init__(
        self, document: Any, limits: Limits, text_of: Callable[[Any], str], is_caption_style: Callable[[Any], bool]
    ) -> None:
        self._parts = document.part.related_parts
        self._gallery = Gallery(limits)
        self._text_of = text_of
        self._is_caption_style = is_caption_style
        self._owners: dict[Any, Any] = {}
        self._furniture = self._repeated(document) if limits.images else frozenset()

    def _repeated(self, document: Any) -> frozenset[int]:
        places: defaultdict[int, set[int]] = defaultdict(set)
        drawings = list(document.element.body.iter(*PICTURES))
        for place, node in enumerate(drawings):
            if (data := self._content(node)) is not None:
                places[hash(data)].add(place)
        return repeated(places, len(drawings))

    def _content(self, node: Any) -> bytes | None:
        """The bytes of an embedded picture; linked ones are never fetched."""
        blip = node.find(f"{_PIC}blipFill/{_A}blip") if node.tag == _DRAWN else node
        name = None if blip is None else blip.get(_EMBED if node.tag == _DRAWN else _ID)
        part = self._parts.get(name) if name else None
        return None if part is None else bytes(part.blob)

    def pieces(self, nodes: list[Any], paragraph: Any) -> Iterator[Piece]:
        """The images among these elements; `paragraph` is the one they stand in, or the table."""
        for node in nodes:
            data = self._content(node)
            if data is None or hash(data) in self._furniture or _is_hidden(node):
                continue
            picture = self._gallery.take(data, crop=_crop(node))
            caption = self._caption(paragraph) if picture else ""
            if picture is not None or caption or written(_alternative(node)):
                yield Piece(Kind.IMAGE, caption or written(_alternative(node)), picture=picture)

    def _caption(self, paragraph: Any) -> str:
        """The caption in the paragraph itself, above it or below it; each belongs to one paragraph with pictures.

        Where captions stand below, the one above has an owner already: so what is free above comes first.
        """
        near = [one for one in (paragraph, paragraph.getprevious(), paragraph.getnext()) if one is not None]
        for one in near:
            text = fold(self._text_of(one)) if one.tag == qn("w:p") else ""
            if not text or not (self._is_caption_style(one) or is_caption(text)):
                continue
            if self._owners.setdefault(one, paragraph) is paragraph:
                return text
        return ""


def _frame(node: Any) -> Any:
    """The frame around a picture, which carries what people say about it."""
    while node is not None and node.tag not in _FRAMES:
        node = node.getparent()
    return node


def _described(node: Any) -> list[Any]:
    frame = _frame(node)
    around = None if frame is None else frame.find(qn("wp:docPr"))
    own = node.find(f"{_PIC}nvPicPr/{_PIC}cNvPr")
    return [one for one in (own, around) if one is not None]


def _alternative(node: Any) -> str:
    if node.tag == _OLD:
        shape = node.getparent()
        return (shape.get("alt") if shape is not None else None) or ""
    said = (one.get(name) for one in reversed(_described(node)) for name in ("descr", "title"))
    return next((text for text in said if written(text)), "")


def _is_hidden(node: Any) -> bool:
    return any(one.get("hidden") in {"1", "true"} for one in _described(node))


def _crop(node: Any) -> Crop | None:
    """What Word cuts off at the sides (thousandths of a percent)."""
    found = node.find(f"{_PIC}blipFill/{_A}srcRect")
    if found is None:
        return None
    left, top, right, bottom = (_share(found.get(side)) for side in "ltrb")
    return (left, top, right, bottom) if left or top or right or bottom else None


def _share(value: str | None) -> float:
    try:
        return float((value or "0").rstrip("%")) / (100.0 if (value or "").endswith("%") else 100_000.0)
    except ValueError:
        return 0.0
