"""How well a quotable answers a question: the share of the question's words it covers, rare words counting more.

Words count as inverse document frequency weighs them (Robertson & Spärck Jones 1976), over the quotables at hand. A
word found only in the heading, title or lead counts less than in the sentence itself, a related form less than the word.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Final

from assistant.core.blocks import BlockKind
from assistant.core.quotable import Quotable, introduces
from assistant.core.text import CJK, terms

_IN_CONTEXT: Final = 0.7
_NEARBY: Final = 0.45
_RELATED: Final = 0.7
_ASKING: Final = frozenset(
    [
        "many",
        "much",
        "often",
        "long",
        "explain",
        "describ",
        "list",
        "step",
        "way",
        "mean",
        "definit",
        "tell",
        "know",
        "find",
        "need",
        "want",
        "give",
        "show",
        "happen",
        "someon",
        "anyon",
        "everyon",
        "peopl",
        "thing",
        "go",
        "get",
        "kind",
        "type",
        "exampl",
        "differ",
        "say",
        "current",
    ]
) | frozenset(
    [
        "步骤",
        "解释",
        "说明",
        "列出",
        "哪里",
        "时候",
        "时间",
        "办法",
        "方法",
        "应该",
        "需要",
        "可以",
        "告诉",
        "知道",
        "想",
        "想要",
        "做",
        "会",
        "怎么办",
        "介绍",
        "情况",
        "有关",
        "方式",
        "意思",
        "进行",
    ]
)
_NUMBER: Final = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|half|once|twice)\b|[一二两三四五六七八九十百千万]",
    re.IGNORECASE,
)
_TIME: Final = re.compile(
    r"\d{4}|\d{1,2}:\d\d|\d\s*(?:a\.?m|p\.?m)\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day|\b(?:jan|feb|mar|apr|may|june?|july?"
    r"|aug|sept?|oct|nov|dec)[a-z]*\b|\b(?:day|week|month|quarter|year|hour|deadline|annual|after|before|until|once|when)"
    r"|[年月日号点时周天]|之前|之后|以后|期间",
    re.IGNORECASE,
)
_WHO: Final = re.compile(
    r"\b(?:supervisor|manager|director|lead|team|staff|officer|employee|admin\w*|office|group|committee|board|owner"
    r"|maintainer|contact|@\w+|mr|ms|dr)s?\b|[A-Z][a-z]+ [A-Z][a-z]+|人|者|员|部门?|经理|团队|主管|公司",
)
_WHERE: Final = re.compile(
    r"\b(?:at|in|on|from|via|here|form|page|site|room|channel|portal)\b|https?:|#\w|在|到|里|处|网", re.IGNORECASE
)
_WANTS: Final = (
    (re.compile(r"\bhow (?:many|much|long|often|old|far|big|large)\b|\bwhat (?:percent|number|amount)|多少|几(?:个|天|次|年|人|小时)?|多久|多长|多大", re.IGNORECASE), _NUMBER),
    (re.compile(r"\bwhen\b|\bwhat (?:time|date|day|year)|\bdeadline|什么时候|何时|几点|哪天|哪年|日期", re.IGNORECASE), _TIME),
    (re.compile(r"\bwho(?:m|se)?\b|谁|哪位|何人", re.IGNORECASE), _WHO),
    (re.compile(r"\bwhere\b|哪里|哪儿|何处|在哪", re.IGNORECASE), _WHERE),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Rated:
    """A quotable with its relevance: `coverage` is 0..1, `score` also weighs the kind of answer and the place."""

    unit: Quotable
    place: int
    coverage: float
    score: float
    covered: frozenset[str]


def question_terms(question: str) -> list[str]:
    """The words that say what a question is about, once each; words that only ask are left out where others remain."""
    found = list(dict.fromkeys(terms(question)))
    about = [term for term in found if term not in _ASKING]
    return about or found


def rate(question: str, units: Sequence[Quotable], prior: Sequence[float]) -> list[Rated]:
    """Rate every quotable, in their order. `prior` is the score of each piece of evidence, of any scale."""
    asked = question_terms(question)
    own = [frozenset(terms(unit.text)) for unit in units]
    around = [frozenset(terms(unit.context)) for unit in units]
    weights = _weights(asked, [a | b for a, b in zip(own, around, strict=True)])
    near = _neighbours(units, own)
    related = _related(asked, frozenset().union(*own, *around))
    wants = next((kind for pattern, kind in _WANTS if pattern.search(question)), None)
    top = max((abs(value) for value in prior), default=0.0) or 1.0
    rated = []
    for place, unit in enumerate(units):
        found = {
            term: max(
                _match(term, own[place], related),
                _IN_CONTEXT * _match(term, around[place], related),
                _NEARBY * _match(term, near[place], related),
            )
            for term in asked
        }
        coverage = sum(weights[term] * value for term, value in found.items())
        covered = frozenset(term for term in asked if _match(term, own[place], related) > 0)
        score = coverage + 0.06 * prior[unit.evidence] / top + _fitness(unit, units, place, wants, bool(covered))
        rated.append(Rated(unit, place, coverage, score, covered))
    return rated


def _weights(asked: Sequence[str], bags: Sequence[Set[str]]) -> dict[str, float]:
    """The weight of each asked word, adding up to one; a word in no bag weighs most."""
    raw = {}
    for term in asked:
        seen = sum(term in bag for bag in bags)
        raw[term] = math.log(1 + (len(bags) + 0.5) / (seen + 0.5))
    total = sum(raw.values()) or 1.0
    return {term: value / total for term, value in raw.items()}


def _neighbours(units: Sequence[Quotable], own: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    """The words of the other sentences of each unit's block, and of the sentences right before and after it."""
    bags: list[frozenset[str]] = []
    for place, unit in enumerate(units):
        around = range(max(0, place - 2), min(len(units), place + 3))
        same = (own[other] for other in around if other != place and units[other].evidence == unit.evidence)
        bags.append(frozenset().union(*same))
    return bags


def _related(asked: Sequence[str], vocabulary: Set[str]) -> dict[str, frozenset[str]]:
    """For each asked word the other forms of it that occur."""
    return {term: frozenset(word for word in vocabulary if word != term and is_related(term, word)) for term in asked}


def is_related(one: str, other: str) -> bool:
    """Whether two terms look like forms of one word: "bill" and "billabl", 年假 and 年休假."""
    short, long = sorted((one, other), key=len)
    if len(short) < 2 or short[0] != long[0] or short.isdigit() or long.isdigit():
        return False
    if re.match(f"[{CJK}]", short):
        return len(long) <= len(short) + 2 and _is_subsequence(short, long)
    return len(short) >= 4 and len(short) * 2 >= len(long) and long.startswith(short)


def _is_subsequence(short: str, long: str) -> bool:
    letters = iter(long)
    return all(letter in letters for letter in short)


def _match(term: str, bag: Set[str], related: Mapping[str, frozenset[str]]) -> float:
    if term in bag:
        return 1.0
    return _RELATED if not related[term].isdisjoint(bag) else 0.0


def _fitness(
    unit: Quotable, units: Sequence[Quotable], place: int, wants: re.Pattern[str] | None, covers: bool
) -> float:
    """What the form of a quotable adds: the kind of thing asked for, the head of a section, a readable length."""
    value = 0.0
    if wants is not None and covers and wants.search(unit.text):
        value += 0.12
    first = place == 0 or (units[place - 1].section, units[place - 1].evidence) != (unit.section, unit.evidence)
    value += 0.05 if first else 0.0
    size = len(unit.text.encode("utf-8", "replace"))
    value -= 0.1 if size < 24 or size > 900 else 0.0
    if unit.kind is BlockKind.CODE or unit.text.endswith(("?", "？")):
        value -= 0.15
    if introduces(unit.text) and not (place + 1 < len(units) and units[place + 1].parent == place):
        value -= 0.15
    return value
