"""Cut a parsed document into chunks that can be found, cited and put together again.

The chunks of a document tile its text: the first begins at 0, each begins where the one before it ends, the last ends
at the end. Borders stand only at the starts of sentences, items, rows and headings. A section that is too long is cut
into parts of about equal size, at paragraphs where one is near; small neighbours under one parent are put together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from typing import Final

from assistant.core.text import CJK, Span, index_terms, sentences
from assistant.knowledge.documents import Block, Kind, Parsed

_CJK_CHAR: Final = re.compile(f"[{CJK}]")
_HEADER_CHARACTERS: Final = 300
_SENTENCE_TARGETS: Final = 6


PATH: Final = " > "
"""What stands between the headings of a path."""


@dataclass(frozen=True, slots=True)
class ChunkSize:
    """How large a chunk should be, in columns: a Chinese character counts as two, everything else as one.

    `target` is what long sections are cut to; parts under `least` are put together with neighbours where they may.
    """

    target: int = 1_100
    least: int = 450


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of the text that can be found: its span, heading path from the title down, page, index terms."""

    span: Span
    section: str
    page: int | None
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Unit:
    """A sentence, item or row with the white space behind it: never cut."""

    start: int
    end: int
    width: int
    block: Block
    first: bool


@dataclass(frozen=True, slots=True)
class _Part:
    """Units in a row that may become a chunk; `path` are the headings all of them share."""

    units: tuple[_Unit, ...]
    path: tuple[str, ...]

    @property
    def width(self) -> int:
        return sum(unit.width for unit in self.units)


def chunk(parsed: Parsed, title: str, size: ChunkSize | None = None) -> tuple[Chunk, ...]:
    """The chunks of a document in order, as the module says; `section` is the heading path from the title down."""
    size = size or ChunkSize()
    parts = [part for section in _sections(_units(parsed, size)) for part in _cut(section, size)]
    return tuple(_chunk(parsed, part, title) for part in _together(parts, size))


def _width(text: str) -> int:
    return len(text) if text.isascii() else len(text) + len(_CJK_CHAR.findall(text))


def _units(parsed: Parsed, size: ChunkSize) -> Iterator[_Unit]:
    """The text cut at the start of every sentence, each unit with the block it begins in."""
    text = parsed.text
    whole = [block.span for block in parsed.blocks if block.kind is Kind.IMAGE]
    starts = [0, *(_line_start(text, start) for start in _outside(_starts(text, size)[1:], whole)), len(text)]
    place, before = 0, -1
    for start, end in pairwise(starts):
        while place + 1 < len(parsed.blocks) and parsed.blocks[place + 1].span.start <= start:
            place += 1
        yield _Unit(start, end, _width(text[start:end]), parsed.blocks[place], place != before)
        before = place


def _outside(starts: Sequence[int], whole: Sequence[Span]) -> Iterator[int]:
    """The starts that do not lie inside one of these spans: a caption of two sentences stands for one image."""
    place = 0
    for start in starts:
        while place < len(whole) and whole[place].end <= start:
            place += 1
        if place == len(whole) or start <= whole[place].start:
            yield start


def _line_start(text: str, start: int) -> int:
    """The start of the line when only blanks stand before: the indentation of an item belongs to it."""
    place = start
    while place > 0 and text[place - 1] in " \t":
        place -= 1
    return place if place == 0 or text[place - 1] == "\n" else start


def _starts(text: str, size: ChunkSize) -> list[int]:
    """Where sentences start. One many times as long as the target is a data dump and is cut at white space."""
    most = size.target * _SENTENCE_TARGETS
    starts: list[int] = []
    for span in sentences(text):
        starts.append(span.start)
        place = span.start
        while span.end - place > most:
            near, far = place + most // 2, place + most
            gap = max(text.rfind(" ", near, far), text.rfind("\n", near, far))
            place = gap + 1 if gap >= 0 else far
            starts.append(place)
    return starts or [0]


def _sections(units: Iterator[_Unit]) -> Iterator[_Part]:
    """Runs of units under one heading path and, where pages are separate worlds, on one page."""
    run: list[_Unit] = []
    for unit in units:
        if run and (unit.block.path != run[-1].block.path or unit.block.page != run[-1].block.page or _begins(unit)):
            yield _Part(tuple(run), run[0].block.path)
            run = []
        run.append(unit)
    if run:
        yield _Part(tuple(run), run[0].block.path)


def _begins(unit: _Unit) -> bool:
    """Whether a unit begins a section, also one whose heading repeats the heading before it."""
    return unit.first and unit.block.kind is Kind.HEADING


def _cut(section: _Part, size: ChunkSize) -> Iterator[_Part]:
    """A section in parts of about equal width, none far over the target unless one sentence is."""
    total = section.width
    pieces = ceil(total / size.target) if total > size.target * 1.2 else 1
    aim = total / pieces
    run: list[_Unit] = []
    width = 0
    for unit, after in zip(section.units, [*section.units[1:], None], strict=True):
        run.append(unit)
        width += unit.width
        if after is not None and pieces > 1 and _stops(run, width, after, aim, size):
            yield _Part(tuple(run), section.path)
            run, width = [], 0
    if run:
        yield _Part(tuple(run), section.path)


def _stops(run: Sequence[_Unit], width: int, after: _Unit, aim: float, size: ChunkSize) -> bool:
    """Whether a part ends here: at a paragraph's end from three quarters of the aim on, anywhere when it is reached."""
    last = run[-1]
    if _holds_on(last, after) and width + after.width <= size.target * 1.5:
        return False
    if width + after.width > size.target * 1.25 or width >= aim:
        return True
    apart = after.first and after.block.kind in {Kind.PARAGRAPH, Kind.HEADER, Kind.CODE, Kind.IMAGE}
    return apart and width >= aim * 0.75


def _holds_on(last: _Unit, after: _Unit) -> bool:
    """Whether a border here would part what belongs together: a heading or an opening line and what it opens."""
    if last.block.kind in {Kind.HEADING, Kind.HEADER, Kind.IMAGE}:
        return True
    return after.first and after.block.kind is not Kind.PARAGRAPH and last.block.kind is Kind.PARAGRAPH


def _together(parts: list[_Part], size: ChunkSize) -> list[_Part]:
    """Put small parts together with the part before them, as long as they share a parent and the target allows it."""
    merged: list[_Part] = []
    for part in _led_by_headings(parts):
        if merged and _may_join(merged[-1], part, size):
            before = merged.pop()
            part = _Part(before.units + part.units, _shared(before.path, part.path))
        merged.append(part)
    return merged


def _led_by_headings(parts: list[_Part]) -> Iterator[_Part]:
    """A heading without text of its own goes with the section below it."""
    bare: tuple[_Unit, ...] = ()
    for part, after in zip(parts, [*parts[1:], None], strict=True):
        units = bare + part.units
        leads = all(unit.block.kind is Kind.HEADING for unit in part.units)
        if leads and after is not None and after.path[: len(part.path)] == part.path and len(units) < 8:
            bare = units
        else:
            yield _Part(units, part.path)
            bare = ()


def _may_join(before: _Part, part: _Part, size: ChunkSize) -> bool:
    smaller = min(before.width, part.width)
    if smaller >= size.least or before.width + part.width > size.target * 1.1:
        return False
    if before.units[-1].block.page != part.units[0].block.page and (smaller > 160 or _begins(part.units[0])):
        return False
    shared = len(_shared(before.path, part.path))
    return shared >= min(len(before.path), len(part.path)) - 1


def _shared(one: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    count = 0
    while count < min(len(one), len(other)) and one[count] == other[count]:
        count += 1
    return tuple(one[:count])


def _chunk(parsed: Parsed, part: _Part, title: str) -> Chunk:
    span = Span(part.units[0].start, part.units[-1].end)
    path = part.path if part.path[:1] == (title,) else (title, *part.path)
    first = part.units[0].block
    header = first.header[:_HEADER_CHARACTERS].strip("| ") if first.kind is Kind.ROW else ""
    section = PATH.join([*(name for name in path if name), *([header] if header else [])])
    words = index_terms(f"{section}\n{parsed.text[span.start : span.end]}")
    return Chunk(span=span, section=section, page=first.page, terms=tuple(words))
