import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.errors import BadDocument
from assistant.knowledge.documents import Limits, Parsed
from assistant.knowledge.parsers import SUFFIXES, parse, sniff
from tests.knowledge.files import archive, office, pdf, slides, word, workbook

REASONS = {"too_large", "encrypted", "corrupt", "unsupported", "empty", "not_text", "bomb", "bad_metadata"}
REAL = {
    ".pdf": office("fake-memo.pdf"),
    ".docx": office("docx-tables.docx"),
    ".pptx": office("sample-presentation.pptx"),
    ".xlsx": office("stanley-cups.xlsx"),
    ".eml": office("mime-different-plain-html.eml"),
    ".html": office("fake-html.html"),
}


def read(data: bytes, name: str) -> Parsed | None:
    """The parsed document, or None when it is refused for one of the reasons that exist."""
    try:
        return parse(data, name)
    except BadDocument as error:
        if error.data["reason"] not in REASONS:
            raise
        return None


def reason(data: bytes, name: str, limits: Limits | None = None) -> object:
    with pytest.raises(BadDocument) as caught:
        parse(data, name, limits=limits)
    return caught.value.data["reason"]


@pytest.mark.parametrize("suffix", [".pdf", ".docx", ".pptx", ".xlsx"])
@pytest.mark.parametrize("wrong", [".txt", ".md", ".pdf", ".docx", ".xls", ".bin", ""])
def test_the_bytes_decide_and_not_the_name(suffix: str, wrong: str) -> None:
    assert sniff(REAL[suffix], "x" + wrong) == sniff(REAL[suffix], "x" + suffix)


def test_a_page_of_html_named_as_text() -> None:
    assert parse(b"<!DOCTYPE html><p>Seen</p><script>no</script>", "x.txt").text == "Seen"


@pytest.mark.parametrize(
    ("data", "name", "expected"),
    [
        (b"", "x.md", "empty"),
        (b"\0" * 10_000, "x.txt", "empty"),
        (b"\0" * 10_000, "x.pdf", "empty"),
        (b"   \n\n", "x.md", "empty"),
        (b"<p style='display:none'>x</p>", "x.html", "empty"),
        (b"plain words", "x.pdf", "corrupt"),
        (b"plain words", "x.docx", "corrupt"),
        (b"\x89PNG\r\n\x1a\n....", "x.md", "corrupt"),
        (b"words", "x.exe", "unsupported"),
        (archive({"a.txt": "x"}), "x.zip", "unsupported"),
        (archive({"a.txt": "x"}), "x.docx", "unsupported"),
        (b"PK\x03\x04 and then nothing", "x.docx", "corrupt"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"), "x.docx", "encrypted"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 500, "x.doc", "unsupported"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "Workbook".encode("utf-16-le"), "x.xls", "corrupt"),
    ],
)
def test_refusals(data: bytes, name: str, expected: str) -> None:
    assert reason(data, name) == expected


def test_large_files_and_texts_are_refused() -> None:
    assert reason(b"x" * 101, "x.txt", Limits(bytes=100)) == "too_large"
    assert reason(b"word " * 100, "x.txt", Limits(characters=100)) == "too_large"


@pytest.mark.parametrize("suffix", list(REAL))
def test_files_cut_short_are_read_or_refused(suffix: str) -> None:
    data = REAL[suffix]
    for part in range(1, 16):
        parsed = read(data[: len(data) * part // 16], "x" + suffix)
        assert parsed is None or parsed.text


@given(st.binary(max_size=600), st.sampled_from(sorted(SUFFIXES)))
def test_random_bytes_are_read_or_refused(data: bytes, suffix: str) -> None:
    parsed = read(data, "x" + suffix)
    assert parsed is None or parsed.text.encode()


@given(
    st.sampled_from(list(REAL)),
    st.lists(st.tuples(st.integers(0, 100_000), st.binary(min_size=1, max_size=20)), min_size=1, max_size=8),
)
def test_damaged_files_are_read_or_refused(suffix: str, damages: list[tuple[int, bytes]]) -> None:
    data = bytearray(REAL[suffix])
    for place, junk in damages:
        data[place % len(data) : place % len(data) + len(junk)] = junk
    parsed = read(bytes(data), "x" + suffix)
    assert parsed is None or parsed.blocks


MARKUP = st.lists(
    st.sampled_from(
        str.split(
            "#_A~ ##_B~ -_item~ __-_deep~ 1._one~ |_a_|_b_|~ |---|---|~ ~ Some_words._ 年假。 "
            "<div> </div> <table><tr><td>x </table> ```~ `c` **b** \u200b {{_x_}} <!-- -->"
        )
    ).map(lambda part: part.replace("_", " ").replace("~", "\n")),
    min_size=1,
    max_size=40,
).map("".join)


@given(MARKUP, st.sampled_from([".md", ".html", ".txt"]))
def test_blocks_describe_the_text(source: str, suffix: str) -> None:
    parsed = read(source.encode(), "x" + suffix)
    if parsed is None:
        return
    end = 0
    for block in parsed.blocks:
        assert end <= block.span.start < block.span.end
        assert not parsed.text[end : block.span.start].strip()
        assert parsed.text[block.span.start : block.span.end].strip()
        end = block.span.end
    assert end == len(parsed.text)
    assert "\u200b" not in parsed.text
    assert "\r" not in parsed.text


def test_made_files_of_every_kind_are_told_apart() -> None:
    made = {
        "wordprocessingml": word([("Normal", "x")]),
        "presentationml": slides([("x", ["y"], "")]),
        "spreadsheetml": workbook({"s": [["x"]]}),
        "pdf": pdf([[(70, 700, 10, "x")]]),
    }
    for part, data in made.items():
        assert part in parse(data, "x").media_type
