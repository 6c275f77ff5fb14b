"""Pictures and documents that hold them, made on the spot."""

from __future__ import annotations

import io
import random
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import docx
import pptx
from docx.shared import Inches
from PIL import Image, ImageDraw
from pptx.util import Emu


def drawn(seed: int = 1, size: tuple[int, int] = (160, 120), mode: str = "RGB") -> Image.Image:
    """A picture of coloured boxes, different for each seed."""
    chance = random.Random(seed)
    image = Image.new("RGB", size, "white")
    pen = ImageDraw.Draw(image)
    for _ in range(12):
        x, y = chance.randrange(size[0]), chance.randrange(size[1])
        pen.rectangle((x, y, x + size[0] // 5, y + size[1] // 5), fill=tuple(chance.randrange(256) for _ in range(3)))
    return image.convert(mode)


def saved(image: Image.Image, form: str = "PNG", **options: object) -> bytes:
    sink = io.BytesIO()
    image.save(sink, form, **options)
    return sink.getvalue()


def png(seed: int = 1, size: tuple[int, int] = (160, 120)) -> bytes:
    return saved(drawn(seed, size))


def jpeg(seed: int = 1, size: tuple[int, int] = (160, 120), **options: object) -> bytes:
    return saved(drawn(seed, size), "JPEG", **options)


def png_header(width: int, height: int) -> bytes:
    """A PNG that says how large it is and holds a few bytes."""

    def part(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = zlib.compress(b"\0" * 1000)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", body) + part(b"IEND", b"")


def opened(content: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(content))
    image.load()
    return image


@dataclass(frozen=True)
class InWord:
    """A paragraph of a DOCX: text in a style, or a picture with its description."""

    text: str = ""
    style: str | None = None
    picture: bytes | None = None
    said: str = ""


def word_with(parts: Sequence[InWord]) -> bytes:
    document = docx.Document()
    for part in parts:
        paragraph = document.add_paragraph(part.text, style=part.style)
        if part.picture is not None:
            shape = paragraph.add_run().add_picture(io.BytesIO(part.picture), width=Inches(2))
            if part.said:
                shape._inline.docPr.set("descr", part.said)
    sink = io.BytesIO()
    document.save(sink)
    return sink.getvalue()


@dataclass(frozen=True)
class OnSlide:
    """A shape on a slide, its box as fractions: a picture with its description, or a text box."""

    box: tuple[float, float, float, float]
    text: str = ""
    picture: bytes | None = None
    said: str = ""
    crop_left: float = 0.0


def slides_with(pages: Sequence[Sequence[OnSlide]]) -> bytes:
    deck = pptx.Presentation()
    for parts in pages:
        slide = deck.slides.add_slide(deck.slide_layouts[6])
        for part in parts:
            width, height = deck.slide_width or 0, deck.slide_height or 0
            left, top, right, bottom = part.box
            box = (
                Emu(int(left * width)),
                Emu(int(top * height)),
                Emu(int((right - left) * width)),
                Emu(int((bottom - top) * height)),
            )
            if part.picture is None:
                slide.shapes.add_textbox(*box).text_frame.text = part.text
            else:
                shape = slide.shapes.add_picture(io.BytesIO(part.picture), *box)
                shape.crop_left = part.crop_left
                shape._element.nvPicPr.cNvPr.set("descr", part.said)
    sink = io.BytesIO()
    deck.save(sink)
    return sink.getvalue()


@dataclass(frozen=True)
class OnPage:
    """Text or a JPEG on a PDF page of 600 x 800 points: x and y of the lower left corner, width and height.

    `form` puts the picture into a form that stands 100 points to the right and above; `said` is its alternative text.
    """

    x: float
    y: float
    text: str = ""
    size: float = 10
    picture: bytes | None = None
    width: float = 200
    height: float = 150
    form: bool = False
    said: str = ""


class PdfFile:
    """Writes the objects of a small PDF."""

    def __init__(self) -> None:
        self.objects: list[bytes] = []

    def add(self, body: bytes | str) -> int:
        self.objects.append(body.encode("latin-1") if isinstance(body, str) else body)
        return len(self.objects)

    def stream(self, head: str, data: bytes) -> int:
        return self.add(f"<<{head}/Length {len(data)}>> stream\n".encode() + data + b"\nendstream")

    def saved(self, root: int) -> bytes:
        out = io.BytesIO(b"%PDF-1.7\n")
        out.seek(0, 2)
        places = []
        for number, body in enumerate(self.objects, start=1):
            places.append(out.tell())
            out.write(f"{number} 0 obj ".encode() + body + b" endobj\n")
        start = out.tell()
        out.write(f"xref\n0 {len(places) + 1}\n0000000000 65535 f \n".encode())
        out.write("".join(f"{place:010d} 00000 n \n" for place in places).encode())
        out.write(f"trailer <</Root {root} 0 R/Size {len(places) + 1}>>\nstartxref\n{start}\n%%EOF".encode())
        return out.getvalue()


def pdf_with(pages: Sequence[Sequence[OnPage]], *, rotate: int = 0) -> bytes:
    """A PDF of these pages; equal pictures are one object."""
    file = PdfFile()
    font = file.add("<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>")
    known: dict[bytes, int] = {}
    kids, elements = [], []
    for parts in pages:
        stream, names = "", ""
        for place, part in enumerate(parts):
            if part.picture is None:
                stream += f"BT /F1 {part.size} Tf {part.x} {part.y} Td ({part.text}) Tj ET\n"
                continue
            number = known.setdefault(part.picture, 0) or _image(file, part.picture)
            known[part.picture] = number
            form = f"q {part.width} 0 0 {part.height} {part.x} {part.y} cm /I Do Q"
            if part.form:
                held = f"/Type/XObject/Subtype/Form/BBox[0 0 600 800]/Resources<</XObject<</I {number} 0 R>>>>"
                number = file.stream(held, form.encode())
                form = f"q 1 0 0 1 100 100 cm /X{place} Do Q"
            names += f"/X{place} {number} 0 R"
            shown = form.replace("/I Do", f"/X{place} Do")
            stream += f"/Figure <</MCID {place}>> BDC {shown} EMC\n" if part.said else f"{shown}\n"
        content = file.stream("", stream.encode("latin-1"))
        tags = [(place, part.said) for place, part in enumerate(parts) if part.said]
        kids.append((content, names, tags))
    tree = len(file.objects) + len(kids) + 1
    numbers: list[int] = []
    for content, names, tags in kids:
        resources = f"/Resources<</Font<</F1 {font} 0 R>>/XObject<<{names}>>>>"
        page = f"/MediaBox[0 0 600 800]/Rotate {rotate}/StructParents {len(numbers)}"
        number = file.add(f"<</Type/Page/Parent {tree} 0 R{page}{resources}/Contents {content} 0 R>>")
        numbers.append(number)
        elements.append([(number, place, said) for place, said in tags])
    file.add(f"<</Type/Pages/Kids[{' '.join(f'{n} 0 R' for n in numbers)}]/Count {len(numbers)}>>")
    return file.saved(_root(file, tree, elements))


def _image(file: PdfFile, data: bytes) -> int:
    image = opened(data)
    head = f"/Type/XObject/Subtype/Image/Width {image.width}/Height {image.height}/BitsPerComponent 8"
    return file.stream(head + "/ColorSpace/DeviceRGB/Filter/DCTDecode", data)


def _root(file: PdfFile, tree: int, elements: Sequence[Sequence[tuple[int, int, str]]]) -> int:
    """The catalogue; with figures, a structure tree with a parent tree."""
    if not any(elements):
        return file.add(f"<</Type/Catalog/Pages {tree} 0 R>>")
    first = len(file.objects) + 1
    count = sum(map(len, elements))
    root = first + count
    parents, kids = [], []
    for page, figures in enumerate(elements):
        slots: dict[int, int] = {}
        for number, mark, said in figures:
            kid = file.add(f"<</Type/StructElem/S/Figure/P {root} 0 R/Pg {number} 0 R/K {mark}/Alt({said})>>")
            slots[mark] = kid
            kids.append(kid)
        line = " ".join(f"{slots[mark]} 0 R" if mark in slots else "null" for mark in range(max(slots, default=-1) + 1))
        parents.append(f"{page} [{line}]")
    listed = " ".join(f"{kid} 0 R" for kid in kids)
    file.add(f"<</Type/StructTreeRoot/K[{listed}]/ParentTree<</Nums[{' '.join(parents)}]>>>>")
    return file.add(f"<</Type/Catalog/Pages {tree} 0 R/MarkInfo<</Marked true>>/StructTreeRoot {root} 0 R>>")
