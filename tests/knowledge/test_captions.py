"""Captions: which lines are some, which alternative texts a person wrote, and the lines that stand for images."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.knowledge.captions import captioned, illustrations, is_caption, written
from assistant.knowledge.documents import Kind, Limits, Picture, Piece, assemble

PICTURE = Picture(b"x" * 10, "image/png")


@pytest.mark.parametrize(
    "line",
    [
        "Figure 1: Leave by grade",
        "Figure 3. Org chart",
        "Fig. 2 – Evacuation routes",
        "FIGURE 12 Map of the site",
        "Table 4: Rates",
        "Figure A.2: Forms",
        "Figure 7",
        "Exhibit B: Price list",
        "图1 组织结构",
        "图 2-1：审批流程",
        "图3组织结构图",
        "表 5 差旅标准",
        "附图一 平面图",
        "圖 4：請假流程",
    ],
)
def test_captions(line: str) -> None:
    assert is_caption(line)


@pytest.mark.parametrize(
    "line",
    [
        "Figure 3 shows how leave grows.",
        "Figures are in euros.",
        "Table of contents",
        "Tables 1 and 2 list the rates.",
        "Mapping 3 fields",
        "The chart below",
        "图3显示了审批流程。",
        "图 2 中的流程",
        "表5所示的标准",
        "图书馆开放时间",
        "表格请寄回",
        "Figure 1: " + "long " * 100,
        "",
    ],
)
def test_sentences_that_only_speak_of_figures(line: str) -> None:
    assert not is_caption(line)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Route from the station to the office", "Route from the station to the office"),
        ("A group of people\n\nDescription automatically generated", "A group of people"),
        ("A map of a city\n\nAI-generated content may be incorrect.", "A map of a city"),
        ("IMG_2044.JPG", ""),
        ("Picture 3", ""),
        ("图片 3", ""),
        ("logo", ""),
        ("https://example.org/a.png", ""),
        ("  ", ""),
        (None, ""),
        ("报销流程\u200b图", "报销流程图"),
    ],
)
def test_alternative_texts(said: str | None, kept: str) -> None:
    assert written(said) == kept


def test_the_line_of_an_image_is_in_the_language_of_the_document() -> None:
    pieces = [Piece(Kind.IMAGE, "Plan", picture=PICTURE), Piece(Kind.IMAGE, "", picture=PICTURE)]
    assert [piece.text for piece in captioned(pieces, Limits(), chinese=False)] == ["[Image: Plan]", "[Image 2]"]
    assert [piece.text for piece in captioned(pieces, Limits(), chinese=True)] == ["[图片：Plan]", "[图片 2]"]


def test_beyond_the_limits_only_written_captions_stay() -> None:
    pieces = [Piece(Kind.IMAGE, text, picture=PICTURE) for text in ("A", "", "C")]
    done = captioned(pieces, Limits(images=1), chinese=False)
    assert [(piece.text, piece.picture is not None) for piece in done] == [("[Image: A]", True), ("[Image: C]", False)]
    assert len(captioned(pieces, Limits(image_bytes=25), chinese=False)) == 3
    assert [piece.picture for piece in captioned(pieces, Limits(image_bytes=9), chinese=False)] == [None, None]


TEXTS = st.text(max_size=40)
PIECES = st.lists(
    st.builds(
        Piece,
        st.sampled_from([Kind.PARAGRAPH, Kind.ITEM, Kind.HEADING, Kind.IMAGE]),
        TEXTS,
        st.integers(1, 3),
        picture=st.sampled_from([None, PICTURE]),
    ),
    max_size=12,
)


@given(PIECES, st.booleans())
def test_images_have_their_line_and_the_other_words_stay(pieces: list[Piece], chinese: bool) -> None:
    start = Piece(Kind.PARAGRAPH, "Start")
    done = captioned([start, *pieces], Limits(), chinese=chinese)
    assert [piece for piece in done if piece.kind is not Kind.IMAGE] == [
        piece for piece in [start, *pieces] if piece.kind is not Kind.IMAGE
    ]
    text, blocks = assemble(done, Limits())
    found = illustrations(done, blocks, text)
    assert len(found) == sum(piece.kind is Kind.IMAGE and piece.picture is not None for piece in pieces)
    for image in found:
        line = text[image.span.start : image.span.end]
        assert line.startswith("[图片" if chinese else "[Image")
        assert image.caption in line
        assert "\n" not in line
