"""Differences of two texts, word by word: what stayed, came, went and was put in place of something else.

English is compared by words, Chinese by characters, numbers and dates as wholes, so that "20" to "25" is one change and
not half of one. The alignment is a longest common subsequence (Hunt and McIlroy 1976), computed bit-parallel by
rapidfuzz (Hyyrö 2004); short islands of equal text between larger changes are then counted as changed (the semantic
clean-up of Fraser's diff-match-patch, 2006), because a person reads a rewritten sentence more easily than a mosaic.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Final

from rapidfuzz.distance import Indel, Levenshtein

from assistant.core.text import CJK, Span, sentences


class Operation(StrEnum):
    """What happened to a stretch of text."""

    EQUAL = "equal"
    INSERT = "insert"
    DELETE = "delete"
    REPLACE = "replace"


@dataclass(frozen=True, slots=True)
class Change:
    """One stretch: `old` lies in the old text, `new` in the new one (code points); one of them is empty for insert and delete."""

    op: Operation
    old: Span
    new: Span


_MOST_CELLS: Final = 100_000_000
"""Words of one text times words of the other that are compared word by word: 12 MB and some 0.1 s of the machine."""
_MOST_CELLS_LONG: Final = 2_500_000_000
"""The same where the sentences of long texts differ, with Hirschberg's method, which needs little memory but joins less well."""
_MOST_SENTENCES: Final = 30_000
"""Sentences of a text that are compared with each other; between longer texts only their common ends are found."""

_TOKEN: Final = re.compile(
    rf"\s+|[〇零一二三四五六七八九十百千万亿两]+|[{CJK}]|\d+(?:[.,:/-]\d+)*%?|[^\W\d_{CJK}]+(?:['’][^\W\d_{CJK}]+)*|.",
    re.DOTALL,
)
_JOINER: Final = "\u200d"
_JOINED: Final = frozenset("\u200d\ufe0e\ufe0f") | frozenset(map(chr, range(0x1F3FB, 0x1F400)))


def word_diff(old: str, new: str) -> tuple[Change, ...]:
    """The changes that make `new` of `old`, in order: both texts are covered without gap or overlap.

    Two neighbours are never both equal or both changed; equal texts give one change (none when both are empty).
    Deterministic. Texts that are too long to compare by words are compared by sentences first, so that a
    hundred thousand characters take about a second at most; where even that is too much, the stretch counts as replaced.
    """
    return tuple(_tidied(_aligned(old, new)))


def patched(old: str, new: str, changes: Iterable[Change]) -> str:
    """The new text put together from the old one and what the changes bring: `new` for the changes of `word_diff`."""
    parts = (
        old[change.old.start : change.old.end] if change.op is Operation.EQUAL else _of(new, change.new)
        for change in changes
    )
    return "".join(parts)


def rendered(old: str, new: str, changes: Iterable[Change]) -> list[dict[str, str]]:
    """The changes as plain JSON: op, and the text of both sides (the same text twice for equal)."""
    return [{"op": change.op.value, "old": _of(old, change.old), "new": _of(new, change.new)} for change in changes]


def _of(text: str, span: Span) -> str:
    return text[span.start : span.end]


def _tokens(text: str, within: Span) -> list[Span]:
    """The words, numbers, Chinese characters, signs and blanks of a stretch; what is drawn as one sign is not torn."""
    found: list[Span] = []
    for match in _TOKEN.finditer(text, within.start, within.end):
        start, end = match.span()
        if found and (_continues(text[start]) or text[start - 1] == _JOINER) and not text[start - 1].isspace():
            found[-1] = Span(found[-1].start, end)
        else:
            found.append(Span(start, end))
    return found


def _continues(char: str) -> bool:
    """Whether a character belongs to the one before it: combining marks, joiners, variants, skin tones."""
    return char > "\u02ff" and (char in _JOINED or unicodedata.category(char)[0] == "M")


def _aligned(old: str, new: str) -> Iterator[Change]:
    """Raw changes: by words where that is affordable, else by sentences and by words where these differ."""
    whole = (Span(0, len(old)), Span(0, len(new)))
    ours, theirs = _tokens(old, whole[0]), _tokens(new, whole[1])
    if len(ours) * len(theirs) <= _MOST_CELLS:
        yield from _by_words(old, new, ours, theirs)
        return
    for before, after in _by_sentences(old, new):
        if _of(old, before) == _of(new, after):
            yield _change(before, after, equal=True)
        elif before and after:
            yield from _inside(old, new, before, after)
        else:
            yield _change(before, after, equal=False)


def _inside(old: str, new: str, before: Span, after: Span) -> Iterator[Change]:
    """Changes by words of two stretches, none of them empty."""
    ours, theirs = _tokens(old, before), _tokens(new, after)
    if len(ours) * len(theirs) <= _MOST_CELLS_LONG:
        yield from _by_words(old, new, ours, theirs)
    else:
        yield _change(before, after, equal=False)


def _by_words(old: str, new: str, before: Sequence[Span], after: Sequence[Span]) -> Iterator[Change]:
    numbers: dict[str, int] = {}
    ours = [numbers.setdefault(_of(old, span), len(numbers)) for span in before]
    theirs = [numbers.setdefault(_of(new, span), len(numbers)) for span in after]
    method = Indel if len(ours) * len(theirs) <= _MOST_CELLS else Levenshtein
    old_at = before[0].start if before else 0
    new_at = after[0].start if after else 0
    for op in method.opcodes(ours, theirs):
        old_end = before[op.src_end - 1].end if op.src_end else old_at
        new_end = after[op.dest_end - 1].end if op.dest_end else new_at
        yield _change(Span(old_at, old_end), Span(new_at, new_end), equal=op.tag == "equal")
        old_at, new_at = old_end, new_end


def _by_sentences(old: str, new: str) -> Iterator[tuple[Span, Span]]:
    """Stretches of both texts that belong together, in order; equal ones hold equal sentences."""
    before, after = _sentence_cuts(old), _sentence_cuts(new)
    if max(len(before), len(after)) > _MOST_SENTENCES:
        yield from _by_ends(old, new)
        return
    numbers: dict[str, int] = {}
    ours = [numbers.setdefault(_of(old, span), len(numbers)) for span in before]
    theirs = [numbers.setdefault(_of(new, span), len(numbers)) for span in after]
    old_at = new_at = 0
    for op in Levenshtein.opcodes(ours, theirs):
        old_end = before[op.src_end - 1].end if op.src_end else 0
        new_end = after[op.dest_end - 1].end if op.dest_end else 0
        yield Span(old_at, old_end), Span(new_at, new_end)
        old_at, new_at = old_end, new_end


def _sentence_cuts(text: str) -> list[Span]:
    """The sentences, each with the blanks behind it, so that they cover the text."""
    starts = [0, *(span.start for span in sentences(text)[1:]), len(text)]
    return [Span(start, end) for start, end in pairwise(starts) if start < end]


def _by_ends(old: str, new: str) -> Iterator[tuple[Span, Span]]:
    """The common beginning, what differs, the common end."""
    limit = min(len(old), len(new))
    head = next((at for at in range(limit) if old[at] != new[at]), limit)
    tail = next((at for at in range(limit - head) if old[-1 - at] != new[-1 - at]), limit - head)
    borders = [(0, 0), (head, head), (len(old) - tail, len(new) - tail), (len(old), len(new))]
    for (old_at, new_at), (old_end, new_end) in pairwise(borders):
        if old_end > old_at or new_end > new_at:
            yield Span(old_at, old_end), Span(new_at, new_end)


def _change(old: Span, new: Span, *, equal: bool) -> Change:
    if equal:
        return Change(Operation.EQUAL, old, new)
    if not old:
        return Change(Operation.INSERT, old, new)
    return Change(Operation.REPLACE if new else Operation.DELETE, old, new)


def _tidied(changes: Iterable[Change]) -> list[Change]:
    """Neighbours of one kind joined, and equal islands that are no longer than the changes on both sides taken into them."""
    done: list[Change] = []
    for change in changes:
        done.append(change)
        while (joined := _joined(done)) is not None:
            done[-joined:] = [_spanning(done[-joined], done[-1], equal=done[-1].op is Operation.EQUAL)]
    return done


def _joined(done: Sequence[Change]) -> int | None:
    """How many of the last changes are really one: 2 of a kind, 3 with an island in the middle; None for none."""
    if len(done) > 1 and (done[-1].op is Operation.EQUAL) == (done[-2].op is Operation.EQUAL):
        return 2
    if len(done) > 2 and done[-2].op is Operation.EQUAL:
        island = len(done[-2].old)
        if island <= min(_size(done[-1]), _size(done[-3])):
            return 3
    return None


def _size(change: Change) -> int:
    return max(len(change.old), len(change.new))


def _spanning(first: Change, last: Change, *, equal: bool) -> Change:
    return _change(Span(first.old.start, last.old.end), Span(first.new.start, last.new.end), equal=equal)
