"""Reading: the sentences of a text that can be cited, each with its terms and where they stand in it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from assistant.core.text import Span, clean_for_display, sentences, terms

LONGEST_CUT: Final = 600
"""A sentence of more characters (a page without full stops) is cited in parts."""

_GLUED: Final = re.compile(r"[.!?](?=[A-Z][a-z]*[ ,!?])(?<=[a-z]{3}.)")
"""Where text taken from a page has lost the space between two sentences ("in March.Contractors are")."""

_LIST_NUMBER: Final = re.compile(r"^\s*(?:\d{1,3}[.)](?=\s)|[(（]\d{1,3}[)）]|\d{1,3}[、．）])\s*")
"""The number of a list item, which says nothing: it is no term, or each "2" of an answer would be found there."""

_IN_ADDRESSES: Final = frozenset("./@:_\\")

_LONGEST_WORD: Final = 80
_LONGEST_REMEMBERED: Final = 8_000
_MOST_REMEMBERED: Final = 512


@dataclass(frozen=True, slots=True)
class Cut:
    """A sentence, or a part of a very long one: `span` lies in the text it was read from, `text` is what is seen of it.

    `terms` are its content words in order, at least one; `places` tells at which of these each of them stands.
    """

    span: Span
    text: str
    terms: tuple[str, ...]
    places: Mapping[str, tuple[int, ...]]


def match_terms(text: str) -> list[str]:
    """The terms of a text for matching, in order: content words (stemmed), numbers without commas."""
    return [term.replace(",", "") if term[0].isdigit() else term for term in terms(text)]


def read(stored: str) -> tuple[Cut, ...]:
    """The sentences of a stored text, in order; without those of no terms and hidden text (comments, scripts).

    The same passages come several times in one turn and again in the next ones, so the texts read last are remembered.
    """
    return _remembered(stored) if len(stored) <= _LONGEST_REMEMBERED else _read(stored)


@lru_cache(maxsize=_MOST_REMEMBERED)
def _remembered(stored: str) -> tuple[Cut, ...]:
    return _read(stored)


def _read(stored: str) -> tuple[Cut, ...]:
    shown = clean_for_display(stored)
    plain = shown == stored
    found: list[Cut] = []
    for sentence in sentences(stored):
        for span in _parts(stored, sentence):
            text = stored[span.start : span.end] if plain else clean_for_display(stored[span.start : span.end])
            found_terms = tuple(match_terms(_LIST_NUMBER.sub("", text, count=1))) if plain or text in shown else ()
            if found_terms:
                found.append(Cut(span, text, found_terms, _places(found_terms)))
    return tuple(found)


def _parts(text: str, sentence: Span) -> list[Span]:
    """The sentence itself, or parts of it: cut where two sentences are glued together, and where it is too long."""
    starts = _starts(text, sentence)
    return [
        part
        for start, end in zip(starts, [*starts[1:], sentence.end], strict=True)
        for part in _shortened(text, start, end)
    ]


def _starts(text: str, sentence: Span) -> list[int]:
    """Where the sentences glued together in one start; a mark inside an address or a dotted name ends none."""
    starts = [sentence.start]
    for found in _GLUED.finditer(text, sentence.start, sentence.end):
        before = text[max(starts[-1], found.start() - _LONGEST_WORD) : found.start()].rsplit(None, 1)
        if before and _IN_ADDRESSES.isdisjoint(before[-1]):
            starts.append(found.end())
    return starts


def _shortened(text: str, start: int, end: int) -> list[Span]:
    """Parts that end at white space or a mark, none much longer than the longest cut."""
    parts: list[Span] = []
    while end - start > LONGEST_CUT:
        window = text[start + LONGEST_CUT // 2 : start + LONGEST_CUT]
        gap = max(window.rfind(mark) for mark in (" ", "\t", ";", "；", ",", "，", "、", "|"))
        stop = start + LONGEST_CUT // 2 + gap + 1 if gap >= 0 else start + LONGEST_CUT
        parts.append(_trimmed(text, start, stop))
        start = stop
    parts.append(_trimmed(text, start, end))
    return parts


def _trimmed(text: str, start: int, end: int) -> Span:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Span(start, end)


def _places(found: Sequence[str]) -> dict[str, tuple[int, ...]]:
    places: dict[str, tuple[int, ...]] = {}
    for at, term in enumerate(found):
        places[term] = (*places[term], at) if term in places else (at,)
    return places
