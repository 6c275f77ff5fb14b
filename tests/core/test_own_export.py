"""Exports of one's own: footnotes, what is marked and what is withheld, and that no text of strangers is in force."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from assistant.core.citations import Citation, CitationStatus, CitedSource, SentenceVerdict, Verdict
from assistant.core.escaping import Mark, inline, link, quoted
from assistant.core.events import CitationsAdded, ConflictsFound, ConflictShown, ConflictSide, SourceChanged
from assistant.core.evidence import Authority
from assistant.core.footnotes import footnoted
from assistant.core.own_export import ExportedSession, as_markdown
from assistant.core.turn import TurnMessage

READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
ANSWER = "You get 25 days. Ask again in May.\n\nIt was 20."
SOURCE = CitedSource(
    "d1", 2, "ab", "Leave rules", "https://Intranet.example:8443/leave?y=1#a", "Annual leave", 0, 8, "25 days.",
    page=3, date=date(2026, 1, 5),
)  # fmt: skip
CITED = Citation(1, 0, 16, Verdict.SUPPORTED, 0.9, "e1", SOURCE)
MESSAGE = TurnMessage(
    question="How many days?",
    text=ANSWER,
    status="completed",
    citations=CitationsAdded(
        CitationStatus.PARTIAL,
        (CITED, replace(CITED, n=4, source=replace(SOURCE, title="Old rules", uri="old.md", page=None, date=None))),
        (SentenceVerdict(17, 34, Verdict.UNSUPPORTED, 0.1), SentenceVerdict(36, 46, Verdict.CONTRADICTED, 0.1)),
        3,
    ),
    conflicts=ConflictsFound(
        (
            ConflictShown(
                "days of leave",
                "number",
                (
                    ConflictSide("e1", 1, "25 days.", "Leave rules", date(2026, 1, 5), Authority.HIGH, preferred=True),
                    ConflictSide("e2", None, "20 days", "Old rules", None, Authority.LOW, preferred=False),
                ),
                "newer",
                "20 / 25",
            ),
        )
    ),
    changes=(SourceChanged("t1", 4, "deleted"),),
)
AT = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)


def session_of(*messages: TurnMessage, title: str = "Leave", withheld: frozenset[str] = frozenset()) -> ExportedSession:
    turns = tuple((f"t{n}", message) for n, message in enumerate(messages, start=1))
    return ExportedSession(title, AT, AT, turns, withheld)


def tokens_of(markdown: str) -> list[Token]:
    """All tokens of a document, those inside lines too."""
    return [part for token in READER.parse(markdown) for part in (token, *(token.children or ()))]


def test_an_answer_has_its_footnotes() -> None:
    assert footnoted(MESSAGE, "en") == (
        "> You get 25 days. \\[1\\]\\[4\\] Ask again in May. *(not supported by the sources)*\n"
        ">\n"
        "> It was 20. *(contradicted by the sources)*\n"
        "\n"
        "**The sources disagree**\n"
        "\n"
        "- days of leave\n"
        "    - “25 days.”, Leave rules, 2026-01-05, \\[1\\], *preferred*\n"
        "    - “20 days”, Old rules\n"
        "\n"
        "**Sources**\n"
        "\n"
        "- \\[1\\] **Leave rules**, Annual leave, page 3, version 2, 2026-01-05, "
        "[intranet.example](<https://intranet.example:8443/leave?y=1#a>)\n"
        "- \\[4\\] **Old rules**, Annual leave, version 2, old.md, *the document was deleted since*"
    )


def test_the_words_around_an_answer_are_of_the_language_asked_for() -> None:
    shown = footnoted(MESSAGE, "zh")
    assert "来源不支持" in shown
    assert "**Leave rules**，Annual leave，页 3，版本 2" in shown
    assert footnoted(MESSAGE, "xx") == footnoted(MESSAGE, "en")


def test_an_open_conflict_says_that_no_rule_decides() -> None:
    assert MESSAGE.conflicts is not None
    (item,) = MESSAGE.conflicts.items
    sides = tuple(replace(side, preferred=False) for side in item.sides)
    message = replace(MESSAGE, conflicts=ConflictsFound((replace(item, sides=sides, resolution="unresolved"),)))
    assert "- days of leave: No rule prefers one of them.\n" in footnoted(message, "en")


def test_nothing_gives_nothing() -> None:
    assert footnoted(TurnMessage(), "en") == ""
    assert footnoted(TurnMessage(text="Hello."), "en") == "> Hello."


def test_a_session_is_one_document() -> None:
    shown = as_markdown(session_of(MESSAGE, replace(MESSAGE, question="And in 2025?", status="cancelled")), "en")
    assert shown.startswith(
        "# Leave\n\nBegun 2026-03-01 12:30 UTC, exported 2026-03-01 12:30 UTC\n\n## Question 1\n\n> How"
    )
    assert shown.endswith("*The answer was stopped before its end.*\n")
    assert [token.tag for token in tokens_of(shown) if token.type == "heading_open"] == ["h1", "h2", "h3", "h2", "h3"]


def test_a_withheld_answer_leaves_nothing_but_its_question() -> None:
    secret = replace(MESSAGE, text="The bonus is 900.", attachments=("900.txt",), status="failed")
    shown = as_markdown(session_of(secret, MESSAGE, withheld=frozenset({"t1"})), "en")
    first, second = shown.split("## Question 2")
    assert "> How many days?" in first
    assert first.rstrip().endswith("*The answer is withheld: a source of it may no longer be read.*")
    for word in ("900", "Leave rules", "25 days", "error"):
        assert word not in first
    assert "25 days" in second


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (TurnMessage(question="?"), "The answer is still being written."),
        (TurnMessage(question="?", status="failed"), "The answer broke off because of an error."),
        (TurnMessage(question="?", status="completed"), "There is no answer."),
    ],
)
def test_the_end_of_a_turn_is_said(message: TurnMessage, said: str) -> None:
    assert f"*{said}*" in as_markdown(session_of(message), "en")


def test_an_untitled_session_and_its_files() -> None:
    shown = as_markdown(session_of(replace(MESSAGE, attachments=("a*b.pdf", "c.txt")), title="\u202e"), "zh")
    assert shown.startswith("# 会话\n")
    assert "文件: a\\*b.pdf, c.txt" in shown


HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "![x](https://evil.example/?q=1)",
    "[x](javascript:alert(1))",
    "[x](https://evil.example)",
    "[x][1]\n\n[1]: https://evil.example",
    "[1]: <https://evil.example> 'x'",
    "[^1]: https://evil.example",
    "<https://evil.example>",
    "a <!-- b",
    "<![CDATA[ x",
    "```\n</blockquote><script>",
    "~~~ x\n# y\n[x](https://evil.example)",
    "````\n```\n[x](https://evil.example)",
    "a\n\n```` `\n[x](https://evil.example)",
    "- x\n  ```\n  <b>\n[x](https://evil.example)",
    "`<b>` ``[x](https://evil.example)``",
    "\\[x](https://evil.example)",
    "\\\\[x](https://evil.example)",
    "\\<b>",
    "&lt;b&gt; &#91;x&#93;(https://evil.example)",
    "# Heading\n## Question 9\n===\n---",
    "text\r\r# Heading\rx\r\n# Heading",
    "\u2028# Heading\x0b# Heading\x85# Heading",
    "| a | b |\n|---|---|\n| [x](https://evil.example) | <b> |",
    "1. [x](https://evil.example)\n   <b>",
    "    <b>\n\t[x](https://evil.example)",
    "> > <b>",
    "\x00\ud800<b>".replace("\ud800", ""),
    "x" * 500 + "[" * 500 + "](" * 500,
]


def assert_harmless(markdown: str, links: frozenset[str] = frozenset()) -> None:
    """No HTML, no image, no link but ours; every heading beyond ours is inside a quotation."""
    depth = 0
    for token in READER.parse(markdown):
        depth += {"blockquote_open": 1, "blockquote_close": -1}.get(token.type, 0)
        assert token.type != "html_block"
        if token.type == "heading_open" and depth == 0:
            assert token.markup.startswith("#")
        if token.type == "fence":
            assert depth
        for part in token.children or ():
            assert part.type not in ("html_inline", "image")
            if part.type == "link_open":
                assert part.attrs["href"] in links


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_not_in_force_wherever_it_stands(text: str) -> None:
    assert MESSAGE.citations is not None
    assert MESSAGE.conflicts is not None
    source = replace(SOURCE, title=text, section=text, uri=text)
    (conflict,) = MESSAGE.conflicts.items
    side = replace(conflict.sides[0], claim=text, title=text)
    ends = [0, len(text) // 2, len(text)]
    message = replace(
        MESSAGE,
        question=text,
        text=text,
        attachments=(text,),
        citations=replace(
            MESSAGE.citations,
            items=tuple(replace(CITED, n=n, end=end, source=source) for n, end in enumerate(ends, start=1)),
            unsupported=(SentenceVerdict(0, len(text), Verdict.UNSUPPORTED, 0.0),),
        ),
        conflicts=ConflictsFound((replace(conflict, topic=text, sides=(side, side)),)),
    )
    shown = as_markdown(session_of(message, MESSAGE, title=text), "en")
    assert_harmless(shown, frozenset({"https://intranet.example:8443/leave?y=1#a"}))
    headings = [token.tag for token in READER.parse(shown) if token.type == "heading_open" and token.level == 0]
    assert headings == ["h1", "h2", "h3", "h2", "h3"]


PIECES = [*"ab1. \n\r\t[]()<>!&;:/`~*_#-+=|\\\"'^@$", "https://", "www.", "```", "~~~", "    ", "\n\n"]
SIGNS = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


@given(text=st.one_of(st.text(), SIGNS), at=st.integers(0, 60))
def test_any_text_is_harmless_and_stays_in_its_quotation(text: str, at: int) -> None:
    shown = quoted(text, [Mark(at, "\\[7\\]"), Mark(0, "\\[8\\]")])
    assert_harmless(shown)
    assert all(line.startswith(">") for line in shown.split("\n"))
    assert "\r" not in shown
    outer = [token for token in READER.parse(shown) if token.level == 0]
    assert [token.type for token in outer] == ["blockquote_open", "blockquote_close"]
    assert shown.count("\\[7\\]") >= 1
    assert shown.count("\\[8\\]") >= 1


@given(text=st.one_of(st.text(), SIGNS))
def test_short_text_is_read_as_it_was_written(text: str) -> None:
    shown = inline(text)
    lines = [token for token in READER.parse(f"- {shown}") if token.type == "inline"]
    assert len(lines) == bool(shown)
    parts = [part for line in lines for part in line.children or ()]
    assert {part.type for part in parts} <= {"text", "text_special"}
    assert "".join(part.content for part in parts).split() == inline_words(text)


def inline_words(text: str) -> list[str]:
    """What is left of a text without the characters that nobody sees."""
    dropped = {*map(chr, range(9)), *map(chr, (11, 12)), *map(chr, range(14, 32)), "\x7f", "\x85", "\u2028", "\u2029"}
    dropped |= {*map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A))}
    return "".join(char for char in text if char not in dropped).split()


def test_the_form_of_an_answer_is_kept() -> None:
    text = "**Bold** and *soft*:\n\n1. one\n2. two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```py\nif a < b: [x]\n```"
    kinds = {token.type for token in tokens_of(quoted(text))}
    assert {"strong_open", "em_open", "ordered_list_open", "table_open", "fence"} <= kinds
    assert "if a < b: [x]\n" in [token.content for token in tokens_of(quoted(text)) if token.type == "fence"]


def test_marks_stand_where_a_reader_shows_them() -> None:
    table = "| a | b |\n|---|---|\n| 1 | 2 |"
    assert quoted(table, [Mark(len(table), "M")]).endswith("> | 1 | 2  M|")
    code = "See:\n```\nx = 1\n```\nDone."
    assert quoted(code, [Mark(11, "M"), Mark(len(code), "N")]) == "> See:\n> ```\n> x = 1\n> ```\n> M\n> Done. N"
    assert quoted("```\nx", [Mark(4, "M"), Mark(99, "N")]) == "> ```\n> x\n> ```\n> M N"
    assert quoted("a", [Mark(99, "N")]) == "> a N"


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        ("https://a.example", "[a.example](<https://a.example>)"),
        ("http://A.Example/x(y) z>", "[a.example](<http://a.example/x%28y%29%20z%3E>)"),
        ("https://a.example/年假", "[a.example](<https://a.example/%E5%B9%B4%E5%81%87>)"),
        ("https://good.example@evil.example/", "https\\://good.example\\@evil.example/"),
        ("https://good.example\\@evil.example/", "https\\://good.example\\\\\\@evil.example/"),
        ("https://аpple.example/", "https\\://аpple.example/"),
        ("https://[::1]/", "https\\://\\[::1\\]/"),
        ("javascript:alert(1)", "javascript:alert\\(1\\)"),
        ("data:text/html,<b>", "data:text/html,\\<b\\>"),
        ("leave.md", "leave.md"),
        ("www.evil.example", "www\\.evil.example"),
        ("", ""),
    ],
)
def test_only_a_plain_web_address_is_a_link_and_shows_its_host(uri: str, shown: str) -> None:
    assert link(uri) == shown


def test_a_hundred_thousand_signs_take_no_time() -> None:
    text = "[`|<~\n" * 17_000
    assert len(as_markdown(session_of(replace(MESSAGE, text=text, question=text)), "en")) > 200_000
