from hypothesis import given
from hypothesis import strategies as st

from assistant.core.quoting.blocks import Block, BlockKind, parse_blocks, tidy


def kinds(text: str) -> list[tuple[str, str]]:
    return [(block.kind.value, block.text) for block in parse_blocks(text)]


def test_wrapped_lines_are_one_paragraph_and_blank_lines_part_them() -> None:
    text = "A sentence that its author wrapped at a fixed width, because that\nis the custom here.\n\nAnother."
    assert kinds(text) == [
        ("prose", "A sentence that its author wrapped at a fixed width, because that is the custom here."),
        ("prose", "Another."),
    ]


def test_wrapped_chinese_is_joined_without_a_space() -> None:
    text = "员工因病不能上班的，应当在当天上午十点以前通知自己的直接\n主管，并在系统中提交申请。"
    assert kinds(text) == [
        ("prose", "员工因病不能上班的，应当在当天上午十点以前通知自己的直接主管，并在系统中提交申请。")
    ]


def test_short_lines_that_end_stay_apart() -> None:
    assert kinds("Name: Ada\nPhone: 12\nRoom: 7") == [
        ("prose", "Name: Ada"),
        ("prose", "Phone: 12"),
        ("prose", "Room: 7"),
    ]


def test_headings_of_all_forms() -> None:
    text = "# One #\nText.\n\nTwo\n===\n\nThree\n---\n\n**Four**\n\n**Not a heading.**"
    assert [block.text for block in parse_blocks(text) if block.kind is BlockKind.HEADING] == [
        "One",
        "Two",
        "Three",
        "Four",
    ]


def test_nested_lists_keep_depth_and_marks() -> None:
    text = "1. first\n   - inner\n     goes on\n2) second\n* star\n三、 not a list"
    assert parse_blocks(text)[:4] == [
        Block(BlockKind.ITEM, "first", 0, "1."),
        Block(BlockKind.ITEM, "inner goes on", 1, "-"),
        Block(BlockKind.ITEM, "second", 0, "2."),
        Block(BlockKind.ITEM, "star 三、 not a list", 0, "-"),
    ]


def test_table_rows_read_as_column_and_cell() -> None:
    text = "| Week | Hours |\n|:---|---:|\n| 5 days | **32** |\n| 4 days | |\n\n| no | header |"
    assert kinds(text) == [("row", "Week: 5 days; Hours: 32"), ("row", "Week: 4 days"), ("row", "no; header")]


def test_furniture_goes_and_words_stay() -> None:
    text = (
        "---\ntitle: X\n---\n<!-- hidden -->\n> A [link](http://x/y) and *stress* and __more__ and snake_case_name.\n\n"
        "[ref]: http://z\n\n***\n\n2 * 3 * 4 \\* done"
    )
    assert kinds(text) == [
        ("prose", "A link and stress and more and snake_case_name."),
        ("prose", "2 * 3 * 4 * done"),
    ]


def test_code_is_kept_line_by_line_and_not_read_as_markdown() -> None:
    assert kinds("```sh\n# not a heading\n- not an item\n```\nafter") == [
        ("code", "# not a heading"),
        ("code", "- not an item"),
        ("prose", "after"),
    ]


@given(st.text(alphabet="ab中。 \n#-*|_`>1.[]()\\\t~=", max_size=200))
def test_any_text_gives_blocks_on_one_line(text: str) -> None:
    for block in parse_blocks(text):
        assert block.text
        assert "\n" not in block.text
        assert tidy(block.text).strip() == tidy(block.text)


def test_hostile_marks_take_no_long_time() -> None:
    for text in ("**a " * 20_000, "_a" * 20_000, "|" * 50_000, ">" * 50_000, "- " * 20_000, "[" * 5_000, "`" * 50_000):
        assert isinstance(parse_blocks(text), list)
