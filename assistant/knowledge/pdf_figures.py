"""Figures among the lines of a PDF page: parts of one picture, the caption of a figure, its place in the reading order.

Pure: boxes and lines in, pieces and places out. The words of the page are never touched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, Protocol

from assistant.knowledge.captions import LONGEST_CAPTION, is_caption, written
from assistant.knowledge.documents import Kind, Picture, Piece, fold

Box = tuple[float, float, float, float]
"""Left, bottom, right and top in points from the lower left corner."""

Part = tuple[Box, float, str]
"""A box, its pixels per point, and what its tag says it shows."""

_TOUCHING: Final = 1.5
_NEAR: Final = 36.0
_CAPTION_LINES: Final = 4


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture of a page with its box in points; `alternative` is what its tag says it shows."""

    box: Box
    picture: Picture
    alternative: str = ""


class Lined(Protocol):
    """A line with its box in points."""

    @property
    def text(self) -> str:
        """Its words."""
        ...

    @property
    def left(self) -> float:
        """Left edge."""
        ...

    @property
    def right(self) -> float:
        """Right edge."""
        ...

    @property
    def top(self) -> float:
        """Upper edge."""
        ...

    @property
    def bottom(self) -> float:
        """Lower edge."""
        ...

    @property
    def size(self) -> float:
        """Size of its letters."""
        ...


def joined(parts: Sequence[Part]) -> list[Part]:
    """The parts with strips and tiles of one picture put together; linear but for sorting."""
    down = _joined([(_turned(box), *rest) for box, *rest in _joined(parts)])  # type: ignore[misc]
    return sorted(((_turned(box), density, said) for box, density, said in down), key=lambda part: -part[0][3])


def _turned(box: Box) -> Box:
    """The box with its axes exchanged."""
    return box[1], box[0], box[3], box[2]


def _joined(parts: Sequence[Part]) -> list[Part]:
    """Parts of the same width that touch each other from above, as one each."""
    done: list[Part] = []
    for part in sorted(parts, key=lambda one: (round(one[0][0]), round(one[0][2]), -one[0][3])):
        box, density, said = part
        last = done[-1] if done else None
        if last is not None and _continues(last[0], box):
            whole = (min(last[0][0], box[0]), min(last[0][1], box[1]), max(last[0][2], box[2]), max(last[0][3], box[3]))
            done[-1] = (whole, max(last[1], density), last[2] or said)
        else:
            done.append(part)
    return done


def _continues(above: Box, below: Box) -> bool:
    same = abs(above[0] - below[0]) <= _TOUCHING and abs(above[2] - below[2]) <= _TOUCHING
    return same and -_TOUCHING <= above[1] - below[3] <= _TOUCHING


def placed(figures: Sequence[Figure], lines: Sequence[Lined], page: int) -> list[tuple[int, Piece]]:
    """The images of a page, each with the line before which it stands: at its caption, else where it is on the page.

    A caption belongs to one figure, or to several side by side.
    """
    captions = [place for place, line in enumerate(lines) if is_caption(line.text)]
    owners: dict[int, Box] = {}
    found = []
    for figure in figures:
        start = _caption_start(figure.box, lines, [n for n in captions if _may_own(figure.box, owners.get(n))])
        if start is None:
            place, text = _reading_place(figure.box, lines), written(figure.alternative)
        else:
            owners.setdefault(start, figure.box)
            place, text = _at_caption(figure.box, lines, start)
        found.append((place, Piece(Kind.IMAGE, text, page=page, picture=figure.picture)))
    return found


def _may_own(box: Box, owner: Box | None) -> bool:
    return owner is None or (box[1] < owner[3] and owner[1] < box[3])


def _at_caption(box: Box, lines: Sequence[Lined], start: int) -> tuple[int, str]:
    """Before a caption that stands below, behind one that stands above; and its text."""
    stop = _caption_stop(lines, start)
    text = fold("\n".join(line.text for line in lines[start:stop]))[:LONGEST_CAPTION]
    above = lines[start].bottom >= (box[1] + box[3]) / 2
    return (stop if above else start), text


def _caption_start(box: Box, lines: Sequence[Lined], captions: Sequence[int]) -> int | None:
    """The nearest of these captions below or above the box."""
    gaps = []
    for place in captions:
        line = lines[place]
        gap = min(abs(box[1] - line.top), abs(line.bottom - box[3]))
        if gap <= _NEAR and line.left < box[2] and line.right > box[0]:
            gaps.append((gap, place))
    return min(gaps)[1] if gaps else None


def _caption_stop(lines: Sequence[Lined], start: int) -> int:
    """Behind the last line of a caption: lines right under it in letters of its size, up to a full stop."""
    stop = start + 1
    while stop < min(len(lines), start + _CAPTION_LINES):
        before, line = lines[stop - 1], lines[stop]
        near = -0.5 * line.size <= before.bottom - line.top <= 0.6 * line.size
        if before.text.endswith((".", "。")) or not near or abs(before.size - line.size) > 0.6 or is_caption(line.text):
            break
        stop += 1
    return stop


def _reading_place(box: Box, lines: Sequence[Lined]) -> int:
    """Before the first line below the middle of the box, in its column when there is one."""
    middle = (box[1] + box[3]) / 2
    below = [place for place, line in enumerate(lines) if (line.top + line.bottom) / 2 < middle]
    beside = [place for place in below if lines[place].left < box[2] and lines[place].right > box[0]]
    return next(iter(beside or below), len(lines))


def woven(pieces: Sequence[Piece], images: Sequence[tuple[int, Piece]]) -> list[Piece]:
    """The pieces with images put in: (n, image) stands before piece n, and several in their order."""
    done: list[Piece] = []
    waiting = {place: [image for _, image in group] for place, group in groupby(sorted(images, key=_place), key=_place)}
    for place, piece in enumerate(pieces):
        done += waiting.get(place, [])
        done.append(piece)
    return done + [image for place, image in sorted(images, key=_place) if place >= len(pieces)]


def _place(placed: tuple[int, Piece]) -> int:
    return placed[0]
