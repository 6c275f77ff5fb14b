"""Evidence as a list of things that can be quoted, each with what a reader would need to understand it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from assistant.core.evidence import Evidence
from assistant.core.quoting.blocks import Block, BlockKind, parse_blocks, tidy
from assistant.core.text import sentences

LONGEST_ITEM: Final = 420
"""A list item of more characters is quoted by sentence."""

_PATH: Final = re.compile(r"\s+[>›»/|]\s+|\s*[›»]\s*")
_CREDIT: Final = re.compile(r"[—–-]{1,2}\s*@?\w")
_ANNOUNCES: Final = re.compile(
    r"\b(?:the following|(?:steps|list|items|ones) below|as follows)\b|以下|如下|下列", re.IGNORECASE
)
_WORDLESS: Final = re.compile(r"\W*\Z")


@dataclass(frozen=True, slots=True)
class Quotable:
    """A sentence, list item or table row of one piece of evidence.

    `evidence` is the place of the evidence, `block` and `section` number the block and the heading it stands under,
    `text` is what a reader sees of it. `lead` is the line that introduces the list, `parent` its place among the
    quotables (None without one); `context` are title, headings and lead, in whose light it reads.
    """

    evidence: int
    section: int
    block: int
    kind: BlockKind
    text: str
    heading: str
    context: str
    level: int = 0
    marker: str = ""
    lead: str = ""
    parent: int | None = None


def quotables(evidence: Sequence[Evidence]) -> list[Quotable]:
    """Everything that can be quoted, in the order of the evidence and, within one piece, of the document."""
    found: list[Quotable] = []
    for place, item in enumerate(evidence):
        walk = _Walk(place, item, found)
        for span in item.kept:
            walk.take(parse_blocks(item.quote(span)))
    return found


class _Walk:
    """One pass over the blocks of one piece of evidence: keeps headings and open lists, appends quotables."""

    def __init__(self, place: int, item: Evidence, found: list[Quotable]) -> None:
        self._place = place
        self._found = found
        self._title = tidy(item.source.title)
        self._path = [tidy(part) for part in _PATH.split(item.section) if part.strip()]
        self._levels: list[tuple[int, str]] = []
        self._section = 0
        self._block = 0
        self._open: list[tuple[int, int]] = []

    def take(self, blocks: Sequence[Block]) -> None:
        """Read the blocks of one kept part."""
        for block in blocks:
            self._block += 1
            if block.kind is BlockKind.HEADING:
                self._take_heading(block)
            else:
                self._take_words(block)

    def _take_heading(self, block: Block) -> None:
        self._section += 1
        self._open = []
        self._levels = [(level, text) for level, text in self._levels if level < block.level]
        self._levels.append((block.level, block.text))

    def _take_words(self, block: Block) -> None:
        for text in _parts(block):
            if _WORDLESS.match(text) or (block.kind is BlockKind.PROSE and _CREDIT.match(text)):
                continue
            parent = self._parent(block)
            lead = self._found[parent].text if parent is not None else ""
            self._found.append(
                Quotable(
                    evidence=self._place,
                    section=self._section,
                    block=self._block,
                    kind=block.kind,
                    text=text,
                    heading=self._heading(),
                    context=" \n".join([self._title, *self._path, *self._headings(), lead]),
                    level=block.level,
                    marker=block.marker,
                    lead=lead,
                    parent=parent,
                )
            )
        self._remember(block)

    def _parent(self, block: Block) -> int | None:
        """The quotable that introduces this one: the item above a nested item, or the line before a list or table."""
        if block.kind is BlockKind.ITEM:
            while self._open and self._open[-1][0] >= block.level:
                self._open.pop()
        elif block.kind is BlockKind.PROSE:
            return None
        return self._open[-1][1] if self._open else None

    def _remember(self, block: Block) -> None:
        if not self._found or self._found[-1].block != self._block or self._found[-1].evidence != self._place:
            return
        last = len(self._found) - 1
        if block.kind is BlockKind.ITEM:
            self._open.append((block.level, last))
        elif block.kind is BlockKind.PROSE:
            self._open_list(last)

    def _open_list(self, last: int) -> None:
        """A line that announces a list opens it; one still without its list stays open over a remark in between."""
        lead = next((place for place in range(last, -1, -1) if self._announces(place)), None)
        if lead is not None:
            self._open = [(-1, lead)]
        elif not (self._open and self._open[-1][0] == -1 and last - self._open[-1][1] <= 6):
            self._open = []

    def _announces(self, place: int) -> bool:
        unit = self._found[place]
        here = unit.block == self._block and unit.evidence == self._place
        return here and (introduces(unit.text) or _ANNOUNCES.search(unit.text) is not None)

    def _headings(self) -> list[str]:
        return [text for _, text in self._levels if text not in self._path]

    def _heading(self) -> str:
        own = self._levels[-1][1] if self._levels else ""
        return own or (self._path[-1] if self._path else self._title)


def introduces(text: str) -> bool:
    """Whether a line announces what follows it."""
    return text.rstrip("*_ ").endswith((":", "："))


def _parts(block: Block) -> Iterator[str]:
    whole = block.kind in (BlockKind.ROW, BlockKind.CODE)
    if whole or (block.kind is BlockKind.ITEM and len(block.text) <= LONGEST_ITEM):
        yield block.text
        return
    for span in sentences(block.text):
        yield block.text[span.start : span.end]
