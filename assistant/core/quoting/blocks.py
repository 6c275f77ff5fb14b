"""The blocks of a document's text as a reader sees them: headings, prose, list items, table rows, code.

Works on Markdown and on the plain text of other formats. Lines that an author only wrapped are put together again, a
table row becomes "column: cell" pairs, markup is taken out; the words stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from assistant.core.text import CJK, clean_for_display


class BlockKind(StrEnum):
    """What a block is in its document."""

    HEADING = "heading"
    PROSE = "prose"
    ITEM = "item"
    ROW = "row"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Block:
    """One block; `level` is the depth of a heading (1 is highest) or of a list item (0 is outermost).

    `marker` is "-" or a number with a full stop for list items. `cells` are the cells of a table row, `table` numbers
    the tables of a text.
    """

    kind: BlockKind
    text: str
    level: int = 0
    marker: str = ""
    cells: tuple[str, ...] = ()
    table: int = 0


_FRONT_MATTER: Final = re.compile(r"\A\s*---[ \t]*\n(?:[^\n]*\n){0,60}?---[ \t]*(?:\n|\Z)")
_HEADING: Final = re.compile(r"(#{1,6})[ \t]+(.+?)[ \t#]*$")
_UNDERLINE: Final = re.compile(r"(=+|-{3,})[ \t]*$")
_RULE: Final = re.compile(r"(?:[-*_][ \t]*){3,}$")
_ITEM: Final = re.compile(r"([-*+•·–]|\d{1,3}[.)、．]|[(（]\d{1,2}[)）])(?:[ \t]+|(?<=[、．）]))(?=\S)(.*)$")
_FENCE: Final = re.compile(r"(```|~~~)")
_SEPARATOR_ROW: Final = re.compile(r"\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{2,}:?[ \t]*)*\|?[ \t]*$")
_EMPHASIS: Final = re.compile(r"(\*\*|__)(?=\S)(.{1,400}?)(?<=\S)\1", re.DOTALL)
_LONE_EMPHASIS: Final = re.compile(
    r"(?<![\w*\\])\*(?=[^\s*])([^*\n]+?)(?<=[^\s*])\*(?![\w*])|(?<![\w\\])_(?=\S)([^_\n]+?)(?<=\S)_(?!\w)"
)
_BOLD_LINE: Final = re.compile(r"(\*\*|__)(?=\S)[^*_]{1,100}[^*_.:;,!。：；，！]\1")
_REFERENCE: Final = re.compile(r"^[ \t]*\[[^\]\n]+\]:[ \t]*\S+.*$", re.MULTILINE)
_SOFT_BREAK_CJK: Final = re.compile(rf"(?<=[{CJK}，。；：、！？）」』”]) +(?=[{CJK}（「『“])")
_ESCAPE: Final = re.compile(r"\\([\\`*_{}\[\]()#+\-.!|<>~])")
_SPACES: Final = re.compile(r"[ \t\u00a0\u3000]+")


def parse_blocks(text: str) -> list[Block]:
    """The blocks of a text in order. Never raises; a text in no known form is prose."""
    text = clean_for_display(_FRONT_MATTER.sub("", text.replace("\r\n", "\n"), count=1))
    reader = _Reader()
    for line in _REFERENCE.sub("", text).split("\n"):
        reader.take(line)
    reader.flush()
    return list(_with_table_rows(reader.blocks))


class _Reader:
    """Gathers lines into blocks; what is open is one paragraph or list item, a table row, or a code fence."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._lines: list[str] = []
        self._item: tuple[int, str] | None = None
        self._indents: list[int] = []
        self._fence = ""
        self._table = 0

    def take(self, line: str) -> None:
        """Read one line."""
        if self._take_code(line):
            return
        indent = len(line) - len(line.lstrip())
        body = line.strip()
        while body.startswith(">"):
            body = body[1:].lstrip()
        if not body:
            self._table += 1
            self.flush()
        elif not self._take_mark(body):
            self._take_words(body, indent)

    def flush(self) -> None:
        """End the open block."""
        whole = " ".join(self._lines)
        text = tidy(whole)
        if text and self._item is not None:
            level, marker = self._item
            self.blocks.append(Block(BlockKind.ITEM, text, level, marker))
        elif text:
            heading = _BOLD_LINE.fullmatch(whole)
            self.blocks.append(Block(BlockKind.HEADING, text, 6) if heading else Block(BlockKind.PROSE, text))
        self._lines, self._item = [], None

    def _take_code(self, line: str) -> bool:
        fence = _FENCE.match(line.strip())
        if self._fence:
            if fence and fence.group(1) == self._fence:
                self._fence = ""
            elif line.strip():
                self.blocks.append(Block(BlockKind.CODE, line.strip()))
            return True
        if fence:
            self.flush()
            self._fence = fence.group(1)
        return bool(fence)

    def _take_mark(self, body: str) -> bool:
        """Headings, underlines, rules and table rows, each a line of its own."""
        heading = _HEADING.match(body)
        if heading:
            self._add(Block(BlockKind.HEADING, tidy(heading.group(2)), len(heading.group(1))))
        elif body.startswith("|") and body.count("|") > 1:
            self._add(Block(BlockKind.ROW, body, cells=_cells(body), table=self._table))
        elif len(self._lines) == 1 and self._item is None and _UNDERLINE.match(body):
            title, self._lines = self._lines[0], []
            self._add(Block(BlockKind.HEADING, tidy(title), 1 if body[0] == "=" else 2))
        elif _RULE.match(body):
            self.flush()
        else:
            return False
        return True

    def _take_words(self, body: str, indent: int) -> None:
        item = _ITEM.match(body)
        if item:
            self.flush()
            self._item = (self._depth(indent), _marker(item.group(1)))
            body = item.group(2)
        elif not self._lines or _starts_anew(self._lines[-1], body):
            self.flush()
            if indent == 0:
                self._indents = []
        self._lines.append(body)

    def _depth(self, indent: int) -> int:
        while self._indents and self._indents[-1] > indent:
            self._indents.pop()
        if not self._indents or self._indents[-1] < indent:
            self._indents.append(indent)
        return len(self._indents) - 1

    def _add(self, block: Block) -> None:
        self.flush()
        self._indents = []
        if block.text:
            self.blocks.append(block)


def _starts_anew(before: str, line: str) -> bool:
    """Whether a line is a new paragraph although no blank line stands before it: the line before was short and ended.

    Authors wrap at a fixed width, so a short line that ends with a mark, or a "Name: value" line, was ended on purpose.
    """
    if len(before.encode("utf-8", "replace")) >= 60:
        return False
    return before[-1] in ".!?:;。！？：；" or (": " in before and ": " in line)


def _marker(mark: str) -> str:
    number = re.search(r"\d+", mark)
    return f"{number.group()}." if number else "-"


def _cells(row: str) -> tuple[str, ...]:
    inner = row.strip().removeprefix("|").removesuffix("|")
    return tuple(tidy(cell) for cell in inner.split("|"))


def tidy(text: str) -> str:
    """The text on one line without emphasis marks; no space is left where a wrapped Chinese line was joined."""
    if "*" in text or "_" in text:
        text = _EMPHASIS.sub(r"\2", text)
        text = _LONE_EMPHASIS.sub(lambda found: found.group(1) or found.group(2), text)
        text = text.replace("**", "")
    if "\\" in text:
        text = _ESCAPE.sub(r"\1", text)
    text = _SPACES.sub(" ", text.replace("\\\n", " ").replace("\n", " ")).strip()
    return _SOFT_BREAK_CJK.sub("", text)


def _with_table_rows(blocks: Sequence[Block]) -> Iterator[Block]:
    """Rows under a header as "column: cell" pairs; header and separator rows go, other rows keep their cells."""
    header: tuple[str, ...] = ()
    table = -1
    for place, block in enumerate(blocks):
        if block.kind is not BlockKind.ROW or block.table != table:
            header, table = (), block.table
        if block.kind is not BlockKind.ROW:
            yield block
        elif _SEPARATOR_ROW.match(block.text):
            continue
        elif place + 1 < len(blocks) and _SEPARATOR_ROW.match(blocks[place + 1].text):
            header = block.cells
        elif row := _row_text(header, block.cells):
            yield Block(BlockKind.ROW, row, cells=block.cells, table=block.table)


def _row_text(header: Sequence[str], cells: Sequence[str]) -> str:
    names = [*header, *[""] * (len(cells) - len(header))]
    pairs = (f"{name}: {cell}" if name else cell for name, cell in zip(names, cells, strict=False) if cell)
    return "; ".join(pairs)
