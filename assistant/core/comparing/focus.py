"""Focus: the sort of value a question asks for, what it is about, and what it asks of it.

A question is split into the thing it is about (names, quotations) and the relation it asks for ("born", "population").
The relation is widened by words that answer it ("built": constructed, completed).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final

from assistant.core.comparing.claims import Reading, Token, TokenKind, is_event, read
from assistant.core.comparing.modality import Modality
from assistant.core.comparing.units import UNITS, Dimension
from assistant.core.text import CJK, stem, terms


class Expected(StrEnum):
    """The sort of answer that a question asks for."""

    MOMENT = "moment"
    AMOUNT = "amount"
    NAME = "name"
    RULE = "rule"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class Focus:
    """What a question is about (`entity`), what it asks of it (`asked`, widened to `relation`), and for what.

    `terms` are all its content terms; `dimensions` the dimensions of an amount that can answer, empty where any can;
    `unit` the unit that the question counts in; `pairs` its pairs of Chinese characters, since a segmenter cuts one
    word differently in different surroundings; `person` tells that it asks who; `once` tells that it asks for something that happens once, so that a
    year answers it and does not limit it.
    """

    expected: Expected
    entity: frozenset[str]
    asked: frozenset[str]
    relation: frozenset[str]
    terms: frozenset[str]
    dimensions: frozenset[Dimension] = frozenset()
    unit: str = ""
    person: bool = False
    once: bool = False
    pairs: tuple[str, ...] = ()

    def share(self, held: frozenset[str], text: str) -> float:
        """The share of the question's terms that are held, for Chinese the share of its pairs of characters."""
        if self.pairs:
            return sum(pair in text for pair in self.pairs) / len(self.pairs)
        return len(self.terms & held) / len(self.terms) if self.terms else 1.0


_MOMENT: Final = (
    r"\bwhen\b|\b(?:what|which)\s+(?:year|date|day|month|time|quarter)\b|\bdeadline\b|\bdue\s+date\b"
    r"|什么时候|什么时间|何时|哪一?[年天日月]|几[点号月]|日期|截止|生日"
)
_AMOUNT: Final = (
    r"\bhow\s+(?:many|much|long|often|far|old|big|large|tall|high|soon)\b|\b(?:population|size|age|number|percentage"
    r"|percent|rate|cost|price|amount|limit|maximum|minimum|budget|duration|length|height|area)\b"
    r"|多少|多久|多长|多大|多高|几[天个次周年人]|比例|上限|额度|人口|面积"
)
_NAME: Final = (
    r"\b(?:who|whom|whose|where)\b|\b(?:what|which)\s+(?:state|country|city|town|channel|room|office|tool|team|company"
    r"|person|band|system|form|email|address)\b|谁|哪里|哪儿|哪个|在哪"
)
_WHO: Final = re.compile(r"\b(?:who|whom|whose)\b|谁", re.IGNORECASE)
_RULE: Final = (
    r"^(?:can|may|must|should|do|does|is|are|am|will)\b|\b(?:allowed|permitted|required|need\s+to|have\s+to)\b"
    r"|可以|可不可以|能否|能不能|是否|必须|需不需要|允许|吗"
)
_EXPECTED: Final = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        (Expected.MOMENT, _MOMENT),
        (Expected.AMOUNT, _AMOUNT),
        (Expected.NAME, _NAME),
        (Expected.RULE, _RULE),
    )
)
_QUOTED: Final = re.compile(r"[\"“《「]([^\"”》」]+)[\"”》」]")
_RELATIONS: Final = """
born birth birthdate
die died death deceased
build built construct constructed construction complete completed erected building established
establish established founded found formed form created creation incorporated organized started inception
open opened opening inaugurated
launch launched start started begin began
release released releasing published
population inhabitants people residents populated
direct directed director directors
author wrote written writer
artist album band singer musician performed recorded artists painted painter
produce produced producer
compose composed composer
locate located location situated
play played plays player
profession occupation works work
elect elected election appointed
size area square
approve approval approver approved
pay payment paid payroll
submit submission submitted
""".strip()
_WIDER: Final = tuple(frozenset(stem(word) for word in line.split()) for line in _RELATIONS.split("\n"))
_LITTLE_WORDS: Final = """
name typical total estimated estimate type kind primary associated associate according main current year date time many
much long often refer belong get need take have
"""
_LITTLE: Final = frozenset(stem(word) for word in _LITTLE_WORDS.split())
_COUNTED: Final = re.compile(
    r"\bhow\s+many\s+([a-z]+(?:\s+days?)?)|\bnumber\s+of\s+([a-z]+)"
    r"|多少个?([\u4e00-\u9fff]{1,3})|几个?([\u4e00-\u9fff]{1,3})",
    re.IGNORECASE,
)
_MEASURED: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), frozenset(found))
    for pattern, found in (
        (r"\bhow\s+often\b|多久.{0,4}一次|多长时间.{0,4}一次", (Dimension.FREQUENCY,)),
        (r"\bhow\s+(?:long|old|soon)\b|\b(?:age|duration)\b|多久|多长时间|年龄", (Dimension.DURATION,)),
        (r"\b(?:percent|percentage|share)\b|百分|比例", (Dimension.PERCENT,)),
        (
            r"\b(?:cost|price|budget|salary|fee|allowance|stipend)\b|多少钱|费用|预算|工资|补贴",
            (Dimension.MONEY, Dimension.PERCENT),
        ),
        (r"\bpopulation\b|人口", (Dimension.COUNT,)),
        (r"\bhow\s+(?:large|big)\b|\b(?:size|area)\b|面积", (Dimension.AREA, Dimension.LENGTH, Dimension.COUNT)),
        (r"\bhow\s+(?:tall|high|far)\b|\b(?:height|distance)\b|多高|多远", (Dimension.LENGTH,)),
    )
)


@lru_cache(maxsize=256)
def focus(question: str) -> Focus:
    """Read a question."""
    reading = read(question)
    quoted = [match.span(1) for match in _QUOTED.finditer(question)]
    entity = frozenset(token.key for token in reading.tokens if _is_entity(token, quoted))
    asked = frozenset(token.key for token in reading.tokens if token.kind is TokenKind.WORD) - entity - _LITTLE
    asked = frozenset(term for term in asked if term not in _UNIT_STEMS) or asked
    counted = _counted_unit(question)
    return Focus(
        expected=_expected(question, reading),
        entity=entity,
        asked=asked,
        relation=frozenset[str]().union(asked, *(group for group in _WIDER if group & asked)),
        terms=frozenset(terms(question)),
        dimensions=frozenset({counted[0]}) if counted else _dimensions(question),
        unit=counted[1] if counted else "",
        person=_WHO.search(question) is not None,
        once=is_event(reading),
        pairs=_pairs(question),
    )


def _expected(question: str, reading: Reading) -> Expected:
    """The sort of answer; "who may ..." has many right answers, so that no name stands for the answer."""
    found = next((kind for kind, pattern in _EXPECTED if pattern.search(question)), Expected.ANY)
    many = found is Expected.NAME and any(token.modality is Modality.MAY for token in reading.tokens)
    return Expected.ANY if many else found


_UNIT_STEMS: Final = frozenset(stem(unit) for unit in UNITS if len(unit) > 1 or unit > "z")


_HAN_RUN: Final = re.compile(f"[{CJK}]+")
_HAN_ASKING: Final = re.compile(
    "请问|什么时候|什么时间|什么|多少个?|多长时间|多久|多长|多大|几[天个次周年月小点号]时?|哪[里儿个些天年]?|谁"
    "|怎么样?|怎样|如何|是否|可不可以|能不能|可以|能否|应该|必须|需要|一次|[的了吗呢吧是有在能要会每]"
)


def _pairs(question: str) -> tuple[str, ...]:
    """The pairs of neighbouring Chinese characters of what is left without the words of asking, each once."""
    runs = _HAN_RUN.findall(_HAN_ASKING.sub(" ", question))
    return tuple(dict.fromkeys(run[at : at + 2] for run in runs for at in range(max(1, len(run) - 1))))


def _is_entity(token: Token, quoted: list[tuple[int, int]]) -> bool:
    if token.kind is TokenKind.STOP:
        return False
    counted = token.quantity is not None and token.quantity.dimension in (Dimension.COUNT, Dimension.ORDINAL)
    named = counted or token.kind in (TokenKind.NAME, TokenKind.MOMENT)
    return named or any(start <= token.start < end for start, end in quoted)


def _counted_unit(question: str) -> tuple[Dimension, str] | None:
    """The dimension and unit of what is counted: time in days for "how many days", a count for "how many people"."""
    counted = _COUNTED.search(question)
    if counted is None:
        return None
    noun = next(group for group in counted.groups() if group).lower()
    unit = UNITS.get(noun) or UNITS.get(noun.split()[0]) or UNITS.get(noun[:1])
    return (unit[0], unit[1]) if unit else (Dimension.COUNT, "")


def _dimensions(question: str) -> frozenset[Dimension]:
    return next((found for pattern, found in _MEASURED if pattern.search(question)), frozenset())
