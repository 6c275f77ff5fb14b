"""Answers: what a question asks for, and which values of a passage stand where its answer would stand.

A question is split into the thing it is about (names, quotations) and the relation it asks for ("born", "population").
Values of the sort that is asked for are scored by how near they stand to words of that relation; explainable, and wrong
where the relation is only implied.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple

from assistant.core.claims import Reading, Token, TokenKind, read
from assistant.core.dates import MomentKind
from assistant.core.units import Dimension
from assistant.core.text import stem, terms


class Expected(StrEnum):
    """The sort of answer that a question asks for."""

    MOMENT = "moment"
    AMOUNT = "amount"
    NAME = "name"
    RULE = "rule"
    ANY = "any"


_EXPECTED: Final = (
    (
        Expected.MOMENT,
        r"\bwhen\b|\b(?:what|which)\s+(?:year|date|day|month|time|quarter)\b|\bdeadline\b|\bdue\s+date\b"
        r"|什么时候|什么时间|何时|哪一?[年天日月]|几[点号月]|日期|截止|生日",
    ),
    (
        Expected.AMOUNT,
        r"\bhow\s+(?:many|much|long|often|far|old|big|large|tall|high|soon)\b|\b(?:population|size|age|number|percentage|percent|rate|cost"
        r"|price|amount|limit|maximum|minimum|budget|duration|length|height|area)\b|多少|多久|多长|多大|多高|几[天个次周年人]|比例|上限|额度|人口|面积",
    ),
    (
        Expected.NAME,
        r"\b(?:who|whom|whose|where)\b|\b(?:what|which)\s+(?:state|country|city|town|channel|room|office|tool|team|company|person|band"
        r"|system|form|email|address)\b|谁|哪里|哪儿|哪个|在哪",
    ),
    (
        Expected.RULE,
        r"^(?:can|may|must|should|do|does|is|are|am|will)\b|\b(?:allowed|permitted|required|need\s+to|have\s+to)\b"
        r"|可以|可不可以|能否|能不能|是否|必须|需不需要|允许|吗",
    ),
)
_EXPECTED_RES: Final = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _EXPECTED)
_QUOTED: Final = re.compile(r"[\"“《「]([^\"”》」]+)[\"”》」]")
# Words of one relation: asked with one of them, answered with another.
_RELATIONS: Final = tuple(
    frozenset(stem(word) for word in group.split())
    for group in (
        "born birth birthdate nascimento",
        "die died death deceased",
        "build built construct constructed construction complete completed erected building established",
        "establish established founded found formed form created creation established incorporated organized started inception",
        "open opened opening inaugurated",
        "launch launched start started begin began",
        "release released releasing published",
        "population inhabitants people residents populated",
        "direct directed director directors film-maker",
        "author wrote written writer",
        "artist album band singer musician performed recorded artists painted painter",
        "produce produced producer",
        "compose composed composer",
        "locate located location situated",
        "play played plays player",
        "profession occupation works work",
        "elect elected election appointed",
        "size area square",
    )
)
_EMPTY: Final = frozenset(
    stem(word)
    for word in "name typical total estimated estimate type kind primary associated associate according main current year date time many much long refer belong".split()
)
_REACH: Final = 8
_AROUND: Final = 40


@dataclass(frozen=True, slots=True)
class Focus:
    """What a question is about (`entity`), what it asks of it (`relation`, widened by near words), and for what."""

    expected: Expected
    entity: frozenset[str]
    relation: frozenset[str]
    terms: frozenset[str]


class Answer(NamedTuple):
    """A value that may answer the question: its tokens in the text, and how strongly it stands there (0 to 1)."""

    tokens: tuple[Token, ...]
    score: float


@lru_cache(maxsize=256)
def focus(question: str) -> Focus:
    """Read a question."""
    expected = next((kind for kind, pattern in _EXPECTED_RES if pattern.search(question)), Expected.ANY)
    reading = read(question)
    quoted = [match.span(1) for match in _QUOTED.finditer(question)]
    entity = frozenset(
        token.key
        for token in reading.tokens
        if token.kind is not TokenKind.STOP
        and (token.kind in (TokenKind.NAME, TokenKind.QUANTITY, TokenKind.MOMENT) or any(a <= token.start < b for a, b in quoted))
    )
    asked = frozenset(terms(question))
    relation = frozenset(token.key for token in reading.tokens if token.kind is TokenKind.WORD) - entity - _EMPTY
    wide = frozenset().union(relation, *(group for group in _RELATIONS if group & relation))
    return Focus(expected, entity, wide, asked)


def answers(reading: Reading, asked: Focus) -> list[Answer]:
    """The values of a passage that may answer, best first."""
    tokens = reading.tokens
    places = [place for place, token in enumerate(tokens) if token.key in asked.relation]
    mentions = [place for place, token in enumerate(tokens) if token.key in asked.entity]
    found = []
    for first, last in _runs(tokens, asked):
        near = max((_nearness(place, first, last) for place in places), default=0.0)
        if _is_life_date(reading, first, asked):
            near = 1.0
        if near > 0:
            about = len({tokens[place].key for place in mentions if abs(place - first) < _AROUND}) / max(1, len(asked.entity))
            found.append(Answer(tokens[first : last + 1], 0.75 * near + 0.25 * about))
    return sorted(found, key=lambda answer: (-answer.score, answer.tokens[0].start))


def _nearness(place: int, first: int, last: int) -> float:
    distance = first - place if place < first else place - last
    return max(0.0, 1 - (distance - 1) / _REACH)


def _is_life_date(reading: Reading, place: int, asked: Focus) -> bool:
    """Whether a date stands in "Name (born – died)" where birth or death is asked for."""
    born, died = "born" in asked.relation, "die" in asked.relation
    token = reading.tokens[place]
    if not (born or died) or token.moment is None:
        return False
    opened = reading.text[max(0, token.start - 3) : token.start].rstrip().endswith("(")
    closed = reading.text[token.end : token.end + 3].lstrip().startswith(")")
    dash = re.search(r"[-–—]\s*$" if died else r"^\s*[-–—]", reading.text[token.end : token.end + 4] if born else reading.text[max(0, token.start - 4) : token.start])
    return bool(dash) and (opened if born else closed)


def _runs(tokens: Sequence[Token], asked: Focus) -> Iterable[tuple[int, int]]:
    """First and last token of every value of the sort that is asked for."""
    if asked.expected is Expected.NAME:
        yield from _name_runs(tokens, asked)
        return
    for place, token in enumerate(tokens):
        if asked.expected is Expected.MOMENT and token.moment and token.moment.year is not None:
            yield place, place
        elif asked.expected is Expected.AMOUNT and token.quantity and token.quantity.dimension is not Dimension.ORDINAL:
            yield place, place


def _name_runs(tokens: Sequence[Token], asked: Focus) -> Iterable[tuple[int, int]]:
    start = -1
    for place, token in enumerate([*tokens, None]):
        if token is not None and token.kind is TokenKind.NAME and token.key not in asked.entity | asked.relation:
            start = place if start < 0 else start
        elif start >= 0:
            yield start, place - 1
            start = -1
