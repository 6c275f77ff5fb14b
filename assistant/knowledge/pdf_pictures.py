"""The pictures of a PDF: where images stand on its pages, and the parts of the pages drawn by PDFium.

A picture is drawn as a reader sees it (turned, masked, clipped, labels on top), not taken from its stream, which may
be a strip of it, a mirror image of it, or larger than what is shown.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pypdfium2
import pypdfium2.raw as raw

from assistant.core.evidence import Region
from assistant.knowledge.documents import Limits
from assistant.knowledge.pdf_figures import Box, Figure, joined
from assistant.knowledge.pictures import LEAST, LONGEST, Gallery
from assistant.knowledge.repeats import repeated

_MOST_OBJECTS: Final = 50_000
_MOST_IMAGES: Final = 2_000
_HASHED: Final = 256 * 1024
_DEPTH: Final = 6
_UNIT: Final = 1_000_000
_LEAST_POINTS: Final = 20.0
_NODES: Final = 20_000

Matrix = tuple[float, float, float, float, float, float]
Key = tuple[int, int, int, str]
"""Width and height in pixels, bytes, and a hash of them when they are few."""


@dataclass(frozen=True, slots=True)
class Seen:
    """An image on a page: what it is, its box in points, pixels per point, and what its tag says it shows."""

    key: Key
    box: Box
    density: float
    alternative: str = ""


class Looker:
    """Finds the images of pages one after the other; stops looking when there were too many objects."""

    def __init__(self, limits: Limits) -> None:
        self._objects = _MOST_OBJECTS if limits.images else 0
        self._images = _MOST_IMAGES
        self._pixels = limits.pixels

    def look(self, page: Any) -> list[Seen]:
        """The images of a page; none when one of them has more pixels than may be decoded."""
        found: list[Seen] = []
        told: dict[int, str] | None = None
        for item, matrix, mark in self._walk(page.raw, None, None, 0):
            size = _pixels(item)
            if size[0] * size[1] > self._pixels:
                return []
            box = _box(item, matrix)
            if box is None or min(size) < 2:
                continue
            if told is None:
                told = _alternatives(page.raw)
            density = max(size[0] / max(box[2] - box[0], 1e-3), size[1] / max(box[3] - box[1], 1e-3))
            found.append(Seen(_key(item, size), box, density, told.get(mark, "")))
        return found

    def _walk(
        self, holder: Any, matrix: Matrix | None, mark: int | None, depth: int
    ) -> Iterator[tuple[Any, Matrix | None, int]]:
        """The image objects of a page or form, with the matrix of the forms around them and their mark."""
        count, get = (
            (raw.FPDFPage_CountObjects, raw.FPDFPage_GetObject)
            if depth == 0
            else (raw.FPDFFormObj_CountObjects, raw.FPDFFormObj_GetObject)
        )
        for place in range(max(0, count(holder))):
            if self._objects <= 0 or self._images <= 0:
                return
            self._objects -= 1
            item = get(holder, place)
            kind = raw.FPDFPageObj_GetType(item)
            if kind not in {raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_FORM}:
                continue
            own = raw.FPDFPageObj_GetMarkedContentID(item)
            known = own if own >= 0 or mark is None else mark
            if kind == raw.FPDF_PAGEOBJ_IMAGE:
                self._images -= 1
                yield item, matrix, known
            elif depth < _DEPTH:
                yield from self._walk(item, _times(_matrix(item), matrix), known, depth + 1)


def _pixels(item: Any) -> tuple[int, int]:
    width, height = ctypes.c_uint(), ctypes.c_uint()
    if not raw.FPDFImageObj_GetImagePixelSize(item, width, height):
        return 0, 0
    return width.value, height.value


def _key(item: Any, size: tuple[int, int]) -> Key:
    length = raw.FPDFImageObj_GetImageDataRaw(item, None, 0)
    if not 0 < length <= _HASHED:
        return (*size, length, "")
    buffer = (ctypes.c_ubyte * length)()
    raw.FPDFImageObj_GetImageDataRaw(item, buffer, length)
    return (*size, length, hashlib.sha256(bytes(buffer)).hexdigest())


def _matrix(item: Any) -> Matrix:
    held = raw.FS_MATRIX()
    if not raw.FPDFPageObj_GetMatrix(item, held):
        return (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
    return held.a, held.b, held.c, held.d, held.e, held.f


def _times(first: Matrix, second: Matrix | None) -> Matrix:
    """The matrix that does what the first does, then what the second does (ISO 32000, 8.3.4)."""
    if second is None:
        return first
    a, b, c, d, e, f = first
    g, h, i, j, k, m = second
    return a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + m


def _box(item: Any, matrix: Matrix | None) -> Box | None:
    edges = [ctypes.c_float() for _ in range(4)]
    if not raw.FPDFPageObj_GetBounds(item, *edges):
        return None
    left, bottom, right, top = (edge.value for edge in edges)
    if matrix is None:
        return left, bottom, right, top
    a, b, c, d, e, f = matrix
    corners = [(a * x + c * y + e, b * x + d * y + f) for x in (left, right) for y in (bottom, top)]
    across, up = [x for x, _ in corners], [y for _, y in corners]
    return min(across), min(up), max(across), max(up)


def _alternatives(page: Any) -> dict[int, str]:
    """Marked content of a tagged page -> the alternative text of the element around it (ISO 32000, 14.9.3)."""
    tree = raw.FPDF_StructTree_GetForPage(page)
    if not tree:
        return {}
    found: dict[int, str] = {}
    try:
        count = max(0, raw.FPDF_StructTree_CountChildren(tree))
        stack = [(raw.FPDF_StructTree_GetChildAtIndex(tree, place), "") for place in range(min(count, _NODES))]
        for _ in range(_NODES):
            if not stack:
                break
            node, said = stack.pop()
            if not node:
                continue
            said = _alternative(node) or said
            if said:
                found |= dict.fromkeys(_marks(node), said)
            children = min(max(0, raw.FPDF_StructElement_CountChildren(node)), _NODES)
            stack += [(raw.FPDF_StructElement_GetChildAtIndex(node, place), said) for place in range(children)]
    finally:
        raw.FPDF_StructTree_Close(tree)
    return found


def _alternative(node: Any) -> str:
    length = raw.FPDF_StructElement_GetAltText(node, None, 0)
    if not 2 < length <= 8_000:
        return ""
    buffer = ctypes.create_string_buffer(length)
    raw.FPDF_StructElement_GetAltText(node, buffer, length)
    return buffer.raw[: length - 2].decode("utf-16-le", "replace")


def _marks(node: Any) -> list[int]:
    count = max(0, raw.FPDF_StructElement_GetMarkedContentIdCount(node))
    found = [raw.FPDF_StructElement_GetMarkedContentIdAtIndex(node, place) for place in range(min(count, _NODES))]
    return [mark for mark in found if mark >= 0]


def draw(document: Any, seen: Mapping[int, Sequence[Seen]], limits: Limits) -> dict[int, tuple[Figure, ...]]:
    """The figures of a document by page (from 0): images that repeat are left out, parts of one picture are joined."""
    places: defaultdict[Key, set[int]] = defaultdict(set)
    for number, images in seen.items():
        for image in images:
            places[image.key].add(number)
    furniture = repeated(places, len(document))
    gallery = Gallery(limits)
    figures: dict[int, tuple[Figure, ...]] = {}
    for number, images in sorted(seen.items()):
        kept = joined([(one.box, one.density, one.alternative) for one in images if one.key not in furniture])
        if kept and not gallery.is_full:
            page = document[number]
            figures[number] = tuple(_drawn(page, kept, gallery))
            page.close()
    return figures


def _drawn(page: Any, parts: Sequence[tuple[Box, float, str]], gallery: Gallery) -> Iterator[Figure]:
    for box, density, alternative in parts:
        region = _region(page, box)
        width, height = box[2] - box[0], box[3] - box[1]
        if region is None or min(width, height) < _LEAST_POINTS or min(width, height) * density < LEAST:
            continue
        if gallery.is_full:
            return
        scale = min(density, LONGEST / max(width, height))
        try:
            picture = gallery.hang(_cut(page, region, scale), region)
        except (pypdfium2.PdfiumError, ValueError, MemoryError):
            continue
        if picture is not None:
            yield Figure(box, picture, alternative)


def _region(page: Any, box: Box) -> Region | None:
    """A box of the page as fractions of what is shown of it, turned as it is shown; None outside of it."""
    ends = []
    for x, y in ((box[0], box[1]), (box[2], box[3])):
        across, down = ctypes.c_int(), ctypes.c_int()
        if not raw.FPDF_PageToDevice(page.raw, 0, 0, _UNIT, _UNIT, 0, x, y, across, down):
            return None
        ends.append((across.value / _UNIT, down.value / _UNIT))
    (left, right), (top, bottom) = (sorted(min(max(end[axis], 0.0), 1.0) for end in ends) for axis in (0, 1))
    if right - left < 1e-3 or bottom - top < 1e-3:
        return None
    return round(left, 4), round(top, 4), round(right, 4), round(bottom, 4)


def _cut(page: Any, region: Region, scale: float) -> Any:
    """The part of the page as a picture."""
    width, height = page.get_size()
    left, top, right, bottom = region
    crop = (left * width, (1 - bottom) * height, (1 - right) * width, top * height)
    bitmap = page.render(scale=scale, crop=crop, draw_annots=False, may_draw_forms=False)
    try:
        return bitmap.to_pil().convert("RGB")
    finally:
        bitmap.close()
