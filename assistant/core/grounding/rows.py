"""Rows: which rows of a table of the evidence a sentence speaks of, so that figures of different rows are never mixed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from assistant.core.grounding.indexing import EvidenceIndex
from assistant.core.text import CJK

_FIRST_CELL: Final = re.compile(r"\s*\|\s*([^|\n]*?)\s*\|")
_CHINESE: Final = re.compile(f"[{CJK}]")
_SLIGHT: Final = re.compile(r"\d{0,2}|[AI]")
_MOST_ROWS: Final = 200


def row_name(text: str) -> str | None:
    """The first cell of a row of a table, which names what the row gives; None for other text, and where it is empty."""
    found = _FIRST_CELL.match(text)
    return (found[1] or None) if found else None


def is_named(name: str, text: str) -> bool:
    """Whether a name stands in a text as whole words."""
    at = text.find(name)
    while at >= 0:
        before, after = text[max(0, at - 1) : at], text[at + len(name) : at + len(name) + 1]
        if not (before.isalnum() or after.isalnum()) or _CHINESE.match(name):
            return True
        at = text.find(name, at + 1)
    return False


def row_meant(at: int, claim: str, index: EvidenceIndex, *, is_row: bool) -> int:
    """The row that a claim speaks of instead of the one at unit `at`: another of the table, where the claim names only that.

    A sentence that is no row itself (`is_row`) does not name a row by "A", "I" or a short number. The head is no row.
    """
    name = row_name(index.units[at].text)
    if name is None or is_named(name, claim):
        return at
    names = {other: row_name(index.units[other].text) for other in _body(at, index)}
    named = [o for o, n in names.items() if n and is_named(n, claim) and (is_row or not _SLIGHT.fullmatch(n))]
    return named[0] if len(named) == 1 else at


def _body(at: int, index: EvidenceIndex) -> Iterator[int]:
    """The rows around a row, as far as the table goes, without its first row."""
    low = high = at
    while low > 0 and at - low < _MOST_ROWS and _goes_on(low - 1, at, index):
        low -= 1
    while high + 1 < len(index.units) and high - at < _MOST_ROWS and _goes_on(high + 1, at, index):
        high += 1
    return iter(range(low + 1, high + 1))


def _goes_on(other: int, at: int, index: EvidenceIndex) -> bool:
    return index.adjacent(other, at) and _FIRST_CELL.match(index.units[other].text) is not None
