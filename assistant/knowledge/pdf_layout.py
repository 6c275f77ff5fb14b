"""From the lines of PDF pages to pieces: running headers and footers, page numbers, headings, tables, paragraphs.

Pure: lines with their boxes in, pieces out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from assistant.core.text import CJK
from assistant.knowledge.documents import Kind, Piece, fold, row
from assistant.knowledge.pdf_figures import Figure, placed, woven
from assistant.knowledge.plain import bullet, columns, unwrap


@dataclass(frozen=True, slots=True)
class Line:
    """A line: its cells (one for running text), its box and letter size in points, whether it breaks a word."""

    cells: tuple[str, ...]
    left: float
    right: float
    top: float
    bottom: float
    size: float
    bold: bool = False
    hyphenated: bool = False

    @property
    def text(self) -> str:
        """The words of the line."""
        return " ".join(self.cells)


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its number from 1, its height in points, its lines in reading order, its figures."""

    number: int
    height: float
    lines: tuple[Line, ...]
    figures: tuple[Figure, ...] = ()


_EDGE: Final = 3
_DIGITS: Final = re.compile(r"\d+")
_PAGE_NUMBER: Final = re.compile(
    r"^[\s\-–—|·]*(?:page|seite|p\.|第)?\s*\d{1,4}\s*(?:页|頁)?\s*(?:(?:of|/|von|，?共)\s*\d{1,4}\s*(?:页|頁)?)?[\s\-–—|·]*$",
    re.IGNORECASE,
)
_SMALL_START: Final = re.compile(rf"[a-z{CJK}]")
_RULE: Final = re.compile(r"^\s*(?:[-=_*~#.]\s?){4,}\s*$")
_SENTENCE_STOP: Final = re.compile(r"[.!?。！？;；,，]$")
_SENTENCE_END: Final = re.compile(r"[.!?。！？…:：;；][\"'”’」』）)\]]*$")


def to_pieces(pages: Sequence[Page]) -> list[Piece]:
    """The pieces of all pages. Of a header or footer that repeats only its first appearance stays; page numbers go.

    Figures stand between pieces: without them the others are the same.
    """
    repeated = _repeated(pages)
    seen: set[str] = set()
    body = _body_size(pages)
    levels = _heading_levels(pages, body)
    bold_tells = _bold_share(pages) < 0.3
    pieces: list[Piece] = []
    images: list[tuple[int, Piece]] = []
    for page in pages:
        lines = _without_running(page, repeated, seen, many=len(pages) > 1)
        found, starts = _page_pieces(lines, page.number, levels, bold_tells)
        if pieces and found and _continues(pieces[-1], found[0]):
            pieces[-1] = replace(pieces[-1], text=_over_the_page(pieces[-1].text, found[0].text))
            found, starts = found[1:], starts[1:]
        for place, image in placed(page.figures, lines, page.number):
            images.append((len(pieces) + sum(start < place for start in starts), image))
        pieces += found
    return woven(pieces, images)


def _edges(page: Page) -> list[Line]:
    """The lines nearest to the upper and the lower edge, wherever they stand in the reading order."""
    ordered = sorted(page.lines, key=lambda line: -line.top)
    upper = [line for line in ordered[:_EDGE] if line.top > page.height * 0.82]
    lower = [line for line in ordered[-_EDGE:] if line.bottom < page.height * 0.18]
    return upper + lower


def _key(line: Line) -> str:
    return _DIGITS.sub("0", fold(line.text).lower())


def _repeated(pages: Sequence[Page]) -> frozenset[str]:
    """Texts that stand at the edge of at least half of the pages (two at least), whatever their numbers."""
    counts = Counter(key for page in pages for key in {_key(line) for line in _edges(page)})
    return frozenset(key for key, times in counts.items() if times >= max(2, (len(pages) + 1) // 2))


def _without_running(page: Page, repeated: frozenset[str], seen: set[str], *, many: bool) -> list[Line]:
    edges = set(map(id, _edges(page)))
    kept = []
    for line in page.lines:
        if id(line) in edges:
            key = _key(line)
            if _PAGE_NUMBER.match(line.text) and (many or key in repeated):
                continue
            if key in repeated and key in seen:
                continue
            seen.add(key)
        kept.append(line)
    return kept


def _body_size(pages: Sequence[Page]) -> float:
    """The letter size that most characters have."""
    sizes: Counter[float] = Counter()
    for page in pages:
        for line in page.lines:
            sizes[line.size] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 10.0


def _bold_share(pages: Sequence[Page]) -> float:
    """The share of the characters that stand in bold lines."""
    total = sum(len(line.text) for page in pages for line in page.lines)
    return sum(len(line.text) for page in pages for line in page.lines if line.bold) / max(1, total)


def _heading_levels(pages: Sequence[Page], body: float) -> dict[float, int]:
    """Letter sizes clearly above the body's, the largest first, as heading levels; six at most."""
    larger = {line.size for page in pages for line in page.lines if line.size >= body * 1.15}
    return {size: min(6, level) for level, size in enumerate(sorted(larger, reverse=True), start=1)}


def _heading_level(line: Line, levels: dict[float, int], bold: bool) -> int:
    """The level of a heading (larger letters, or a short bold line where the text is not bold), 0 for other lines."""
    text = line.text
    if len(line.cells) != 1 or len(text) > 200 or not any(map(str.isalpha, text)):
        return 0
    if line.size in levels:
        return levels[line.size]
    short = len(text) <= 80 and not _SENTENCE_STOP.search(text) and not bullet(text)
    return min(6, len(levels) + 1) if line.bold and bold and short else 0


def _page_pieces(
    lines: Sequence[Line], page: int, levels: dict[float, int], bold_tells: bool
) -> tuple[list[Piece], list[int]]:
    """The pieces of a page, and for each the line it begins with."""
    pieces: list[Piece] = []
    starts: list[int] = []
    before: Line | None = None
    margin = _margins(lines)
    for place, line in enumerate(lines):
        if level := _heading_level(line, levels, bold_tells):
            _add_heading(pieces, before, line, page, level)
        elif _is_row(lines, place):
            follows = bool(pieces) and pieces[-1].kind in {Kind.ROW, Kind.HEADER} and before is not None
            pieces.append(Piece(Kind.ROW if follows else Kind.HEADER, row(line.cells), page=page))
        elif item := bullet(line.text):
            pieces.append(replace(item, page=page, level=0))
        elif _RULE.match(line.text):
            pass
        elif before is not None and pieces and _belongs(pieces[-1], before, line):
            glue = _glue(before, line, margin[place])
            pieces[-1] = replace(pieces[-1], text=pieces[-1].text + glue + line.text)
        else:
            pieces.append(Piece(Kind.PARAGRAPH, line.text, page=page))
        starts += [place] * (len(pieces) - len(starts))
        before = line
    return [replace(piece, text=unwrap(piece.text)) for piece in pieces], starts


def _add_heading(pieces: list[Piece], before: Line | None, line: Line, page: int, level: int) -> None:
    """A heading that was wrapped is one heading."""
    last = pieces[-1] if pieces else None
    same = last is not None and before is not None and last.kind is Kind.HEADING and last.level == level
    if last and before and same and _near(before, line) and columns(before.text) >= 30:
        pieces[-1] = replace(last, text=f"{last.text}\n{line.text}")
    else:
        pieces.append(Piece(Kind.HEADING, line.text, level, page))


def _is_row(lines: Sequence[Line], place: int) -> bool:
    """A line with gaps is a row when a neighbour has gaps too, or when it has three cells of its own."""
    cells = len(lines[place].cells)
    near = [len(lines[other].cells) for other in (place - 1, place + 1) if 0 <= other < len(lines)]
    return cells >= 3 or (cells == 2 and any(count >= 2 for count in near))


def _margins(lines: Sequence[Line]) -> list[float]:
    """For each line the right edge of its column: the farthest of the lines around it with its left edge."""
    edges = []
    for place, line in enumerate(lines):
        around = lines[max(0, place - 12) : place + 13]
        edges.append(max(other.right for other in around if abs(other.left - line.left) < 60))
    return edges


def _near(before: Line, line: Line) -> bool:
    """Whether a line stands right under the one before it."""
    return -0.5 * line.size <= before.bottom - line.top <= 1.1 * line.size


def _belongs(last: Piece, before: Line, line: Line) -> bool:
    """Whether a line stands in the paragraph or item before it."""
    if last.kind not in {Kind.PARAGRAPH, Kind.ITEM} or not _near(before, line) or abs(before.size - line.size) > 1.5:
        return False
    return last.kind is Kind.PARAGRAPH or line.left >= before.left - 2


def _glue(before: Line, line: Line, margin: float) -> str:
    """What joins two lines: nothing in a broken word, LF where the line was wrapped, VT where its end was meant."""
    if before.hyphenated:
        return ""
    if len(before.cells) > 1 or before.bold != line.bold:
        return "\v"
    narrow = columns(before.text) < 45 and not _SMALL_START.match(line.text)
    return "\n" if not narrow and before.right - before.left >= (margin - before.left) * 0.72 else "\v"


def _over_the_page(text: str, rest: str) -> str:
    head, _, last = text.rpartition("\n")
    first, _, tail = rest.partition("\n")
    return "\n".join(line for line in (head, fold(f"{last}\n{first}"), tail) if line)


def _continues(last: Piece, first: Piece) -> bool:
    """Whether a paragraph runs on over the page end."""
    if last.kind not in {Kind.PARAGRAPH, Kind.ITEM} or first.kind is not Kind.PARAGRAPH:
        return False
    return not _SENTENCE_END.search(last.text) and len(last.text) > 40 and first.text[:1].islower()
