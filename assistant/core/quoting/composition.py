"""Put quotations together: what each needs to be understood, and the paragraphs and lists they make."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from assistant.core.quoting.blocks import BlockKind
from assistant.core.quoting.quotable import Quotable
from assistant.core.quoting.relevance import Rated
from assistant.core.text import language

_LONGEST_LIST: Final = 14
_NEEDS_BEFORE: Final = re.compile(
    r"(?:this|that|these|those|they|it|its|he|she|such|however|also|otherwise|then|instead|therefore|so,|but|and|or"
    r"|if so|in this case|the (?:former|latter|same))\b|[此这该其它]|他们|它们|因此|但是|但|所以|然而|否则|同时|另外",
    re.IGNORECASE,
)


def with_company(rated: Sequence[Rated], chosen: Sequence[int], wants_list: bool) -> set[int]:
    """The chosen and what they cannot stand without: a lead's list, a fragment's lead, the sentence before."""
    units = [item.unit for item in rated]
    kept: set[int] = set()
    for place in chosen:
        kept.add(place)
        unit = units[place]
        kept.update(_children(units, place))
        if is_listed(unit) and wants_list:
            kept.update(_whole_list(units, place))
        elif unit.kind is BlockKind.ITEM and unit.parent is not None and _needs_lead(units, place, chosen):
            kept.add(unit.parent)
        elif unit.kind is BlockKind.PROSE and _NEEDS_BEFORE.match(unit.text):
            kept.update(_before(units, place))
    return kept


def _needs_lead(units: Sequence[Quotable], place: int, chosen: Collection[int]) -> bool:
    """Whether a list item says too little by itself: a fragment, or one of several items of the list."""
    unit = units[place]
    fragment = unit.text[-1] not in ".!?。！？" or len(unit.text.encode("utf-8", "replace")) < 48
    return fragment or any(units[other].parent == unit.parent for other in chosen if other != place)


def _children(units: Sequence[Quotable], place: int) -> list[int]:
    """What stands under a lead, however deep, as long as a reader would want it."""
    inside = {place}
    for other in range(place + 1, len(units)):
        if units[other].evidence != units[place].evidence:
            break
        if units[other].parent in inside:
            inside.add(other)
    return sorted(inside - {place})[:_LONGEST_LIST]


def _whole_list(units: Sequence[Quotable], place: int) -> list[int]:
    """The list a quotable belongs to, and the line that introduces it."""
    top = place
    while (parent := units[top].parent) is not None and units[parent].kind is BlockKind.ITEM:
        top = parent
    lead = units[top].parent
    if lead is not None:
        return [lead, *_children(units, lead)]
    start = end = place
    while start > 0 and same_list(units[start - 1], units[place]):
        start -= 1
    while end + 1 < len(units) and same_list(units[end + 1], units[place]):
        end += 1
    return list(range(start, end + 1))[:_LONGEST_LIST]


def same_list(one: Quotable, other: Quotable) -> bool:
    """Whether two quotables are of one kind and stand under one heading."""
    return one.kind is other.kind and (one.evidence, one.section) == (other.evidence, other.section)


def _before(units: Sequence[Quotable], place: int) -> list[int]:
    """The sentence before, when it stands in the same block."""
    if place == 0:
        return []
    before, unit = units[place - 1], units[place]
    same = (before.evidence, before.block) == (unit.evidence, unit.block)
    return [place - 1] if same else []


def compose(rated: Sequence[Rated], chosen: Collection[int]) -> list[str]:
    """The paragraphs of the answer, the best section first, each section in the order of its document.

    Sentences of one block run on, list items and rows stand on lines of their own.
    """
    units = [item.unit for item in rated]
    best: dict[tuple[int, int], float] = {}
    for place in chosen:
        section = (units[place].evidence, units[place].section)
        best[section] = max(best.get(section, 0.0), rated[place].score)
    runs: list[list[Quotable]] = []
    for place in sorted(chosen, key=lambda at: (-best[units[at].evidence, units[at].section], at)):
        if runs and _runs_on(runs[-1][-1], units[place]):
            runs[-1].append(units[place])
        else:
            runs.append([units[place]])
    return [_listed(run) if is_listed(run[0]) else _prose(run) for run in runs]


def _runs_on(last: Quotable, unit: Quotable) -> bool:
    if (last.evidence, last.section) != (unit.evidence, unit.section) or is_listed(last) != is_listed(unit):
        return False
    return is_listed(unit) or last.block == unit.block


def is_listed(unit: Quotable) -> bool:
    """Whether a quotable stands on a line of its own: a list item or a table row."""
    return unit.kind in (BlockKind.ITEM, BlockKind.ROW)


def _prose(run: Sequence[Quotable]) -> str:
    return ("" if language(run[0].text) == "zh" else " ").join(unit.text for unit in run)


def _listed(run: Sequence[Quotable]) -> str:
    """A list with its marks; numbers count on, whatever the author wrote; a single item needs no mark."""
    if len(run) == 1:
        return run[0].text
    counts: dict[int, int] = {}
    lines = []
    top = min(unit.level for unit in run)
    for unit in run:
        counts = {level: count for level, count in counts.items() if level <= unit.level}
        counts[unit.level] = counts.get(unit.level, 0) + 1
        mark = f"{counts[unit.level]}." if unit.marker.endswith(".") else "-"
        lines.append(f"{'   ' * (unit.level - top)}{mark} {unit.text}")
    return "\n".join(lines)
