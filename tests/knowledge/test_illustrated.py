"""Images of PDF, DOCX, PPTX, mail and picture files: their captions, places, lines, and what is furniture."""

import contextlib
import hashlib
import io
from email.message import EmailMessage

import docx
import pptx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from pptx.util import Emu

from assistant.errors import BadDocument
from assistant.knowledge.documents import Kind, Limits, Parsed, Picture
from assistant.knowledge.drafts import draft
from assistant.knowledge.parsers import parse
from assistant.knowledge.pdf_figures import Figure, joined
from assistant.knowledge.pdf_layout import Line, Page, to_pieces
from assistant.knowledge.repeats import repeated
from tests.knowledge.files import rewritten
from tests.knowledge.picture_files import (
    InWord,
    OnPage,
    OnSlide,
    drawn,
    jpeg,
    opened,
    pdf_with,
    png,
    png_header,
    saved,
    slides_with,
    word_with,
)

BODY = "Employees accrue leave every month that they are on the payroll."


@pytest.fixture(autouse=True)
def without_tesseract(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")


def captions(parsed: Parsed) -> list[str]:
    for image in parsed.images:
        assert image.caption in parsed.text[image.span.start : image.span.end]
    return [image.caption for image in parsed.images]


def test_a_figure_of_a_pdf_has_its_caption_page_and_region() -> None:
    page = parse(
        pdf_with(
            [
                [OnPage(70, 700, "A first page.")],
                [
                    OnPage(70, 700, BODY),
                    OnPage(150, 400, picture=jpeg(1), width=300, height=200),
                    OnPage(150, 385, "Figure 1: Days of leave by grade and"),
                    OnPage(150, 373, "years of service"),
                    OnPage(70, 340, "Text below."),
                ],
            ]
        ),
        "x.pdf",
    )
    (image,) = page.images
    assert image.caption == "Figure 1: Days of leave by grade and years of service"
    assert (image.page, image.picture.region) == (2, (0.25, 0.25, 0.75, 0.5))
    assert page.text == (f"A first page.\n\n{BODY}\n\n[Image: {image.caption}]\n\n{image.caption}\n\nText below.")
    assert opened(image.picture.content).size == (180, 120)


def test_captions_above_and_figures_side_by_side() -> None:
    page = parse(
        pdf_with(
            [
                [
                    OnPage(70, 760, "Table 1: Rates"),
                    OnPage(70, 600, picture=jpeg(1)),
                    OnPage(70, 560, "Some words between the two figures."),
                    OnPage(70, 330, picture=jpeg(2), height=180),
                    OnPage(320, 330, picture=jpeg(3), height=180),
                    OnPage(70, 315, "Figure 2: Both entrances of the building on the north side of the street"),
                ]
            ]
        ),
        "x.pdf",
    )
    both = "Figure 2: Both entrances of the building on the north side of the street"
    assert captions(page) == ["Table 1: Rates", both, both]
    assert page.text.index("Table 1") < page.text.index("[Image: Table 1")


def test_tagged_figures_forms_and_turned_pages() -> None:
    page = parse(
        pdf_with(
            [
                [OnPage(70, 700, BODY), OnPage(70, 300, picture=jpeg(1), said="The way to the canteen")],
                [OnPage(70, 700, BODY), OnPage(0, 100, picture=jpeg(2), form=True)],
            ]
        ),
        "x.pdf",
    )
    assert captions(page) == ["The way to the canteen", "Image 2"]
    assert page.images[1].picture.region == pytest.approx((100 / 600, 1 - 350 / 800, 0.5, 1 - 200 / 800), abs=1e-3)
    turned = parse(pdf_with([[OnPage(70, 700, BODY), OnPage(0, 0, picture=jpeg(1))]], rotate=90), "x.pdf")
    assert turned.images[0].picture.region == pytest.approx((0.0, 0.0, 150 / 800, 200 / 600), abs=1e-3)
    image = opened(turned.images[0].picture.content)
    assert image.height > image.width


def test_strips_of_one_picture_are_one() -> None:
    strips = [OnPage(100, 500 - 30 * n, picture=jpeg(n, (400, 60)), width=200, height=30) for n in range(6)]
    page = parse(pdf_with([[OnPage(70, 700, BODY), *strips]]), "x.pdf")
    assert [image.picture.region for image in page.images] == [(0.1667, 0.3375, 0.5, 0.5625)]


def test_furniture_of_a_pdf_is_left_out() -> None:
    logo = OnPage(500, 740, picture=jpeg(9, (90, 60)), width=60, height=40)
    icon = OnPage(50, 500, picture=jpeg(8, (40, 40)), width=40, height=40)
    small = OnPage(50, 600, picture=jpeg(7, (300, 300)), width=12, height=12)
    blank = OnPage(50, 100, picture=saved(Image.new("RGB", (200, 200), "navy"), "JPEG"))
    outside = OnPage(900, 900, picture=jpeg(6))
    pages = [[OnPage(70, 700, f"{BODY} Part {n}."), logo, icon, small, blank, outside] for n in range(4)]
    assert parse(pdf_with(pages), "x.pdf").images == ()


def test_a_scan_without_words_is_empty() -> None:
    with pytest.raises(BadDocument) as caught:
        parse(pdf_with([[OnPage(0, 0, picture=jpeg(1), width=600, height=800)]]), "x.pdf")
    assert caught.value.data["reason"] == "empty"


def test_ten_thousand_images_cost_no_more_than_allowed() -> None:
    several = [[OnPage(70, 780, "Words."), *(OnPage(x, y, picture=jpeg(p * 100 + n, (60, 60)), width=40, height=40)
                for n, (x, y) in enumerate((50 * a, 50 * b) for a in range(1, 11) for b in range(1, 11)))]
               for p in range(3)]  # fmt: skip
    page = parse(pdf_with(several), "x.pdf", limits=Limits(images=5))
    assert len(page.images) == 5
    many = [OnPage(50 * (n % 10), 50 * (n // 10 % 15), picture=jpeg(1), width=40, height=30) for n in range(10_000)]
    assert len(parse(pdf_with([[OnPage(70, 780, "Words."), *many]]), "x.pdf").images) <= 200


def test_a_picture_of_too_many_pixels_leaves_the_words() -> None:
    data = pdf_with([[OnPage(70, 700, BODY), OnPage(100, 300, picture=jpeg(1))]])
    huge = data.replace(b"/Width 160/Height 120", b"/Width 90000/Height 90000")
    assert huge != data
    page = parse(huge, "x.pdf")
    assert (page.text, page.images) == (BODY, ())


LINES = st.lists(
    st.builds(
        lambda text, gap, left: (text, gap, left),
        st.sampled_from(["Some words of a paragraph that runs over several lines and", "goes on here.", "Figure 1: A",
                         "• an item", "Kind | Days", "A short line"]),
        st.sampled_from([2.0, 12.0, 30.0]),
        st.sampled_from([70.0, 300.0]),
    ),
    max_size=10,
)  # fmt: skip
BOXES = st.tuples(st.floats(0, 500), st.floats(0, 700), st.floats(20, 300), st.floats(20, 300)).map(
    lambda box: (box[0], box[1], box[0] + box[2], box[1] + box[3])
)


@given(st.lists(st.tuples(LINES, st.lists(BOXES, max_size=4)), max_size=3))
def test_figures_never_change_the_words_around_them(pages: list[tuple[list[tuple[str, float, float]], list[tuple[float, float, float, float]]]]) -> None:  # fmt: skip
    plain, illustrated, count = [], [], 0
    for number, (lines, boxes) in enumerate(pages, start=1):
        top, made = 700.0, []
        for text, gap, left in lines:
            made.append(Line(tuple(text.split(" | ")), left, left + 5 * len(text), top, top - 10, 10.0))
            top -= 10 + gap
        plain.append(Page(number, 800, tuple(made)))
        figures = tuple(Figure(box, Picture(b"x", "image/png")) for box in boxes)
        illustrated.append(Page(number, 800, tuple(made), figures))
        count += len(figures)
    pieces = to_pieces(illustrated)
    assert [piece for piece in pieces if piece.kind is not Kind.IMAGE] == to_pieces(plain)
    assert sum(piece.kind is Kind.IMAGE for piece in pieces) == count


@given(st.lists(BOXES, max_size=30))
def test_joining_keeps_every_point(boxes: list[tuple[float, float, float, float]]) -> None:  # fmt: skip
    parts = joined([(box, 1.0, "") for box in boxes])
    assert len(parts) <= len(boxes)
    for box in boxes:
        assert any(all(one[n] <= box[n] + 1e-6 for n in (0, 1)) and all(one[n] >= box[n] - 1e-6 for n in (2, 3))
                   for one, _, _ in parts)  # fmt: skip


def test_pictures_of_a_word_document() -> None:
    page = parse(
        word_with(
            [
                InWord(BODY),
                InWord(picture=png(1), said="A chart"),
                InWord("Figure 1. Leave by grade. In days.", style="Caption"),
                InWord(picture=png(2), said="Way to the canteen"),
                InWord("More words."),
                InWord(picture=png(3), said="Picture 3"),
            ]
        ),
        "x.docx",
    )
    assert captions(page) == ["Figure 1. Leave by grade. In days.", "Way to the canteen", "Image 3"]
    assert [(image.page, image.picture.region) for image in page.images] == [(None, None)] * 3
    assert page.text.startswith(f"{BODY}\n\n[Image: Figure 1. Leave by grade. In days.]\n\nFigure 1. Leave")


def test_captions_above_their_pictures_in_a_word_document() -> None:
    parts = [InWord(BODY)]
    for n in (1, 2, 3):
        parts += [InWord(f"图{n} 流程", style="Caption"), InWord(picture=png(n))]
    page = parse(word_with(parts), "x.docx")
    assert captions(page) == ["图1 流程", "图2 流程", "图3 流程"]


def test_pictures_in_tables_and_what_is_cut_off_or_hidden() -> None:
    document = docx.Document()
    document.add_paragraph(BODY)
    cell = document.add_table(1, 1).cell(0, 0)
    cell.text = "In the cell"
    halves = Image.new("RGB", (400, 100), "red")
    halves.paste(drawn(1, (200, 100)), (200, 0))
    shape = cell.paragraphs[0].add_run().add_picture(io.BytesIO(saved(halves)))
    fill = shape._inline.graphic.graphicData.pic.blipFill
    cut = docx.oxml.OxmlElement("a:srcRect")
    cut.set("l", "50000")
    fill.insert(1, cut)
    secret = document.add_paragraph().add_run().add_picture(io.BytesIO(png(2)))
    secret._inline.docPr.set("hidden", "1")
    unseen = document.add_paragraph().add_run()
    unseen.font.hidden = True
    unseen.add_picture(io.BytesIO(png(3)))
    sink = io.BytesIO()
    document.save(sink)
    page = parse(sink.getvalue(), "x.docx")
    (image,) = page.images
    assert opened(image.picture.content).tobytes() == drawn(1, (200, 100)).tobytes()
    assert page.text == f"{BODY}\n\n| In the cell |\n\n[Image 1]"


@pytest.mark.parametrize(
    "broken", [png_header(50_000, 50_000), b"\xd7\xcd\xc6\x9a" + b"\0" * 200, jpeg(1)[:500], png(1, (1, 1)), b""]
)
def test_a_broken_picture_leaves_the_document_and_its_description(broken: bytes) -> None:
    source = word_with([InWord(BODY), InWord(picture=png(1), said="Sales rose to 12 million"), InWord(picture=png(2))])
    page = parse(rewritten(source, {"word/media/image1.png": broken}), "x.docx")
    assert page.text == f"{BODY}\n\n[Image: Sales rose to 12 million]\n\n[Image 1]"
    assert captions(page) == ["Image 1"]


def test_pictures_of_slides() -> None:
    page = parse(
        slides_with(
            [
                [
                    OnSlide((0.1, 0.0, 0.9, 0.1), "All about leave"),
                    OnSlide((0.1, 0.2, 0.4, 0.6), picture=png(1), said="Grades"),
                ],
                [
                    OnSlide((0.5, 0.2, 0.9, 0.6), picture=png(2)),
                    OnSlide((0.5, 0.62, 0.9, 0.7), "Floor plan"),
                    OnSlide((0.0, 0.62, 0.4, 0.7), "Elsewhere"),
                ],
                [OnSlide((-0.5, 0.5, 0.5, 1.5), picture=png(3)), OnSlide((1.1, 0.0, 1.5, 0.4), picture=png(4))],
            ]
        ),
        "x.pptx",
    )
    assert captions(page) == ["Grades", "Floor plan", "Image 3"]
    assert [(image.page, image.picture.region) for image in page.images] == [
        (1, (0.1, 0.2, 0.4, 0.6)),
        (2, (0.5, 0.2, 0.9, 0.6)),
        (3, (0.0, 0.5, 0.5, 1.0)),
    ]


def test_a_group_on_a_slide_has_a_scale_of_its_own() -> None:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    slide.shapes.add_textbox(0, 0, 100, 100).text_frame.text = BODY
    group = slide.shapes.add_group_shape()
    picture = group.shapes.add_picture(io.BytesIO(png(1)), Emu(0), Emu(0), Emu(1000), Emu(1000))
    picture._element.nvPicPr.cNvPr.set("descr", "Grouped")
    width, height = deck.slide_width or 0, deck.slide_height or 0
    group.left, group.top = Emu(width // 2), Emu(height // 2)
    group.width, group.height = Emu(width // 4), Emu(height // 4)
    sink = io.BytesIO()
    deck.save(sink)
    (image,) = parse(sink.getvalue(), "x.pptx").images
    assert image.picture.region == pytest.approx((0.5, 0.5, 0.75, 0.75), abs=1e-3)


def test_a_logo_on_every_slide_is_furniture() -> None:
    pages = [
        [OnSlide((0.1, 0.1, 0.9, 0.2), f"Slide {n} about pay"), OnSlide((0.9, 0.9, 1.0, 1.0), picture=png(7)),
         OnSlide((0.1, 0.3, 0.5, 0.7), picture=png(n), said=f"Chart {n} of pay")]
        for n in range(1, 5)
    ]  # fmt: skip
    assert captions(parse(slides_with(pages), "x.pptx")) == [f"Chart {n} of pay" for n in range(1, 5)]


@pytest.mark.parametrize(
    ("pages", "total", "furniture"), [(2, 2, True), (2, 5, False), (3, 8, True), (3, 9, False), (1, 1, False)]
)
def test_what_repeats(pages: int, total: int, furniture: bool) -> None:
    assert bool(repeated({"logo": set(range(pages))}, total)) is furniture


def test_a_picture_attached_to_a_mail() -> None:
    message = EmailMessage()
    message["Subject"] = "Map"
    message.set_content("See the map.")
    message.add_attachment(png(1), maintype="image", subtype="png", filename="map.png")
    page = parse(message.as_bytes(), "x.eml")
    assert page.text.endswith("## map.png\n\n[Image 1]")
    assert captions(page) == ["Image 1"]


def test_a_caption_of_two_sentences_is_not_torn() -> None:
    long = "A first sentence of the caption. A second one. And a third one, all of them about the map."
    document = draft(
        word_with([InWord(f"{BODY} " * 40), InWord(picture=png(1), said=long), InWord(f"{BODY} " * 40)]), "x.docx"
    )
    (image,) = document.images
    assert any(one.span.start <= image.span.start and image.span.end <= one.span.end for one in document.chunks)


def test_the_same_file_gives_the_same_images() -> None:
    data = pdf_with([[OnPage(70, 700, BODY), OnPage(100, 300, picture=jpeg(1))]])
    ids = [[hashlib.sha256(one.content).hexdigest() for one in draft(data, "x.pdf").images] for _ in range(2)]
    assert ids[0] == ids[1] != []


@given(st.integers(0, 10_000), st.binary(min_size=1, max_size=40), st.sampled_from(["pdf", "docx", "pptx"]))
@settings(max_examples=40)
def test_damaged_documents_with_pictures_are_read_or_refused(place: int, noise: bytes, form: str) -> None:
    made = {
        "pdf": lambda: pdf_with([[OnPage(70, 700, BODY), OnPage(100, 300, picture=jpeg(1), said="Map")]]),
        "docx": lambda: word_with([InWord(BODY), InWord(picture=png(1), said="Map")]),
        "pptx": lambda: slides_with([[OnSlide((0, 0, 1, 0.1), BODY), OnSlide((0, 0.2, 1, 1), picture=png(1))]]),
    }
    data = bytearray(made[form]())
    at = place * len(data) // 10_001
    data[at : at + len(noise)] = noise
    with contextlib.suppress(BadDocument):
        captions(parse(bytes(data), f"x.{form}"))
