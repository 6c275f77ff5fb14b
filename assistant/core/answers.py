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
from assistant.core.differences import same_sort, same_value
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
# Capitalised words that many unrelated texts share.
GENERIC: Final = frozenset(
    stem(word)
    for word in "county city state states united district school church house street university college wikipedia edit retrieved "
    "archived categories category article articles page pages english american british national international north south east "
    "west new sir mr mrs dr commons read view list history main company team department office policy section".split()
)
_BESIDE: Final = 4
_TIE: Final = re.compile(r"[\s.'’_-]{0,3}")
_REACH: Final = 8
_AROUND: Final = 40
_BY: Final = 4


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
        and (
            token.kind in (TokenKind.NAME, TokenKind.QUANTITY, TokenKind.MOMENT)
            or any(a <= token.start < b for a, b in quoted)
        )
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
    for first, last in _runs(reading, asked):
        if asked.expected in (Expected.NAME, Expected.ANY):
            near = max((_bound(reading, place, first, last) for place in places), default=0.0)
        else:
            near = max((_nearness(place, first, last) for place in places), default=0.0)
        if _is_life_date(reading, first, asked):
            near = 1.0
        if near > 0:
            about = len({tokens[place].key for place in mentions if abs(place - first) < _AROUND}) / max(
                1, len(asked.entity)
            )
            found.append(Answer(tokens[first : last + 1], 0.75 * near + 0.25 * about))
    return sorted(found, key=lambda answer: (-answer.score, answer.tokens[0].start))


def _nearness(place: int, first: int, last: int) -> float:
    distance = first - place if place < first else place - last
    return max(0.0, 1 - (distance - 1) / _REACH)


def _bound(reading: Reading, place: int, first: int, last: int) -> float:
    """How firmly a name is tied to a relation word: "directed by NAME", "artist: NAME", "the NAME album"."""
    tokens = reading.tokens
    if tokens[first - 1].key == "by" and 0 < first - place <= _BY:
        return 1.0
    if place == first - 1 or place == last + 1:
        return 0.9
    return 0.5 * _nearness(place, first, last)


def _is_life_date(reading: Reading, place: int, asked: Focus) -> bool:
    """Whether a date stands in "Name (born – died)" where birth or death is asked for."""
    born, died = "born" in asked.relation, "die" in asked.relation
    token = reading.tokens[place]
    if not (born or died) or token.moment is None:
        return False
    opened = reading.text[max(0, token.start - 3) : token.start].rstrip().endswith("(")
    closed = reading.text[token.end : token.end + 3].lstrip().startswith(")")
    dash = re.search(
        r"[-–—]\s*$" if died else r"^\s*[-–—]",
        reading.text[token.end : token.end + 4] if born else reading.text[max(0, token.start - 4) : token.start],
    )
    return bool(dash) and (opened if born else closed)


def _runs(reading: Reading, asked: Focus) -> Iterable[tuple[int, int]]:
    """First and last token of every value of the sort that is asked for."""
    if asked.expected in (Expected.NAME, Expected.ANY):
        yield from _name_runs(reading, asked)
        return
    for place, token in enumerate(reading.tokens):
        if asked.expected is Expected.MOMENT and token.moment and token.moment.year is not None:
            yield place, place
        elif asked.expected is Expected.AMOUNT and token.quantity and token.quantity.dimension is not Dimension.ORDINAL:
            yield place, place


def _name_runs(reading: Reading, asked: Focus) -> Iterable[tuple[int, int]]:
    """Runs of names without punctuation between them; an adjective ("American rock band X") is not a name."""
    tokens = reading.tokens
    for first, last in proper_runs(reading):
        inside = [place for place in range(first, last + 1) if tokens[place].key not in asked.entity | asked.relation]
        if not inside or inside[-1] - inside[0] + 1 != len(inside):
            continue
        follower = tokens[inside[-1] + 1] if inside[-1] + 1 < len(tokens) else None
        if follower and len(inside) == 1 and follower.kind is TokenKind.WORD and follower.key not in asked.relation:
            continue
        yield inside[0], inside[-1]


def proper_runs(reading: Reading) -> Iterable[tuple[int, int]]:
    """First and last token of every run of names that stand side by side."""
    start = -1
    for place, token in enumerate(reading.tokens):
        tied = start >= 0 and _TIE.fullmatch(reading.text, reading.tokens[place - 1].end, token.start)
        if start >= 0 and (token.kind is not TokenKind.NAME or not tied):
            yield start, place - 1
            start = -1
        if token.kind is TokenKind.NAME and start < 0:
            start = place
    if start >= 0:
        yield start, len(reading.tokens) - 1


def holds(reading: Reading, answer: Answer, asked: Focus) -> bool:
    """Whether the value of an answer of another passage also stands somewhere in this one."""
    if asked.expected in (Expected.NAME, Expected.ANY):
        keys = {token.key for token in reading.tokens}
        return 2 * sum(token.key in keys for token in answer.tokens) > len(answer.tokens)
    return any(
        same_sort(answer.tokens[0], token) and same_value(answer.tokens[0], token) for token in reading.tokens
    )


def described(reading: Reading, asked: Focus) -> frozenset[str]:
    """The names that stand directly beside the thing asked about and tell which one it is ("Light (Maine)")."""
    found: set[str] = set()
    tokens = reading.tokens
    known = asked.terms | asked.entity | asked.relation | GENERIC
    for place, token in enumerate(tokens):
        if token.key not in asked.entity:
            continue
        window = tokens[max(0, place - _BESIDE) : place + 1 + _BESIDE]
        if 2 * len({near.key for near in window} & asked.entity) >= len(asked.entity):
            found.update(near.key for near in window if near.kind is TokenKind.NAME and near.key not in known)
    return frozenset(found)
