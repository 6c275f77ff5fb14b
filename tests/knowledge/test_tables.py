from datetime import date, datetime

import pytest

from assistant.errors import BadDocument
from assistant.knowledge.documents import Kind, Limits
from assistant.knowledge.parsers import parse
from tests.knowledge.files import office, workbook


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_csv_finds_its_delimiter(mark: str) -> None:
    rows = [["Kind", "Days, paid"], ["annual", "20"], ["sick", "10"]]
    data = "\n".join(mark.join(f'"{cell}"' for cell in row) for row in rows).encode()
    assert parse(data, "x.csv").text == "| Kind | Days, paid |\n| annual | 20 |\n| sick | 10 |"


def test_line_ends_inside_a_cell_do_not_end_the_row() -> None:
    assert parse(b'a,"b\nc"\nd,e\n', "x.csv").text == "| a | b c |\n| d | e |"


def test_tsv() -> None:
    assert parse(b"a\tb,c\n1\t2\n", "x.tsv").text == "| a | b,c |\n| 1 | 2 |"


def test_a_title_above_a_table_is_not_its_header() -> None:
    page = parse(b"Rates 2024,,\n,,\nGrade,Pay,Note\nA,10,\n", "x.csv")
    assert page.text == "Rates 2024\n\n| Grade | Pay | Note |\n| A | 10 |"
    assert page.blocks[-1].header == "| Grade | Pay | Note |"


def test_sheets_are_pages() -> None:
    data = workbook({"Pay": [["Grade", "Pay"], ["A", 10.0], ["B", 12.5]], "Empty": [], "Leave": [["Kind"], ["annual"]]})
    page = parse(data, "x.xlsx")
    assert page.text == "## Pay\n\n| Grade | Pay |\n| A | 10 |\n| B | 12.5 |\n\n## Leave\n\n| Kind |\n| annual |"
    assert [block.page for block in page.blocks if block.kind is Kind.HEADING] == [1, 3]


def test_cells_of_all_kinds() -> None:
    rows: list[list[object]] = [
        ["a", "b", "c", "d"],
        [True, date(2024, 10, 1), datetime.fromisoformat("2024-10-01T09:30"), 0.1 + 0.2],
    ]
    assert parse(workbook({"S": rows}), "x.xlsx").text.endswith("| TRUE | 2024-10-01 | 2024-10-01 09:30 | 0.3 |")


def test_hidden_sheets_are_not_read() -> None:
    data = workbook({"Seen": [["a"]], "Hidden": [["secret"]]}, hidden=["Hidden"])
    assert "secret" not in parse(data, "x.xlsx").text


def test_a_real_workbook() -> None:
    page = parse(office("stanley-cups.xlsx"), "stanley-cups.xlsx")
    assert "| Maple Leafs | TOR | 13 |" in page.text
    assert {block.page for block in page.blocks} == {1, 2}


def test_too_many_cells() -> None:
    with pytest.raises(BadDocument) as caught:
        parse(b"a,b\n" * 1000, "x.csv", limits=Limits(characters=1000))
    assert caught.value.data["reason"] == "too_large"
