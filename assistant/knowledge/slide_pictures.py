"""The pictures of a presentation: which of them say something, where they stand on the slide, what stands for them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, Final

from pptx.oxml.ns import qn

from assistant.core.evidence import Region
from assistant.knowledge.captions import is_caption, written
from assistant.knowledge.documents import Kind, Limits, Piece, fold
from assistant.knowledge.pictures import Gallery
from assistant.knowledge.repeats import repeated

PICTURE: Final = qn("p:pic")
"""The element of a picture shape."""

_NEAR: Final = 0.08
_SHORT: Final = 120


def flat(shapes: Any) -> Iterator[Any]:
    """All shapes that are not hidden, those in groups too."""
    stack = list(reversed(list(shapes)))
    while stack:
        shape = stack.pop()
        if shape.element.tag == qn("p:grpSp"):
            stack.extend(reversed(list(shape.shapes)))
        elif not _is_hidden(shape):
            yield shape


def _is_hidden(shape: Any) -> bool:
    named = next(iter(shape.element.iter(qn("p:cNvPr"))), None)
    return named is not None and named.get("hidden") in {"1", "true"}


class SlidePictures:
    """Reads the picture shapes of one presentation."""

    def __init__(self, deck: Any, limits: Limits) -> None:
        self._gallery = Gallery(limits)
        self._size = (max(1, deck.slide_width or 1), max(1, deck.slide_height or 1))
        self._furniture = _furniture(deck) if limits.images else frozenset()

    def piece(self, shape: Any, shapes: Sequence[Any], page: int) -> Iterator[Piece]:
        """The image of a picture shape on its slide; nothing for furniture and for what is neither seen nor described."""
        data = _content(shape)
        if data is None or hash(data) in self._furniture:
            return
        region = _region(shape, self._size)
        if region is None:
            return
        crop = (shape.crop_left, shape.crop_top, shape.crop_right, shape.crop_bottom)
        picture = self._gallery.take(data, crop=crop if any(crop) else None, region=region)
        caption = written(_alternative(shape)) or (_beside(region, shapes, self._size) if picture else "")
        if picture is not None or caption:
            yield Piece(Kind.IMAGE, caption, page=page, picture=picture)


def _furniture(deck: Any) -> frozenset[int]:
    """The pictures that repeat over the slides, by hash of their bytes."""
    pages: defaultdict[int, set[int]] = defaultdict(set)
    for page, slide in enumerate(deck.slides):
        for shape in flat(slide.shapes):
            if shape.element.tag == PICTURE and (data := _content(shape)) is not None:
                pages[hash(data)].add(page)
    return repeated(pages, len(deck.slides))


def _content(shape: Any) -> bytes | None:
    """The bytes of a picture, None for one that lies outside the file."""
    embed = shape.element.blip_rId
    if embed is None:
        return None
    try:
        part = shape.part.related_part(embed)
    except (KeyError, ValueError):
        return None
    return bytes(part.blob)


def _alternative(shape: Any) -> str | None:
    named = next(iter(shape.element.iter(qn("p:cNvPr"))), None)
    return None if named is None else named.get("descr") or named.get("title")


def _region(shape: Any, size: tuple[int, int]) -> Region | None:
    """Where a shape stands, None when nothing of it is on the slide. Groups have a scale of their own."""
    if shape.left is None or shape.top is None:
        return (0.0, 0.0, 1.0, 1.0)
    box = [float(shape.left), float(shape.top), float(shape.left + shape.width), float(shape.top + shape.height)]
    parent = shape.element.getparent()
    while parent is not None and parent.tag == qn("p:grpSp"):
        box = _out_of(parent, box)
        parent = parent.getparent()
    left, top, right, bottom = (min(max(edge / size[axis % 2], 0.0), 1.0) for axis, edge in enumerate(box))
    return (round(left, 4), round(top, 4), round(right, 4), round(bottom, 4)) if left < right and top < bottom else None


def _out_of(group: Any, box: list[float]) -> list[float]:
    """A box in the coordinates of a group as one in those around it (ECMA-376, 20.1.7.5)."""
    form = group.find(f"{qn('p:grpSpPr')}/{qn('a:xfrm')}")
    parts = None if form is None else [form.find(qn(f"a:{name}")) for name in ("off", "ext", "chOff", "chExt")]
    if parts is None or any(part is None for part in parts):
        return box
    off, ext, inner_off, inner_ext = parts
    moved = []
    for axis, edge in enumerate(box):
        place, length = ("x", "cx") if axis % 2 == 0 else ("y", "cy")
        scale = int(ext.get(length)) / max(1, int(inner_ext.get(length)))
        moved.append(int(off.get(place)) + (edge - int(inner_off.get(place))) * scale)
    return moved


def _beside(region: Region, shapes: Sequence[Any], size: tuple[int, int]) -> str:
    """The short text nearest below or above a picture: a numbered caption before others."""
    found: list[tuple[bool, float, str]] = []
    for shape in shapes:
        text = fold(shape.text_frame.text) if shape.has_text_frame else ""
        place = _region(shape, size) if 0 < len(text) <= _SHORT and shape.left is not None else None
        if place is None or min(place[2], region[2]) <= max(place[0], region[0]):
            continue
        gap = min(abs(place[1] - region[3]), abs(region[1] - place[3]))
        if gap <= _NEAR:
            found.append((not is_caption(text), gap, text))
    return min(found)[2] if found else ""
