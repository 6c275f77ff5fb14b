import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.errors import BadDocument
from assistant.knowledge.parsers import parse
from assistant.knowledge.plain import decode

WRAPPED = """Employees accrue leave every month that they are on the payroll, and may
carry over at most ten days into the next year unless a manager has agreed
to more.

  - Part-time staff accrue in proportion to the hours that are written in
    their contract.
  - Contractors do not accrue.

Signed
People team
"""


NOISE = bytes((place * place * 7 + place * 13) % 251 + 3 for place in range(3000))


def text_of(text: str) -> str:
    return parse(text.encode(), "x.txt").text


def test_wrapped_lines_become_sentences() -> None:
    first, items, last = text_of(WRAPPED).split("\n\n")
    assert first.count("\n") == 0
    assert first.endswith("at most ten days into the next year unless a manager has agreed to more.")
    assert items.split("\n") == [
        "  - Part-time staff accrue in proportion to the hours that are written in their contract.",
        "  - Contractors do not accrue.",
    ]
    assert last == "Signed\nPeople team"


def test_long_lines_are_paragraphs_already() -> None:
    line = "One long line that its writer never wrapped, " * 5
    assert text_of(f"{line}\n{line}\n{line}").count("\n") == 2


def test_underlined_titles_are_headings() -> None:
    page = parse(b"Leave\n=====\n\nText.\n\nSick leave\n----------\nMore.", "x.rst")
    assert page.text == "# Leave\n\nText.\n\n## Sick leave\n\nMore."
    assert page.blocks[-1].path == ("Leave", "Sick leave")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "gb18030"])
def test_encodings_of_chinese(encoding: str) -> None:
    text = "员工每年可以申请十五天的年假，请在系统中提交。The rule is from 2024, and it is in force." * 3
    assert decode(text.encode(encoding)) == text


def test_latin_text_of_the_old_kind() -> None:
    text = "Die Beschäftigten müssen die Änderungen für das Büro prüfen. " * 5
    assert decode(text.encode("cp1252")) == text


@pytest.mark.parametrize("data", [bytes(range(256)) * 8, b"\0\1\2\3" * 500, NOISE])
def test_bytes_that_are_no_text(data: bytes) -> None:
    with pytest.raises(BadDocument) as caught:
        decode(data)
    assert caught.value.data["reason"] == "not_text"


@given(st.text(alphabet=st.characters(blacklist_categories=["Cs", "Cc", "Cn", "Co"]), min_size=1))
def test_utf8_is_never_guessed_otherwise(text: str) -> None:
    data = text.encode()
    if data.strip(b"\0\t\r\n ") and not data.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")):
        assert decode(data) == text


@given(st.binary(max_size=2000))
def test_any_bytes_are_text_or_refused(data: bytes) -> None:
    try:
        text = decode(data)
    except BadDocument as error:
        text = str(error.data["reason"])
        if text not in {"empty", "not_text"}:
            raise
    assert text
