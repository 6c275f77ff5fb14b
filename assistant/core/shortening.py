"""Shortening: fewer sentences of a piece of evidence, each still true as it stands.

A sentence is taken whole or not at all. A table row says nothing without the header row, and a list item nothing without
the line that introduces the list ("The following are covered:") and the items it is nested in, so these come with it. A
heading, a question, an introducing line or a header row says nothing alone, so the next line begins with it.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import takewhile
from typing import Final

from assistant.core.evidence import Evidence
from assistant.core.text import CJK, Span, sentences

LONGEST_WHOLE: Final = 600
"""Characters up to which a sentence is never cut; what is longer is a data dump, and is cut between words."""
_LINE: Final = re.compile(r"[^\n]+")
_ROW: Final = re.compile(r"\s*\|")
_ITEM: Final = re.compile(
    r"(\s*)(?:[-*+•·▪◦]|\(?(?:\d{1,3}|[A-Za-z])[.)]|[（(]?[一二三四五六七八九十]{1,3}[）)、.])\s*\S"
)
_WORD: Final = re.compile(rf"[^\W{CJK}]")
_INTRODUCES: Final = (":", "：")
_HEADING: Final = re.compile(r"#{1,6}\s")
_ASKS: Final = ("?", "？")


@dataclass(frozen=True, slots=True)
class _Line:
    """A line that is not blank: its place, the line above that it needs (-1 for none), whether it needs the one below."""

    span: Span
    needs: int
    row: bool
    opens: bool


def shorten(evidence: Evidence, keep: Iterable[Span]) -> Evidence:
    """The evidence with only these parts shown (document offsets inside it), neighbours joined.

    Each part is widened to whole sentences and table rows, and gets the header row or the introducing line it needs, as
    far as these are shown now. Keeping more never shows less. Without parts the evidence stays as it is.
    """
    joined: list[Span] = []
    for span in sorted(_completed(evidence, keep)):
        between = evidence.quote(Span(joined[-1].end, span.start)) if joined and joined[-1].end <= span.start else None
        if joined and (between is None or not between.strip()):
            joined[-1] = Span(joined[-1].start, max(joined[-1].end, span.end))
        else:
            joined.append(span)
    return replace(evidence, kept=tuple(joined)) if joined else evidence


def _completed(evidence: Evidence, keep: Iterable[Span]) -> Iterator[Span]:
    """Every part widened to whole sentences, and the lines that it needs."""
    origin, text = evidence.span.start, evidence.exact
    lines = _lines(text)
    starts = [line.span.start for line in lines]
    for part in keep:
        span = _whole(text, Span(part.start - origin, part.end - origin))
        yield span.shift(origin)
        touched = range(
            max(0, bisect_right(starts, span.start) - 1), bisect_right(starts, max(span.start, span.end - 1))
        )
        needed = [_last_sentence(text, lines[place]) for place in sorted(_needed(lines, touched))]
        for line in (*needed, *_followers(text, lines, span, touched)):
            if any(shown.start <= line.start + origin and line.end + origin <= shown.end for shown in evidence.kept):
                yield line.shift(origin)


def _followers(text: str, lines: Sequence[_Line], part: Span, touched: Iterable[int]) -> Iterator[Span]:
    """What stands below the lines that say nothing alone: the first sentence, after whatever lines open it."""
    for place in touched:
        follows = place < len(lines) and lines[place].opens and lines[place].span.end <= part.end
        while follows and place + 1 < len(lines):
            place += 1
            follows = lines[place].opens
            inner = _inside(text, lines[place].span)
            yield lines[place].span if lines[place].row or follows or not inner else inner[0]


def _needed(lines: Sequence[_Line], touched: Iterable[int]) -> set[int]:
    found: set[int] = set()
    for place in touched:
        need = lines[place].needs
        while need >= 0 and need not in found:
            found.add(need)
            need = lines[need].needs
    return found


def _last_sentence(text: str, line: _Line) -> Span:
    """The line, or of a paragraph only the sentence that introduces the list."""
    inner = _inside(text, line.span)
    return line.span if line.row or not inner else inner[-1]


def _inside(text: str, line: Span) -> list[Span]:
    found = _sentences(text)
    first = bisect_left(found, line.start, key=lambda each: each.start)
    return list(takewhile(lambda each: each.end <= line.end, found[first:]))


def _whole(text: str, span: Span) -> Span:
    """The part widened to the borders of its sentences, of a very long one to the borders of its words."""
    found = _sentences(text)
    first = max(0, bisect_right(found, span.start, key=lambda each: each.start) - 1)
    reached = takewhile(lambda each: each.start < max(span.end, span.start + 1), found[first:])
    touched = [each for each in reached if each.end > span.start]
    if not touched:
        return span
    start = _start(text, touched[0], span.start) if span.start > touched[0].start else span.start
    end = _end(text, touched[-1], span.end) if span.end < touched[-1].end else span.end
    return Span(start, end)


def _start(text: str, sentence: Span, at: int) -> int:
    if len(sentence) <= LONGEST_WHOLE or _ROW.match(text, sentence.start):
        return sentence.start
    while at > sentence.start and _WORD.match(text[at - 1]) and _WORD.match(text[at]):
        at -= 1
    return at


def _end(text: str, sentence: Span, at: int) -> int:
    if len(sentence) <= LONGEST_WHOLE or _ROW.match(text, sentence.start):
        return sentence.end
    while at < sentence.end and _WORD.match(text[at - 1]) and _WORD.match(text[at]):
        at += 1
    return at


@lru_cache(maxsize=1024)
def _sentences(text: str) -> tuple[Span, ...]:
    return tuple(sentences(text))


@lru_cache(maxsize=1024)
def _lines(text: str) -> tuple[_Line, ...]:
    """The lines of a text that are not blank, each with the line that it needs."""
    found: list[_Line] = []
    table, opened, levels = -1, -1, list[tuple[int, int]]()
    for place, match in enumerate(match for match in _LINE.finditer(text) if match.group().strip()):
        line, item = match.group().rstrip(), _ITEM.match(match.group())
        row, needs = _ROW.match(line) is not None, -1
        opens = line.endswith((*_INTRODUCES, *_ASKS)) or _HEADING.match(line) is not None
        if row:
            needs, opens = table, table < 0
        table = -1 if not row else place if table < 0 else table
        if item:
            indent = len(item.group(1).expandtabs(4))
            levels = [(depth, at) for depth, at in levels if depth < indent]
            needs = levels[-1][1] if levels else opened
            levels.append((indent, place))
        elif not row and not (levels and line[:1].isspace()):
            opened, levels = place if line.endswith(_INTRODUCES) else -1, []
        found.append(_Line(Span(match.start(), match.start() + len(line)), needs, row, opens))
    return tuple(found)
