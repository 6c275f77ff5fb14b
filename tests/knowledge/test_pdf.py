import pytest

from assistant.errors import BadDocument
from assistant.knowledge.documents import Kind, Limits
from assistant.knowledge.parsers import parse
from assistant.knowledge.pdf_layout import Line, Page, to_pieces
from tests.knowledge.files import office, pdf


def line(text: str, top: float, *, left: float = 70, size: float = 10, right: float | None = None) -> Line:
    cells = tuple(text.split(" | "))
    return Line(cells, left, right or left + len(text) * 5, top, top - size, size)


def test_wrapped_lines_join_and_the_page_is_known() -> None:
    long = "Employees accrue leave every month that they are on the payroll and"
    page = parse(
        pdf(
            [
                [(70, 700, 20, "Leave policy"), (70, 660, 10, long), (70, 648, 10, "may carry it over.")],
                [(70, 700, 10, "Second page text.")],
            ]
        ),
        "x.pdf",
    )
    assert page.text == f"# Leave policy\n\n{long} may carry it over.\n\nSecond page text."
    assert [block.page for block in page.blocks] == [1, 1, 2]
    assert page.title == "Leave policy"


def test_columns_become_rows() -> None:
    rows = [("Kind", "Days"), ("annual", "20"), ("sick", "10")]
    lines = [
        (x, 700 - 14 * place, 10, cell)
        for place, cells in enumerate(rows)
        for x, cell in zip((70, 300), cells, strict=True)
    ]
    page = parse(pdf([lines]), "x.pdf")
    assert page.text == "| Kind | Days |\n| annual | 20 |\n| sick | 10 |"
    assert page.blocks[1].header == "| Kind | Days |"


def test_running_headers_and_page_numbers() -> None:
    pages = [
        [
            (70, 780, 9, "Staff handbook"),
            (70, 600, 10, f"The text of part {place} stands here alone."),
            (280, 20, 9, f"Page {place} of 3"),
        ]
        for place in (1, 2, 3)
    ]
    text = parse(pdf(pages), "x.pdf").text
    assert text.count("Staff handbook") == 1
    assert "Page" not in text
    assert text.count("stands here alone") == 3


def test_a_number_in_the_middle_of_a_page_stays() -> None:
    assert "42" in parse(pdf([[(70, 400, 10, "42")], [(70, 400, 10, "Text.")]]), "x.pdf").text


def test_a_sentence_over_the_page_end_is_one() -> None:
    pages = [
        Page(1, 800, (line("Employees accrue leave every month that they are on the payroll and", 300),)),
        Page(2, 800, (line("may carry it over.", 500),)),
    ]
    pieces = to_pieces(pages)
    assert [(piece.text, piece.page) for piece in pieces] == [
        ("Employees accrue leave every month that they are on the payroll and may carry it over.", 1)
    ]


def test_a_broken_word_is_joined() -> None:
    before = Line(("The reimburse",), 70, 500, 300, 290, 10, hyphenated=True)
    assert to_pieces([Page(1, 800, (before, line("ment is paid.", 288)))])[0].text == "The reimbursement is paid."


def test_short_lines_stay_apart() -> None:
    lines = (line("12 Some Street", 300), line("A Town", 288), line("Phone 555", 276))
    assert to_pieces([Page(1, 800, lines)])[0].text == "12 Some Street\nA Town\nPhone 555"


def test_items() -> None:
    lines = (line("• one thing", 300), line("• another", 288), line("1. first", 276))
    assert [(piece.kind, piece.text) for piece in to_pieces([Page(1, 800, lines)])] == [
        (Kind.ITEM, "one thing"),
        (Kind.ITEM, "another"),
        (Kind.ITEM, "first"),
    ]


def test_real_files() -> None:
    memo = parse(office("fake-memo.pdf"), "memo.pdf")
    assert "200 laptops delivered on January 23, 2023. A total of 3 trucks" in memo.text
    table = parse(office("SPARSE-2024-INV-1234_borderless_table.pdf"), "x.pdf")
    assert "| SKU-9201 | Hardware | $32.50 | $25,285.00 | 2024-10-22 | Verified |" in table.text
    assert {block.page for block in table.blocks} == {1, 2}
    header = parse(office("header-test-doc.pdf"), "x.pdf").text
    assert "I Am A Header" in header
    assert "I Am A Footer" in header


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (office("password.pdf"), "encrypted"),
        (office("fake-memo.pdf")[:3000], "corrupt"),
        (b"%PDF-1.7\n" + b"\0" * 1000, "corrupt"),
        (pdf([[]]), "empty"),
        (pdf([[(70, 700, 10, "a")]] * 20), "too_large"),
    ],
)
def test_refusals(data: bytes, reason: str) -> None:
    with pytest.raises(BadDocument) as caught:
        parse(data, "x.pdf", limits=Limits(pages=10))
    assert caught.value.data["reason"] == reason
